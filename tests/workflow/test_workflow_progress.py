"""Progress of real runs: lines that rewrite themselves on a terminal, plain ones in a pipe."""

import os
import re
import signal
import time

import pytest

from tests.terminals import run_on_terminal, shown

pytestmark = pytest.mark.slow

AT_WORK = re.compile(rb": \d+/\d+ comments, ")
SLOW = "\n".join(f"Line {number} of a long letter about the rule." for number in range(400))


def fill(site, comments: int = 600) -> None:
    """Enough for two shards that take some seconds each, every file another one."""
    for docket in ("CMS-2032-0001", "CMS-2032-0002"):
        for number in range(comments):
            site.comment(f"{docket}-{number:04d}", a1_html=f"<p>{docket} {number}</p>{SLOW}")
    site.bodies({})


def on_terminal(site, see=lambda process, out: None):
    command = site.command("-j", "2", "extract_all", config=("shard={'comments': 300}",))
    return run_on_terminal(command, site.root, site.env(), see=see)


def test_a_terminal_shows_each_job_and_keeps_every_line(site):
    fill(site)
    code, out = on_terminal(site)
    lines = shown(out)
    assert code == 0, "\n".join(lines)
    drawn = out.decode()
    assert re.search(r"  CMS-2032-000[12](?: to 0002)?: \d+/\d+ comments, ", drawn)
    assert "in all " in drawn and " of 1206 comments" in drawn
    assert not [line for line in lines if line.startswith("  in all ")]  # the block has gone
    assert [line for line in lines if line.endswith("steps (100%) done")]
    assert sum(line.startswith("Finished jobid") for line in lines) == sum(
        ": done, " in line for line in lines
    ) + len(["extract_all"])
    assert "  ok                                1205" in lines
    log = "\n".join(path.read_text() for path in site.root.glob("logs/extract_shard/**/*.log"))
    assert "\x1b" not in log
    assert log.count(": done, ") == sum(": done, " in line for line in lines)


def test_a_pipe_gets_plain_lines(site):
    fill(site, 20)
    done = site.run("-j", "2", "extract_all", TERM="xterm")
    assert done.returncode == 0, done.stdout
    assert "\x1b[" not in done.stdout
    assert "\r" not in done.stdout
    assert "; in all 46 of 46 comments" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_gives_the_terminal_back(site, number):
    fill(site, 3000)
    sent = []

    def see(process, out):
        if AT_WORK.search(out) and not sent:
            sent.append(time.monotonic())
            os.kill(process.pid, number)

    code, out = on_terminal(site, see)
    lines = shown(out)
    assert sent, "\n".join(lines)
    assert code != 0
    assert not [line for line in lines if line.startswith("  in all ")], "\n".join(lines)
    assert [line for line in lines if "Complete log" in line or "Terminating" in line]
    assert site.run("-j", "2", "extract_all").returncode == 0


def test_jobs_go_on_when_the_main_process_is_killed(site):
    fill(site, 1500)
    killed = []

    def see(process, out):
        if AT_WORK.search(out) and not killed:
            killed.append(process.pid)
            done = len(list(site.state.glob("C*/*/combined.md")))
            os.kill(process.pid, signal.SIGKILL)
            time.sleep(4)
            assert len(list(site.state.glob("C*/*/combined.md"))) > done

    on_terminal(site, see)
    assert killed
    receipts = list(site.root.glob(".shards/*/extract/*/*/*.json"))
    assert receipts  # the shards at work ended well, although nobody listened
    again = site.run("-j", "2", "extract_all")
    assert again.returncode == 0, again.stdout
