"""Three hosts without a cluster: shares over one state, a lost host, results moved by a bucket."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from regcomments.combined import read
from regcomments.ocr.queue import read_rows

from tests.s3_server import BUCKET, CREDENTIALS, s3_server
from tests.workflow.conftest import ROOT, Site, scan_pdf

pytestmark = pytest.mark.slow

HOSTS = ("laptop", "rig", "rack")
SCANS = 12
TIMEOUT = 500  # seconds; three runs at once on two processors


def name(number: int) -> str:
    return f"CMS-2031-0001-{100 + number}"


def sentence(number: int) -> str:
    return f"Letter {number} from the clinic supports the floor."


@pytest.fixture
def state(site) -> Path:
    """The state folder of `site`, with scans that wait for OCR."""
    for number in range(SCANS):
        site.comment(name(number), a1_pdf=scan_pdf(sentence(number)))
    run = site.run("-j", "2", "extract_all")
    assert run.returncode == 0, run.stdout
    return site.state


class Clone(Site):
    """A host: a working directory of its own over a state that lies elsewhere."""

    def __init__(self, root: Path, shared: Path) -> None:
        super().__init__(root)
        self.shared = shared
        root.mkdir()
        self.bodies({})

    def command(self, *arguments: str, config: tuple[str, ...] = ()) -> list[str]:
        command = super().command(*arguments, config=config)
        return [f"state={self.shared}" if part == "state=comments" else part for part in command]

    def start(self, *arguments: str) -> subprocess.Popen:
        with open(self.root / "snakemake.log", "wb") as log:
            return subprocess.Popen(
                self.command(*arguments),
                cwd=self.root,
                env=self.env(),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def output(self) -> str:
        return (self.root / "snakemake.log").read_text()

    def pages(self) -> Counter[tuple[str, int]]:
        """How often each page (file hash, page) stands in the rows of this clone's jobs."""
        rows = [
            row
            for path in self.root.glob(".shards/*/ocr/*/rows/*.jsonl")
            for row in read_rows(path)
        ]
        return Counter((row.sha256, page) for row in rows for page in row.pages)


def profile(host: str) -> tuple[str, ...]:
    return ("--profile", str(ROOT / "profiles" / host))


def stored(state: Path) -> list[Path]:
    return [p for p in (state / "_ocr").rglob("*.json") if not p.name.startswith(".")]


def assert_all_read(state: Path) -> None:
    for number in range(SCANS):
        combined = read(state / "CMS-2031-0001" / name(number) / "combined.md")
        (entry,) = combined.head.attachments
        assert (entry.status, entry.ocr_pages, entry.ocr.pages) == ("ok", (), (1,))
        assert " ".join(combined.texts["attachment_1.pdf"].split()).count(sentence(number)) == 1
    assert len(stored(state)) == SCANS


def test_three_hosts_read_every_page_once_between_them(state, tmp_path_factory):
    base = tmp_path_factory.mktemp("hosts")
    clones = {host: Clone(base / host, state) for host in HOSTS}
    for host, site in clones.items():
        run = site.run("ocr", *profile(host), "-j", "1", "--until", "queue_ocr")
        assert run.returncode == 0, run.stdout
        assert f"queued for OCR: {SCANS} files, {SCANS} pages" in run.stdout
    shares = {host: site.pages() for host, site in clones.items()}
    assert sum(len(pages) for pages in shares.values()) == SCANS  # no gap …
    assert set(sum(shares.values(), Counter()).values()) == {1}  # … and no overlap
    assert len(shares["rig"]) > len(shares["laptop"]) > len(shares["rack"]) > 0

    runs = {host: site.start(*profile(host), "ocr", "-j", "1") for host, site in clones.items()}
    for host, run in runs.items():
        assert run.wait(TIMEOUT) == 0, clones[host].output
    assert_all_read(state)
    rest = clones["rack"].run("-n", "ocr")
    assert "queued for OCR: 0 files, 0 pages" in rest.stdout


def test_what_a_lost_host_left_is_read_by_another(state, tmp_path_factory):
    base = tmp_path_factory.mktemp("hosts")
    clones = {host: Clone(base / host, state) for host in HOSTS}
    lost = clones["rig"].start(*profile("rig"), "ocr", "-j", "1")
    deadline = time.monotonic() + TIMEOUT
    while not stored(state) and time.monotonic() < deadline:
        assert lost.poll() is None, clones["rig"].output
        time.sleep(0.02)
    os.killpg(lost.pid, signal.SIGKILL)
    lost.wait()
    assert 1 <= len(stored(state)) < SCANS
    for host in ("laptop", "rack"):
        run = clones[host].run(*profile(host), "-j", "2", "ocr")
        assert run.returncode == 0, run.stdout
    assert len(stored(state)) < SCANS, "rig's share was read, although nobody asked for it"

    run = clones["laptop"].run(*profile("laptop"), "ocr", "-j", "2", config=("partition=all",))
    assert run.returncode == 0, run.stdout
    assert_all_read(state)
    again = clones["rig"].run(*profile("rig"), "ocr", "-j", "2")  # no --unlock
    assert again.returncode == 0, again.stdout
    assert "queued for OCR: 0 files, 0 pages" in again.stdout


def regcomments(command: str, state: Path, endpoint: str) -> str:
    given = ["--state", str(state), "--bucket", BUCKET, "--endpoint", endpoint]
    run = subprocess.run(
        [sys.executable, "-m", "regcomments", command, *given],
        env={**os.environ, **CREDENTIALS},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_hosts_with_states_of_their_own_meet_in_a_bucket(site, state, tmp_path_factory):
    """Each host reads its share of its own copy; the results meet in a bucket, any host merges."""
    hosts = {host: Site(tmp_path_factory.mktemp(host)) for host in ("laptop", "rack")}
    for other in hosts.values():
        shutil.copytree(state, other.state)
        other.bodies({})
    hosts["rig"] = site
    with s3_server() as server:
        server.make_bucket()
        for host, at in hosts.items():
            run = at.run(*profile(host), "-j", "2", "ocr")
            assert run.returncode == 0, run.stdout
            regcomments("push", at.state, server.url)
        assert sum(len(stored(at.state)) for at in hosts.values()) == SCANS
        assert "next: snakemake merge_ocr" in regcomments("pull", state, server.url)
    run = site.run("-j", "1", "merge_ocr")
    assert run.returncode == 0, run.stdout
    assert_all_read(state)
    before = site.hashes()
    assert site.run("-j", "1", "merge_ocr").returncode == 0
    assert site.hashes() == before
