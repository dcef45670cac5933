"""Errors that a user can mend: one line that says what is wrong, why, and what to do next."""

from __future__ import annotations


class UserError(Exception):
    """What, why, what next. Programs print it without a traceback and exit with 2."""

    exit_code = 2
