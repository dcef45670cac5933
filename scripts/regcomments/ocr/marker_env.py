"""Settings of the marker engine, and the environment of its processes made from them.

marker and surya read environment variables when imported, and nothing else; whatever the user's
own environment holds of them is left out, so that the config alone decides.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from regcomments.ocr.engines import EngineUnavailableError
from regcomments.ocr.server import Endpoint

METHOD = 3  # to be raised with every change here that can alter the text of a page
MODEL = "datalab-to/surya-ocr-2"
VERSION = "2."  # marker's major version that marker_child.py was written for
SETUP_HINT = (
    "run `make setup-marker`, or name a Python that has marker-pdf in ocr.marker.python, "
    "or set ocr.engine to tesseract"
)
_FOREIGN = (
    "SURYA_",
    "OCR_ERROR_",
    "FAST_LAYOUT_",
    "FAST_ORDER_",
    "FAST_DETECTOR_",
    "DETECTOR_",
    "VLLM_",
    "LLAMA_CPP_",
    "RECOGNITION_",
    "MODEL_",
    "TORCH_",
    "FONT_",
    "PYTHON",
)
_VERSIONS = (
    "import importlib.metadata as m, json\n"
    "def version(name):\n"
    "    try: return m.version(name)\n"
    "    except m.PackageNotFoundError: return None\n"
    "print(json.dumps([version('marker-pdf'), version('surya-ocr')]))"
)


@dataclass(frozen=True)
class MarkerSettings:
    """How marker is run. Seconds are wall clock; `workers` processes read pages side by side.

    `python` is the interpreter of the marker environment. `tries` bounds how often a page is
    asked for again after the server was away.
    """

    python: str = sys.executable
    model: str = MODEL
    workers: int = 4
    page_seconds: float = 300.0
    request_seconds: float = 90.0
    memory_mb: int = 4096
    backend: str = "vllm"
    second_opinion: bool = False
    doubtful_below: float = 0.75
    tries: int = 2


def settings_from(section: Mapping[str, Any]) -> MarkerSettings:
    """Return the settings in the config's section `ocr`."""
    marker = section.get("marker") or {}
    keys = ("model", "workers", "page_seconds", "request_seconds", "memory_mb")
    chosen = {key: marker[key] for key in keys if marker.get(key) is not None}
    return MarkerSettings(
        python=find_python(marker.get("python")),
        second_opinion=bool(section.get("second_opinion", False)),
        doubtful_below=float(section.get("doubtful_below", MarkerSettings.doubtful_below)),
        **chosen,
    )


def find_python(named: str | None) -> str:
    """Return the Python that runs marker: the one named, that of .venv-marker, or this one."""
    if named:
        return os.path.expanduser(named)
    own = Path(__file__).resolve().parents[3] / ".venv-marker" / "bin" / "python"
    return str(own) if own.is_file() else sys.executable


@lru_cache
def versions(python: str) -> tuple[str, str]:
    """Return the versions of marker-pdf and surya-ocr that `python` has, without importing them.

    Raises EngineUnavailableError when one is missing or marker isn't of the known major version.
    """
    try:
        run = subprocess.run(
            [python, "-P", "-c", _VERSIONS], capture_output=True, text=True, timeout=60, check=True
        )
        marker, surya = json.loads(run.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise EngineUnavailableError(
            f"ocr.engine is marker, but {python} can't be run ({type(error).__name__}): "
            f"{SETUP_HINT}"
        ) from error
    if not marker or not surya:
        raise EngineUnavailableError(
            f"ocr.engine is marker, but {python} has no marker-pdf: {SETUP_HINT}"
        )
    if not marker.startswith(VERSION):
        raise EngineUnavailableError(
            f"marker-pdf {marker} is installed for {python}, and this drives 2.x: {SETUP_HINT}"
        )
    return marker, surya


def environment(
    settings: MarkerSettings, endpoint: Endpoint, base: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the whole environment of a marker process that uses the services at `endpoint`.

    `base` (this process's own by default) gives what isn't marker's. Nothing in it lets marker
    start a server, download a model or use the card; FONT_PATH follows with the scratch folder.
    """
    base = os.environ if base is None else base
    kept = {name: value for name, value in base.items() if not name.startswith(_FOREIGN)}
    services = [endpoint.inference, endpoint.ocr_error, endpoint.fast_layout]
    hosts = sorted({urlsplit(url).hostname or "" for url in services if url} - {""})
    direct = ",".join(filter(None, [base.get("NO_PROXY") or base.get("no_proxy"), *hosts]))
    seconds = f"{settings.request_seconds:g}"
    chosen = {
        "SURYA_INFERENCE_URL": endpoint.inference,
        "SURYA_INFERENCE_BACKEND": settings.backend,
        "SURYA_INFERENCE_AUTOSTART": "false",
        "SURYA_INFERENCE_TIMEOUT_SECONDS": seconds,
        "SURYA_MODEL_CHECKPOINT": settings.model,
        "OCR_ERROR_SERVER_AUTOSTART": "false",
        "OCR_ERROR_SERVER_TIMEOUT": seconds,
        "FAST_LAYOUT_SERVER_AUTOSTART": "false",
        "FAST_LAYOUT_SERVER_TIMEOUT": seconds,
        "DETECTOR_SERVER_AUTOSTART": "false",
        "TORCH_DEVICE": "cpu",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "DISABLE_TQDM": "true",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
        "NO_PROXY": direct,
        "no_proxy": direct,
    }
    if endpoint.ocr_error:
        chosen["OCR_ERROR_SERVER_URL"] = endpoint.ocr_error
    if endpoint.fast_layout:
        chosen["FAST_LAYOUT_SERVER_URL"] = endpoint.fast_layout
    return {**kept, **chosen}


def setup(settings: MarkerSettings, endpoint: Endpoint) -> dict[str, Any]:
    """Return what a process is told beyond its environment: marker's own options."""
    return {
        "backend": settings.backend,
        "ocr_error": endpoint.ocr_error is not None,
        "marker": {
            "mode": "balanced",  # on a CPU marker would choose `fast`, which wants another server
            "force_ocr": True,
            "paginate_output": True,
            "pdftext_workers": 1,
            "disable_tqdm": True,
            "extract_images": False,
            "lowres_image_dpi": 36,  # for the layout model alone, which force_ocr leaves out
            # Letterheads name the organisation that writes.
            "keep_pageheader_in_output": True,
            "keep_pagefooter_in_output": True,
        },
    }


def font() -> bytes:
    """Return a TrueType font. marker only wants the file to exist: pages need none."""
    import pymupdf

    return bytes(pymupdf.Font("helv").buffer)
