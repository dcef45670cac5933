"""Front matter: the writer's layout, the fast reader, and PyYAML."""

import contextlib
import datetime

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from regcomments import frontmatter
from regcomments.frontmatter import FrontMatterError, dump_front_matter, load_front_matter

HARD = [
    *("", " ", "~", "null", "No", "yes", "on", "1", "01", "1.5", "1e5", "0x1F", "1_000", ".inf"),
    *("2026-04-23", "2026-04-23T13:45:00Z", "2026-99-99T99:99:99Z", "12:30:45", "=", "<<", "-"),
    *("- a", "a: b", "a #b", "#", "&a", "*a", "!!str", "|", ">", "%", "@", "`", "{a: b}", "[1]"),
    *('"', "'", "\\", "\\u0041", "a\\nb", "é", "\U0001f600", "\x85", "\u2028", "\ufeff", "\x7f"),
    *("\x9f", "\ufffe", "---", "...", "\tx", "x ", "a/b", "attachment_1.pdf", "D-1-0001", "y"),
    *('"a", version: "b', "}", "x, version: y", "["),
]
clean = st.characters(exclude_categories=["Cs"])
strings = st.one_of(st.sampled_from(HARD), st.text(alphabet=clean, max_size=30))
numbers = st.integers(0, 10**12)
pages = st.lists(st.integers(1, 5000), max_size=6)
entries = st.fixed_dictionaries(
    {"file": strings, "status": strings, "chars": numbers},
    optional={
        "reason": strings,
        "pages": numbers,
        "ocr_pages": pages,
        "ocr": st.fixed_dictionaries({"engine": strings, "version": strings, "pages": pages}),
        "error": strings,
    },
)
mappings = st.fixed_dictionaries(
    {
        "comment_id": strings,
        "docket_id": strings,
        "extracted_at": st.one_of(st.just("2026-04-23T13:45:00Z"), strings),
        "chars": numbers,
        "attachments": st.lists(entries, max_size=3),
    },
    optional={
        "inline": strings,
        "tool": strings,
        "warnings": st.lists(strings, min_size=1, max_size=3),
    },
)


def body(mapping):
    text = dump_front_matter(mapping)
    assert text.startswith("---\n") and text.endswith("\n---")
    assert "\n---\n" not in text
    return text[4:-3]


@given(mappings)
@settings(max_examples=200, deadline=None)
def test_round_trip_by_all_readers(mapping):
    text = body(mapping)
    assert load_front_matter(text) == mapping
    assert yaml.load(text, Loader=frontmatter.loader()) == mapping
    fast = frontmatter._load_fast(text)
    assert fast is None or fast == mapping
    standard = yaml.safe_load(text)
    stamp = standard.pop("extracted_at")
    if isinstance(stamp, datetime.datetime):
        stamp = stamp.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert {**standard, "extracted_at": stamp} == mapping


@pytest.mark.parametrize("value", HARD)
def test_hard_strings(value):
    mapping = {"comment_id": value, "attachments": [{"file": value}], "warnings": [value]}
    text = body(mapping)
    assert load_front_matter(text) == mapping == yaml.safe_load(text)
    assert text.count("\n") == 5


def test_surrogates_become_replacement_characters():
    assert load_front_matter(body({"error": "a\ud800b"})) == {"error": "a\ufffdb"}


def test_usual_heads_take_the_fast_path():
    note = {"engine": "tesseract", "version": "5.5.0", "pages": [1, 2]}
    entry = {"file": "attachment_1.pdf", "status": "ok", "chars": 3, "ocr": note, "error": 'a "b"'}
    mapping = {
        "comment_id": "D-1-0001",
        "docket_id": "D-1",
        "extracted_at": "2026-04-23T13:45:00Z",
        "chars": 12453,
        "attachments": [entry, {**entry, "ocr_pages": [3]}],
        "tool": "regcomments 0.1.0",
        "warnings": ["attachment_1.pdf: hidden text: 12 characters", "plain"],
    }
    assert frontmatter._load_fast(body(mapping)) == mapping
    inline_only = {**mapping, "attachments": [], "inline": "missing"}
    assert frontmatter._load_fast(body(inline_only)) == inline_only


@pytest.mark.parametrize(
    "text",
    [
        "comment_id: 007\n",
        "comment_id: No\n",
        "a: 1\na: 2\n",
        "attachments:\n  - file: x\n    status: null\n",
        "a: {b: c}\n",
        "a: [1, two]\n",
        "a: 'it''s'\n",
        "a: |\n  text\n  more\n",
        "# comment\na: 1\n",
        'a: "x\\u00e9"\n',
        "a: [[1]]\n",
        "ocr: {engine: null, version: b, pages: [1]}\n",
        "a:\n  b: 1\n",
        "warnings:\n  - 5\n",
        "warnings:\n  - a: b\n",
        "? a\n: b\n",
    ],
)
def test_other_layouts_read_as_yaml(text):
    assert load_front_matter(text) == yaml.load(text, Loader=frontmatter.loader())


@pytest.mark.parametrize(
    "text", ["a: [1", "- a\n- b", "just text", "a: !!python/object:os.system x", "\x00", "a: *b"]
)
def test_refuses(text):
    with pytest.raises(FrontMatterError):
        load_front_matter(text)


@pytest.mark.parametrize("text", ["a: " + "[" * 50_000, "a: " + "[" * 50_000 + "]" * 50_000])
def test_deep_nesting_is_an_error_of_ours(text):
    with pytest.raises(FrontMatterError):
        load_front_matter(text)


@given(st.text(alphabet="ab:- \n\"'[]{},#0\\|>&*!%~", max_size=40))
@settings(max_examples=400, deadline=None)
def test_any_text_reads_as_yaml_or_is_refused(text):
    fast = frontmatter._load_fast(text)
    if fast:
        assert fast == yaml.load(text, Loader=frontmatter.loader())
    else:
        with contextlib.suppress(FrontMatterError):
            assert isinstance(load_front_matter(text), dict)
