"""Pin pyproject.toml's dependencies, with hashes and for every Python from 3.11, by uv.

Writes requirements.txt (the workflow), requirements-slurm.txt (and Slurm's plugin, which adds a
third to Snakemake's start, so it has a file of its own), requirements-dev.txt (and the tests),
requirements-marker.txt (the environment of marker's processes, apart from all others because
marker wants an old Pillow and 6 GB), and those of the tools that the benchmarks compare with.
Needs a network.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = {
    "requirements.txt": ["--extra", "s3"],
    "requirements-slurm.txt": ["--extra", "s3", "--extra", "slurm"],
    "requirements-dev.txt": ["--extra", "s3", "--extra", "slurm", "--extra", "dev"],
}
# torch and torchvision must match. Newer ones do as well; each costs a CI run 3 GB of downloads
# when its machine doesn't have them on disk.
MARKER = ["marker-pdf==2.0.0", "surya-ocr==0.22.1", "torch==2.14.1", "torchvision==0.29.1"]
# What tests/benchmarks compares with, each in an environment of its own. pymupdf4llm 2.0 names
# nothing that it needs, so it can't be installed by its name alone.
PEERS = {
    "kreuzberg": "kreuzberg==4.10.4",
    "markitdown": "markitdown[pdf,docx,xlsx,xls,pptx,outlook]==0.1.9",
    "liteparse": "liteparse==2.18.0",
    "pymupdf4llm": "pymupdf4llm==1.28.2",
    "pdfminer": "pdfminer.six==20260107",
}
OPTIONS = ["--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"]
OPTIONS += ["--no-annotate", "--no-header", "--no-emit-index-url", "--no-emit-find-links"]


def main() -> int:
    """Write the requirement files; returns the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python, uv = (str(Path(folder, "bin", name)) for name in ("python", "uv"))
        subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
        for name, extras in FILES.items():
            command = [uv, "pip", "compile", "pyproject.toml"]
            # The larger sets must agree with the first, so they are compiled under it.
            under = ["--constraint", "requirements.txt"] if name != "requirements.txt" else []
            subprocess.run(
                [*command, *extras, *OPTIONS, *under, "--output-file", name], cwd=ROOT, check=True
            )
        others = {"requirements-marker.txt": MARKER}
        others |= {
            f"tests/benchmarks/peers/requirements/{name}.txt": [wanted]
            for name, wanted in PEERS.items()
        }
        for name, wanted in others.items():
            subprocess.run(
                [uv, "pip", "compile", "-", *OPTIONS, "--output-file", name],
                cwd=ROOT,
                input="\n".join(wanted),
                text=True,
                check=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
