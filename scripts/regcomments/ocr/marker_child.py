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
import os
import re
import resource
import signal
import sys
import time
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


class Reader:
    """marker with its one model dictionary; a converter for each page costs half a millisecond."""

    def __init__(self, setup: dict[str, Any]) -> None:
        from marker.converters.pdf import PdfConverter
        from marker.models import create_model_dict
        from surya.inference import SuryaInferenceManager

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
        _speed_up()

    def read(self, pdf: bytes) -> dict[str, Any]:
        """Return markdown, answers and warnings for the one page in `pdf`."""
        self._page.write_bytes(pdf)
        self._listener.lines, self._tap.answers, self._tap.seconds = [], [], 0.0
        started = time.monotonic()
        answer: dict[str, Any] = {"markdown": ""}
        try:
            config = {**self._config, "page_range": [0], "highres_image_dpi": page_dpi(self._page)}
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


def _speed_up() -> None:
    """Replace three steps of surya by quicker ones with the same outcome.

    A page at 192 dpi took 0.55 s of CPU, two thirds of it here: packing the image tightly for a
    server on the same host, scaling three equal colours of a grey scan, and blank_region's
    standard deviation. Now it takes half. Names that a later surya lacks are left alone.
    """
    from surya import recognition
    from surya.inference.backends import openai_client

    if hasattr(openai_client, "encode_image_b64"):
        openai_client.encode_image_b64 = encode
    if hasattr(openai_client, "scale_to_fit"):
        scale = openai_client.scale_to_fit
        openai_client.scale_to_fit = lambda image: scale(without_colour(image))
    if hasattr(recognition, "is_blank_region"):
        recognition.is_blank_region = is_blank


def encode(image: Any) -> str:
    """Return a PIL image as PNG in base64, packed quickly: the pixels are the same."""
    out = io.BytesIO()
    image.save(out, format="PNG", compress_level=1)
    return base64.b64encode(out.getvalue()).decode("ascii")


def without_colour(image: Any) -> Any:
    """Return a PIL image whose colours are all grey as a grey one, any other as it is."""
    from PIL import ImageChops

    if image.mode != "RGB":
        return image
    red, green, blue = image.split()
    if ImageChops.difference(red, green).getbbox() or ImageChops.difference(red, blue).getbbox():
        return image
    return red


def is_blank(image: Any) -> bool:
    """Return what surya.common.blank.is_blank_region does, out of histograms.

    Blank is 99 % near-white (245 and more in every channel), or one colour throughout (a standard
    deviation below 8 in every channel).
    """
    from PIL import ImageChops

    pixels = image.width * image.height
    if pixels == 0:
        return False
    channels = image.convert("RGB").split()
    darkest = ImageChops.darker(ImageChops.darker(channels[0], channels[1]), channels[2])
    if sum(darkest.histogram()[245:]) > 0.99 * pixels:
        return True
    for channel in channels:
        counts = channel.histogram()
        mean = sum(value * count for value, count in enumerate(counts)) / pixels
        squares = sum(value * value * count for value, count in enumerate(counts)) / pixels
        if squares - mean * mean >= 64:
            return False
    return True


def serve(conn: Connection) -> None:
    """Answer requests until the parent closes its end. The first message is the setup."""
    os.setsid()
    # Without this, a killed parent would leave a process that waits for the server.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
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
    serve(Connection(int(sys.argv[1])))
