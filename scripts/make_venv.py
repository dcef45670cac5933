"""Make `.venv` with the pinned requirements; quick when it stands already.

    python3 scripts/make_venv.py FOLDER REQUIREMENTS [--without-package] [EXTRA ARGUMENTS OF pip …]

With --without-package the environment holds the requirements alone, for other tools.
Needs python3 >= 3.11. On Debian without the `python3-venv` package it takes an installed pip, or
installs the package when it may (root or passwordless sudo), else it says what to install.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
WITHOUT = "--without-package"
PACKAGE = ["--no-deps", "--no-build-isolation", "-e", str(ROOT)]
# An environment made from one of these serves as well.
LARGER = {
    "requirements.txt": ("requirements-slurm.txt", "requirements-dev.txt"),
    "requirements-slurm.txt": ("requirements-dev.txt",),
}


def main() -> int:
    """Make the environment named on the command line; returns the exit code."""
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:3]))
        print(f"error: python3 is {found}, this needs 3.11 or later", file=sys.stderr)
        return 2
    folder, requirements = (ROOT / name for name in sys.argv[1:3])
    extra = sys.argv[3:]
    stamp = folder / ".requirements"
    wanted = _digest(requirements, extra)
    enough = {wanted} | {_digest(ROOT / name, extra) for name in LARGER.get(requirements.name, ())}
    if stamp.is_file() and stamp.read_text() in enough and _works(folder):
        return 0
    if not _works(folder) and not _create(folder):
        return 2
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    pip += ["--disable-pip-version-check"]
    print(f"installing {requirements.name} into {folder.name} …", flush=True)
    commands = [["--require-hashes", "-r", str(requirements), *extra], PACKAGE]
    if WITHOUT in extra:
        commands = [[part for part in commands[0] if part != WITHOUT]]
    for arguments in commands:
        code = subprocess.run([*pip, *arguments], cwd=ROOT).returncode
        if code:
            return code
    stamp.write_text(wanted)
    return 0


def _digest(requirements: Path, extra: list[str]) -> str:
    pinned = requirements.read_bytes()
    if WITHOUT not in extra:
        pinned += (ROOT / "pyproject.toml").read_bytes()
    return hashlib.sha256(pinned + " ".join(extra).encode() + sys.version.encode()).hexdigest()


def _works(folder: Path) -> bool:
    python = folder / "bin" / "python"
    if not python.exists():
        return False
    check = [str(python), "-m", "pip", "--version"]
    return subprocess.run(check, capture_output=True).returncode == 0


def _create(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    for attempt in (_with_venv, _with_system_pip, _with_apt):
        if attempt(folder) and _works(folder):
            return True
        shutil.rmtree(folder, ignore_errors=True)
    print(
        "error: python3 cannot make a virtual environment here; as root: "
        "apt-get install python3-venv, then run the same command again",
        file=sys.stderr,
    )
    return False


def _with_venv(folder: Path) -> bool:
    command = [sys.executable, "-m", "venv", str(folder)]
    return subprocess.run(command, capture_output=True).returncode == 0


def _with_system_pip(folder: Path) -> bool:
    bare = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    if subprocess.run(bare, capture_output=True).returncode:
        return False
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    return subprocess.run([*pip, "install", "--quiet", "pip"], capture_output=True).returncode == 0


def _with_apt(folder: Path) -> bool:
    apt = shutil.which("apt-get")
    if apt is None:
        return False
    prefix = []
    if os.geteuid() != 0:
        sudo = shutil.which("sudo")
        if sudo is None or subprocess.run([sudo, "-n", "true"], capture_output=True).returncode:
            return False
        prefix = [sudo, "-n"]
    print("installing Debian's python3-venv …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "-qq"], ["install", "-y", "-qq", "python3-venv"]):
        run = subprocess.run([*prefix, apt, *arguments], capture_output=True, env=environment)
        if run.returncode:
            return False
    return _with_venv(folder)


if __name__ == "__main__":
    sys.exit(main())
