"""DuckDB views over the state folder, and where bodies lie."""

import datetime
import os

import duckdb
import pytest
from regcomments import pagestore, view
from regcomments.errors import UserError
from regcomments.index_rows import ATTACHMENT_COLUMNS, COMMENT_COLUMNS
from regcomments.records import Page
from regcomments.renditions import Pair
from state_files import entry, sample_state, write_comment


@pytest.fixture
def state(tmp_path):
    folder = sample_state(tmp_path / "state")
    view.rebuild_index(folder)
    return folder


@pytest.fixture
def con():
    with duckdb.connect() as connection:
        yield connection


def types(con, name):
    return {row[0]: row[1] for row in con.execute(f"DESCRIBE {name}").fetchall()}


def test_rows_and_types(con, state):
    view.register(con, state)
    assert types(con, "comments") == COMMENT_COLUMNS
    assert types(con, "attachments") == ATTACHMENT_COLUMNS
    found = con.execute("SELECT * FROM comments WHERE comment_id = 'D-1-0010'").fetchone()
    stamp = datetime.datetime(2026, 4, 23, 13, 45)
    assert found == (
        *("D-1-0010", "D-1", stamp, 108, 3, 1, 1, 1, 0, 0, 5, 3, 8, False, 0),
        "regcomments 0.1.0",
    )
    query = "SELECT file, reason, bytes, error FROM attachments WHERE status = 'failed'"
    assert con.execute(query).fetchall() == [
        ("attachment_10.pdf", "corrupt", 10, 'no "xref", at all')
    ]
    assert con.execute("SELECT count(*) FROM attachments WHERE reason IS NULL").fetchone() == (6,)
    assert con.execute("SELECT file FROM failures").fetchall() == [("attachment_10.pdf",)]


@pytest.mark.parametrize("damage", [None, b"", b"PAR1 garbage PAR1"])
def test_csv_files_alone_will_do(con, state, damage):
    view.register(con, state)
    queries = ("SELECT * FROM comments", "SELECT * FROM attachments")
    before = [con.execute(query).fetchall() for query in queries]
    for name in ("_index.parquet", "_attachments.parquet"):
        if damage is None:
            (state / name).unlink()
        else:
            (state / name).write_bytes(damage)
    view.register(con, state)
    assert [con.execute(query).fetchall() for query in queries] == before
    assert types(con, "comments") == COMMENT_COLUMNS
    assert types(con, "attachments") == ATTACHMENT_COLUMNS


def test_views_join(con, state):
    view.register(con, state)
    query = """SELECT c.comment_id, sum(a.chars) FROM comments c
        JOIN attachments a USING (docket_id, comment_id) WHERE c.n_members > 0 GROUP BY 1"""
    assert con.execute(query).fetchall() == [("D-1-10000", 105)]


def test_from_any_folder_and_again(con, state, tmp_path, monkeypatch):
    monkeypatch.chdir(state.parent)
    view.register(con, "state")
    monkeypatch.chdir("/")
    assert con.execute("SELECT count(*) FROM comments").fetchone() == (4,)
    write_comment(state, "D-9", "D-9-0001")
    view.rebuild_index(state)
    view.register(con, state)
    assert con.execute("SELECT count(*) FROM comments").fetchone() == (5,)


def test_a_database_file_keeps_the_views(state, tmp_path):
    with duckdb.connect(tmp_path / "mine.duckdb") as con:
        view.register(con, state)
    with duckdb.connect(tmp_path / "mine.duckdb", read_only=True) as con:
        assert con.execute("SELECT count(*) FROM comments").fetchone() == (4,)


def test_empty_state(con, tmp_path):
    view.register(con, tmp_path)
    for name in ("comments", "attachments", "failures", "renditions", "pages"):
        assert con.execute(f"SELECT count(*) FROM {name}").fetchone() == (0,)
    assert types(con, "comments") == COMMENT_COLUMNS
    view.rebuild_index(tmp_path)
    view.register(con, tmp_path)
    assert types(con, "comments") == COMMENT_COLUMNS
    assert types(con, "attachments") == ATTACHMENT_COLUMNS
    assert con.execute("SELECT count(*) FROM comments").fetchone() == (0,)


