"""Link profiles/* into Snakemake's user folder, so that `snakemake --profile rig` works as typed.

A link of ours is renewed; somebody else's profile of the same name is left, and the exit code is 1.
"""

import os
import sys
from pathlib import Path

PROFILES = Path(__file__).resolve().parents[1] / "profiles"
# Loaded by itself from beside the Snakefile; under the user's folder it would act on every project.
NOT_LINKED = {"default"}


def main() -> int:
    """Make the links; returns the exit code."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    target = Path(base, "snakemake")
    target.mkdir(parents=True, exist_ok=True)
    code = 0
    for profile in sorted(PROFILES.iterdir()):
        if not profile.is_dir() or profile.name in NOT_LINKED:
            continue
        link = target / profile.name
        if link.is_symlink() and _is_ours(link):
            link.unlink()
        if link.exists() or link.is_symlink():
            print(
                f"{link} is somebody else's profile and was left; use "
                f"--profile {profile} or move that one away",
                file=sys.stderr,
            )
            code = 1
            continue
        link.symlink_to(profile, target_is_directory=True)
        print(f"{link} -> {profile}")
    return code


def _is_ours(link: Path) -> bool:
    """True for a link to a profile of the same name in a clone of this project, gone or not."""
    target = Path(os.readlink(link))
    folder = target.parent
    named = folder.name == "profiles" and target.name == link.name
    return named and (not folder.exists() or (folder.parent / "scripts" / "regcomments").is_dir())


if __name__ == "__main__":
    sys.exit(main())
