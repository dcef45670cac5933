"""What reading costs on this side, the server's answers left out."""

import hashlib
import subprocess
import textwrap
import time
from dataclasses import replace

import pytest
from regcomments.ocr.engines import make as make_engine
from regcomments.ocr.judge import judge
from regcomments.ocr.marker_check import sample_pdf
from regcomments.ocr.source import FileSource, PageProcess

from tests.marker.conftest import PYTHON, Standin, config, free_port

PAGES = 16
PACE = 1.0  # seconds in which the card reads a page
MOST_COST = 0.10


@pytest.fixture
def paced():
    running = Standin(free_port(), pace=PACE)
    running.start()
    yield running
    running.stop()


def test_client_costs_a_tenth_of_a_page_s_time_at_most(paced, tmp_path):
    """At one page a second: pages come from the engine as fast as from the card.

    From the first page to the last, since a job has hundreds: while the card reads one page, the
    next is being drawn and packed by another process.
    """
    engine = make_engine(config(paced.url, marker={"workers": 3}))
    data = sample_pdf(PAGES + 3)
    path = tmp_path / "pages.pdf"
    path.write_bytes(data)
    with PageProcess() as process:
        digest = hashlib.sha256(data).hexdigest()
        source = FileSource(process, path, "", path.name, digest, (1, 2, 3))
        list(engine.read(source))  # all processes are up now
        rest = replace(source, pages=tuple(range(4, PAGES + 4)))
        times = []
        for result in engine.read(rest):
            judge(result, result.ink or source.ink(result.number))
            times.append(time.monotonic())
    engine.close()
    cost = (times[-1] - times[0]) / (PAGES - 1) / PACE - 1
    print(f"{PAGES} pages, {times[-1] - times[0]:.2f} s: the client adds {cost:.1%}")
    assert cost <= MOST_COST


def test_quicker_steps_do_what_surya_s_own_do(tmp_path):
    """Run by the marker environment's Python: blank or not, and the image that is sent."""
    child = tmp_path / "compare.py"
    child.write_text(
        textwrap.dedent(
            """
            import base64, importlib.util, io, sys
            import numpy as np
            from PIL import Image
            spec = importlib.util.spec_from_file_location("child", sys.argv[1])
            child = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(child)
            from surya.common.blank import is_blank_region
            from surya.inference.util import scale_to_fit

            rng = np.random.default_rng(7)
            images = [Image.new("RGB", (0, 4)), Image.new("RGB", (5, 5), (200, 50, 50))]
            for base in (255, 250, 245, 244, 128, 0):
                for spread in (0, 3, 7, 8, 9, 30):
                    for share in (0.0, 0.005, 0.0099, 0.0101, 0.05):
                        grey = base + rng.integers(-spread, spread + 1, (60, 80, 1))
                        grey = np.repeat(grey.clip(0, 255), 3, 2).astype("uint8")
                        grey[rng.random((60, 80)) < share] = 0
                        images.append(Image.fromarray(grey))
                        colour = grey.copy()
                        colour[..., rng.integers(3)] //= 2
                        images.append(Image.fromarray(colour))
            kinds = set()
            for image in images:
                wanted = is_blank_region(image)
                kinds.add(wanted)
                assert child.is_blank(image) == wanted, np.asarray(image).mean((0, 1))
                if min(image.size) == 0:
                    continue
                sent = Image.open(
                    io.BytesIO(base64.b64decode(child.encode(scale_to_fit(child.without_colour(image)))))
                ).convert("RGB")
                assert (np.asarray(sent) == np.asarray(scale_to_fit(image))).all()
            assert kinds == {True, False}
            print(len(images))
            """
        )
    )
    program = __import__("regcomments.ocr.marker_process", fromlist=["CHILD"]).CHILD
    run = subprocess.run(
        [str(PYTHON), "-P", str(child), str(program)], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 300
