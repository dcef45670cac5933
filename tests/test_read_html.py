"""HTML: visible text in order, tables, lists, links; nothing hidden."""

from __future__ import annotations

import time

import pytest
from regcomments.read import ReadOptions, read_attachment
from regcomments.read.hypertext import html_to_markdown


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("plain words", "plain words"),
        ("", ""),
        ("one<br/>two<br>&amp; three&rsquo;s", "one\ntwo\n& three’s"),
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<p>some\n  <b>bold</b>\tand <i>more</i>text</p>", "some bold and moretext"),
        ("H<sub>2</sub>O and 42<sup>nd</sup>", "H2O and 42nd"),
        ("<h1>Title</h1>text<h3>Sub</h3>", "### Title\n\ntext\n\n##### Sub"),
        ("<ul><li>a<li>b</ul>c", "- a\n- b\n\nc"),
        ("<ol start=3><li>a<li value=7>b<li>c</ol>", "3. a\n7. b\n8. c"),
        ("<ol type=a><li>x<ul><li>y</ul><li>z</ol>", "a. x\n  - y\nb. z"),
        ("<ol type=I><li>x<li>y<li>z<li>w</ol>", "I. x\nII. y\nIII. z\nIV. w"),
        ("<pre>  two\n    four</pre>", "two\n    four"),
        ("see <a href='https://x.org/a'>the rule</a> now", "see the rule now <https://x.org/a>"),
        ("<a href='https://x.org/'>x.org</a>", "x.org"),
        ("<a href='mailto:a@b.org'>a@b.org</a>", "a@b.org"),
        ("<a href='#top'>up</a> <a href='javascript:go()'>go</a>", "up go"),
        ("a < b, <jane@x.org>, <https://y.org/q>", "a < b, <jane@x.org>, <https://y.org/q>"),
        ("<del>old</del> new", "~~old~~ new"),
        ("<img src=x alt='a chart'> here", "[Image: a chart] here"),
        ("<input value='typed'><input type=checkbox checked>yes", "typed [x] yes"),
        ("<select><option>a<option selected>b<option>c</select>", "b"),
        ("<select><option>a<option>b</select>", "a\n\nb"),
        ("<textarea>my words</textarea>", "my words"),
        ("a<embed src=x>b<p>c", "ab\n\nc"),
        ("<map name=m><p>a</map>b", "a\n\nb"),
        ("soft&shy;ly zero\u200bwidth", "softly zerowidth"),
        ("x\x00y", "xy"),
    ],
)
def test_text(html, text):
    assert html_to_markdown(html) == text


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>secret</script>",
        "<style>secret{}</style>",
        "<template>secret</template>",
        "<noscript>secret</noscript>",
        "<!-- secret -->",
        "<p hidden>secret</p>",
        "<p style='color:red; DISPLAY : none'>secret<span>secret</span></p>",
        "<span style='visibility:hidden'>secret</span>",
        "<span style='mso-hide:all'>secret</span>",
        "<input type=hidden value=secret>",
        "<iframe>secret</iframe>",
        "<!--[if gte mso 9]><xml>secret</xml><![endif]-->",
        "<a href='data:text/plain,secret'></a>",
        "<?xml:namespace prefix='secret' ?>",
    ],
)
def test_hidden_parts_are_left_out(hidden):
    assert html_to_markdown(f"<p>before</p>{hidden}<p>after</p>") == "before\n\nafter"


def test_words_after_a_hidden_node_stay():
    assert html_to_markdown("a<script>x</script>b<span hidden>y</span>c") == "abc"


def test_a_table_with_spans():
    html = """<table><tr><th rowspan=2>Region<th colspan=2>Cost</tr><tr><th>2023<th>2024</tr>
    <tr><td>North<td>$1<td>$2|3</tr><tr><td colspan=3></tr></table>"""
    assert html_to_markdown(html) == (
        "| Region | Cost |  |\n| --- | --- | --- |\n|  | 2023 | 2024 |\n| North | $1 | $2\\|3 |"
    )


