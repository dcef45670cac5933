"""Pin pyproject.toml's dependencies, with hashes and for every Python from 3.11, by uv.

Writes requirements.txt (the workflow), requirements-dev.txt (and its tests). Needs network.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = {
    "requirements.txt": ["--extra", "slurm", "--extra", "s3"],
    "requirements-dev.txt": ["--extra", "slurm", "--extra", "s3", "--extra", "dev"],
}
OPTIONS = ["--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"]
OPTIONS += ["--no-annotate", "--no-header", "--no-emit-index-url", "--no-emit-find-links"]


def main() -> int:
    """Write the requirement files; returns the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = str(Path(folder, "bin", "python"))
        subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
        for name, extras in FILES.items():
            command = [str(Path(folder, "bin", "uv")), "pip", "compile", "pyproject.toml"]
            # The dev set must agree with the first, so it is compiled under it.
            under = ["--constraint", "requirements.txt"] if name != "requirements.txt" else []
            subprocess.run(
                [*command, *extras, *OPTIONS, *under, "--output-file", name], cwd=ROOT, check=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
