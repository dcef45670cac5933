"""What reading costs on this side, the server's answers left out."""

import hashlib
import json
import os
import subprocess
import textwrap
import time
from dataclasses import replace

import psutil
import pymupdf
import pytest
from regcomments.ocr.engines import make as make_engine
from regcomments.ocr.judge import judge
from regcomments.ocr.marker_check import sample_pdf
from regcomments.ocr.marker_process import CHILD
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


def cpu_seconds(pids: list[int]) -> float:
    return sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)


def test_client_costs_a_tenth_of_a_page_s_time_at_most(paced, tmp_path):
    """At one page a second: pages come from the engine as fast as from the card.

    From the first request to the last page's text: while the card reads one page, the next is
    being drawn and packed by another process.
    """
    engine = make_engine(config(paced.url, marker={"workers": 3}))
    data = sample_pdf(PAGES + 3)
    path = tmp_path / "pages.pdf"
    path.write_bytes(data)
    with PageProcess() as process:
        digest = hashlib.sha256(data).hexdigest()
        source = FileSource(process, path, "", path.name, digest, (1, 2, 3))
        list(engine.read(source))  # all processes are up now
        paced.post("/_reset")
        rest = replace(source, pages=tuple(range(4, PAGES + 4)))
        readers = [each._process.pid for each in engine._processes]
        own = [os.getpid(), process._process.pid]
        before = cpu_seconds(readers), cpu_seconds(own)
        for result in engine.read(rest):
            judge(result, result.ink or source.ink(result.number))
        ended = time.monotonic()
        marker_cpu = (cpu_seconds(readers) - before[0]) / PAGES
        own_cpu = (cpu_seconds(own) - before[1]) / PAGES
    engine.close()
    taken = ended - min(request["at"] for request in paced.requests("full_page"))
    cost = taken / PAGES / PACE - 1
    print(
        f"{PAGES} pages, {taken:.2f} s: the client adds {cost:.1%}; CPU a page: {marker_cpu:.2f} s "
        f"in marker's processes, {own_cpu:.2f} s in the others"
    )
    assert 0 <= cost <= MOST_COST


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
    run = subprocess.run(
        [str(PYTHON), "-P", str(child), str(CHILD)], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 300


def drawn_pages() -> dict[str, bytes]:
    """Return PDFs of one page, by name; those of 609 by 787.5 points fit the model's grid."""
    pages = {}
    for name, size, rotate in (
        ("grey", (609, 787.5), 0),
        ("colour", (609, 787.5), 0),
        ("turned", (787.5, 609), 90),
        ("marked", (609, 787.5), 0),
        ("letter", (612, 792), 0),
        ("poster", (6120, 7920), 0),
    ):
        with pymupdf.open() as document:
            page = document.new_page(width=size[0], height=size[1])
            colour = (0.7, 0.1, 0.2) if name == "colour" else (0, 0, 0)
            unit = min(size) / 60
            place = (8 * unit, 12 * unit)
            page.insert_text(place, "A clinic of nine nurses", fontsize=3 * unit, color=colour)
            for end in (20, 45):
                page.draw_line(place, (50 * unit, end * unit), width=unit / 3, color=(0.4,) * 3)
            if name == "marked":
                page.add_freetext_annot((100, 400, 400, 460), "Received in May", fontsize=20)
            page.set_rotation(rotate)
            pages[name] = document.tobytes()
    return pages


def test_page_drawn_once_is_the_page_that_marker_draws(tmp_path):
    """To the pixel where the size is the model's already; else at the size surya scales to."""
    for name, data in drawn_pages().items():
        (tmp_path / f"{name}.pdf").write_bytes(data)
    program = tmp_path / "compare.py"
    program.write_text(
        textwrap.dedent(
            """
            import importlib.util, json, sys
            from pathlib import Path
            import numpy as np
            from marker.providers.pdf import PdfProvider
            from surya.inference.backends import openai_client
            spec = importlib.util.spec_from_file_location("child", sys.argv[1])
            child = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(child)
            scale, own = openai_client.scale_to_fit, PdfProvider._render_image
            drawing = child._speed_up()
            assert PdfProvider._render_image is drawing
            found = {}
            for path in sorted(Path(sys.argv[2]).glob("*.pdf")):
                dpi = child.page_dpi(path)
                drawing.begin(dpi)
                provider = PdfProvider(str(path), {"force_ocr": True, "page_range": [0]})
                (low,) = provider.get_images([0], 36)
                (high,) = provider.get_images([0], dpi)
                with provider.get_doc() as document:
                    wanted = own(document, 0, dpi, provider.flatten_pdf)
                scaled = scale(wanted)
                off = np.abs(np.asarray(high, int) - np.asarray(scaled)).mean()
                found[path.stem] = {
                    "same": wanted.size == high.size and bool((np.asarray(wanted) == high).all()),
                    "size": high.size == scaled.size,
                    "off": float(off),
                    "ink": float(255 - np.asarray(high).mean()),
                    "grey": getattr(high, "grey", None) is not None,
                    "low": abs(low.width - high.width * 36 / dpi) <= 1,
                    "modes": [low.mode, high.mode],
                    "sent": openai_client.scale_to_fit(high).mode,
                }
            print(json.dumps(found))
            """
        )
    )
    run = subprocess.run(
        [str(PYTHON), "-P", str(program), str(CHILD), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert set(found) == set(drawn_pages())
    for name, page in found.items():
        coloured = name in ("colour", "marked")
        assert page["same"] is (name not in ("letter", "poster")), name
        assert (page["size"], page["low"], page["modes"]) == (True, True, ["RGB", "RGB"]), name
        assert page["off"] < 0.1 * page["ink"], name
        assert page["grey"] is not coloured or name == "marked", name
        assert page["sent"] == ("L" if page["grey"] else "RGB"), name
