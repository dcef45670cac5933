"""What some tests need of the machine: without it they are skipped, or fail where they must run."""

from __future__ import annotations

import os

import pytest

REQUIRE = "REGCOMMENTS_REQUIRE"  # needs whose tests must run, with commas: slurm,marker


def required(need: str) -> bool:
    """Return whether the tests with this need must run here."""
    return need in os.environ.get(REQUIRE, "").replace(",", " ").split()


def absent(need: str, reason: str) -> None:
    """Skip the test that asks; fail it where the need is required."""
    if required(need):
        pytest.fail(f"{reason} ({REQUIRE} names {need})", pytrace=False)
    pytest.skip(reason)
