"""`snakemake extract_all` and single comments, by the real Snakefile."""

import os
import signal
import subprocess
import time

import pytest
from regcomments.combined import read

pytestmark = pytest.mark.slow


def test_cold_run_then_nothing_to_be_done(site):
    first = site.run("-j", "2", "extract_all")
    assert first.returncode == 0, first.stdout
    assert "pending in 2 dockets: 6 comments, 5 attachments" in first.stdout
    assert "6 comments, 5 attachments" in first.stdout.rsplit("steps (100%)", 1)[1]
    before = site.hashes()
    assert len([name for name in before if name.endswith("combined.md")]) == 6

    second = site.run("-j", "2", "extract_all")
    assert second.returncode == 0, second.stdout
    assert "Nothing to be done" in second.stdout
    assert site.hashes() == before


def test_inline_bodies_are_text_and_missing_ones_are_said(site):
    assert site.run("-j", "2", "extract_all").returncode == 0
    combined = read(site.combined("CMS-2031-0001-0001"))
    assert combined.inline == "See attached.\nThank you & regards"
    assert not combined.head.inline_missing
    assert read(site.combined("CMS-2031-0001-0002")).head.inline_missing
    assert read(site.combined("CMS-2031-0002-0003")).inline == "I support this rule."


def test_removed_combined_makes_exactly_that_comment_pending(site):
    site.run("-j", "2", "extract_all")
    before = site.hashes()
    site.combined("CMS-2031-0001-0002").unlink()
    preview = site.run("-n", "extract_all")
    assert "pending in 1 dockets: 1 comments, 1 attachments" in preview.stdout
    assert "CMS-2031-0001-0002..CMS-2031-0001-0002" in preview.stdout
    assert not site.combined("CMS-2031-0001-0002").exists()
    assert site.run("-j", "2", "extract_all").returncode == 0
    after = site.hashes()
    changed = {name for name in after if after[name] != before[name]}
    assert changed <= {"CMS-2031-0001/CMS-2031-0001-0002/combined.md"}


@pytest.mark.parametrize(
    ("config", "pending"),
    [(("docket=CMS-2031-0002",), 3), (("limit=2",), 2), (("docket=CMS-2031-0001", "limit=1"), 1)],
)
def test_docket_and_limit_bound_the_run(site, config, pending):
    assert site.run("-j", "2", "extract_all", config=config).returncode == 0
    assert len(list(site.state.rglob("combined.md"))) == pending


