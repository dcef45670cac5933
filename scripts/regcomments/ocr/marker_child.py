"""The program of a marker process: marker-pdf 2.x reads single pages on request.

Runs under the Python of the marker environment, so it imports only the standard library and
marker itself. Speaks JSON over a pair of pipes (see marker_process.py): the parent never
unpickles what a process that handles public files sends.
"""

from __future__ import annotations

import base64
import ctypes
import io
import json
import logging
import math
import os
import re
import resource
import signal
import sys
import time
import zlib
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1  # linux/prctl.h: signal for this process when its parent dies
_PAGE_MARK = re.compile(r"\{(\d+)\}-{48}\n*")  # marker's separator with paginate_output
_DPI = 192  # marker's default for reading
# Of a page image. The model is given 6.3 million at most; four times that leaves room to scale
# down, and 75 MB of memory.
_MOST_PIXELS = 25_000_000
_MOST_WARNINGS = 20  # kept of one page; a broken server logs one for each try of each block


class Listener(logging.Handler):
    """Keeps what surya and marker log: losses are told nowhere else."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep warnings, and the notes of text that surya threw away."""
        line = " ".join(record.getMessage().split())[:300]
        if record.levelno >= logging.WARNING or line.startswith("dropped "):
            self.lines = [*self.lines, line][-_MOST_WARNINGS:]


class Tap:
    """Stands in `generate` of surya's inference manager and notes what each request gave."""

    def __init__(self, manager: Any) -> None:
        self._generate = manager.generate
        self.answers: list[dict[str, Any]] = []
        self.seconds = 0.0
        manager.generate = self

    def __call__(self, batch: list[Any]) -> list[Any]:
        """Pass the batch on; keep kind, fault and raw text of every answer."""
        started = time.monotonic()
        outputs = self._generate(batch)
        self.seconds += time.monotonic() - started
        for item, output in zip(batch, outputs, strict=True):
            self.answers.append(
                {
                    "kind": item.prompt_type,
                    "error": bool(output.error),
                    "raw": output.raw,
                    "tokens": output.token_count,
                    "limit": item.max_tokens,
                    "probability": output.mean_token_prob,
                }
            )
        return outputs


class NoVerdict:
    """Takes the place of surya's ocr-error model where no such service runs.

    The model judges text layers, and with force_ocr marker reads none: every page goes to the
    inference server whatever the verdict.
    """

    disable_tqdm = True

    def __call__(self, texts: list[str], batch_size: int | None = None) -> Any:
        """Return `good` for every text."""
        from surya.ocr_error.schema import OCRErrorDetectionResult

        return OCRErrorDetectionResult(
            texts=list(texts), labels=["good"] * len(texts), scores=[0.0] * len(texts)
        )


