"""One cluster for all tests of the module, and a site whose scans are extracted on it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest

from tests.needs import absent
from tests.slurm.minislurm import Cluster, Job, missing_programs
from tests.workflow.conftest import ROOT, Site

PROFILE = ("--profile", str(ROOT / "profiles" / "slurm"))
# The profile looks every 20 s; a test has no time for that.
QUICK = ("--slurm-init-seconds-before-status-checks", "4")
SCANS = 12  # three jobs of four pages
DOCKET = "CMS-2031-0003"
LIMIT = 600  # seconds; a Snakemake that waits for ever must fail the test


def phrase(number: int) -> str:
    """Return a sentence that only one scan has."""
    words = ("maple", "river", "stone", "cloud", "amber", "cedar", "north", "violet", "copper")
    return f"Our clinic on {words[number % 9]} {words[number // 9]} street supports the rule"


def letter(number: int) -> bytes:
    """Return a scan of one page that takes Tesseract about a second."""
    lines = [phrase(number) + "."]
    lines += [
        f"The proposed rate leaves line {row} of our budget without cover this year."
        for row in range(24)
    ]
    with pymupdf.open() as typed, pymupdf.open() as scan:
        page = typed.new_page(width=612, height=792)
        for row, line in enumerate(lines):
            page.insert_text((72, 80 + 24 * row), line, fontsize=12)
        picture = page.get_pixmap(dpi=150, colorspace=pymupdf.csGRAY)
        scan.new_page(width=612, height=792).insert_image((0, 0, 612, 792), pixmap=picture)
        return scan.tobytes(deflate=True)


@pytest.fixture(scope="session")
def cluster():
    missing = missing_programs()
    if missing:
        absent("slurm", f"not installed: {', '.join(missing)} (Debian's slurm-wlm and munge)")
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def idle_cluster(cluster):
    """The cluster with all its nodes up and nothing to do."""
    cluster.restore()
    yield cluster
    cluster.restore()


@pytest.fixture(scope="session")
def extraction(cluster, tmp_path_factory) -> tuple[Site, subprocess.CompletedProcess[str]]:
    """A site of scans, and the run that extracted them on the cluster."""
    site = Site(tmp_path_factory.mktemp("slurm"), cluster.environment())
    for number in range(SCANS):
        site.comment(f"{DOCKET}-{number + 1:04d}", a1_pdf=letter(number))
    site.bodies({})
    (site.root / "small.yaml").write_text("shard: {comments: 4}\n")
    run = site.run("extract_all", *PROFILE, *QUICK, "--configfile", "small.yaml")
    return site, run


@pytest.fixture
def scans(extraction, tmp_path) -> Site:
    """A copy of the site whose scans wait for OCR."""
    made, run = extraction
    assert run.returncode == 0, run.stdout
    site = Site(tmp_path, made.environment)
    shutil.copytree(made.state, site.state)
    site.bodies({})
    return site


class OcrRun:
    """`snakemake --profile slurm ocr`, running."""

    def __init__(self, site: Site, *arguments: str) -> None:
        self.site = site
        self._log = site.root / "snakemake.log"
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                site.command(*PROFILE, *QUICK, "ocr", *arguments),
                cwd=site.root,
                env=site.env(),
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> OcrRun:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def output(self) -> str:
        return self._log.read_text()

    def wait(self) -> int:
        """Return the exit code once it has ended by itself."""
        return self._process.wait(LIMIT)

    def until(self, done: Callable[[], object], what: str) -> None:
        """Wait for `done`; fail when the run ends before."""
        deadline = time.monotonic() + LIMIT
        while not done():
            assert self._process.poll() is None, f"ended before {what}:\n{self.output}"
            assert time.monotonic() < deadline, f"waited in vain for {what}:\n{self.output}"
            time.sleep(0.05)

    def job_on(self, cluster: Cluster, node: str) -> Job:
        """Return the job that runs on `node`, once one of its pages is in the store."""
        found: list[Job] = []

        def started() -> bool:
            found[:] = [
                job for job in cluster.jobs() if job.node == node and job.state == "RUNNING"
            ]
            return bool(found)

        self.until(started, f"a job runs on {node}")
        self.until(lambda: self.stored(found[0]) >= 1, f"a page is read on {node}")
        return found[0]

    def stored(self, job: Job) -> int:
        """Return how many of a job's files have a result."""
        hashes = self._hashes(job)
        return sum(any((self.site.state / "_ocr" / h[:2]).glob(f"{h}.*.json")) for h in hashes)

    def size(self, job: Job) -> int:
        """Return how many files a job reads."""
        return len(self._hashes(job))

    def _hashes(self, job: Job) -> list[str]:
        from regcomments.ocr.queue import read_rows

        generation, part = job.comment.rpartition("wildcards_")[2].split("_")
        (rows,) = Path(self.site.root, ".shards").glob(f"*/ocr/{generation}/rows/{part}.jsonl")
        return [row.sha256 for row in read_rows(rows)]
