"""Invented comment prose in any amount: sentences with slots, drawn by a seeded generator."""

from __future__ import annotations

import re
from random import Random

from samples.letter import Block, Bullets, Grid, Heading, Letter, Paragraph, final, notes_of

_WHO = (
    "nurses", "patients", "our physicians", "the families", "home health aides", "pharmacists",
    "our members", "the residents", "social workers", "small clinics", "rural hospitals",
    "caregivers", "the counties", "our volunteers", "dialysis patients", "interpreters",
)  # fmt: skip
_PLACE = (
    "Barrow County", "the upper valley", "our six counties", "Lower Falls", "the north shore",
    "Cutler Township", "the river district", "Mason Bend", "two tribal communities", "the coast",
    "Harper’s Crossing", "the mill towns", "the western half of the state", "Old Ferry",
)  # fmt: skip
_THING = (
    "the travel allowance", "the reporting deadline", "the payment rate", "the staffing minimum",
    "the supervision rule", "the quality measure", "the wage index", "the notice requirement",
    "the appeal period", "the prior authorization", "the threshold", "the definition of a visit",
    "the exemption for small providers", "the audit schedule",
)  # fmt: skip
_EVENT = (
    "a winter storm", "the flood of last spring", "a change of software", "a strike",
    "the closing of the nearest hospital", "a shortage of fluids", "the retirement of two doctors",
    "an outage of the network", "a fire at the warehouse",
)  # fmt: skip
_SENTENCES = (
    "In {place}, {who} told us that {thing} takes {n} hours out of every month.",
    "We ask the agency to look again at {thing}, since {who} can’t bear a cost of ${money}.",
    "After {event}, {n} of {m} cases were late, through no fault of {who}.",
    "The proposed rule assumes {n} minutes; our records of {m} visits show {k}.",
    "We support {thing} as proposed, but not before January of {year}.",
    "For {who} in {place} the nearest alternative is {n} miles away.",
    "Last year we spent ${money} on this, or about ${n} for each of {m} people.",
    "It is hard to see how {thing} helps {who}, and easy to see how it harms them.",
    "A survey of {m} {who} found that {n} percent would leave if {thing} were kept.",
    "When {event} came, {who} stayed at work for {n} hours.",
    "The agency’s figure of ${money} leaves out the time that {who} spend on the telephone.",
    "We recommend that {thing} be reviewed in {year}, when two years of data are in hand.",
    "Nobody in {place} disputes the aim of the rule.",
    "One of {who} wrote to us: “I have done this for {n} years and never seen it so bad.”",
    "Please keep {thing}, and please write it in words that {who} understand.",
    "If {thing} is made final, {n} of our {k} sites will close by {year}.",
    "The comparison with {year} is not a fair one, because of {event}.",
    "I am grateful that you read these comments; {who} seldom have the time to write them.",
)
_HEADS = (
    "Background", "Our experience", "Costs", "Effect on patients", "What we ask", "Alternatives",
    "Timing", "Definitions", "Burden", "Conclusion", "Small providers", "Data and methods",
)  # fmt: skip
_FIRST = (
    "Agnes", "Bertil", "Consuelo", "Darnell", "Eunice", "Farid", "Ginevra", "Hollis", "Imelda",
    "Joaquin", "Keziah", "Lamar", "Mirela", "Nestor", "Oona", "Prudence", "Quentin", "Rosario",
)  # fmt: skip
_LAST = (
    "Abernathy", "Boateng", "Castellanos", "Dombrowski", "Eastman", "Fitzwater", "Gunnarsson",
    "Hightower", "Ivanchuk", "Jefferies", "Kowalczyk", "Lachance", "Mbeki", "Nordstrom",
    "Oyelaran", "Pickering", "Rasmussen", "Stallworth", "Tran", "Umansky",
)  # fmt: skip
_KINDS = ("Hospital", "Clinic", "Nursing Home", "Association", "Pharmacy", "Health Department")
PHRASES = 12  # of one letter, whatever its length, so that long ones don't outweigh the others
_SENTENCE_END = re.compile("(?<=[.”]) (?=[A-Z“])")
WORDS_A_PAGE = 430  # of a set page with headings and a table now and then


