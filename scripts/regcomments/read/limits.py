"""Bounds on reading one attachment in a worker process."""

from __future__ import annotations

import resource
from dataclasses import dataclass


@dataclass(frozen=True)
class WorkerLimits:
    """Bounds on reading one attachment.

    `seconds` plus `seconds_per_page` times the page count, at most `max_seconds`, is the deadline
    (wall clock). `memory_mb` bounds the address space, `scratch_mb` any one file written.
    """

    seconds: float = 60.0  # a DOCX of 12 pages took over 60 s in three libraries, ours 0.1 s
    seconds_per_page: float = 2.0  # 0.3 s for a suspect page, with room for a busy machine
    max_seconds: float = 1800.0
    memory_mb: int = 2048
    scratch_mb: int = 1024

    def deadline(self, pages: int) -> float:
        """Return the seconds that a file of `pages` pages may take."""
        return min(self.max_seconds, self.seconds + self.seconds_per_page * pages)


def restrict(memory_mb: int, scratch_mb: int) -> None:
    """Bound this process's address space and any file it writes, in MB; no core dumps."""
    for kind, wanted in (
        (resource.RLIMIT_AS, memory_mb << 20),
        (resource.RLIMIT_FSIZE, scratch_mb << 20),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        # An ordinary user may not raise a limit that the shell has set lower.
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (most, most))