class Drawing:
    """Takes the place of marker's `_render_image`: a page is drawn once, at the model's size.

    marker draws a page twice, the first time for the layout, which force_ocr leaves out; then
    surya scales the second picture by a hundredth to the grid of its model.
    """

    def __init__(self, fit: Callable[[int, int], tuple[int, int]]) -> None:
        """`fit` returns the width and height in pixels that surya would scale a picture to."""
        self._fit = fit
        self._dpi = _DPI
        self._drawn: Any = None

    def begin(self, dpi: int) -> None:
        """Forget the page before; the next is to be read at `dpi`."""
        self._dpi, self._drawn = dpi, None

    def __call__(self, pdf: Any, index: int, dpi: int, flatten: bool) -> Any:
        """Return page `index` (from 0) as a PIL image in RGB, its marks and form fields drawn."""
        if self._drawn is None:
            self._drawn = self._draw(pdf, index, flatten)
        if dpi >= self._dpi:
            return self._drawn
        smaller = (max(1, side * dpi // self._dpi) for side in self._drawn.size)
        return self._drawn.resize(tuple(smaller), resample=0)

    def _draw(self, pdf: Any, index: int, flatten: bool) -> Any:
        import pypdfium2
        import pypdfium2.raw as pdfium
        from marker.providers.pdf import flatten_pdf_page

        page = pdf[index]
        if flatten:
            flatten_pdf_page(page)
            page = pdf[index]
        sides = (max(1, math.ceil(side * self._dpi / 72)) for side in page.get_size())
        width, height = self._fit(*sides)
        bitmap = pypdfium2.PdfBitmap.new_native(width, height, pdfium.FPDFBitmap_BGR)
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, 0)
        if page.formenv:
            pdfium.FPDF_FFLDraw(page.formenv, bitmap, page, 0, 0, width, height, 0, 0)
        return picture(bitmap)


def picture(bitmap: Any) -> Any:
    """Return a bitmap of pypdfium2 as a PIL image in RGB; a grey one has itself in mode L as
    `grey`, so that nobody has to look for colours in it again."""
    import numpy as np
    from PIL import Image

    pixels = bitmap.to_numpy()
    blue, green, red = (pixels[..., channel] for channel in range(3))
    if not ((blue == green).all() and (green == red).all()):
        return bitmap.to_pil().convert("RGB")
    grey = Image.fromarray(np.ascontiguousarray(green))
    image = Image.merge("RGB", (grey, grey, grey))
    image.grey = grey
    return image


class Reader:
    """marker with its one model dictionary; a converter for each page costs half a millisecond."""

    def __init__(self, setup: dict[str, Any]) -> None:
        from marker.converters.pdf import PdfConverter
        from marker.models import create_model_dict
        from surya.inference import SuryaInferenceManager

        stay_with_the_server()
        self._converter = PdfConverter
        self._config = setup["marker"]
        self._page = Path(setup["scratch"], "page.pdf")
        manager = SuryaInferenceManager(method=setup["backend"])
        self._tap = Tap(manager)
        self._models = create_model_dict(inference_manager=manager)
        if not setup["ocr_error"]:
            self._models["ocr_error_model"] = NoVerdict()
        self._listener = Listener()
        for name in ("marker", "surya"):
            logger = logging.getLogger(name)
            logger.handlers = [self._listener]
            logger.propagate = False
            logger.setLevel(logging.INFO)
        self._drawing = _speed_up()

    def read(self, pdf: bytes) -> dict[str, Any]:
        """Return markdown, answers and warnings for the one page in `pdf`."""
        self._page.write_bytes(pdf)
        self._listener.lines, self._tap.answers, self._tap.seconds = [], [], 0.0
        started = time.monotonic()
        answer: dict[str, Any] = {"markdown": ""}
        try:
            dpi = page_dpi(self._page)
            config = {**self._config, "page_range": [0], "highres_image_dpi": dpi}
            if self._drawing is not None:
                self._drawing.begin(dpi)
            converter = self._converter(artifact_dict=self._models, config=config)
            markdown = converter(str(self._page)).markdown
            marks = _PAGE_MARK.findall(markdown)
            if marks != ["0"]:
                answer["error"] = f"marker gave {len(marks)} pages instead of one"
            answer["markdown"] = _PAGE_MARK.sub("", markdown).strip()
        except MemoryError:
            answer["error"] = "needs more memory than allowed"
        except Exception as error:  # marker raises what its many libraries raise: this page only
            answer["error"] = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        finally:
            self._page.unlink(missing_ok=True)
        answer["answers"] = self._tap.answers
        answer["warnings"] = self._listener.lines
        answer["seconds"] = time.monotonic() - started
        answer["server_seconds"] = self._tap.seconds
        return answer


def page_dpi(path: Path) -> int:
    """Return the resolution for reading the page: marker's own, less for a giant one."""
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    try:
        width, height = document[0].get_size()
    finally:
        document.close()
    most = 72 * (_MOST_PIXELS / max(1.0, width * height)) ** 0.5
    return max(1, min(_DPI, int(most)))


def stay_with_the_server() -> None:
    """Have httpx, which marker's clients use, follow no redirect.

    By default the picture of a page would be sent on to whatever host an answer names.
    """
    import httpx

    send = httpx.Client.send

    def direct(client: Any, request: Any, **options: Any) -> Any:
        return send(client, request, **{**options, "follow_redirects": False})

    httpx.Client.send = direct


def _speed_up() -> Drawing | None:
    """Replace steps of marker and surya by quicker ones; returns the one that draws pages.

    Of 0.39 s of CPU a page at 192 dpi, 0.33 went into its picture: drawn twice, scaled to the
    model's grid as three equal colours, looked at for blank blocks, packed as small as it gets
    for a server on the same host. Names that a later version lacks are left alone.
    """
    from marker.providers.pdf import PdfProvider
    from surya import recognition
    from surya.inference.backends import openai_client

    if hasattr(openai_client, "encode_image_b64"):
        openai_client.encode_image_b64 = encode
    if hasattr(recognition, "is_blank_region"):
        recognition.is_blank_region = is_blank
    if not hasattr(openai_client, "scale_to_fit"):
        return None
    scale = openai_client.scale_to_fit
    openai_client.scale_to_fit = lambda image: scale(without_colour(image))
    if not hasattr(PdfProvider, "_render_image"):
        return None
    drawing = Drawing(lambda width, height: scale(_Size((width, height))).size)
    PdfProvider._render_image = drawing
    return drawing


class _Size:
    """The size of an image without the image, for asking surya what it would scale it to."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size

    def resize(self, size: tuple[int, int], resample: Any = None) -> _Size:
        return _Size(size)


def encode(image: Any) -> str:
    """Return a PIL image as PNG in base64, packed quickly: the pixels are the same.

    Rows of a PNG with a palette aren't tried in five ways; runs of paper pack well as they are.
    """
    if image.mode == "L":
        image = image.copy()
        image.putpalette(bytes(level for level in range(256) for _ in range(3)))
    out = io.BytesIO()
    image.save(out, format="PNG", compress_level=1, compress_type=zlib.Z_RLE)
    return base64.b64encode(out.getvalue()).decode("ascii")


def without_colour(image: Any) -> Any:
    """Return a PIL image whose colours are all grey as a grey one, any other as it is."""
    from PIL import ImageChops

    if image.mode != "RGB":
        return image
    known = getattr(image, "grey", None)
    if known is not None:
        return known
    red, green, blue = image.split()
    if ImageChops.difference(red, green).getbbox() or ImageChops.difference(red, blue).getbbox():
        return image
    return red


def is_blank(image: Any) -> bool:
    """Return what surya.common.blank.is_blank_region does, out of histograms.

    Blank is 99 % near-white (245 and more in every channel), or one colour throughout (a standard
    deviation below 8 in every channel). One channel that is neither decides.
    """
    from PIL import ImageChops

    pixels = image.width * image.height
    if pixels == 0:
        return False
    image = image if image.mode == "RGB" else image.convert("RGB")
    counts = image.getchannel("G").histogram()
    if sum(counts[245:]) <= 0.99 * pixels and _spread(counts, pixels) >= 64:
        return False
    channels = image.split()
    darkest = ImageChops.darker(ImageChops.darker(channels[0], channels[1]), channels[2])
    if sum(darkest.histogram()[245:]) > 0.99 * pixels:
        return True
    return all(_spread(channel.histogram(), pixels) < 64 for channel in channels)


def _spread(counts: list[int], pixels: int) -> float:
    """Return the variance of the levels that a histogram counts."""
    mean = sum(value * count for value, count in enumerate(counts)) / pixels
    return sum(value * value * count for value, count in enumerate(counts)) / pixels - mean * mean


def serve(conn: Connection, parent: int) -> None:
    """Answer requests until the parent (its process id) closes its end. The setup comes first."""
    os.setsid()
    # Without this, a killed parent would leave a process that waits for the server.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was killed before
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    setup = json.loads(conn.recv_bytes())
    disk = setup["scratch_mb"] << 20
    resource.setrlimit(resource.RLIMIT_FSIZE, (disk, disk))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        reader = Reader(setup)
    except Exception as error:  # a broken environment may raise anything
        _send(conn, {"error": " ".join(f"{type(error).__name__}: {error}".split())[:500]})
        return
    _send(conn, {"ready": True})
    while True:
        try:
            request = json.loads(conn.recv_bytes())
        except (EOFError, OSError):
            return
        _send(conn, reader.read(base64.b64decode(request["pdf"])))


def _send(conn: Connection, answer: dict[str, Any]) -> None:
    answer["cpu_seconds"] = time.process_time()
    conn.send_bytes(json.dumps(answer).encode())


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])), int(sys.argv[2]))