def sentence(random: Random) -> str:
    """Return one sentence."""
    pick = random.choice
    return pick(_SENTENCES).format(
        who=pick(_WHO),
        place=pick(_PLACE),
        thing=pick(_THING),
        event=pick(_EVENT),
        n=random.randint(2, 98),
        m=random.randint(100, 4000),
        k=random.randint(3, 60),
        money=f"{random.randint(200, 90_000):,}",
        year=random.randint(2027, 2036),
    )


def text(random: Random, sentences: int) -> str:
    """Return a paragraph of so many sentences."""
    return " ".join(sentence(random) for _ in range(sentences))


def name(random: Random) -> str:
    """Return a person's name."""
    return f"{random.choice(_FIRST)} {random.choice(_LAST)}"


def letter(random: Random, pages: int) -> Letter:
    """Return a letter that fills about so many pages."""
    blocks: list[Block] = []
    words = 0
    while words < WORDS_A_PAGE * (pages - 0.6):
        draw = random.random()
        if draw < 0.12:
            blocks.append(Heading(random.choice(_HEADS)))
            words += 20
        elif draw < 0.2:
            blocks.append(_grid(random))
            words += 90
        elif draw < 0.28:
            items = tuple(sentence(random) for _ in range(random.randint(2, 5)))
            blocks.append(Bullets(items, random.random() < 0.5))
            words += 16 * len(items)
        else:
            count = random.randint(2, 7)
            note = f"[^{sentence(random)}]" if random.random() < 0.1 else ""
            blocks.append(Paragraph(text(random, count) + note))
            words += 16 * count
    person = name(random)
    return Letter(
        sender=(f"{random.choice(_LAST)} {random.choice(_KINDS)}", random.choice(_PLACE)),
        date=f"{random.choice(('March', 'April', 'May'))} {random.randint(1, 28)}, 2031",
        subject=f"Comments on {random.choice(_THING)}",
        signed=(person, "for the organization"),
        blocks=tuple(blocks) or (Paragraph(sentence(random)),),
        footer=person if random.random() < 0.4 else "",
        serif=random.random() < 0.4,
    )


def phrases(letter: Letter) -> tuple[str, ...]:
    """Return up to PHRASES distinct sentences of a letter's paragraphs, notes and lists.

    They are spread evenly over it.
    """
    found: list[str] = []
    for block in letter.blocks:
        if isinstance(block, Paragraph):
            body, notes = notes_of(final(block.text))
            found += notes
            # The mark of a note comes out in as many forms as there are tools.
            found += [part for part in _SENTENCE_END.split(body) if "\0" not in part]
        elif isinstance(block, Bullets):
            found += block.items
    found = list(dict.fromkeys(found))
    count = min(PHRASES, len(found))
    return tuple(found[index * len(found) // count] for index in range(count))


def body(random: Random) -> str:
    """Return an inline body as regulations.gov keeps it: HTML, mostly short."""
    if random.random() < 0.2:
        return "See attached file(s)"
    sentences = min(60, max(1, round(random.lognormvariate(1.2, 0.9))))
    words = text(random, sentences).replace("&", "&amp;").replace("’", "&rsquo;")
    return words.replace(". ", ".<br/><br/>", 1) if sentences > 3 else words


def _grid(random: Random) -> Grid:
    rows = [("Year", "Cases", "Cost", "Share")]
    for year in range(2026, 2026 + random.randint(3, 8)):
        cost = f"${random.randint(900, 99_999):,}"
        rows.append((str(year), str(random.randint(5, 900)), cost, f"{random.randint(1, 99)}%"))
    return Grid(tuple(rows), f"Table. {random.choice(_HEADS)} by year")
