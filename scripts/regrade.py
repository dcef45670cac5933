"""Rule regrade: apply a changed grading rule to the stored page facts.

Only comments in which a page's verdict changes are written anew.
"""

import argparse
import sys
from pathlib import Path

from regcomments.config import Settings
from regcomments.errors import UserError
from regcomments.index import rebuild
from regcomments.merge import merge_comments
from regcomments.regrade_run import comments_to_regrade


def main(arguments: list[str] | None = None) -> int:
    """Regrade; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, required=True)
    job = parser.parse_args(arguments)
    settings = Settings.from_json(job.settings.read_text("utf-8"))

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    try:
        changes, comments = comments_to_regrade(Path(settings.state), settings.docket)
        say(f"the rule judges {changes} pages otherwise, in {len(comments)} comments")
        report = merge_comments(settings, comments, settings.ocr.get("engine", ""), say)
    except UserError as error:
        say(f"error: {error}")
        return 2
    rebuild(Path(settings.state))
    say(f"regraded: {report.changed} of {report.comments} comments changed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
