"""`regcomments push` and `pull`: what one host has reaches the others, whole and once."""

import errno
import threading
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from regcomments import transfer, transfer_files
from regcomments.errors import UserError
from regcomments.ocr import store
from regcomments.ocr.engines import Outcome, PageResult
from regcomments.transfer import pull, push
from regcomments.transfer_compare import variants

from tests.s3_server import BUCKET, error
from tests.transfer.conftest import ENGINE, add, bucket, client, counts, digest, state_of, tree


def test_what_one_host_pushes_another_pulls(s3, tmp_path):
    first = state_of(tmp_path / "first", "one", "two", "three")
    second = state_of(tmp_path / "second", "three", "four")
    assert counts(push(first, bucket(s3))) == {"MOVED": 3}
    assert counts(push(second, bucket(s3))) == {"MOVED": 1, "THERE": 1}
    assert counts(pull(first, bucket(s3))) == {"MOVED": 1, "THERE": 3}
    assert counts(pull(second, bucket(s3))) == {"MOVED": 2, "THERE": 2}
    assert tree(first) == tree(second)
    assert len(tree(first)) == 4
    assert store.lookup(first, digest("four")).pages[1].result.markdown == "The text of four."
    again = [move(state, bucket(s3)) for move in (push, pull) for state in (first, second)]
    assert [counts(report) for report in again] == [{"THERE": 4}] * 4
    assert [report.exit_code for report in again] == [0] * 4


def test_objects_carry_their_sha256_and_the_prefix_of_the_command(s3, tmp_path):
    state = state_of(tmp_path, "one")
    push(state, bucket(s3, prefix="/cms/ocr/"))
    (name,) = tree(state)
    found = client(s3).head_object(Bucket=BUCKET, Key=f"cms/ocr/{name}")
    assert found["Metadata"]["sha256"] == sha256((state / name).read_bytes()).hexdigest()
    assert counts(pull(state_of(tmp_path / "new"), bucket(s3, prefix="cms/ocr"))) == {"MOVED": 1}
    assert counts(pull(state_of(tmp_path / "other"), bucket(s3))) == {}


def test_second_run_reads_the_listing_and_no_object(s3, tmp_path):
    state = state_of(tmp_path, *map(str, range(30)))
    push(state, bucket(s3))
    s3.requests.clear()
    assert counts(push(state, bucket(s3))) == {"THERE": 30}
    assert counts(pull(state, bucket(s3))) == {"THERE": 30}
    assert [r for r in s3.requests if "/_ocr/" in r.path] == []


def test_where_the_etag_is_no_md5_the_content_is_compared(s3, tmp_path):
    first, second = state_of(tmp_path / "a", "one"), state_of(tmp_path / "b")
    push(first, bucket(s3))

    def encrypt(request, answer):
        if "list-type" in request.path:
            etag = b"&quot;" + b"0" * 32 + b"&quot;"
            before, _, rest = answer.body.partition(b"<ETag>")
            answer.body = before + b"<ETag>" + etag + rest[rest.index(b"</ETag>") :]

    s3.after = encrypt
    assert counts(push(first, bucket(s3))) == {"THERE": 1}
    assert counts(pull(first, bucket(s3))) == {"THERE": 1}
    add(second, "one", "Another text.")
    assert counts(push(second, bucket(s3))) == {"CONFLICT": 1}


# ---- two hosts, one name


def test_other_bytes_under_one_name_are_a_conflict_and_stay_as_they_are(s3, tmp_path):
    first, second = state_of(tmp_path / "first"), state_of(tmp_path / "second", "two")
    path = add(first, "one")
    other = add(second, "one", "Another reading.")
    push(first, bucket(s3))
    before = tree(second)

    report = push(second, bucket(s3))
    assert counts(report) == {"MOVED": 1, "CONFLICT": 1}
    assert report.exit_code == 1
    assert path.name in "\n".join(report.lines())
    key = str(path.relative_to(first))
    assert client(s3).get_object(Bucket=BUCKET, Key=key)["Body"].read() == path.read_bytes()

    for _ in range(2):
        report = pull(second, bucket(s3))
        assert counts(report) == {"THERE": 1, "CONFLICT": 1}
    after = tree(second)
    assert {name: after[name] for name in before} == before
    (aside,) = set(after) - set(before)
    assert aside.startswith(f"_ocr/_conflicts/{path.name[:2]}/{path.name}.")
    assert after[aside] == path.read_bytes()
    assert aside in "\n".join(report.lines())
    assert store.stored_files(second, digest("one")) == [other]
    assert counts(push(second, bucket(s3))) == {"THERE": 1, "CONFLICT": 1}  # aside isn't pushed


@pytest.mark.parametrize("text, fate", [(None, "THERE"), ("Another reading.", "CONFLICT")])
def test_object_that_appears_after_the_listing(s3, tmp_path, text, fate):
    first, second = state_of(tmp_path / "first", "one"), state_of(tmp_path / "second")
    add(second, "one", text)
    late = []

    def other_host(request, answer):
        if "list-type" in request.path:
            s3.after = None
            late.append(push(first, bucket(s3)))

    s3.after = other_host
    assert counts(push(second, bucket(s3))) == {fate: 1}
    assert counts(late[0]) == {"MOVED": 1}


def pages(state: Path, word: str, *results: PageResult) -> Path:
    return store.write(state, digest(word), ENGINE, results, {}, part=False)


