"""The inference server behind marker: where it is, and whether it is well.

`ocr.server` is the URL of one that runs, or `start` (see server_lease.py).
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from regcomments.ocr.engines import EngineUnavailableError

START = "start"
PROBE_SECONDS = 5.0  # for one GET of a health check; a busy vLLM answers in under one
OCR_ERROR_MODEL = "s3://ocr_error_detection/2025_02_18"  # what surya 0.22 asks its service for
_MOST_BYTES = 1 << 20  # of an answer to a health check
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 10.0  # seconds between looks at a server that is away
_SAY_SECONDS = 10.0


@dataclass(frozen=True)
class Endpoint:
    """Base URLs, each ending in /v1. Services that are None are not used."""

    inference: str
    ocr_error: str | None = None
    fast_layout: str | None = None


@dataclass(frozen=True)
class ServerFacts:
    """What a host file says about the server that is started there (its section `server`).

    `memory` is the share of the card's memory that vLLM takes. Numbers that are None follow from
    `gpu`, surya's name of a card, by surya's own rule. `startup_seconds` bounds one start,
    the download of the model included; `linger_seconds` keeps the server between two jobs.
    `mtp_tokens` are guessed ahead by the model's own second head; 0 switches that off.
    """

    kind: str = "vllm"
    model: str = "datalab-to/surya-ocr-2"
    image: str = "vllm/vllm-openai:v0.20.1"
    binary: str = "llama-server"
    gpu: str = "4090"
    device: str = "0"
    memory: float = 0.80
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    max_model_len: int = 18000
    dtype: str = "bfloat16"
    mtp_tokens: int = 2
    cache: str = "~/.cache/huggingface"
    gguf: str | None = None
    mmproj: str | None = None
    parallel: int = 8
    ocr_error: bool = True
    port: int | None = None
    startup_seconds: float = 900.0
    linger_seconds: float = 45.0
    starts: int = 2
    extra_args: tuple[str, ...] = ()


@dataclass(frozen=True)
class ServerSettings:
    """Where the server is: at `endpoint`, or (None) to be started by `facts`."""

    endpoint: Endpoint | None
    facts: ServerFacts = field(default_factory=ServerFacts)
    wait_seconds: float = 60.0


# Keys of a host file's section `server` that are called otherwise here.
_FACT_NAMES = {"vllm_gpu_type": "gpu", "gpu_memory_utilization": "memory"}


def settings_from(config: Mapping[str, Any]) -> ServerSettings:
    """Return the settings in `config` (its sections `ocr` and `host`).

    Raises EngineUnavailableError for a URL or a fact that can't be meant.
    """
    section = config.get("ocr") or {}
    marker = section.get("marker") or {}
    host = dict((config.get("host") or {}).get("server") or {})
    where = host.pop("url", None) or section.get("server") or START
    wait = float(section.get("server_wait_seconds", ServerSettings.wait_seconds))
    if where != START:
        ocr_error = marker.get("ocr_error_url")
        endpoint = Endpoint(openai_url(where), openai_url(ocr_error) if ocr_error else None)
        return ServerSettings(endpoint, wait_seconds=wait)
    return ServerSettings(None, facts_from(host, marker.get("model")), wait)


def facts_from(host: Mapping[str, Any], model: str | None = None) -> ServerFacts:
    """Return the facts in a host file's section `server`. Raises EngineUnavailableError."""
    facts = {_FACT_NAMES.get(key, key): value for key, value in host.items()}
    unknown = sorted(set(facts) - set(ServerFacts.__dataclass_fields__))
    if unknown:
        known = sorted({*ServerFacts.__dataclass_fields__, *_FACT_NAMES, "url"} - {"gpu", "memory"})
        raise EngineUnavailableError(
            f"host file: unknown key {', '.join(unknown)} in server; known: {', '.join(known)}"
        )
    facts["gpu"] = str(facts.get("gpu", ServerFacts.gpu))
    facts["device"] = str(facts.get("device", ServerFacts.device))
    facts["extra_args"] = tuple(map(str, facts.get("extra_args", ())))
    if model is not None:
        facts["model"] = model
    found = ServerFacts(**facts)
    if found.kind not in ("vllm", "llamacpp"):
        raise EngineUnavailableError(
            f"host file: server.kind is {found.kind!r}; it can be vllm or llamacpp"
        )
    if found.kind == "llamacpp" and not (found.gguf and found.mmproj):
        raise EngineUnavailableError(
            "host file: server.kind llamacpp wants server.gguf and server.mmproj, the paths of "
            "the model's two files"
        )
    return found


def openai_url(url: str) -> str:
    """Return `url` as http(s)://host:port/…/v1, however it was written.

    A missing scheme is http; a slash or /v1 at the end may be there. Raises
    EngineUnavailableError for anything that isn't such an address.
    """
    text = url.strip()
    if "://" not in text:
        text = f"http://{text}"
    parts = urlsplit(text)
    try:
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number
        valid = False
    if not valid or parts.query or parts.fragment or any(char.isspace() for char in text):
        raise EngineUnavailableError(
            f"ocr.server is {url!r}; it can be `start` or a URL such as http://127.0.0.1:8000"
        )
    path = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}/v1"


def health_url(base: str) -> str:
    """Return the address at which the service with this base URL tells of its health."""
    return f"{base.removesuffix('/v1')}/health"


def fault(endpoint: Endpoint, model: str, seconds: float = PROBE_SECONDS) -> str | None:
    """Return in one line what is wrong with the services, None when they are well.

    The inference server must be healthy and serve `model`; no text is sent to it.
    """
    found = _fault_of(endpoint.inference, model, "the inference server", seconds)
    if found is None and endpoint.ocr_error:
        found = _fault_of(endpoint.ocr_error, OCR_ERROR_MODEL, "the ocr-error service", seconds)
    return found


def _fault_of(base: str, model: str, name: str, seconds: float) -> str | None:
    try:
        status, _ = _get(health_url(base), seconds)
        if status != 200:
            return f"{name} at {base} isn't well: {health_url(base)} answers {status}"
        status, body = _get(f"{base}/models", seconds)
        if status != 200:
            return f"{name} at {base} doesn't tell its model: {base}/models answers {status}"
        models = [str(item["id"]) for item in json.loads(body)["data"]]
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        return f"{name} at {base} can't be reached ({reason or type(error).__name__})"
    except (ValueError, KeyError, TypeError):
        return f"{name} at {base} answers what no such server does; is the address right?"
    if models[:1] != [model]:
        served = ", ".join(models) or "nothing"
        return f"{name} at {base} serves {served}, and {model} is wanted"
    return None


def _get(url: str, seconds: float) -> tuple[int, bytes]:
    # A server of one's own is never behind a proxy.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=seconds) as answer:
            return answer.status, answer.read(_MOST_BYTES)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code, b""


def wait_well(
    endpoint: Endpoint,
    model: str,
    seconds: float,
    say: Callable[[str], None] = lambda line: None,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> str | None:
    """Wait until the services are well; return None then, or the fault after `seconds`.

    Pauses grow from half a second to ten; `say` is told now and then.
    """
    deadline = time.monotonic() + seconds
    pause, told = _FIRST_PAUSE, time.monotonic()
    while (found := fault(endpoint, model)) is not None:
        left = deadline - time.monotonic()
        if left <= 0:
            return found
        if time.monotonic() - told >= _SAY_SECONDS:
            told = time.monotonic()
            say(f"{found}; waiting {left:.0f} s more")
        sleep(min(pause, left))
        pause = min(2 * pause, _LONGEST_PAUSE)
    return None
