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
_FACT_KEYS = {name: key for key, name in _FACT_NAMES.items()}
_INF = float("inf")
# Least and most of the facts that are numbers; those that may be None are left to be derived.
_WHOLE = {
    "max_num_seqs": (1, _INF),
    "max_num_batched_tokens": (1, _INF),
    "max_model_len": (1, _INF),
    "mtp_tokens": (0, _INF),
    "parallel": (1, _INF),
    "port": (1, 65535),
    "starts": (1, _INF),
}
_NUMBERS = {"memory": (0.01, 1.0), "startup_seconds": (0, _INF), "linger_seconds": (0, _INF)}
_MAY_BE_NONE = ("max_num_seqs", "max_num_batched_tokens", "port", "gguf", "mmproj")
_WORDS = ("model", "image", "binary", "dtype", "cache", "gguf", "mmproj")


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
    if model is not None:
        facts["model"] = model
    for name, value in facts.items():
        wanted = _wrong(name, value)
        if wanted:
            key = _FACT_KEYS.get(name, name)
            raise EngineUnavailableError(f"host file: server.{key} is {value!r}; it is {wanted}")
    facts["extra_args"] = tuple(map(str, facts.get("extra_args", ())))
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


def _wrong(name: str, value: object) -> str | None:
    """Return what fact `name` of a host file has to be when it isn't `value`."""
    if value is None and name in _MAY_BE_NONE:
        return None
    if name in _WHOLE or name in _NUMBERS:
        least, most = {**_WHOLE, **_NUMBERS}[name]
        right = type(value) is int or (name in _NUMBERS and type(value) is float)
        if right and least <= value <= most:
            return None
        kind = "a whole number" if name in _WHOLE else "a number"
        return f"{kind} from {least}" + (f" to {most}" if most < _INF else "")
    if name in _WORDS:
        # A leading dash would be taken for an option of the program that it is given to.
        right = isinstance(value, str) and value and not value.startswith("-")
        return None if right else "a text that doesn't start with a dash"
    if name == "extra_args":
        return None if isinstance(value, list | tuple) else "a list, one argument an item"
    if name == "ocr_error":
        return None if isinstance(value, bool) else "true or false"
    return None


def openai_url(url: str) -> str:
    """Return `url` as http(s)://host:port/…/v1, however it was written.

    A missing scheme is http; a slash or /v1 at the end may be there. Raises
    EngineUnavailableError for anything that isn't such an address. One with a name or password is
    none: it would stand in logs, and neither the health checks nor surya would use it.
    """
    text = str(url).strip()
    if "://" not in text:
        text = f"http://{text}"
    try:
        parts = urlsplit(text)
        valid = (
            isinstance(url, str)
            and parts.scheme in ("http", "https")
            and parts.hostname
            and parts.port != 0
            and "@" not in parts.netloc
            and not (parts.query or parts.fragment)
        )
    except ValueError:  # a port that is no number, brackets that don't close
        valid = False
    if not valid or any(char.isspace() for char in text):
        # What may hold a password or a key isn't repeated.
        shown = "an address with more than host, port and path" if set(text) & set("@?#") else url
        raise EngineUnavailableError(
            f"ocr.server is {shown!r}; it can be `start` or a URL such as http://127.0.0.1:8000"
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
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"{name} at {base} answers what no such server does; is the address right?"
    if models[:1] != [model]:
        served = "".join(c if c.isprintable() else "?" for c in ", ".join(models)[:200])
        served = served or "nothing"
        return f"{name} at {base} serves {served}, and {model} is wanted"
    return None


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a server of one's own answers itself."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _get(url: str, seconds: float) -> tuple[int, bytes]:
    # A server of one's own is never behind a proxy.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay())
    deadline = time.monotonic() + seconds
    body = bytearray()
    try:
        with opener.open(url, timeout=seconds) as answer:
            # The timeout bounds a wait for the next bytes, not the waits together.
            while len(body) < _MOST_BYTES and (piece := answer.read1(_MOST_BYTES - len(body))):
                body += piece
                if time.monotonic() > deadline:
                    raise TimeoutError(f"no whole answer within {seconds:g} s")
            return answer.status, bytes(body)
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