def test_a_row_span_past_the_end_of_its_row():
    html = "<table><tr><td>a<td rowspan=2>b<tr><td>c<tr><td>d<td>e</table>"
    assert html_to_markdown(html).splitlines()[2:] == ["| c |  |", "| d | e |"]


def test_links_of_a_table_come_below_it():
    html = "<table><tr><td>a<td><a href='http://q.org/z'>b</a><tr><td>c<td>d</table>"
    assert html_to_markdown(html).endswith("| c | d |\n\n<http://q.org/z>")


def test_layout_tables_are_no_tables():
    html = """<table><tr><td>menu<td><h1>Letter</h1><p>Dear all</p>
    <table><tr><td>a<td>b<tr><td>c<td>d</table></tr></table>"""
    assert html_to_markdown(html) == (
        "menu\n\n### Letter\n\nDear all\n\n| a | b |\n| --- | --- |\n| c | d |"
    )


def test_a_cell_of_many_words_makes_a_layout():
    long = "word " * 400
    html = f"<table><tr><td>{long}<td>x<tr><td>y<td>z</table>"
    assert "|" not in html_to_markdown(html)


@pytest.mark.parametrize(
    ("charset", "label"),
    [
        ("utf-8", ""),
        ("cp1252", ""),
        ("utf-16", ""),
        ("cp1250", "<meta http-equiv=Content-Type content='text/html; charset=windows-1250'>"),
        ("cp1252", "<meta charset=iso-8859-1>"),
        ("utf-8", "<meta charset=iso-8859-1>"),
        ("cp1252", "<meta charset=utf-8>"),
        ("utf-8", "<?xml version='1.0' encoding='utf-8'?>"),
        ("utf-8", "<meta charset=utf-7>"),
        ("utf-8", "<meta charset=utf-16>"),
        ("cp1252", "<meta charset=utf-16le>"),
        ("utf-8", "<meta charset=nonsense>"),
    ],
)
def test_charsets(charset, label):
    page = f"<html><head>{label}</head><body>der Bär größer, žluťoučký</body></html>"
    page = page if charset != "cp1252" else page.replace(", žluťoučký", "")
    expected = "der Bär größer" + ("" if charset == "cp1252" else ", žluťoučký")
    assert html_to_markdown(page.encode(charset, "xmlcharrefreplace")) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td>" * 3000 + "deep words",
        "<div>" * 100_000 + "deep words" + "</div>" * 100_000,
        "<b><i>" * 5000 + "deep words",
        "<p>deep words" + "<select>" + "<option>x" * 20_000 + "</select>",
        "<ul><li>" * 3000 + "deep words",
        "<p>deep words</p>" + "<a href=x>" * 5000,
        "<table><tr><td rowspan=99999 colspan=99999>deep words<td>b" + "<tr><td>c" * 500,
        "deep words" + "<" * 100_000,
        "deep words" + "<a " * 20_000,
        "deep words <" + "!--" * 30_000,
    ],
    ids=[
        "tables",
        "divs",
        "inline",
        "options",
        "lists",
        "links",
        "spans",
        "lt",
        "tags",
        "comments",
    ],
)
def test_hostile_pages_end_soon(html):
    start = time.monotonic()
    assert "deep words" in html_to_markdown(html)
    assert time.monotonic() - start < 10


def test_the_title_heads_the_page_when_it_says_more(tmp_path):
    page = tmp_path / "a.html"
    page.write_text("<title>Comment of ACME</title><body><p>We agree.</p>")
    assert read_attachment(page, ReadOptions()).text == "### Comment of ACME\n\nWe agree."
    page.write_text("<title>We agree</title><body><p>We agree.</p>")
    assert read_attachment(page, ReadOptions()).text == "We agree."


def test_a_page_of_frames_says_what_it_says_to_browsers_without_them(tmp_path):
    page = tmp_path / "attachment_1.html"
    page.write_text(
        "<html><frameset cols=2><frame src=a.html><frame src=b.html>"
        "<noframes><body><p>We <b>support</b> the rule.</p><p>Thanks</p></body></noframes>"
        "</frameset></html>"
    )
    assert read_attachment(page, ReadOptions()).text == "We support the rule.\n\nThanks"
