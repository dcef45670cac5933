"""Pin pyproject.toml's dependencies, with hashes and for every Python from 3.11, by uv.

Writes requirements.txt (the workflow), requirements-slurm.txt (and Slurm's plugin, which adds a
third to Snakemake's start, so it has a file of its own), requirements-dev.txt (and the tests),
requirements-marker.txt (the environment of marker's processes, apart from all others because
marker wants an old Pillow and 6 GB). Needs a network.
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
        subprocess.run(
            [uv, "pip", "compile", "-", *OPTIONS, "--output-file", "requirements-marker.txt"],
            cwd=ROOT,
            input="\n".join(MARKER),
            text=True,
            check=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