def test_kill_in_the_middle_then_the_same_command_goes_on(site):
    for number in range(10, 400):
        site.comment(f"CMS-2031-0001-{number:04d}", a1_html=f"<p>Page {number}</p>" * 200)
    process = subprocess.Popen(
        site.command("-j", "2", "extract_all"),
        cwd=site.root,
        env=site.env(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(list(site.state.rglob("combined.md"))) < 20 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = len(list(site.state.rglob("combined.md")))
    assert 20 <= done < 396
    again = site.run("-j", "2", "extract_all")
    assert again.returncode == 0, again.stdout
    assert len(list(site.state.rglob("combined.md"))) == 396


def test_term_leaves_no_worker_behind(site):
    for number in range(10, 400):
        site.comment(f"CMS-2031-0001-{number:04d}", a1_html=f"<p>Page {number}</p>" * 200)
    process = subprocess.Popen(
        site.command("-j", "2", "extract_all"),
        cwd=site.root,
        env=site.env(REGCOMMENTS_TEST_MARK="orphan-check"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while len(list(site.state.rglob("combined.md"))) < 20 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGTERM)
    process.wait(120)
    deadline = time.monotonic() + 10
    while _marked(b"REGCOMMENTS_TEST_MARK=orphan-check") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _marked(b"REGCOMMENTS_TEST_MARK=orphan-check") == []


def _marked(mark: bytes) -> list[int]:
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                with open(f"/proc/{entry.name}/environ", "rb") as handle:
                    if mark in handle.read():
                        found.append(int(entry.name))
            except OSError:
                continue
    return found


PLANTED = '''
"""Loaded at every interpreter start: plants faults in the reader of text files."""
import ctypes
import time

import regcomments.read.plain as plain

read_text = plain.read_text


def faulty(path, options):
    content = path.read_bytes()
    if content.startswith(b"SEGFAULT"):
        ctypes.string_at(0)
    if content.startswith(b"HANG"):
        time.sleep(1e6)
    if content.startswith(b"MEMORY"):
        hoard = []
        while True:
            hoard.append(b"x" * 100_000_000)
    return read_text(path, options)


plain.read_text = faulty
'''


def test_planted_faults_cost_only_their_own_files(site, tmp_path_factory):
    hooks = tmp_path_factory.mktemp("hooks")
    (hooks / "sitecustomize.py").write_text(PLANTED)
    for number, word in enumerate(("SEGFAULT", "HANG", "MEMORY"), start=4):
        site.comment(f"CMS-2031-0001-{number:04d}", a1_txt=f"{word} of the reader", a2_txt="fine")
    (site.root / "short.yaml").write_text("read: {seconds: 10, memory_mb: 1024}\n")
    run = site.run("-j", "2", "extract_all", "--configfile", "short.yaml", PYTHONPATH=str(hooks))
    assert run.returncode == 0, run.stdout
    reasons = {}
    for number in (4, 5, 6):
        first, second = read(site.combined(f"CMS-2031-0001-{number:04d}")).head.attachments
        reasons[number] = (first.status, first.reason)
        assert second.status == "ok"
    assert reasons == {
        4: ("failed", "crashed"),
        5: ("failed", "timeout"),
        6: ("failed", "memory"),
    }
    others = [read(site.combined(f"CMS-2031-0001-{number:04d}")) for number in (1, 2, 3)]
    assert all(combined.head.attachments[0].status == "ok" for combined in others)


def test_one_comment_by_its_path(site):
    target = "comments/CMS-2031-0001/CMS-2031-0001-0002/combined.md"
    run = site.run("-j", "1", target)
    assert run.returncode == 0, run.stdout
    folder = site.combined("CMS-2031-0001-0002").parent
    assert sorted(path.name for path in folder.iterdir()) == ["attachment_1.txt", "combined.md"]
    assert len(list(site.state.rglob("combined.md"))) == 1


def test_failing_single_comment_keeps_empty_folder_and_old_file(site):
    """Snakemake deletes declared outputs of failed jobs, and empty folders around them."""
    (site.root / "bib.sqlite").write_bytes(b"not a database")
    empty = site.combined("CMS-2031-0002-0003")
    run = site.run("-j", "1", str(empty.relative_to(site.root)))
    assert run.returncode != 0
    assert empty.parent.is_dir()

    old = site.combined("CMS-2031-0001-0001")
    old.write_text("the old text")
    run = site.run("-j", "1", "--force", str(old.relative_to(site.root)))
    assert run.returncode != 0
    assert old.read_text() == "the old text"


def test_redo_reads_again_what_it_names(site):
    site.comment("CMS-2031-0001-0001", a2_pdf=b"%PDF-1.4 broken")
    site.run("-j", "2", "extract_all")
    before = site.hashes()
    run = site.run("-j", "2", "extract_all", config=("redo=failed",))
    assert run.returncode == 0, run.stdout
    assert "pending in 1 dockets: 1 comments, 2 attachments" in run.stdout
    assert site.hashes() == before, "nothing new was found, so nothing changes"


def test_new_attachment_makes_a_comment_stale(site):
    site.run("-j", "2", "extract_all")
    time.sleep(1.1)
    site.comment("CMS-2031-0001-0003", a2_txt="A second letter came later.")
    assert "stale, files newer than combined.md: 1 comments" in site.run("-n", "extract_all").stdout
    run = site.run("-j", "2", "extract_all", config=("redo=stale",))
    assert run.returncode == 0, run.stdout
    assert "A second letter came later." in site.combined("CMS-2031-0001-0003").read_text()
    assert "stale" not in site.run("-n", "extract_all").stdout


def test_two_clones_over_one_state_lose_nothing(site, tmp_path_factory):
    other = tmp_path_factory.mktemp("clone")
    (other / "comments").symlink_to(site.state, target_is_directory=True)
    (other / "bib.sqlite").symlink_to(site.root / "bib.sqlite")
    command = site.command("-j", "1", "extract_all")
    twin = [str(other) if part == str(site.root) else part for part in command]
    runs = [
        subprocess.Popen(line, cwd=folder, env=site.env(), stderr=subprocess.STDOUT, stdout=-1)
        for line, folder in ((command, site.root), (twin, other))
    ]
    outputs = [run.communicate(timeout=300)[0].decode() for run in runs]
    assert [run.returncode for run in runs] == [0, 0], outputs
    assert len(list(site.state.rglob("combined.md"))) == 6
