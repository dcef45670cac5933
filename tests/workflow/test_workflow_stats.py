"""Counts while a run goes on: they need no lock, do not wait, and add up at every moment."""

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.workflow.conftest import Site, scan_pdf

ALL = 6 + 2400
AT_WORK = re.compile(r"^At work +\d+ jobs.*\n +(CMS-\S+).*/\d+ comments", re.MULTILINE)


def counts(text: str) -> tuple[int, int]:
    """Comments done and pending."""
    match = re.search(r"^Comments +([\d,]+) done, ([\d,]+) pending", text, re.MULTILINE)
    assert match, text
    return tuple(int(number.replace(",", "")) for number in match.groups())


def started(site: Site, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        site.command(*arguments),
        cwd=site.root,
        env=site.env(),
        stdout=(site.root / "run.log").open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


@contextmanager
def held(run: subprocess.Popen):
    """Stop all processes of a run while looking at what it has done so far."""
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    own = []
    for pid in pids:
        with suppress(ProcessLookupError):
            if os.getsid(pid) == run.pid:
                own.append(pid)
    signal_all(own, signal.SIGSTOP)
    try:
        yield
    finally:
        signal_all(own, signal.SIGCONT)


def signal_all(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def wait_for_work(site: Site, run: subprocess.Popen) -> None:
    """Wait until some comments are done, and more than a job needs to say that it is at work."""
    while run.poll() is None and not (
        next(site.state.glob("CMS-2032-0001/*/combined.md"), None)
        and next(site.root.glob(".shards/**/*.running"), None)
    ):
        time.sleep(0.05)


@pytest.mark.slow
def test_counts_add_up_while_extraction_runs(site):
    for number in range(ALL - 6):
        text = f"<p>Letter {number}.</p>" + "<p>We ask you to keep the rule.</p>" * 300
        site.comment(f"CMS-2032-0001-{number:04d}", a1_html=text)
    run = started(site, "-j", "2", "extract_all")
    seen, named = [], []
    try:
        wait_for_work(site, run)
        with held(run):  # however slow the machine, it is in the middle of its work now
            told = site.run("-j", "1", "stats")
            assert told.returncode == 0, told.stdout
            seen.append(counts(told.stdout)[0])
            named += AT_WORK.findall(told.stdout)
        while run.poll() is None:
            begun = time.monotonic()
            told = site.run("-j", "1", "stats")
            assert told.returncode == 0, told.stdout
            assert time.monotonic() - begun < 60
            done, pending = counts(told.stdout)
            assert done + pending == ALL
            seen.append(done)
            named += AT_WORK.findall(told.stdout)
            planned = site.run("-n", "extract_all")
            assert planned.returncode == 0, planned.stdout
            match = re.search(r"pending in \d dockets?: (\d+) comments", planned.stdout)
            assert (int(match[1]) if match else 0) <= pending
        assert run.wait(60) == 0, (site.root / "run.log").read_text()
    finally:
        run.kill()
    assert seen == sorted(seen)
    assert any(0 < done < ALL for done in seen), seen
    assert named, seen
    told = site.run("-j", "1", "stats").stdout
    assert counts(told) == (ALL, 0)
    assert "At work" not in told


@pytest.mark.slow
def test_counts_add_up_while_ocr_runs(site):
    for number in range(6):
        site.comment(f"CMS-2033-0001-{number:04d}", a1_pdf=scan_pdf(f"Letter {number} of us."))
    assert site.run("-j", "2", "extract_all").returncode == 0
    run = started(site, "-j", "1", "ocr")
    waiting = []
    try:
        while run.poll() is None:
            told = site.run("-j", "1", "stats")
            assert told.returncode == 0, told.stdout
            assert counts(told.stdout) == (12, 0)
            read = int(re.search(r"pages, (\d+) by OCR", told.stdout)[1])
            wait = int(re.search(r"^OCR +(\d+) pages", told.stdout, re.MULTILINE)[1])
            assert read + wait == 6
            waiting.append(wait)
        assert run.wait(60) == 0, (site.root / "run.log").read_text()
    finally:
        run.kill()
    assert waiting == sorted(waiting, reverse=True)
    assert re.search(r"^OCR +0 pages", site.run("-j", "1", "stats").stdout, re.MULTILINE)
