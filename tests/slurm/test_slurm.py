"""`snakemake --profile slurm` on a cluster of three nodes: spread, lost nodes, every page once."""

import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from regcomments.combined import read
from regcomments.config import Settings
from regcomments.ocr.plan import plan_ocr

from tests.slurm.conftest import DOCKET, SCANS, OcrRun, phrase
from tests.workflow.conftest import Site

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
HOSTS = {"laptop", "rig", "rack"}


def assert_every_page_once(site: Site, monkeypatch) -> None:
    for number in range(SCANS):
        combined = read(site.combined(f"{DOCKET}-{number + 1:04d}"))
        entry = combined.head.attachments[0]
        assert (entry.status, entry.ocr_pages, entry.ocr.pages) == ("ok", (), (1,))
        text = " ".join(combined.texts["attachment_1.pdf"].split())
        assert text.count(phrase(number)) == 1
    assert len(list((site.state / "_ocr").rglob("*.json"))) == SCANS
    monkeypatch.chdir(site.root)
    (settings,) = Path(".shards").glob("*/settings-*.json")
    plan = plan_ocr(Settings.from_json(settings.read_text()))
    assert (plan.queue.rows, plan.queue.stored, plan.queue.comments) == ((), 0, ())


def runs(cluster, numbers) -> list[tuple[str, str, str, str]]:
    """Node, state, start and end of every run of the jobs with these numbers."""
    return sorted(
        (run["NodeList"], run["JobState"], run["StartTime"], run["EndTime"])
        for run in cluster.history()
        if run["JobId"] in numbers
    )


def test_extraction_is_spread_over_the_nodes(cluster, extraction):
    site, run = extraction
    assert run.returncode == 0, run.stdout
    jobs = [job for job in cluster.jobs() if job.comment.startswith("rule_extract_shard")]
    assert {job.node for job in jobs} == HOSTS
    assert all(read(path).head for path in site.state.rglob("combined.md"))
    assert len(list(site.state.rglob("combined.md"))) == SCANS
    assert f"{SCANS} comments, {SCANS} attachments" in run.stdout
    # A job on a node reads the Snakefile again, and must not look through the state again.
    assert run.stdout.count("pending in 1 dockets") == 1
    logs = [path.read_text() for path in site.root.glob("logs/extract_shard/*/*.log")]
    assert len(logs) == 3
    assert not any("pending in" in log for log in logs)
    assert all(f"of {SCANS} comments, ETA" in log for log in logs)


def test_ocr_takes_one_job_a_card_on_three_nodes(idle_cluster, scans, monkeypatch):
    before = {job.number for job in idle_cluster.jobs()}
    with OcrRun(scans) as run:
        assert run.wait() == 0, run.output
    assert f"queued for OCR: {SCANS} files, {SCANS} pages" in run.output
    jobs = [job for job in idle_cluster.jobs() if job.number not in before]
    assert len(jobs) == 3
    assert {job.node for job in jobs} == HOSTS
    assert {job.comment.partition("_wildcards")[0] for job in jobs} == {"rule_ocr_shard"}
    by_node = runs(idle_cluster, {job.number for job in jobs})
    for (node, _, _, end), (other, _, start, _) in pairwise(by_node):
        assert node != other or end <= start, by_node
    assert_every_page_once(scans, monkeypatch)


def test_power_cut_in_mid_job(idle_cluster, scans, monkeypatch):
    with OcrRun(scans) as run:
        job = run.job_on(idle_cluster, "rig")
        idle_cluster.power_off("rig")
        assert run.stored(job) < run.size(job), "the job was done before the power cut"
        assert run.wait() == 0, run.output
    assert_ran_twice(idle_cluster, job)
    assert_every_page_once(scans, monkeypatch)


def test_host_that_sleeps_in_mid_job_and_wakes_when_another_has_its_job(
    idle_cluster, scans, monkeypatch
):
    with OcrRun(scans) as run:
        job = run.job_on(idle_cluster, "rack")
        idle_cluster.suspend("rack")
        assert run.stored(job) < run.size(job), "the job was done before the host slept"

        def runs_elsewhere() -> bool:
            (now,) = [other for other in idle_cluster.jobs() if other.number == job.number]
            return now.restarts == 1 and now.state in ("RUNNING", "COMPLETED")

        run.until(runs_elsewhere, "the job runs on another node")
        idle_cluster.wake("rack")
        assert run.wait() == 0, run.output
    assert_ran_twice(idle_cluster, job)
    assert_every_page_once(scans, monkeypatch)


def assert_ran_twice(cluster, job) -> None:
    (now,) = [other for other in cluster.jobs() if other.number == job.number]
    assert (now.state, now.restarts) == ("COMPLETED", 1)
    assert now.node != job.node
    states = {(node, state) for node, state, *_ in runs(cluster, {job.number})}
    assert states == {(job.node, "NODE_FAIL"), (now.node, "COMPLETED")}


def test_job_goes_to_the_card_that_it_asks_for(idle_cluster, scans, monkeypatch):
    """By feature (`constraint`) and by model; both are given for one run on the command line."""
    for number in range(1, SCANS):
        shutil.rmtree(scans.combined(f"{DOCKET}-{number + 1:04d}").parent)
    before = {job.number for job in idle_cluster.jobs()}
    wish = "ocr_shard:constraint=vram12", "ocr_shard:gpu_model=rtx3060"
    with OcrRun(scans, "--set-resources", *wish) as run:
        assert run.wait() == 0, run.output
    (job,) = [job for job in idle_cluster.jobs() if job.number not in before]
    assert job.node == "rack"
