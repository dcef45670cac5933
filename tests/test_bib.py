"""Inline bodies: read-only, in one query, HTML as text."""

import os
import sqlite3
import threading
import time
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from regcomments import bib
from regcomments.bib import BibError, body_text, open_bib
from regcomments.textnorm import normalise


def make(path, rows=(), schema="CREATE TABLE items (id TEXT PRIMARY KEY, abstract TEXT)"):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(schema)
        connection.executemany("INSERT INTO items VALUES (?, ?)", rows)
        connection.commit()
    return path


@pytest.fixture
def database(tmp_path):
    return make(
        tmp_path / "bib.sqlite",
        [("D-1-0001", "One<br/>two &amp; three"), ("D-1-0002", None), ('it\'s "3", ü', "three")],
    )


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("costs < 5 % & rising", "costs < 5 % & rising"),
        ("a<b>c, x<y and y>z, 1 <2> 3", "a<b>c, x<y and y>z, 1 <2> 3".replace("<b>", "")),
        ("if x <p and q> r", "if x <p and q> r"),
        ("AT&T, R&D; Q&A &c.", "AT&T, R&D; Q&A &c."),
        ("&copy without semicolon", "&copy without semicolon"),
        ("&bogus; &notit; &#99999999;", "&bogus; &notit; &#99999999;"),
        ("it&rsquo;s &ldquo;so&rdquo; &mdash; &#39;x&#39; &#x2014;", "it’s “so” — 'x' —"),
        ("&#146;", "’"),
        ("a&nbsp;b", "a b"),
        ("&lt;b&gt; stays", "<b> stays"),
        ("&amp;rsquo;", "&rsquo;"),
        ("one<br/>two<br>three<BR />four", "one\ntwo\nthree\nfour"),
        ("one <br/>\r\ntwo", "one\ntwo"),
        ("one<br/><br/>two", "one\n\ntwo"),
        ("<p>one</p>\n<p class='x'>two</p>", "one\n\ntwo"),
        ("<b>bold</b> and <i>it</i>alic", "bold and italic"),
        ("<ul><li>a</li><li>b</li></ul>end", "- a\n- b\n\nend"),
        (
            "<p>See &amp;lt;:</p><table><tr><th>a<th>b</th></tr><tr><td>1</td><td>2</table>",
            "See &lt;:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<tr><td>a</td><td>b</td></tr>", "a | b |"),
        ("see <a href='https://x.org/r'>this</a>", "see this (https://x.org/r)"),
        ('<a href="https://x.org">https://x.org</a>', "https://x.org"),
        ("<a href='javascript:alert(1)'>x</a>", "x"),
        ("mail <me@x.org> or <https://x.org>", "mail <me@x.org> or <https://x.org>"),
        ("<p>a<script>alert('x')</script>b<!-- c -->d<style>p{}</style></p>", "abd"),
        ("<p>open <!-- never closed", "open <!-- never closed"),
        ("<3 this rule <o:p></o:p>", "<3 this rule"),
        ("plain\r\nlines\n\nkept", "plain\nlines\n\nkept"),
        ("", ""),
    ],
)
def test_body_text(raw, expected):
    assert body_text(raw) == expected


@given(st.text(alphabet=st.characters(exclude_characters="<&")))
def test_plain_text_is_only_normalised(raw):
    assert body_text(raw) == normalise(raw)


@given(st.lists(st.sampled_from(["<", ">", "&", ";", "a", "b and c", "5", " ", "p", "=", "%"])))
def test_what_is_no_tag_and_no_entity_stays(parts):
    raw = " ".join(parts)  # spaces keep `<` from the name and `&` from the semicolon
    assert body_text(raw) == normalise(raw)


@pytest.mark.parametrize(
    "evil",
    [
        "<a ",
        "<a href=",
        "<p><!--",
        "<p><script>",
        "<table>",
        "&",
        "<br ",
        "<a x='",
        " <br",
        "\n \n<p>",
        "<a x=1 ",
    ],
)
def test_hostile_bodies_take_linear_time(evil):
    started = time.process_time()
    body_text("<p>" + evil * 50_000)
    body_text("<p>" + " " * 200_000 + evil)
    assert time.process_time() - started < 3.0


def test_bodies(database):
    opened = open_bib(database)
    assert opened.indexed
    assert opened.bodies(["D-1-0001", "D-1-0002", "absent", 'it\'s "3", ü', "bad\udcff"]) == {
        "D-1-0001": "One\ntwo & three",
        "D-1-0002": "",
        'it\'s "3", ü': "three",
    }
    assert opened.bodies([]) == {}
    opened.close()


def test_more_ids_than_one_query_takes(tmp_path):
    ids = [f"D-1-{number:05d}" for number in range(33_000)]
    path = make(tmp_path / "bib.sqlite", [(name, name) for name in ids])
    assert open_bib(path).bodies(ids) == {name: name for name in ids}


