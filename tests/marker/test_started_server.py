"""`ocr.server: start`: the real marker reads from a server that was started for the run.

`docker` is a program on PATH that runs the stand-in as the container's one process.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pymupdf
import pytest
from regcomments.ocr import marker_check, marker_env
from regcomments.ocr.engines import make as make_engine

from tests.marker.conftest import HERE, PYTHON
from tests.marker.pages import LETTER, error_rate, letter_scan, lines_at, photograph, scan
from tests.marker.pages import draw as draw_page

DOCKER = f"""#!{sys.executable}
import os, sys
args = sys.argv[1:]
open(os.environ["FAKE_ROOT"] + "/docker.log", "a").write(" ".join(args) + "\\n")
if args[0] == "run":
    port = args[args.index("-p") + 1].split(":")[1]
    open(os.environ["FAKE_ROOT"] + "/pid", "w").write(str(os.getpid()))
    os.execv(sys.executable, [sys.executable, {str(HERE / "standin.py")!r}, "--port", port])
"""


@pytest.fixture
def docker(tmp_path, monkeypatch):
    """Fake docker on PATH; returns the folder of its log and its container's process id."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "docker"
    program.write_text(DOCKER)
    program.chmod(0o755)
    runtime = tempfile.mkdtemp(dir="/tmp")
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_ROOT", str(tmp_path))
    monkeypatch.setenv("OMP_THREAD_LIMIT", "1")
    yield tmp_path
    shutil.rmtree(runtime)


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 30
    while not gone(pid) and time.monotonic() < deadline:
        time.sleep(0.2)
    return gone(pid)


SERVER = {"vllm_gpu_type": "4090", "ocr_error": False, "linger_seconds": 1}


def start_config() -> dict:
    marker = {"python": str(PYTHON), "workers": 1}
    ocr = {"engine": "marker", "server": "start", "marker": marker}
    return {"ocr": ocr, "host": {"name": "rig", "server": SERVER}}


def test_pages_are_read_from_a_started_server_that_ends_with_the_run(case, docker):
    engine = make_engine(start_config())
    letter = case(letter_scan(2), 2)
    report = letter.read(engine)
    pid = int((docker / "pid").read_text())
    assert report.failures == []
    assert not gone(pid)
    for number, text in letter.texts(engine).items():
        assert error_rate(text, "\n".join(LETTER[number - 1])) <= 0.02
    engine.close()
    assert until_gone(pid)
    log = (docker / "docker.log").read_text()
    assert "--gpu-memory-utilization 0.8" in log
    assert "--max-num-seqs 32" in log


RUN = """
import json, sys
from pathlib import Path
from regcomments.ocr.engines import make
from regcomments.ocr.queue import Row
from regcomments.ocr.run import read_shard
config, state, row = json.loads(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
read_shard([Row(**{**row, "pages": tuple(row["pages"])})] , state, make(config))
"""


def test_run_that_is_killed_leaves_no_container(case, docker):
    import json
    from dataclasses import asdict

    letter = case(letter_scan(3), 3)
    job = subprocess.Popen(
        [
            *(sys.executable, "-c", RUN, json.dumps(start_config())),
            *(str(letter.state), json.dumps(asdict(letter.row))),
        ],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1] / "scripts")},
    )
    deadline = time.monotonic() + 60
    while not (docker / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    pid = int((docker / "pid").read_text())
    job.kill()
    job.wait()
    assert until_gone(pid)


@pytest.fixture(autouse=True)
def marker_python(monkeypatch):
    """Where the config names no Python, that of the tests is taken."""
    monkeypatch.setattr(marker_env, "find_python", lambda named: named or str(PYTHON))


def test_ocr_check_prints_speed_and_the_line_for_the_host_file(standin, capsys):
    code = marker_check.main(["--host", "rig", "--pages", "2", "--server", standin.url])
    out = capsys.readouterr().out
    assert code == 0, out
    assert "config/hosts/rig.yaml" in out
    last = out.strip().splitlines()[-1]
    name, value = last.split(": ")
    assert name == "pages_per_second"
    assert float(value) > 0


def test_ocr_check_without_a_server_is_one_clear_line(capsys):
    code = marker_check.main(["--pages", "1", "--server", "127.0.0.1:9"])
    assert code == 2
    assert "can't be reached" in capsys.readouterr().err


def test_ocr_check_tells_of_pages_read_wrongly(standin, capsys):
    standin.fault("garbage", "vlm")
    code = marker_check.main(["--pages", "1", "--server", standin.url])
    assert code == 1
    assert "don't use this server yet" in capsys.readouterr().out


def test_giant_page_is_read_at_a_bounded_resolution(case, standin, engine):
    """Eleven feet wide: at marker's 192 dpi its image would take 2.6 GB."""
    picture = photograph(draw_page(lines_at(72, LETTER[0])))
    with pymupdf.open(stream=scan(picture)) as small, pymupdf.open() as document:
        page = document.new_page(width=612 * 16, height=792 * 16)
        page.show_pdf_page(page.rect, small, 0)
        giant = case(document.tobytes(), 1)
    report = giant.read(engine)
    assert report.failures == []
    assert error_rate(giant.texts(engine)[1], "\n".join(LETTER[0])) <= 0.02
    (request,) = standin.requests("full_page")
    assert request["size"][0] * request["size"][1] <= 3072 * 2048
