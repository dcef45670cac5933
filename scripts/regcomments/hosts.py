"""The host files: facts about each GPU host, read and checked."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import yaml

from regcomments.errors import UserError

_KEYS = {"pages_per_second", "active", "gpu", "server"}


def load_facts(folder: Path) -> list[dict[str, Any]]:
    """Return the facts in the `*.yaml` files of `folder`, by file name.

    Each has `name` (of the file), `pages_per_second` (a number above 0) and `active`, and may have
    `gpu` (text) and `server`. Raises UserError that names the file and what is wrong with it.
    """
    return [_load(path) for path in sorted(folder.glob("*.yaml"))]


def _load(path: Path) -> dict[str, Any]:
    try:
        raw = yaml.safe_load(path.read_text("utf-8"))
        if not isinstance(raw, dict):
            raise ValueError("no keys with values")
        if unknown := set(raw) - _KEYS:
            raise ValueError(f"unknown: {', '.join(map(repr, sorted(unknown, key=str)))}")
        speed = float(raw["pages_per_second"])
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, RecursionError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise UserError(
            f"{path}: no usable host file ({reason}); it wants pages_per_second and may have "
            "active, gpu, server"
        ) from error
    active, server = raw.get("active", True), raw.get("server")
    if not (speed > 0 and math.isfinite(speed)) or not isinstance(active, bool):
        raise UserError(f"{path}: pages_per_second must be above 0, and active true or false")
    if not (server is None or isinstance(server, dict)):
        raise UserError(f"{path}: server must have keys with values, such as url")
    facts = {"name": path.stem, "pages_per_second": speed, "active": active}
    if raw.get("gpu") is not None:
        facts["gpu"] = str(raw["gpu"])
    return facts | ({"server": server} if server else {})
