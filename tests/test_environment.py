"""Pins, profiles and documents agree with each other."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(name: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in (ROOT / name).read_text().splitlines():
        match = re.match(r"([A-Za-z0-9._-]+)==([^\s;\\]+)", line)
        if match:
            found.setdefault(canonical(match[1]), set()).add(match[2])
    return found


@pytest.mark.parametrize(
    "name",
    [
        "requirements.txt",
        "requirements-slurm.txt",
        "requirements-dev.txt",
        "requirements-marker.txt",
    ],
)
def test_every_requirement_has_hashes_and_no_address(name):
    text = (ROOT / name).read_text()
    blocks = re.split(r"\n(?=[A-Za-z0-9])", text)
    bare = [block.split("\n")[0] for block in blocks if "==" in block and "--hash=" not in block]
    assert bare == []
    assert "://" not in text


@pytest.mark.parametrize("name", ["requirements-slurm.txt", "requirements-dev.txt"])
def test_larger_sets_agree_with_the_workflow_s(name):
    dev = pins(name)
    for name, versions in pins("requirements.txt").items():
        assert dev[name] == versions, name


def test_conda_environment_agrees_with_the_requirements():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (pip,) = [item["pip"] for item in environment["dependencies"] if isinstance(item, dict)]
    conda = dict(line.split("==") for line in pip)
    locked, marker = pins("requirements-slurm.txt"), pins("requirements-marker.txt")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["slurm"], *extras["s3"]]
    names = {canonical(re.match(r"[A-Za-z0-9._-]+", line)[0]) for line in wanted}
    given = {canonical(name): version for name, version in conda.items()}
    assert names <= set(given)
    for name in names:
        # Where marker bounds a package below ours, its own lock has the last word.
        assert given[name] in locked[name] | marker.get(name, set()), name
    assert given["marker-pdf"] in marker["marker-pdf"]
    assert given["pillow"] in marker["pillow"], "marker-pdf could not be installed beside it"


def test_every_dependency_says_why():
    text = (ROOT / "pyproject.toml").read_text()
    block = text.split("dependencies = [", 1)[1].split("\n]", 1)[0]
    lines = [line for line in block.splitlines() if line.strip()]
    assert len(lines) >= 10
    assert [line for line in lines if "# " not in line] == []


def test_config_table_is_that_of_the_schema():
    check = [sys.executable, str(ROOT / "scripts" / "config_table.py"), "--check"]
    assert subprocess.run(check).returncode == 0, "run scripts/config_table.py"


def test_default_config_fits_the_schema():
    from regcomments.config import check_config

    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    check_config(config, ROOT / "config" / "config.schema.yaml")


def test_default_profile_sets_nothing_that_a_host_sets():
    """It overrides host profiles key by key."""
    default = set(yaml.safe_load((ROOT / "profiles" / "default" / "profile.yaml").read_text()))
    for host in ("laptop", "rig", "rack"):
        profile = yaml.safe_load((ROOT / "profiles" / host / "profile.yaml").read_text())
        assert not default & set(profile)
        assert profile["resources"]["gpu"] == 1
        named = yaml.safe_load((ROOT / "profiles" / host / profile["configfile"]).read_text())
        assert named == {"host": host}
        assert (ROOT / "config" / "hosts" / f"{host}.yaml").is_file()


def test_profiles_readme_explains_every_key():
    text = (ROOT / "profiles" / "README.md").read_text()
    for path in (ROOT / "profiles").glob("*/profile.yaml"):
        for key in yaml.safe_load(path.read_text()):
            assert f"`{key}" in text, f"{path.parent.name}: {key}"


def test_make_targets_named_in_readme_exist():
    makefile = (ROOT / "Makefile").read_text()
    readme = (ROOT / "README.md").read_text()
    for target in set(re.findall(r"\bmake ([a-z-]+)\b", readme)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