FAILED_1, FAILED_2 = (PageResult(n, Outcome.FAILED, error="HTTP 500") for n in (1, 2))
READ_1, READ_2 = (PageResult(n, Outcome.TEXT, f"Page {n}.", 0.9) for n in (1, 2))


@pytest.mark.parametrize(
    "ours, theirs",
    [((FAILED_1, READ_2), (READ_1, READ_2)), ((READ_1, FAILED_2), (FAILED_1, READ_2))],
    ids=["one", "each"],
)
def test_page_that_failed_on_one_host_and_was_read_on_another_reaches_both(
    s3, tmp_path, ours, theirs
):
    first, second = state_of(tmp_path / "first"), state_of(tmp_path / "second")
    pages(first, "one", *ours)
    pages(second, "one", *theirs)
    push(first, bucket(s3))
    assert counts(push(second, bucket(s3))) == {"MOVED": 1}
    for state in (first, second, first, second):
        assert pull(state, bucket(s3)).exit_code == 0
        assert push(state, bucket(s3)).exit_code == 0
        found = store.lookup(state, digest("one"))
        assert [found.pages[n].result.outcome for n in (1, 2)] == [Outcome.TEXT] * 2
    before = tree(first), tree(second)
    for state in (first, second):
        assert set(counts(pull(state, bucket(s3)))) == {"THERE"}
        assert set(counts(push(state, bucket(s3)))) == {"THERE"}
    assert (tree(first), tree(second)) == before


def test_worse_result_changes_nothing_and_is_no_conflict(s3, tmp_path):
    first, second = state_of(tmp_path / "first"), state_of(tmp_path / "second")
    pages(first, "one", READ_1)
    pages(second, "one", FAILED_1)
    push(first, bucket(s3))
    assert counts(push(second, bucket(s3))) == {"THERE": 1}
    assert counts(push(second, bucket(s3))) == {"THERE": 1}
    assert counts(pull(first, bucket(s3))) == {"THERE": 1}
    assert len(tree(first)) == 1


def test_two_failures_with_different_words_are_no_conflict(s3, tmp_path):
    first, second = state_of(tmp_path / "first"), state_of(tmp_path / "second")
    pages(first, "one", FAILED_1)
    pages(second, "one", replace(FAILED_1, error="HTTP 429"))
    push(first, bucket(s3))
    assert counts(push(second, bucket(s3))) == {"THERE": 1}
    assert counts(pull(second, bucket(s3))) == {"THERE": 1}


def test_damaged_file_here_gets_the_good_one_beside_it(s3, tmp_path):
    first, second = state_of(tmp_path / "first", "one"), state_of(tmp_path / "second", "one")
    push(first, bucket(s3))
    (path,) = store.stored_files(second, digest("one"))
    path.write_bytes(b"{")
    assert counts(pull(second, bucket(s3))) == {"MOVED": 1}
    assert store.lookup(second, digest("one")).pages[1].result.markdown == "The text of one."


def test_names_of_further_results():
    name = f"{digest('one')}.marker-0123456789ab"
    assert next(variants(f"{name}.json")) == f"{name}.a2.json"
    assert next(variants(f"{name}.p0001-0025.a9.json")) == f"{name}.p0001-0025.a10.json"
    assert all(store.is_name(other) for other in variants(f"{name}.p0001-0025.json"))


def test_write_that_races_is_tried_again(s3, tmp_path):
    conflicts = [error(409, "ConditionalRequestConflict")] * 2
    s3.rule = lambda r: conflicts.pop() if "/_ocr/" in r.path and conflicts else None
    assert counts(push(state_of(tmp_path, "one"), bucket(s3))) == {"MOVED": 1}


def test_file_that_appears_while_it_is_pulled(s3, tmp_path):
    first, second = state_of(tmp_path / "first", "one"), state_of(tmp_path / "second")
    push(first, bucket(s3))
    s3.after = lambda r, _: add(second, "one", "Read here meanwhile.") if "/_ocr/" in r.path else 0
    assert counts(pull(second, bucket(s3))) == {"CONFLICT": 1}
    assert b"meanwhile" in store.stored_files(second, digest("one"))[0].read_bytes()


# ---- running


def test_transfers_run_side_by_side_within_bounds(s3, tmp_path):
    state = state_of(tmp_path, *map(str, range(24)))
    running, most, lock = [0], [0], threading.Lock()

    def slow(request):
        if "/_ocr/" in request.path:
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            time.sleep(0.05)
            with lock:
                running[0] -= 1

    s3.rule = slow
    push(state, bucket(s3), jobs=4)
    assert 2 <= most[0] <= 4


def test_progress_is_told(s3, tmp_path, monkeypatch):
    monkeypatch.setattr(transfer, "REPORT_SECONDS", 0.0)
    said = []
    push(state_of(tmp_path, *map(str, range(5))), bucket(s3), jobs=1, say=said.append)
    assert said[-1].startswith("push: 5 of 5 files, 0.0 MB moved, ")
    assert "ETA 0 s" in said[-1]


def test_full_disk_ends_the_pull_with_one_line(s3, tmp_path, monkeypatch):
    push(state_of(tmp_path / "a", "one"), bucket(s3))

    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(transfer_files, "create", full)
    with pytest.raises(UserError, match="no space left"):
        pull(state_of(tmp_path / "b"), bucket(s3))