def test_other_names_types_and_duplicates(tmp_path):
    schema = 'CREATE TABLE "my items" ("the id" INTEGER, "a ""body""" BLOB)'
    path = tmp_path / "bib.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(schema)
        rows = [(7, b"caf\xc3\xa9 \xff"), (7, "longer than it"), (8, 5)]
        connection.executemany('INSERT INTO "my items" VALUES (?, ?)', rows)
        connection.commit()
    opened = open_bib(path, "my items", "the id", 'a "body"')
    assert not opened.indexed
    assert opened.bodies(["7", "8"]) == {"7": "longer than it", "8": "5"}


def test_a_view_will_do(database):
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE VIEW v AS SELECT id, abstract FROM items")
        connection.commit()
    assert open_bib(database, "v").bodies(["D-1-0001"]) == {"D-1-0001": "One\ntwo & three"}


@pytest.mark.parametrize(
    ("prepare", "arguments", "says"),
    [
        (lambda path: path.unlink(), {}, ["does not exist", "--config bib=FILE", "bib=none"]),
        (lambda path: (path.unlink(), path.mkdir()), {}, ["is a folder"]),
        (lambda path: path.write_bytes(b"text" * 999), {}, ["not an SQLite database"]),
        (lambda path: path.write_bytes(b""), {}, ["has no table 'items'", "none"]),
        (lambda path: None, {"table": "papers"}, ["no table 'papers'", "(it has: items)"]),
        (lambda path: None, {"id_column": "key"}, ["no column 'key'", "id, abstract"]),
        (lambda path: None, {"body_column": "x"}, ["no column 'x'", "bib_columns.body"]),
    ],
)
def test_errors_say_what_to_do(database, prepare, arguments, says):
    prepare(database)
    with pytest.raises(BibError) as caught:
        open_bib(database, **arguments)
    message = str(caught.value)
    assert all(part in message for part in (*says, str(database)))
    assert "\n" not in message


def test_a_missing_database_is_not_created(tmp_path):
    with pytest.raises(BibError):
        open_bib(tmp_path / "bib.sqlite")
    assert os.listdir(tmp_path) == []


def test_a_damaged_page_is_one_line(tmp_path):
    path = make(tmp_path / "bib.sqlite", [(f"D-{n}", "x" * 500) for n in range(500)])
    opened = open_bib(path)
    with open(path, "r+b") as handle:
        handle.seek(8192)
        handle.write(b"\xff" * 100_000)
    with pytest.raises(BibError, match=r"damaged|can't read"):
        opened.bodies(f"D-{n}" for n in range(500))


def snapshot(folder):
    return {
        entry.name: (entry.stat().st_mtime_ns, open(entry, "rb").read())
        for entry in os.scandir(folder)
        if not entry.name.endswith("-shm")  # readers mark themselves there
    }


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_reader_leaves_the_files_of_a_writer_alone(database, tmp_path, journal):
    with closing(sqlite3.connect(database)) as writer:
        writer.execute(f"PRAGMA journal_mode = {journal}")
        writer.execute("INSERT INTO items VALUES ('D-1-0003', 'new')")
        writer.commit()
        before = snapshot(tmp_path)
        assert open_bib(database).bodies(["D-1-0003"]) == {"D-1-0003": "new"}
        assert snapshot(tmp_path) == before
        writer.execute("INSERT INTO items VALUES ('D-1-0004', 'newer')")
        writer.commit()
        assert open_bib(database).bodies(["D-1-0004"]) == {"D-1-0004": "newer"}


def test_a_closed_wal_database_gets_no_files_beside_it(database, tmp_path):
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("PRAGMA journal_mode = wal")
        writer.execute("INSERT INTO items VALUES ('D-1-0003', 'new')")
        writer.commit()
    assert os.listdir(tmp_path) == ["bib.sqlite"]
    assert open_bib(database).bodies(["D-1-0003"]) == {"D-1-0003": "new"}
    assert os.listdir(tmp_path) == ["bib.sqlite"]


def test_waits_for_a_writer_and_never_blocks_it(database):
    writer = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
    writer.execute("BEGIN EXCLUSIVE")

    def release():
        time.sleep(0.3)
        writer.execute("INSERT INTO items VALUES ('D-1-0003', 'new')")
        writer.execute("COMMIT")

    thread = threading.Thread(target=release)
    thread.start()
    opened = open_bib(database)
    thread.join()
    assert opened.bodies(["D-1-0003"]) == {"D-1-0003": "new"}
    writer.execute("PRAGMA busy_timeout = 0")
    writer.execute("INSERT INTO items VALUES ('D-1-0004', 'no lock of ours is left')")
    writer.close()


def test_a_lock_that_stays_is_told(database, monkeypatch):
    monkeypatch.setattr(bib, "BUSY_SECONDS", 0.1)
    opened = open_bib(database)
    with closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(BibError, match="locked"):
            opened.bodies(["D-1-0001"])
