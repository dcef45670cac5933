"""Read ten sample pages with marker and print the host's speed: `make ocr-check HOST=rig`.

    python -m regcomments.ocr.marker_check [--host NAME] [--pages N] [--server URL|start]

The pages are drawn here, so their text is known and what was read is compared with it.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pymupdf
import yaml

from regcomments.config import check_config
from regcomments.errors import UserError
from regcomments.ocr.judge import judge
from regcomments.ocr.marker import agreement, make
from regcomments.ocr.source import FileSource, PageError, PageProcess
from regcomments.workflow import host_facts

ROOT = Path(__file__).resolve().parents[3]
DPI = 200
GOOD = 0.95  # of the words; Tesseract reads 0.99 of these pages
_SENTENCES = (
    "We run a walk-in clinic in a county of nine thousand people.",
    "The proposed rule would change how follow-up visits are paid.",
    "Last year our nurses made 2,417 home visits, most of them in winter.",
    "Please keep the add-on payment for visits farther than forty miles.",
    "Our patients are farmers, miners and retired teachers.",
    "A cut of six percent would end the evening hours on Tuesdays.",
    "We ask the agency to publish the data behind table 14.",
    "The comment period fell into the harvest, when few can write.",
    "Small practices cannot hire staff only to report quality measures.",
    "Thank you for reading what the people in our valley have to say.",
)
_LINES = 34  # on one page; a full letter page has 40 to 50


def sample_lines(page: int) -> list[str]:
    """Return the lines of sample page `page` (from 1): every page in an order of its own."""
    count = len(_SENTENCES)
    return [
        f"{line + 1}. {_SENTENCES[(page * 3 + line * (1 + page % 3)) % count]}"
        for line in range(_LINES)
    ]


def sample_pdf(pages: int) -> bytes:
    """Return a PDF of `pages` scanned letter pages, 200 dpi, without a text layer."""
    with pymupdf.open() as scan:
        for number in range(1, pages + 1):
            with pymupdf.open() as typed:
                page = typed.new_page(width=612, height=792)
                for row, line in enumerate(sample_lines(number)):
                    page.insert_text((72, 80 + 19 * row), line, fontsize=11)
                picture = page.get_pixmap(dpi=DPI, colorspace=pymupdf.csGRAY)
            scan.new_page(width=612, height=792).insert_image((0, 0, 612, 792), pixmap=picture)
        return scan.tobytes(deflate=True, no_new_id=True)


def configuration(host: str | None, server: str | None) -> dict:
    """Return the checked configuration for `host` with marker as the engine. Raises UserError."""
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text("utf-8"))
    config["host"] = host
    config["ocr"] = {**config["ocr"], "engine": "marker"}
    if server is not None:
        config["ocr"]["server"] = server
    check_config(config, ROOT / "config" / "config.schema.yaml")
    facts, _ = host_facts(config, ROOT)
    if server is not None and "server" in facts:
        facts["server"].pop("url", None)
    return {"ocr": config["ocr"], "host": facts}


def check(config: dict, pages: int, folder: Path) -> tuple[float, int]:
    """Read `pages` sample pages; return pages a second and the pages read wrongly or not at all.

    The first page carries the start of server and processes and is left out of the speed. Prints
    a line for each page. Raises UserError when the engine can't run.
    """
    data = sample_pdf(pages + 1)
    path = folder / "samples.pdf"
    path.write_bytes(data)
    engine = make(config)
    good = 0
    try:
        with PageProcess() as process:
            digest = hashlib.sha256(data).hexdigest()
            source = FileSource(process, path, "", path.name, digest, (1,))
            print(f"marker {engine.version}, {engine.model}: starting …", flush=True)
            started = time.monotonic()
            list(engine.read(source))
            print(f"ready after {time.monotonic() - started:.1f} s", flush=True)
            rest = FileSource(process, path, "", path.name, digest, tuple(range(2, pages + 2)))
            started = time.monotonic()
            for result in engine.read(rest):
                result = judge(result, source.ink(result.number))
                share = agreement(result.markdown, "\n".join(sample_lines(result.number)))
                good += share >= GOOD
                print(
                    f"page {result.number - 1:2}: {result.outcome}, {share:6.1%} of the words, "
                    f"{result.seconds:.2f} s{f', {result.error}' if result.error else ''}",
                    flush=True,
                )
            return pages / (time.monotonic() - started), pages - good
    finally:
        engine.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the speed and the line for the host file; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host")
    parser.add_argument("--pages", type=_pages, default=10)
    parser.add_argument("--server", help="instead of ocr.server: a URL, or start")
    options = parser.parse_args(arguments)
    try:
        config = configuration(options.host, options.server)
        with tempfile.TemporaryDirectory(prefix="regcomments-check-") as folder:
            speed, bad = check(config, options.pages, Path(folder))
    except (UserError, PageError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    # Two digits behind the point; of a slow host two that tell something.
    shown = f"{speed:.2f}" if speed >= 0.1 else f"{speed:.2g}"
    print(f"{options.pages} pages, {shown} pages/s")
    if bad:
        print(f"{bad} of {options.pages} pages were not read rightly: don't use this server yet")
        return 1
    where = f"config/hosts/{options.host}.yaml" if options.host else "the host's file"
    print(f"the line for {where}:\npages_per_second: {shown}")
    return 0


def _pages(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a number of pages from 1")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
