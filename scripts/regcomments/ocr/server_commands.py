"""Command lines of the servers that marker needs, built from a host's facts: pure functions."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Sequence

from regcomments.ocr.engines import EngineUnavailableError
from regcomments.ocr.server import ServerFacts

LABEL = "regcomments.keeper"  # container label with the process id of the keeper that runs it
CONTAINER_PORT = 8000  # on which vLLM listens inside its container
# Memory in GB of the cards that surya 0.22 knows by name, and its rule: limits in proportion to
# a 24 GB card with 8192 tokens in a batch and 32 sequences.
CARDS_GB = {
    "b300": 270,
    "b200": 180,
    "h200": 141,
    "h100": 80,
    "a100-80": 80,
    "a100": 40,
    "a100-40": 40,
    "l40s": 48,
    "a10": 24,
    "l4": 24,
    "5090": 32,
    "4090": 24,
    "3090": 24,
    "t4": 16,
}
_BASE_GB, _BASE_TOKENS, _BASE_SEQUENCES = 24, 8192, 32
_SECRET = re.compile(r"(^|[-_])(api-?key|key|token|secret|password)$", re.IGNORECASE)
# Pixels of a page image: the least and the most that the model takes.
_PIXELS = {"min_pixels": 3136, "max_pixels": 6291456}


def card_limits(facts: ServerFacts) -> tuple[int, int]:
    """Return tokens in a batch and sequences at once, from the facts or from the card.

    Raises EngineUnavailableError for a card without a known size when a limit is missing.
    """
    tokens, sequences = facts.max_num_batched_tokens, facts.max_num_seqs
    if tokens is not None and sequences is not None:
        return tokens, sequences
    memory = CARDS_GB.get(facts.gpu)
    if memory is None:
        raise EngineUnavailableError(
            f"host file: server.vllm_gpu_type is {facts.gpu!r}; known: {', '.join(CARDS_GB)}. For "
            "another card name the nearest, or set max_num_seqs and max_num_batched_tokens"
        )
    share = memory / _BASE_GB
    by_card = max(1024, 2 ** math.floor(math.log2(_BASE_TOKENS * share)))
    at_once = max(8, int(_BASE_SEQUENCES * share) // 8 * 8)
    return tokens or by_card, sequences or at_once


def vllm_command(facts: ServerFacts, port: int, name: str, keeper: int) -> list[str]:
    """Return the `docker run` of vLLM that stays in the foreground and removes its container.

    The port is bound on this host only. `name` is the container's, `keeper` goes into a label.
    """
    tokens, sequences = card_limits(facts)
    guess = {"method": "mtp", "num_speculative_tokens": facts.mtp_tokens}
    speculative = ["--speculative-config", json.dumps(guess)] if facts.mtp_tokens else []
    return [
        *("docker", "run", "--rm", "--name", name, "--label", f"{LABEL}={keeper}"),
        *("--runtime", "nvidia", "--gpus", f"device={facts.device}", "--ipc=host"),
        *("-v", f"{os.path.expanduser(facts.cache)}:/models", "-e", "HF_HOME=/models"),
        *("-p", f"127.0.0.1:{port}:{CONTAINER_PORT}"),
        facts.image,
        *("--model", facts.model, "--served-model-name", facts.model),
        *("--dtype", facts.dtype, "--max-model-len", str(facts.max_model_len)),
        *("--max-num-seqs", str(sequences), "--max-num-batched-tokens", str(tokens)),
        *("--gpu-memory-utilization", f"{facts.memory:g}"),
        *("--enable-prefix-caching", "--no-enforce-eager"),
        *("--mm-processor-kwargs", json.dumps(_PIXELS)),
        *speculative,
        *facts.extra_args,
    ]


def llama_command(facts: ServerFacts, port: int) -> list[str]:
    """Return the command of llama.cpp's server for the model files in the facts.

    Every slot has room for an image, the prompt and the longest answer (12,288 tokens).
    """
    return [
        *(facts.binary, "-m", os.path.expanduser(facts.gguf or "")),
        *("--mmproj", os.path.expanduser(facts.mmproj or ""), "--alias", facts.model),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--parallel", str(facts.parallel), "--ctx-size", str(12288 * facts.parallel)),
        *("-ngl", "99", "--jinja", *facts.extra_args),
    ]


def ocr_error_command(python: str, port: int) -> list[str]:
    """Return the command of surya's ocr-error service, run by the marker environment's Python."""
    return [python, "-m", "surya.ocr_error.server", "--host", "127.0.0.1", "--port", str(port)]


def without_secrets(command: Sequence[str]) -> list[str]:
    """Return `command` for a log: values of options named like a key or password are `***`."""
    shown: list[str] = []
    hide = False
    for word in command:
        name, equals, _ = word.partition("=")
        secret = word.startswith("-") and _SECRET.search(name) is not None
        shown.append("***" if hide else f"{name}=***" if secret and equals else word)
        hide = secret and not equals
    return shown


def stop_commands(name: str) -> list[list[str]]:
    """Return what ends a container by name, gently and then for certain."""
    return [["docker", "stop", "-t", "10", name], ["docker", "rm", "--force", name]]


def list_command() -> list[str]:
    """Return the command that lists the containers of keepers: name and keeper on each line."""
    form = '{{.Names}} {{.Label "' + LABEL + '"}}'
    return ["docker", "ps", "--all", "--filter", f"label={LABEL}", "--format", form]


def stale(listing: str, alive: Sequence[int]) -> list[str]:
    """Return the containers in the output of `list_command` whose keeper isn't in `alive`."""
    rows = [line.split() for line in listing.splitlines()]
    return [row[0] for row in rows if len(row) == 2 and row[1] not in map(str, alive)]
