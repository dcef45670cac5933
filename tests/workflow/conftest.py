"""The real Snakefile in a temporary folder."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pymupdf
import pytest

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 300  # seconds; a hung Snakemake must fail the test, not the CI run


@dataclass
class Site:
    """A working directory with a state folder and a database of bodies."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        return self.root / "comments"

    def comment(self, name: str, **files: bytes | str) -> Path:
        """Make a comment folder; keyword `a1_txt` is the content of attachment_1.txt."""
        docket = name.rsplit("-", 1)[0]
        folder = self.state / docket / name
        folder.mkdir(parents=True, exist_ok=True)
        for key, content in files.items():
            number, _, ext = key[1:].partition("_")
            path = folder / f"attachment_{number}.{ext}"
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return folder

    def bodies(self, rows: dict[str, str]) -> None:
        with sqlite3.connect(self.root / "bib.sqlite") as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS items (id TEXT PRIMARY KEY, abstract TEXT)"
            )
            connection.executemany("INSERT OR REPLACE INTO items VALUES (?, ?)", rows.items())
        connection.close()

    def command(self, *arguments: str, config: tuple[str, ...] = ()) -> list[str]:
        return [
            *(sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")),
            *("--directory", str(self.root), *arguments),
            *("--config", "state=comments", "bib=bib.sqlite", *config),
        ]

    def run(
        self, *arguments: str, config: tuple[str, ...] = (), **extra: str
    ) -> subprocess.CompletedProcess[str]:
        """Run Snakemake to its end; stdout and stderr come together in `stdout`."""
        return subprocess.run(
            self.command(*arguments, config=config),
            cwd=self.root,
            env=self.env(**extra),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
        )

    def env(self, **extra: str) -> dict[str, str]:
        return {**os.environ, **self.environment, **extra}

    def hashes(self) -> dict[str, str]:
        """SHA-256 of every file below the state folder, by its path there."""
        return {
            str(path.relative_to(self.state)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.state.rglob("*"))
            if path.is_file()
        }

    def combined(self, name: str) -> Path:
        return self.state / name.rsplit("-", 1)[0] / name / "combined.md"


def scan_pdf(text: str) -> bytes:
    """A one-page PDF that holds only a picture of `text`, 150 dpi."""
    page_text = pymupdf.open()
    page = page_text.new_page()
    page.insert_textbox((72, 72, 540, 720), text, fontsize=14)
    picture = page.get_pixmap(dpi=150, colorspace=pymupdf.csGRAY)
    out = pymupdf.open()
    out.new_page().insert_image(page.rect, pixmap=picture)
    return out.tobytes()


@pytest.fixture
def site(tmp_path) -> Site:
    """Two dockets, five comments of text, one inline-only comment with an empty folder."""
    site = Site(tmp_path)
    for docket, count in (("CMS-2031-0001", 3), ("CMS-2031-0002", 2)):
        for number in range(1, count + 1):
            site.comment(
                f"{docket}-{number:04d}",
                a1_txt=f"Letter {number} of our clinic about the proposed payment rule.\n",
            )
    site.comment("CMS-2031-0002-0003")
    site.bodies(
        {
            "CMS-2031-0001-0001": "See attached.<br/>Thank you &amp; regards",
            "CMS-2031-0002-0003": "I support this rule.",
        }
    )
    return site
