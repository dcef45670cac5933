"""Rule ocr: say what became of the pages asked for; exit 1 when some are not done."""

import argparse
import sys
from pathlib import Path

from regcomments.ocr.plan import closing_lines


def main(arguments: list[str] | None = None) -> int:
    """Print the counts; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queue", type=Path, required=True)
    job = parser.parse_args(arguments)
    lines, undone = closing_lines(job.queue.parent)
    print("\n".join(lines), file=sys.stderr)
    return 1 if undone else 0


if __name__ == "__main__":
    sys.exit(main())
