"""What a PDF page is made of, asked of its object alone: nothing here interprets the page.

PyMuPDF's own lists of annotations, pictures and forms cost 30 to 80 microseconds a page each,
most of it on pages that have none.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

import pymupdf
from pymupdf import mupdf

_NAMES = {
    name: pymupdf.PDF_NAME(name)
    for name in (
        *("Annots", "Contents", "CropBox", "ExtGState", "Height", "Image", "Length", "Resources"),
        *("ImageMask", "OC", "Subtype", "Width", "XObject"),
    )
}
# Operators that begin a line or a box; a curve is no ruling.
_DRAWS = re.compile(rb"(?<![A-Za-z])(?:re|l)(?![A-Za-z])")
# A picture set in its own graphics state; and every operator or mark that makes this not enough:
# other matrices, other things drawn, pictures in place, layers.
_NUMBER = rb"[-+]?(?:\d{1,12}(?:\.\d{0,12})?|\.\d{1,12})\s+"
_PLACED = re.compile(rb"\bq\s+((?:" + _NUMBER + rb"){6})cm\s*/([A-Za-z0-9_.+-]+)\s+Do\s+Q\b")
_PLACES = re.compile(rb"(?<![A-Za-z])(?:cm|Do|BI)(?![A-Za-z])|/OC\b")
# Bytes of drawing instructions up to which a page's drawing is collected beside its text: four
# times the densest typed pages. A rectangle takes 13 at least, so 30,000 pieces at most.
_LITTLE = 400_000
# Entries of a resource dictionary looked at one by one; PyMuPDF lists those of larger ones.
_FEW_ENTRIES = 20


class Picture(NamedTuple):
    """A picture among the resources of a page: its object number, its number of pixels.

    `name` is what the page calls it by, empty when it may not be drawn, or not as a picture.
    """

    xref: int
    pixels: int
    name: bytes = b""


class PageParts:
    """The parts of one page; each is looked up when first asked for. Raises what MuPDF raises."""

    def __init__(self, page: pymupdf.Page) -> None:
        self._page = page
        this = page.this
        pdf_page = this if isinstance(this, mupdf.PdfPage) else mupdf.pdf_page_from_fz_page(this)
        # A page of another format has no object; asking for it would end the process.
        self._object = pdf_page.obj() if pdf_page.m_internal else mupdf.PdfObj()

    @cached_property
    def rotation(self) -> int:
        """Quarter turns clockwise at which the page is shown, in degrees."""
        return self._page.rotation

    @cached_property
    def has_annotations(self) -> bool:
        """Whether the page lists annotations, links and form fields among them."""
        return bool(mupdf.pdf_dict_get(self._object, _NAMES["Annots"]).m_internal)

    @cached_property
    def is_cropped(self) -> bool:
        """Whether a crop box is set, on the page or above it: without one all paper is shown."""
        crop = mupdf.pdf_dict_get_inheritable(self._object, _NAMES["CropBox"])
        return bool(crop.m_internal)

    @cached_property
    def code(self) -> bytes:
        """The page's drawing instructions, unpacked, those of forms not included."""
        return self._page.read_contents()

    @cached_property
    def may_draw_lines(self) -> bool:
        """Whether the drawing instructions may draw lines or boxes; False is certain."""
        return bool(self.forms) or _DRAWS.search(self.code) is not None

    @cached_property
    def draws_little(self) -> bool:
        """Whether all that is drawn can be listed: few instructions, and none in forms."""
        return not self.forms and len(self.code) <= _LITTLE

    @cached_property
    def code_bytes(self) -> int:
        """How many bytes the drawing instructions take in the file, those of forms included."""
        contents = mupdf.pdf_dict_get(self._object, _NAMES["Contents"])
        if mupdf.pdf_is_array(contents):
            count = mupdf.pdf_array_len(contents)
            streams = [mupdf.pdf_array_get(contents, k) for k in range(count)]
        else:
            streams = [contents] if contents.m_internal else []
        own = sum(self._stored(stream) for stream in streams)
        return own + sum(self._stored_xref(xref) for xref in self.forms)

    def _stored(self, stream: mupdf.PdfObj) -> int:
        length = mupdf.pdf_dict_get(stream, _NAMES["Length"])
        if mupdf.pdf_is_indirect(length) or not mupdf.pdf_is_int(length):
            return self._stored_xref(mupdf.pdf_to_num(stream))
        return mupdf.pdf_to_int(length)

    def _stored_xref(self, xref: int) -> int:
        document = self._page.parent
        kind, value = document.xref_get_key(xref, "Length")
        return int(value) if kind == "int" else len(document.xref_stream_raw(xref) or b"")

    @property
    def forms(self) -> tuple[int, ...]:
        """The object numbers of the form XObjects: drawing instructions that the page calls."""
        return self._xobjects[1]

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """The pictures among the resources, those of forms included; inline ones are not."""
        return self._xobjects[0]

    @cached_property
    def picture_boxes(self) -> list[tuple[float, ...]] | None:
        """Where the pictures are drawn, in points of the unrotated page, as the code says it.

        None where that takes more than a look: unless each is set in a graphics state of its own
        by the only matrix in force, as word processors do, the page has to be interpreted.
        """
        drawn = _PLACED.findall(self.code)
        names = {picture.name for picture in self.pictures} - {b""}
        if (
            self.rotation
            or self.has_annotations
            or self.forms
            or not drawn
            or len(_PLACES.findall(self.code)) != 2 * len(drawn)
            or not names.issuperset(name for _, name in drawn)
        ):
            return None
        upright = self._page.transformation_matrix
        boxes = []
        for numbers, _ in drawn:
            a, b, c, d, e, f = map(float, numbers.split())
            corners = ((e, f), (e + a, f + b), (e + c, f + d), (e + a + c, f + b + d))
            shown = [pymupdf.Point(corner) * upright for corner in corners]
            xs, ys = [point.x for point in shown], [point.y for point in shown]
            boxes.append((min(xs), min(ys), max(xs), max(ys)))
        return boxes

    @cached_property
    def _xobjects(self) -> tuple[tuple[Picture, ...], tuple[int, ...]]:
        resources = mupdf.pdf_dict_get_inheritable(self._object, _NAMES["Resources"])
        entries = mupdf.pdf_dict_get(resources, _NAMES["XObject"])
        count = mupdf.pdf_dict_len(entries)
        found = []
        for k in range(count if count <= _FEW_ENTRIES else 0):
            entry = mupdf.pdf_dict_get_val(entries, k)
            if (
                not mupdf.pdf_name_eq(mupdf.pdf_dict_get(entry, _NAMES["Subtype"]), _NAMES["Image"])
                or mupdf.pdf_dict_get(entry, _NAMES["Resources"]).m_internal
            ):
                break  # a form, which may hold more
            width, height = (
                mupdf.pdf_to_int(mupdf.pdf_dict_get(entry, _NAMES[name]))
                for name in ("Width", "Height")
            )
            if width <= 0 or height <= 0:
                break
            name = mupdf.pdf_to_name(mupdf.pdf_dict_get_key(entries, k))
            if any(
                mupdf.pdf_dict_get(entry, _NAMES[key]).m_internal for key in ("ImageMask", "OC")
            ):
                name = ""
            found.append(Picture(mupdf.pdf_to_num(entry), width * height, name.encode()))
        if len(found) == count:
            return tuple(found), ()
        pictures = tuple(Picture(i[0], i[2] * i[3]) for i in self._page.get_images())
        return pictures, tuple(form[0] for form in self._page.get_xobjects())
