"""Errors that a user can mend: one line that says what is wrong, why, and what to do next."""

from __future__ import annotations

import errno


class UserError(Exception):
    """What, why, what next. Programs print it without a traceback and exit with 2."""

    exit_code = 2


def disk_is_full(error: OSError) -> bool:
    """True when a write failed for want of space or quota."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def full_disk(path: object) -> str:
    """Return the line that tells of a full disk."""
    return (
        f"no space left while writing {path}: make room and run the same command again; "
        "what is done stays done"
    )
