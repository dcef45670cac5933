""".ci/parts.py with a Makefile of the test's own: exit codes, what is printed, what is left."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.needs import REQUIRE, absent

PARTS = Path(__file__).resolve().parents[1] / ".ci" / "parts.py"
GOOD = {
    "setup-dev": "echo ready",
    "setup-marker": "echo marker ready",
    "lint": "echo no faults",
    "test": 'echo "7 passed, 1 skipped in 2.00s"',
    "test-slurm": 'echo "5 passed in 1.00s"',
    "test-marker": 'echo "9 passed in 3.00s"',
}

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")


def program(folder: Path, **recipes: str) -> list[str]:
    """Return the command that runs the parts with these recipes for some targets."""
    (folder / ".ci").mkdir()
    shutil.copy(PARTS, folder / ".ci")
    recipes = {name.replace("_", "-"): recipe for name, recipe in recipes.items()}
    lines = [f"{name}:\n\t@{recipe}\n" for name, recipe in {**GOOD, **recipes}.items()]
    (folder / "Makefile").write_text("\n".join(lines))
    return [sys.executable, str(folder / ".ci" / "parts.py")]


def run(folder: Path, **recipes: str) -> subprocess.CompletedProcess[str]:
    command = program(folder, **recipes)
    return subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120
    )


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_all_parts_well_ends_with_pytest_s_own_lines(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines()[-6:] if "passed" in line] == [
        "7 passed, 1 skipped in 2.00s",
        "5 passed in 1.00s",
        "9 passed in 3.00s",
    ]
    for name in GOOD:
        assert f"ci: {name}: exit 0" in done.stdout


@pytest.mark.parametrize("name", GOOD)
def test_any_part_that_fails_fails_the_whole(tmp_path, name):
    done = run(tmp_path, **{name: "echo bad luck; exit 3"})
    assert done.returncode == 1
    assert "bad luck" in done.stdout
    assert f"ci: {name}: exit 2" in done.stdout  # make's own


@pytest.mark.parametrize(
    ("setup", "left_out"),
    [
        ("setup-dev", ["lint", "test", "test-slurm", "test-marker"]),
        ("setup-marker", ["test-marker"]),
    ],
)
def test_parts_without_their_setup_are_named(tmp_path, setup, left_out):
    done = run(tmp_path, **{setup: "exit 1"})
    for name in left_out:
        assert f"ci: {name}:\nnot run: its setup failed" in done.stdout
    assert done.stdout.count("not run") == len(left_out)


def test_a_fault_in_one_set_of_tests_leaves_the_others_to_run(tmp_path):
    done = run(tmp_path, lint="exit 1", test_slurm='echo "1 failed in 1.00s"; exit 1')
    assert done.returncode == 1
    assert "7 passed" in done.stdout
    assert "9 passed" in done.stdout


@pytest.mark.slow
def test_daemon_that_a_part_leaves_is_ended(tmp_path):
    daemon = f"setsid -f sh -c 'echo $$$$ > {tmp_path}/pid; trap \"\" TERM; exec sleep 600'; "
    done = run(tmp_path, test=f"{daemon} sleep 0.5; echo '1 passed in 0.50s'")
    assert done.returncode == 0
    assert gone(int((tmp_path / "pid").read_text()))


def test_stopped_in_the_middle_tells_how_far_it_came_and_leaves_nothing(tmp_path):
    hang = f"echo $$$$ > {tmp_path}/pid; echo half done; exec sleep 600"
    started = subprocess.Popen(
        program(tmp_path, test_marker=hang), stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    started.send_signal(signal.SIGTERM)
    out, _ = started.communicate(timeout=60)
    assert started.returncode == 1
    assert "half done" in out
    assert "ci: test-marker:\nstopped before its end" in out
    assert gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("required", "outcome"),
    [("", "skip"), ("marker", "skip"), ("slurm", "fail"), ("marker,slurm", "fail")],
)
def test_what_must_run_fails_where_it_would_be_skipped(monkeypatch, required, outcome):
    monkeypatch.setenv(REQUIRE, required)
    kind = {"skip": pytest.skip.Exception, "fail": pytest.fail.Exception}[outcome]
    with pytest.raises(kind, match="no slurmctld"):
        absent("slurm", "no slurmctld")
