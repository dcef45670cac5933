"""The environments of the other tools, below .cache/peers.

    make setup-peers        # or: python -m tests.benchmarks.peers.environments

Their pinned requirements lie in requirements/, made by `make lock`.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Environment:
    """Where one tool is installed, and from which requirements."""

    name: str

    @property
    def folder(self) -> Path:
        """The folder of the virtual environment."""
        return ROOT / ".cache" / "peers" / self.name

    @property
    def requirements(self) -> Path:
        """Its pinned requirements."""
        return _HERE / "requirements" / f"{self.name}.txt"

    @property
    def python(self) -> Path:
        """Its interpreter, there after `set_up`."""
        return self.folder / "bin" / "python"


ENVIRONMENTS = {
    name: Environment(name)
    for name in ("kreuzberg", "markitdown", "liteparse", "pymupdf4llm", "pdfminer")
}


def set_up() -> None:
    """Make the environments that don't stand yet; quick when all do.

    Raises subprocess.CalledProcessError when one can't be made, as without a network.
    """
    for environment in ENVIRONMENTS.values():
        environment.folder.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, str(ROOT / "scripts" / "make_venv.py")]
        paths = [str(environment.folder), str(environment.requirements)]
        subprocess.run([*command, *paths, "--without-package"], check=True)


if __name__ == "__main__":
    set_up()
