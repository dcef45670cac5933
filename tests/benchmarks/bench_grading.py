"""How well grading finds the pages that need OCR, cross-validated, and what it costs.

usage: bench_grading.py [--shared FOLDER]

Reads <shared>/pages (labelled pages) and <shared>/cases (files with their pages to OCR). Prints
precision and recall of the rule as it stands; the same when its limits are chosen without the
pages of the source, or without a tenth of the files, that is judged (choosing among RULES for
the best F1 at a recall of 0.95, the middle one of those that tie); how far each limit moves the
figures; the case files whose page lists are wrong; and CPU milliseconds a page.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pymupdf
from regcomments.grade import RULE, Rule, judge, judge_document
from regcomments.read.pagefacts import PageFacts, measure

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
MOVES: dict[str, tuple[float, ...]] = {
    "some_letters": (4, 8, 12, 16, 24, 32),
    "times_more": (2, 3, 5, 8, 12),
    "paragraph": (100, 150, 200, 250, 350, 500, 800),
    "garbled_share": (0.05, 0.1, 0.2, 0.3),
    "odd_share": (0.15, 0.25, 0.35),
    "vowel_share": (0.1, 0.2, 0.25),
}
CHOSEN = ("some_letters", "times_more", "paragraph", "garbled_share", "odd_share")
RULES = [
    replace(RULE, **dict(zip(CHOSEN, values, strict=True)))
    for values in itertools.product(*(MOVES[name] for name in CHOSEN))
]


@dataclass(frozen=True)
class Labelled:
    facts: PageFacts
    needs: bool
    source: str
    file: str
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=SHARED)
    shared = parser.parse_args().shared
    pymupdf.TOOLS.mupdf_display_errors(False)
    pages = list(labelled(shared / "pages"))
    print(f"{len(pages)} labelled pages, {sum(p.needs for p in pages)} need OCR")
    naive = [p.facts.chars <= 50 for p in pages]
    print(f"{'at most 50 characters':34}{figures(naive, pages)}")
    print(f"{'the rule as it stands':34}{figures(verdicts(pages, RULE), pages)}")
    print(f"{'chosen without its source':34}{figures(validated(pages, by_source), pages)}")
    print(f"{'chosen without its tenth':34}{figures(validated(pages, by_tenth), pages)}")
    for name, values in MOVES.items():
        for value in values:
            moved = replace(RULE, **{name: value})
            print(f"  {name} = {value:<17}{figures(verdicts(pages, moved), pages)}")
    looked = [p for p in pages if p.facts.looked]
    for name, group in (("all", pages), ("rendered", looked)):
        mean = 1000 * sum(p.seconds for p in group) / len(group)
        most = 1000 * max(p.seconds for p in group)
        print(f"CPU ms a page, {name}: {mean:.0f}, at most {most:.0f} ({len(group)} pages)")
    cases(shared / "cases")


def labelled(folder: Path) -> Iterator[Labelled]:
    for line in (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        with pymupdf.open(folder / "files" / label["file"]) as document:
            page = document[label["page"] - 1]
            text = page.get_text()
            start = time.process_time()
            facts = measure(page, text)
            seconds = time.process_time() - start
        source = label["source"].split(":")[0]
        yield Labelled(facts, label["needs_ocr"], source, label["file"], seconds)


def verdicts(pages: Sequence[Labelled], rule: Rule) -> list[bool]:
    return [judge(page.facts, 0, rule).needs_ocr for page in pages]


def score(found: Sequence[bool], pages: Sequence[Labelled]) -> tuple[float, float, float]:
    """Return precision, recall and F1."""
    hits = sum(f and p.needs for f, p in zip(found, pages, strict=True))
    precision = hits / max(1, sum(found))
    recall = hits / max(1, sum(p.needs for p in pages))
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)


def figures(found: Sequence[bool], pages: Sequence[Labelled]) -> str:
    return "P {:.2f}  R {:.2f}  F1 {:.2f}".format(*score(found, pages))


def by_source(page: Labelled) -> str:
    return page.source


def by_tenth(page: Labelled) -> str:
    return str(int(page.file[:6], 16) % 10)


def validated(pages: Sequence[Labelled], fold_of: Callable[[Labelled], str]) -> list[bool]:
    """Return the verdict on each page of a rule chosen without the pages of its fold."""
    table = [verdicts(pages, rule) for rule in RULES]
    chosen: dict[str, int] = {}
    for fold in {fold_of(page) for page in pages}:
        rest = [i for i, page in enumerate(pages) if fold_of(page) != fold]
        others = [pages[i] for i in rest]

        merits = []
        for row in table:
            _, recall, f1 = score([row[i] for i in rest], others)
            merits.append((recall >= 0.95, f1))
        best = [number for number, merit in enumerate(merits) if merit == max(merits)]
        chosen[fold] = middle(best)
    return [table[chosen[fold_of(page)]][i] for i, page in enumerate(pages)]


def middle(numbers: Sequence[int]) -> int:
    """Return that of the rules whose limits lie nearest to the middle of all of them."""
    ranks = {
        number: [MOVES[name].index(getattr(RULES[number], name)) for name in CHOSEN]
        for number in numbers
    }
    means = [sum(column) / len(column) for column in zip(*ranks.values(), strict=True)]
    return min(
        numbers,
        key=lambda number: sum(abs(r - m) for r, m in zip(ranks[number], means, strict=True)),
    )


def cases(folder: Path) -> None:
    right = total = count = rendered = 0
    text_seconds = measure_seconds = 0.0
    for line in (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        name = case["file"]
        readable = case["status"] in ("ok", "ocr_needed") and not name.startswith("bomb")
        if not readable or not name.endswith(".pdf"):
            continue
        with pymupdf.open(folder / "files" / name) as document:
            if document.needs_pass and not document.authenticate(""):
                continue
            facts, seen = [], {}
            for page in document:
                begin = time.process_time()
                text = page.get_text()
                middle = time.process_time()
                facts.append(measure(page, text, None, seen))
                if facts[-1].looked:
                    rendered += 1
                else:
                    text_seconds += middle - begin
                    measure_seconds += time.process_time() - middle
                count += 1
        found = {n for n, verdict in enumerate(judge_document(facts), 1) if verdict.needs_ocr}
        free = set(case.get("ocr_pages_optional") or ())
        total += 1
        if found - free == set(case["needs_ocr_pages"]) - free:
            right += 1
        else:
            print(f"wrong: {name}: {sorted(found)}, should be {case['needs_ocr_pages']}")
    print(f"cases: {right} of {total} lists of pages right")
    ratio = measure_seconds / text_seconds
    print(f"pages not rendered: {count - rendered}, measured in {ratio:.2f} of get_text()'s time")


if __name__ == "__main__":
    main()
