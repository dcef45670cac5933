"""The block of progress lines on a terminal: what goes above it stays whole, then it goes."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from regcomments import live
from terminals import open_terminal, read_for, run_on_terminal, shown

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


def run(program: str, tmp_path: Path, **size: int) -> tuple[int, bytes]:
    head = """
        import os, subprocess, sys, time
        from regcomments.live import Live
    """
    code = textwrap.dedent(head) + textwrap.dedent(program)
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    return run_on_terminal([sys.executable, "-c", code], tmp_path, environment, seconds=30, **size)


def test_lines_of_all_processes_stay_whole_above_the_block(tmp_path):
    code, out = run(
        """
        count = 0
        def lines():
            global count
            count += 1
            return [f"job {n} at {count}" for n in range(count % 4)] + [f"in all {count}"]
        block = Live(lines, tick=0.02)
        for n in range(20):
            print(f"main {n}", file=sys.stderr, flush=True)
            subprocess.run(["sh", "-c", f"printf 'part '; sleep 0.03; echo 'sh {n}'; exit 0"],
                           stdout=2)
        block.stop()
        block.stop()
        print("after", file=sys.stderr)
        """,
        tmp_path,
    )
    assert code == 0
    expected = [line for n in range(20) for line in (f"main {n}", f"part sh {n}")]
    assert shown(out) == [*expected, "after", ""]
    assert b"job 2 at" in out and b"in all" in out


@pytest.mark.parametrize(
    "end",
    ["sys.exit(3)", "raise RuntimeError", "os.write(2, b'no end of line')"],
)
def test_nothing_is_lost_however_the_process_ends(tmp_path, end):
    code, out = run(
        f"""
        Live(lambda: ["one", "two"], tick=0.02)
        time.sleep(0.1)
        os.write(2, b"last words\\n")
        {end}
        """,
        tmp_path,
    )
    lines = shown(out)
    assert lines[0] == "last words"
    assert not {"one", "two"} & set(lines)
    assert code == {"s": 3, "r": 1, "o": 0}[end[0]]
    assert ("RuntimeError" in lines) == (end[0] == "r")
    assert ("no end of line" in lines) == (end[0] == "o")


def test_a_process_that_holds_the_pipe_does_not_hold_the_end(tmp_path):
    code, out = run(
        """
        block = Live(lambda: ["block"], tick=0.02)
        child = subprocess.Popen(["sleep", "20"])
        time.sleep(0.1)
        started = time.monotonic()
        block.stop()
        took = time.monotonic() - started
        child.kill()
        print("quick" if took < 4 else took)
        """,
        tmp_path,
    )
    assert (code, shown(out)) == (0, ["quick", ""])


def test_the_block_fits_the_terminal_whatever_it_says(tmp_path):
    code, out = run(
        """
        lines = ["\\x1b[2Jwide " + "漢" * 99] + [f"job {n} " + "x" * 99 for n in range(50)]
        block = Live(lambda: [*lines, "total"], tick=0.02)
        time.sleep(0.3)
        """,
        tmp_path,
        rows=12,
        columns=40,
    )
    assert code == 0
    assert b"\x1b[2J" not in out
    *drawn, up = out.split(b"\x1b[J")[-2].decode().split("\r\n")
    assert (len(drawn), up) == (6, "\x1b[6A")  # half of the rows
    assert drawn[-2:] == ["… and 47 more", "total"]
    assert all(len(line) <= 39 for line in drawn)
    assert drawn[0].endswith("…")


def test_a_fault_in_the_lines_is_shown_and_ends_nothing(tmp_path):
    code, out = run(
        """
        block = Live(lambda: 1 / 0, tick=0.02)
        time.sleep(0.1)
        block.stop()
        print("goes on", file=sys.stderr)
        """,
        tmp_path,
    )
    assert (code, shown(out)) == (0, ["goes on", ""])
    assert b"(progress: ZeroDivisionError" in out


@pytest.mark.parametrize(
    ("term", "terminal", "expected"),
    [("xterm", True, True), ("dumb", True, False), ("", True, False), ("xterm", False, False)],
)
def test_a_terminal_is_told_from_a_pipe(term, terminal, expected):
    ours, theirs = open_terminal()
    program = "from regcomments.live import is_terminal; print(is_terminal())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        stderr=theirs if terminal else subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SCRIPTS), "TERM": term},
    )
    os.close(theirs)
    read_for(ours, 0.01)
    os.close(ours)
    assert done.stdout.strip() == str(expected)


@pytest.mark.parametrize(
    ("line", "columns", "expected"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("漢字", 4, "漢字"),
        ("漢字x", 4, "漢…"),
        ("a\tb", 9, "a\ufffdb"),
    ],
)
def test_fit(line, columns, expected):
    assert live.fit(line, columns) == expected
