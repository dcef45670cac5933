"""The configuration as typed records, checked against config/config.schema.yaml."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from regcomments.errors import UserError
from regcomments.read.limits import WorkerLimits
from regcomments.read.options import ReadOptions

_STRINGS = ("state", "bib", "docket", "redo", "host", "partition")


@dataclass(frozen=True)
class BibColumns:
    """Table and columns of the database of inline bodies."""

    table: str = "items"
    id: str = "id"
    body: str = "abstract"


@dataclass(frozen=True)
class Settings:
    """What a job needs to know; travels to it as JSON (`to_json`, `from_json`)."""

    state: str
    bib: str
    bib_columns: BibColumns = field(default_factory=BibColumns)
    read: Mapping[str, Any] = field(default_factory=dict)
    pdf_tables: str = "pipe"
    ocr: Mapping[str, Any] = field(default_factory=dict)
    host: Mapping[str, Any] = field(default_factory=dict)
    hosts: Sequence[Mapping[str, Any]] = ()
    partition: str = "share"
    docket: str | None = None
    settle_seconds: int = 0

    def limits(self) -> WorkerLimits:
        """Return the bounds of the reading process."""
        keys = ("seconds", "seconds_per_page", "max_seconds", "memory_mb")
        return WorkerLimits(**{key: self.read[key] for key in keys if key in self.read})

    def options(self) -> ReadOptions:
        """Return the limits and choices for readers."""
        keys = ("max_pages", "max_members", "max_member_depth")
        chosen = {key: self.read[key] for key in keys if key in self.read}
        if "max_mb" in self.read:
            chosen["max_bytes"] = self.read["max_mb"] * 1_000_000
        return ReadOptions(**chosen, pdf_tables=self.pdf_tables)

    def host_here(self, node: str | None = None) -> Mapping[str, Any]:
        """Return the facts of the GPU host that reads pages.

        That is the profile's host; without one the Slurm node `node` (default: where this process
        runs) when config/hosts has a file of its name; else nothing.
        """
        if self.host:
            return self.host
        node = node or os.environ.get("SLURMD_NODENAME")
        return next((facts for facts in self.hosts if facts["name"] == node), {})

    def to_json(self) -> str:
        """Return the settings on one line, keys sorted."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Return what `to_json` wrote."""
        raw = json.loads(text)
        return cls(**{**raw, "bib_columns": BibColumns(**raw["bib_columns"])})


def check_config(config: dict[str, Any], schema_path: Path) -> None:
    """Check `config` against the schema, in place: `docket=2023` on a command line is a string.

    Raises UserError with every fault on a line of its own, each naming the key and what it takes.
    """
    import yaml
    from jsonschema import Draft202012Validator

    for key in _STRINGS:
        if config.get(key) is not None and not isinstance(config[key], str | dict | list):
            config[key] = str(config[key])
    if config.get("bib") is None:
        config["bib"] = "none"
    schema = yaml.safe_load(schema_path.read_text("utf-8"))
    _read_numbers(config, schema)
    errors = sorted(Draft202012Validator(schema).iter_errors(config), key=lambda e: list(e.path))
    if errors:
        lines = "\n".join(f"  {_explain(error)}" for error in errors)
        raise UserError(f"the configuration is wrong (see config/README.md):\n{lines}")


def _read_numbers(config: dict[str, Any], schema: Mapping[str, Any]) -> None:
    """Turn strings into the numbers and truth values that the schema asks for, where they are.

    `--config 'ocr={"dpi": 300}'` reaches us with every value a string.
    """
    for key, about in schema.get("properties", {}).items():
        value = config.get(key)
        if isinstance(value, dict):
            _read_numbers(value, about)
        kinds = about.get("type", ())
        kinds = {kinds} if isinstance(kinds, str) else set(kinds)
        if isinstance(value, str) and not kinds & {"string", "object", "array"}:
            with contextlib.suppress(ValueError):  # left as it is, for the schema to complain of
                config[key] = json.loads(value.lower())


def make_settings(
    config: Mapping[str, Any],
    host: Mapping[str, Any] | None = None,
    hosts: Sequence[Mapping[str, Any]] = (),
) -> Settings:
    """Return the settings in a checked `config`, with the facts of this GPU host and of all."""
    return Settings(
        state=config["state"],
        bib=config["bib"],
        bib_columns=BibColumns(**config.get("bib_columns", {})),
        read=dict(config.get("read", {})),
        pdf_tables=config.get("pdf", {}).get("tables", "pipe"),
        ocr=dict(config.get("ocr", {})),
        host=dict(host or {}),
        hosts=tuple(hosts),
        partition=config.get("partition", "share"),
        docket=config.get("docket"),
        settle_seconds=config.get("settle_seconds", 0),
    )


def _explain(error: Any) -> str:
    where = ".".join(str(part) for part in error.path) or "configuration"
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        unknown = [key for key in error.instance if key not in known]
        hints = []
        for key in unknown:
            close = difflib.get_close_matches(str(key), known, n=1)
            hints.append(f"{key!r}" + (f" (did you mean {close[0]!r}?)" if close else ""))
        inside = "" if not error.path else f" in {where}"
        return f"unknown key {', '.join(hints)}{inside}; known keys: {', '.join(known)}"
    about = error.schema.get("description", "")
    return f"{where}: {error.message}. {about}".strip()
