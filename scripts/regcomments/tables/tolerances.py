"""Every tolerance of the geometry in one place, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Limits of table reconstruction.

    `_h` is a factor of the text height (the height of an item's box, about 1.2 font sizes),
    `_pt` is points, `_share` a fraction.
    """

    # Two items share a line when their middles differ by less. The seed takes half the font
    # size; middles instead of tops keep superscripts and mixed sizes on their line.
    line_h: float = 0.45
    # Cells of one row share their baseline; lines of print side by side do so by chance only.
    level_h: float = 0.1
    # Items closer than this are one piece of text: word spaces are about 0.25 heights, 0.5 in
    # justified lines; columns seldom come nearer than 0.7.
    glue_h: float = 0.6
    # Leader dots follow each other within this.
    leader_h: float = 2.0
    # Rulings nearer than this are one line drawn twice (double rules, box edge on box edge).
    snap_pt: float = 2.5
    # Segments of one line with a smaller break belong together (dots, dashes, cell by cell).
    join_pt: float = 3.0
    # Rulings that miss each other by less still cross.
    cross_pt: float = 3.0
    # A thin filled rectangle up to this thick is a line; 3 pt is the heaviest rule seen in forms.
    rule_thick_pt: float = 3.0
    # A grid border counts when rulings cover this share of it.
    border_share: float = 0.6
    # Rows and columns of a ruled grid narrower than this are gaps between double lines.
    sliver_pt: float = 4.0
    # An empty row or column of a ruled grid narrower than this is cell spacing: no text fits in.
    sliver_h: float = 0.9
    # More drawn paths than this are a map or a chart, not a table, and cost seconds to list.
    max_paths: int = 6000
    # More rulings than this on one page are hatching; the grid search is quadratic in them.
    max_rulings: int = 3000
    # A grid of more places than this is graph paper.
    max_places: int = 20000
    # More items than this on one page are not looked at: 20,000 words are ten dense pages.
    max_items: int = 20000
    # A table ends where the next line is further away than this, unless a rule goes on.
    row_gap_h: float = 2.6
    # A header is sought this far above a detected box: one line of text.
    clip_h: float = 1.3
    # A piece is a merged heading when this share of the lines near it have two pieces below it.
    span_vote: float = 0.4
    # So many lines vote on merged headings; more change nothing on the ICDAR pages.
    voters: int = 30
    # More columns than this are scattered words; Word itself stops at 63.
    max_columns: int = 63
    # This share of the lines may run across a white corridor without closing it.
    bridge_share: float = 0.08
    # A cell of more words than this reads as prose.
    prose_words: int = 7
    # Lines of one row stand closer than this; the leading of wrapped text is 0 to 0.3 heights.
    wrap_h: float = 0.45
    # So many lines of one text above or below a run may belong to its wrapped cells.
    tail_lines: int = 5
    # Gaps between rows are wider than those inside by at least this, where white parts rows.
    band_jump_h: float = 0.2
    # So many lines of one text may follow each other inside a table: section, subsection, wrap.
    max_singles: int = 4
    # A ruled grid with text in fewer of its places is the mesh of a chart.
    chart_share: float = 0.2
    # Two runs with the same columns are one table when no further apart than this.
    bridge_gap_h: float = 5.0
    # A text stands at a column's left, right or middle when it is off by less.
    align_h: float = 0.35
    # Rules shorter than this belong to a heading, not to a whole table.
    rule_length_pt: float = 100.0
    # Unruled grids emptier than this are chart axes.
    fill_share: float = 0.35
    # An unruled block needs this share of figures or short entries outside its first column.
    figure_share: float = 0.35

    # Headers and footers of a page stand in this share of its height at either end.
    margin_share: float = 0.1


DEFAULT = Tolerances()