@pytest.mark.parametrize("name", ["it's", "a*b", "[ab]", "q?", 'say "hi"', "ü, –"])
def test_any_state_folder_name(con, tmp_path, name):
    folder = tmp_path / name
    write_comment(folder, "D-1", "D-1-0001", entry())
    write_comment(tmp_path / "axb", "D-2", "D-2-0001")  # what the pattern a*b would find
    pagestore.append_facts(folder, "s", {"a" * 64: (Page(1, facts={"chars": 1}),)})
    pair = Pair("attachment_1.pdf", "attachment_2.pdf", 0.5, False)
    pagestore.append_pairs(folder, "s", [("D-1", "D-1-0001", pair)])
    view.rebuild_index(folder)
    view.rebuild_index(tmp_path / "axb")
    assert view.rebuild_index(folder).read == 0
    view.register(con, folder)
    assert con.execute("SELECT comment_id FROM comments").fetchall() == [("D-1-0001",)]
    assert con.execute("SELECT page, chars FROM pages").fetchall() == [(1, 1)]
    assert con.execute("SELECT agreement FROM renditions").fetchall() == [(0.5,)]


IDS = ["it's", 'a "b"', "a,b", "ünï", " lead", "NULL", "null", "007", "1e5", "#x", "=1", "a;b\\n"]


def test_any_id(con, tmp_path):
    for name in IDS:
        write_comment(tmp_path, name, name, entry(status="failed", error=name))
    view.rebuild_index(tmp_path)
    view.register(con, tmp_path)
    found = con.execute("SELECT comment_id, docket_id FROM comments").fetchall()
    assert sorted(found) == sorted((name, name) for name in IDS)
    for comment, docket in found:
        assert view.body_path(comment, docket, tmp_path).is_file()
    errors = con.execute("SELECT error FROM attachments WHERE comment_id = error").fetchall()
    assert len(errors) == len(IDS) - 1  # one_line trims the blank of " lead"


@pytest.mark.parametrize(
    ("comment", "docket"),
    [
        ("..", "D-1"),
        ("D-1-0002", ".."),
        ("../../etc", "D-1"),
        ("D-1-0002", "/etc"),
        ("", "D-1"),
        ("D-1-0002", ""),
        ("_ocr", "D-1"),
        ("a\0b", "D-1"),
        (".", "D-1"),
    ],
)
def test_body_path_stays_inside(state, comment, docket):
    with pytest.raises(ValueError, match="not the name"):
        view.body_path(comment, docket, state)


def test_body_path(state, monkeypatch):
    expected = state / "D-1" / "D-1-0002" / "combined.md"
    assert view.body_path("D-1-0002", "D-1", state) == expected
    monkeypatch.chdir(state.parent)
    assert view.body_path("D-1-0002", "D-1", "state") == expected
    assert not view.body_path("D-1-7777", "D-1", state).exists()


def test_where_the_state_is(state, tmp_path, monkeypatch):
    monkeypatch.delenv("REGCOMMENTS_STATE", raising=False)
    (tmp_path / "clone" / "config").mkdir(parents=True)
    (tmp_path / "clone" / "data").mkdir()
    (tmp_path / "clone" / "config" / "config.yaml").write_text("state: data # here\n")
    monkeypatch.chdir(tmp_path / "clone")
    assert view.find_state() == tmp_path / "clone" / "data"
    (tmp_path / "clone" / "config" / "config.yaml").write_text("state: [\n")
    with pytest.raises(UserError, match="can't be read as YAML"):
        view.find_state()
    monkeypatch.setenv("REGCOMMENTS_STATE", str(state))
    assert view.find_state() == state
    assert view.find_state(tmp_path) == tmp_path
    with pytest.raises(UserError, match=r"there is no state folder .*none.*REGCOMMENTS_STATE"):
        view.find_state(tmp_path / "none")


def test_the_default_state_of_the_clone(tmp_path, monkeypatch):
    monkeypatch.delenv("REGCOMMENTS_STATE", raising=False)
    monkeypatch.chdir(tmp_path)
    root = view.Path(view.__file__).resolve().parents[2]
    found = view._configured()
    if (root / "config" / "config.yaml").exists():
        assert found.is_relative_to(root)
    else:
        assert found == tmp_path / ".state" / "comments"
    assert os.path.isabs(found)
