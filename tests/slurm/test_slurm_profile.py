"""What the Slurm profile promises, without a cluster."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from regcomments.config import Settings
from regcomments.workflow import PROGRESS_VARIABLE, SETTINGS_VARIABLE, host_facts, prepare

ROOT = Path(__file__).resolve().parents[2]
PROFILE = yaml.safe_load((ROOT / "profiles" / "slurm" / "profile.yaml").read_text())
DEFAULT = yaml.safe_load((ROOT / "profiles" / "default" / "profile.yaml").read_text())
LONGEST_PAUSE = 180  # seconds between two looks of the plugin at the states
RIG = {"name": "rig", "server": {"url": "http://127.0.0.1:8000"}}
SETTINGS = Settings(state="s", bib="none", hosts=({"name": "laptop"}, RIG))


def test_profile_works_without_slurmdbd():
    assert PROFILE["executor"] == "slurm"
    assert PROFILE["slurm-status-command"] == "squeue"
    assert PROFILE["slurm-no-account"] is True
    # Slurm's default MinJobAge is 300 s; below three looks the plugin asks sacct, which never ends.
    assert 3 * PROFILE["slurm-init-seconds-before-status-checks"] <= 300
    advised = re.search(r"MinJobAge=(\d+)", (ROOT / "docs" / "operators.md").read_text())
    assert int(advised[1]) >= 3 * LONGEST_PAUSE


def test_profile_leaves_cards_to_slurm_and_lost_jobs_to_its_queue():
    assert "gpu" not in PROFILE.get("resources", {})
    assert PROFILE["slurm-requeue"] is True
    assert not set(PROFILE) & set(DEFAULT), "the default profile would override these"


def test_job_has_memory_for_the_reading_process():
    config = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    assert PROFILE["default-resources"]["mem_mb"] > config["read"]["memory_mb"] + 500


@pytest.mark.parametrize(
    "settings, node, facts",
    [
        (SETTINGS, "rig", RIG),
        (SETTINGS, "node17", {}),
        (SETTINGS, None, {}),
        (replace(SETTINGS, host={"name": "laptop"}), "rig", {"name": "laptop"}),
    ],
    ids=["node", "unknown-node", "no-cluster", "profile-wins"],
)
def test_job_takes_the_facts_of_its_node(monkeypatch, settings, node, facts):
    monkeypatch.delenv("SLURMD_NODENAME", raising=False)
    if node:
        monkeypatch.setenv("SLURMD_NODENAME", node)
    assert Settings.from_json(settings.to_json()).host_here() == facts


def test_facts_of_all_hosts_travel_although_the_profile_names_none():
    facts, hosts = host_facts({"host": None}, ROOT)
    assert facts == {}
    assert {"laptop", "rig", "rack"} <= {host["name"] for host in hosts}


def run_of(config, *, spawned=False):
    values = {"state": "s", "bib": "none", **config}
    return prepare(values, basedir=ROOT, dryrun=lambda: False, say=lambda _: None, spawned=spawned)


def test_job_keeps_the_settings_of_its_run_when_the_configuration_is_edited(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for variable in (SETTINGS_VARIABLE, PROGRESS_VARIABLE):
        monkeypatch.setenv(variable, "")  # so that what `start` sets goes away after the test
    main = run_of({"ocr": {"dpi": 200}})
    main.start()
    edited = {"ocr": {"dpi": 300}}
    job = run_of(edited, spawned=True)
    assert Settings.from_json(Path(job.settings_file).read_text()).ocr["dpi"] == 200
    assert job.progress() == main.progress()
    # A run that somebody starts himself has settings of its own, whatever the environment says.
    own = run_of(edited)
    own.start()
    assert Settings.from_json(Path(own.settings_file).read_text()).ocr["dpi"] == 300
