"""Write the table of keys in config/README.md from the schema; `--check` only compares."""

import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "config" / "README.md"
HEAD = "| key | default | meaning |\n|---|---|---|\n"


def table() -> str:
    """Return the rows of the table."""
    schema = yaml.safe_load((ROOT / "config" / "config.schema.yaml").read_text("utf-8"))
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text("utf-8"))
    return "".join(_rows(schema["properties"], config, ""))


def _rows(properties: dict, values: dict, prefix: str) -> Iterator[str]:
    for key, rule in properties.items():
        name, value = prefix + key, values.get(key)
        if "properties" in rule:
            yield from _rows(rule["properties"], value or {}, f"{name}.")
            continue
        shown = "" if value is None else f"`{value}`"
        if isinstance(value, list):
            shown = f"`[{', '.join(map(str, value))}]`"
        text = " ".join(rule["description"].split()).replace("|", "\\|")
        yield f"| `{name}` | {shown} | {text} |\n"


def main() -> int:
    """Write or check the table; returns the exit code."""
    old = README.read_text("utf-8")
    before, _, after = old.partition(HEAD)
    rest = after[after.index("\n\n") + 1 :] if "\n\n" in after else ""
    new = before + HEAD + table() + rest
    if "--check" in sys.argv:
        return 0 if new == old else 1
    README.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
