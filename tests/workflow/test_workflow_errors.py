"""What a person must mend ends in one clear line, a non-zero exit, and nothing lost."""

import sqlite3

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("config", "line"),
    [
        (("state=nowhere",), "there is no state folder nowhere"),
        (("docket=CMS-2031-0009",), "there is no docket CMS-2031-0009 in comments; close to it"),
        (("docket=../comments",), "there is no docket ../comments"),
        (("limit=none",), "limit: 'none' is not of type"),
        (("limit=0",), "limit: 0 is less than the minimum"),
        (("dokcet=CMS-2031-0001",), "unknown key 'dokcet' (did you mean 'docket'?)"),
        (("redo=everything",), "redo: 'everything' is not understood"),
        (("bib=nothing.sqlite",), "nothing.sqlite does not exist"),
        (("host=tower",), "there is no tower.yaml in config/hosts; known: laptop, rack, rig"),
    ],
)
def test_wrong_config_is_one_clear_line(site, config, line):
    run = site.run("-j", "1", "extract_all", config=config)
    assert run.returncode != 0
    assert len([text for text in run.stdout.splitlines() if line in text]) == 1, run.stdout
    assert "Traceback" not in run.stdout
    assert not list(site.state.rglob("combined.md"))


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda path: path.write_bytes(b"plain text, no database"), "is not"),
        (lambda path: path.write_bytes(b""), "items"),
        (lambda path: _table(path, "CREATE TABLE items (id TEXT, body TEXT)"), "abstract"),
        (lambda path: _table(path, "CREATE TABLE comments (id TEXT, abstract TEXT)"), "items"),
        (lambda path: path.mkdir(), "is a folder"),
    ],
    ids=["not a database", "empty file", "no such column", "no such table", "a folder"],
)
def test_database_that_cannot_serve_is_one_clear_line(site, make, line):
    path = site.root / "bib.sqlite"
    path.unlink()
    make(path)
    run = site.run("-j", "1", "extract_all")
    assert run.returncode != 0
    said = [text for text in run.stdout.splitlines() if text.startswith("error: ")]
    assert len(said) == 1, run.stdout
    assert line in said[0]
    assert "Traceback" not in run.stdout
    assert not list(site.state.rglob("combined.md"))


def _table(path, statement):
    with sqlite3.connect(path) as connection:
        connection.execute(statement)


def test_state_without_any_comment_is_no_error(site):
    (site.root / "empty").mkdir()
    run = site.run("-j", "1", "extract_all", config=("state=empty",))
    assert run.returncode == 0, run.stdout
    assert "pending in 0 dockets: 0 comments" in run.stdout


def test_folder_that_cannot_be_written_fails_alone(site):
    """Stands for a full disk too: the file's place is taken, so that root can't write it either."""
    blocked = site.combined("CMS-2031-0001-0002")
    run = site.run("-j", "1", "extract_all", PYTHONPATH=str(_full_disk(site, blocked)))
    assert run.returncode != 0
    assert "no space left while writing comments/CMS-2031-0001/CMS-2031-0001-0002" in run.stdout
    assert not blocked.exists()
    assert not list(site.state.rglob("*.tmp"))
    assert site.combined("CMS-2031-0001-0001").exists()
    again = site.run("-j", "1", "extract_all")
    assert again.returncode == 0, again.stdout
    assert len(list(site.state.rglob("combined.md"))) == 6


def _full_disk(site, blocked):
    """Return a folder with a hook that lets writes of `blocked` fail as on a full disk."""
    hooks = site.root / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(
        "import errno, os\n"
        "replace = os.replace\n"
        "def failing(source, target):\n"
        f"    if str(target).endswith({str(blocked.parent.name)!r} + '/combined.md'):\n"
        "        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))\n"
        "    return replace(source, target)\n"
        "os.replace = failing\n"
    )
    return hooks
