"""What one walk through a Word document gathers besides its text."""

from __future__ import annotations

from dataclasses import dataclass, field

from regcomments.read.word_numbering import Numbering
from regcomments.read.word_package import Package
from regcomments.read.word_styles import Styles


@dataclass(frozen=True)
class PictureUse:
    """A picture as it is placed: its part, and the size shown in points (0 when not stated)."""

    part: str
    width: float = 0.0
    height: float = 0.0


@dataclass
class WalkState:
    """The document being walked, and what the walk has met so far, in document order.

    `notes` gives each note met its number, by kind (`footnote`, `endnote`) and id. `margins` holds
    the header and footer parts, by kind. `objects` are the parts of embedded objects. `hidden`
    counts characters left out because they are formatted as hidden.
    """

    package: Package
    styles: Styles
    numbering: Numbering
    placeholder_styles: frozenset[str] = frozenset()
    hidden: int = 0
    notes: dict[str, dict[str, int]] = field(
        default_factory=lambda: {"footnote": {}, "endnote": {}}
    )
    margins: dict[str, dict[str, None]] = field(
        default_factory=lambda: {"header": {}, "footer": {}}
    )
    pictures: dict[str, PictureUse] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)
    chunks: int = 0

    def note_number(self, kind: str, note_id: str) -> int:
        """Return the number of a note, from 1, in the order in which notes are first met."""
        numbers = self.notes[kind]
        return numbers.setdefault(note_id, len(numbers) + 1)

    def add_picture(self, part: str, width: float, height: float) -> None:
        """Remember the largest use of picture `part`."""
        known = self.pictures.get(part)
        if known is None or width * height > known.width * known.height:
            self.pictures[part] = PictureUse(part, width, height)
