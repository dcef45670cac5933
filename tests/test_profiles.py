"""`make profiles` links our profiles and leaves other people's."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "link_profiles.py"


def link(home: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_CONFIG_HOME": str(home)}
    return subprocess.run(
        [sys.executable, str(SCRIPT)], env=environment, capture_output=True, text=True
    )


def test_links_and_renews_its_own(tmp_path):
    for _ in range(2):
        run = link(tmp_path)
        assert run.returncode == 0, run.stderr
        assert (tmp_path / "snakemake" / "rig").resolve() == ROOT / "profiles" / "rig"
    assert not (tmp_path / "snakemake" / "default").exists()


def test_dead_link_of_an_old_clone_is_renewed(tmp_path):
    (tmp_path / "snakemake").mkdir()
    (tmp_path / "snakemake" / "rig").symlink_to(tmp_path / "gone" / "profiles" / "rig")
    assert link(tmp_path).returncode == 0
    assert (tmp_path / "snakemake" / "rig").resolve() == ROOT / "profiles" / "rig"


def test_somebody_else_s_profile_is_left_and_said(tmp_path):
    other = tmp_path / "snakemake" / "rig"
    other.mkdir(parents=True)
    (other / "profile.yaml").write_text("jobs: 1\n")
    run = link(tmp_path)
    assert run.returncode == 1
    assert "somebody else's profile" in run.stderr
    assert (other / "profile.yaml").read_text() == "jobs: 1\n"
    assert (tmp_path / "snakemake" / "rack").is_symlink()
