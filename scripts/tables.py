"""Rule tables: _cells.parquet over every tables.json."""

import argparse
import sys
from pathlib import Path

from regcomments.tables.store import rebuild_cells


def main(arguments: list[str] | None = None) -> int:
    """Gather the cells; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, required=True)
    job = parser.parse_args(arguments)
    rebuilt = rebuild_cells(job.state)
    for name in rebuilt.damaged:
        print(f"damaged, left out: {name}", file=sys.stderr)
    print(f"{rebuilt.files} files with tables, {rebuilt.cells} cells", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
