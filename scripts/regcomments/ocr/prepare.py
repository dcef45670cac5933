"""Make a page picture easy to read: dark on white, straight, large enough. Pure functions."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageFilter

from regcomments.ocr.raster import Grey

_SKEW_SIDE = 900  # pixels on the long side that are enough to measure skew
_SKEW_LIMIT = 7.0  # degrees; feeders skew less, and beyond it page segmentation fails anyway
_SKEW_IGNORED = 0.3  # degrees that Tesseract reads without loss
_PAPER_BLUR = 24  # pixels; wider than a letter's strokes at 200 dpi, so that print is no paper


def upright(grey: Grey, degrees: int) -> Grey:
    """Return `grey` turned clockwise by 0, 90, 180 or 270 degrees."""
    return np.ascontiguousarray(np.rot90(grey, -(degrees // 90) % 4))


def dark_on_light(grey: Grey) -> Grey:
    """Return `grey`, inverted when most of it is dark, stretched to the full range."""
    low, middle, high = np.percentile(grey[::4, ::4], (0.5, 50, 99.5))
    if high - low < 8:
        return grey  # one flat tone: stretching would only amplify noise
    if middle < (low + high) / 2 and middle < 128:
        grey, low, high = 255 - grey, 255 - high, 255 - low
    if low < 16 and high > 239:
        return grey
    scaled = (grey.astype(np.float32) - low) * (255.0 / (high - low))
    return np.clip(scaled, 0, 255).astype(np.uint8)


def flatten_paper(grey: Grey) -> Grey:
    """Return `grey` with its paper made white everywhere: shades, stains and tints go.

    The paper is estimated on a quarter-size picture by a maximum filter (print is thinner than
    it) and smoothed; dividing by it evens the light.
    """
    rows, cols = grey.shape
    quarter = Image.fromarray(grey).resize((max(1, cols // 4), max(1, rows // 4)))
    paper = quarter.filter(ImageFilter.MaxFilter(9)).filter(ImageFilter.BoxBlur(_PAPER_BLUR / 4))
    ground = np.asarray(paper.resize((cols, rows), Image.Resampling.BILINEAR), np.float32)
    ratio = grey.astype(np.float32) / np.maximum(ground, 1.0)
    return dark_on_light(np.clip(ratio * 255.0, 0, 255).astype(np.uint8))


def scaled(grey: Grey, factor: float) -> Grey:
    """Return `grey` enlarged or reduced by `factor`, smoothly."""
    rows, cols = grey.shape
    size = (max(1, round(cols * factor)), max(1, round(rows * factor)))
    return np.asarray(Image.fromarray(grey).resize(size, Image.Resampling.BICUBIC))


def skew(grey: Grey) -> float:
    """Return by how many degrees the lines of writing rise to the right (negative: fall).

    The angle whose row sums of ink vary most (projection profile, Postl 1986), searched coarse
    to fine by shearing: within 7 degrees a shear is as good as a turn.
    """
    rows, cols = grey.shape
    factor = min(1.0, _SKEW_SIDE / max(rows, cols))
    small = grey if factor == 1.0 else scaled(grey, factor)
    ink = small < int(np.median(small)) - 40
    y, x = np.nonzero(ink)
    if len(y) < 200:
        return 0.0
    if len(y) > 60_000:
        step = len(y) // 60_000 + 1
        y, x = y[::step], x[::step]
    height = small.shape[0]

    def sharpness(degrees: float) -> float:
        shifted = y + x * np.tan(np.radians(degrees))
        low = int(shifted.min())
        profile = np.bincount((shifted - low).astype(np.int64), minlength=height)
        return float(np.square(np.diff(profile)).sum())

    best, step = 0.0, 1.0
    for span in (_SKEW_LIMIT, 1.0, 0.25):
        angles = np.arange(best - span, best + span + 1e-9, step)
        best = float(angles[int(np.argmax([sharpness(angle) for angle in angles]))])
        step /= 4
    return best if abs(best) <= _SKEW_LIMIT else 0.0


def straight(grey: Grey) -> tuple[Grey, float]:
    """Return `grey` turned so that its lines are level, and the degrees it was turned by."""
    angle = skew(grey)
    if abs(angle) < _SKEW_IGNORED:
        return grey, 0.0
    image = Image.fromarray(grey)
    turned = image.rotate(-angle, Image.Resampling.BICUBIC, expand=True, fillcolor=_paper(grey))
    return np.asarray(turned), angle


def _paper(grey: Grey) -> int:
    return int(np.median(grey[::8, ::8]))
