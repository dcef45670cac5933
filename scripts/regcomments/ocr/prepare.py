"""Make a page picture easy to read: dark on white, straight, large enough. Pure functions."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageFilter

from regcomments.ocr.raster import Grey

_SKEW_SIDE = 900  # pixels on the long side that are enough to measure skew
_SKEW_LIMIT = 7.0  # degrees; feeders skew less, and beyond it page segmentation fails anyway
_SKEW_IGNORED = 0.3  # degrees that Tesseract reads without loss
# Share of lone pixels: 1e-6 on clean scans, 7e-4 on small print at 72 dpi; 3 % of salt and
# pepper make 0.012.
_SPECKS = 0.003
_SPECK_STEP = 60  # grey levels from its surroundings that make a pixel a speck
_GRAIN = 18.0  # sigma in grey levels; 25 reads without loss, 50 with 7 % errors
_SIGMA_OF_STEP = 1.05  # sigma over the median step between two noisy pixels
# Share of pixel pairs that change between dark and light: 0.078 on the densest of 170 pages of
# print, 0.1 in a 0.4 million pixel thumbnail of one, 0.14 in stripes, 0.5 in halftone.
_BUSY, _BUSY_SIZE = 0.12, 600_000
# Percent of the pixels that may be darker than black: one line of print has 0.1 % of the page.
_DARKEST = 0.03
_MAX_GAIN = 6.0  # of contrast; print fainter than 42 grey levels isn't told from the paper's grain
_PAPER_BLUR = 24  # pixels; wider than a letter's strokes at 200 dpi, so that print is no paper


def upright(grey: Grey, degrees: int) -> Grey:
    """Return `grey` turned clockwise by 0, 90, 180 or 270 degrees."""
    return np.ascontiguousarray(np.rot90(grey, -(degrees // 90) % 4))


def dark_on_light(grey: Grey) -> Grey:
    """Return `grey`, inverted when most of it is dark, stretched to the full range."""
    low, middle, high = np.percentile(grey[::2, ::2], (_DARKEST, 50, 100 - _DARKEST))
    if high - low < 8:
        return grey  # one flat tone: stretching would only amplify noise
    if middle < (low + high) / 2 and middle < 128:
        grey, low, high = 255 - grey, 255 - high, 255 - low
    if low < 16 and high > 239:
        return grey
    scaled = (grey.astype(np.float32) - high) * min(255.0 / (high - low), _MAX_GAIN) + 255
    return np.clip(scaled, 0, 255).astype(np.uint8)


def clean(grey: Grey) -> tuple[Grey, str | None]:
    """Return `grey` without specks and grain, and what was taken away, if anything.

    Measured first, since filters cost thin strokes: on clean scans nothing is done.
    """
    sample = grey[grey.shape[0] // 4 : grey.shape[0] // 4 * 3]
    if sample.shape[0] < 8 or sample.shape[1] < 8:
        return grey, None
    image = Image.fromarray(grey)
    if _grain(sample) > _GRAIN:
        return np.asarray(image.filter(ImageFilter.GaussianBlur(1.0))), "smoothed"
    if _speck_share(sample) > _SPECKS:
        middle = np.asarray(image.filter(ImageFilter.MedianFilter(3)))
        off = np.abs(grey.astype(np.int16) - middle) > _SPECK_STEP
        return np.where(off, middle, grey), "despeckled"
    return grey, None


def busy(grey: Grey) -> bool:
    """True when `grey` changes between dark and light too often for print (halftone, texture).

    Reading such a picture takes minutes and yields nothing.
    """
    if grey.size < _BUSY_SIZE:
        return False
    dark = grey < 128
    across = float((dark[:, 1:] != dark[:, :-1]).mean())
    down = float((dark[1:] != dark[:-1]).mean())
    return max(across, down) > _BUSY


def _speck_share(grey: Grey) -> float:
    """Return the share of dark pixels with no dark neighbour, of light ones with no light."""
    dark = (grey < 128).astype(np.uint8)
    around = sum(
        dark[1 + i : dark.shape[0] - 1 + i, 1 + j : dark.shape[1] - 1 + j]
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
    )
    centre = dark[1:-1, 1:-1]
    alone = ((centre == 1) & (around == 1)) | ((centre == 0) & (around == 8))
    return float(alone.mean())


def _grain(grey: Grey) -> float:
    """Return the grey levels by which the paper varies from pixel to pixel (a robust sigma)."""
    values = grey.astype(np.int16)
    across = np.abs(values[:, 1:] - values[:, :-1])
    return float(np.median(across[::2, ::2])) * _SIGMA_OF_STEP


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


def densest_band(grey: Grey, height: int) -> tuple[int, int]:
    """Return the rows (first, end) of the band of `height` pixels that looks most like print.

    Print changes between dark and light most often along a row; a rule or a solid area doesn't.
    """
    rows = grey.shape[0]
    if rows <= height:
        return 0, rows
    dark = grey[::2, ::2] < 128
    changes = (dark[:, 1:] != dark[:, :-1]).sum(axis=1)
    # Capped, so that a few rows of halftone don't outweigh lines of print.
    changes = np.minimum(changes, np.percentile(changes, 90))
    sums = np.cumsum(np.concatenate([[0], changes]))
    span = height // 2
    top = int(np.argmax(sums[span:] - sums[:-span])) * 2
    return top, min(rows, top + height)


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
