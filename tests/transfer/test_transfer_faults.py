"""`push` and `pull` with stores that can't be trusted, damage, hostile names, links."""

import shutil
import signal
import subprocess
import sys
import time

import pytest
from regcomments import transfer
from regcomments.errors import UserError
from regcomments.ocr import store
from regcomments.ocr.engines import Outcome, PageResult
from regcomments.transfer import pull, push
from regcomments.transfer_s3 import TransferError

from tests.s3_server import BUCKET, error
from tests.transfer.conftest import (
    ENGINE,
    add,
    bucket,
    client,
    counts,
    digest,
    puts,
    state_of,
    tree,
)

# ---- stores that can't be trusted


def test_store_that_ignores_the_condition_is_refused(s3, tmp_path):
    def strip(request):
        request.headers = {k: v for k, v in request.headers.items() if k != "If-None-Match"}

    s3.rule = strip
    for _ in range(2):  # what the first try left behind must not count as proof
        with pytest.raises(TransferError, match="ignores `If-None-Match"):
            push(state_of(tmp_path, "one"), bucket(s3))
    assert puts(s3) == []


@pytest.mark.parametrize("status, code", [(501, "NotImplemented"), (400, "InvalidArgument")])
def test_store_that_does_not_know_the_condition_is_refused(s3, tmp_path, status, code):
    s3.rule = lambda request: error(status, code) if request.method == "PUT" else None
    with pytest.raises(TransferError, match="doesn't know `If-None-Match"):
        push(state_of(tmp_path, "one"), bucket(s3))


def test_store_that_says_no_to_every_condition_is_refused(s3, tmp_path):
    s3.rule = lambda request: error(412, "PreconditionFailed") if request.method == "PUT" else None
    with pytest.raises(TransferError):
        push(state_of(tmp_path, "one"), bucket(s3))


# ---- damage and interruption


def test_interrupted_push_goes_on_where_it_stopped(s3, tmp_path):
    state = state_of(tmp_path, *map(str, range(12)))
    s3.rule = lambda _: error(403, "AccessDenied") if len(puts(s3)) > 5 else None
    with pytest.raises(TransferError, match="denied"):
        push(state, bucket(s3), jobs=1)
    s3.rule = None
    sent = len(client(s3).list_objects_v2(Bucket=BUCKET, Prefix="_ocr/")["Contents"])
    assert sent == 5
    s3.requests.clear()
    assert counts(push(state, bucket(s3))) == {"THERE": 5, "MOVED": 7}
    assert len(puts(s3)) == 7


def test_killed_pull_leaves_whole_files_and_goes_on(s3, tmp_path):
    state, new = state_of(tmp_path / "a", *map(str, range(40))), state_of(tmp_path / "b")
    push(state, bucket(s3))
    s3.rule = lambda r: time.sleep(0.15) if "/_ocr/" in r.path else None
    command = [sys.executable, "-m", "regcomments", "pull", "--state", str(new)]
    command += ["--bucket", BUCKET, "--endpoint", s3.url, "--jobs", "2"]
    process = subprocess.Popen(command)
    deadline = time.monotonic() + 120
    while len(list(new.rglob("*.json"))) < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    there = [path for path in new.rglob("*.json") if not path.name.startswith(".")]
    assert 5 <= len(there) < 40
    assert all(path.read_bytes() == (state / path.relative_to(new)).read_bytes() for path in there)
    s3.rule = None
    assert counts(pull(new, bucket(s3))) == {"THERE": len(there), "MOVED": 40 - len(there)}


def test_answer_lost_after_the_write_is_no_conflict(s3, tmp_path):
    lost = [1]

    def lose(request, answer):
        if request.method == "PUT" and "/_ocr/" in request.path and lost:
            lost.pop()
            answer.status, answer.body = 500, error(500, "InternalError").body

    s3.after = lose
    assert counts(push(state_of(tmp_path, "one"), bucket(s3))) == {"THERE": 1}


def test_bytes_changed_on_the_way_are_refused(s3, tmp_path):
    state, new = state_of(tmp_path / "a", "one", "two"), state_of(tmp_path / "b")
    push(state, bucket(s3))

    def flip(request, answer):
        if digest("one") in request.path:
            answer.body = answer.body.replace(b"The text", b"The lies")

    s3.after = flip
    report = pull(new, bucket(s3))
    assert counts(report) == {"MOVED": 1, "DAMAGED": 1}
    assert report.exit_code == 1
    assert "SHA-256" in "\n".join(report.lines())
    assert store.stored_files(new, digest("one")) == []
    s3.after = None
    assert counts(pull(new, bucket(s3))) == {"MOVED": 1, "THERE": 1}


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"schema": 1}', b"\x00" * 50],
    ids=["empty", "cut", "list", "bare", "nul"],
)
def test_object_without_hash_that_is_no_result_is_refused(s3, tmp_path, body):
    name = f"{digest('x')}.faulty-0123456789ab.json"
    client(s3).put_object(Bucket=BUCKET, Key=f"_ocr/{name[:2]}/{name}", Body=body)
    assert counts(pull(state_of(tmp_path), bucket(s3))) == {"DAMAGED": 1}
    assert tree(tmp_path) == {}


def test_result_of_another_file_under_a_name_is_refused(s3, tmp_path):
    data = add(state_of(tmp_path / "a"), "one").read_bytes()
    name = f"{digest('two')}.faulty-0123456789ab.json"
    client(s3).put_object(Bucket=BUCKET, Key=f"_ocr/{name[:2]}/{name}", Body=data)
    assert counts(pull(state_of(tmp_path / "b"), bucket(s3))) == {"DAMAGED": 1}


def test_damaged_file_here_is_not_pushed(s3, tmp_path):
    state = state_of(tmp_path, "two")
    path = add(state, "one")
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:40])
    report = push(state, bucket(s3))
    assert counts(report) == {"MOVED": 1, "DAMAGED": 1}
    assert path.name in "\n".join(report.lines())


def test_body_that_breaks_off_is_fetched_again(s3, tmp_path):
    state, new = state_of(tmp_path / "a", "one"), state_of(tmp_path / "b")
    push(state, bucket(s3))
    times = [1, 1]

    def cut(request, answer):
        if "/_ocr/" in request.path and times:
            times.pop()
            answer.cut = 30

    s3.after = cut
    assert counts(pull(new, bucket(s3))) == {"MOVED": 1}
    assert tree(state) == tree(new)


def test_body_that_always_breaks_off_is_left_for_the_next_run(s3, tmp_path):
    state, new = state_of(tmp_path / "a", "one"), state_of(tmp_path / "b")
    push(state, bucket(s3))
    s3.after = lambda r, a: setattr(a, "cut", 30) if "/_ocr/" in r.path else None
    report = pull(new, bucket(s3))
    assert counts(report) == {"FAILED": 1}
    assert tree(new) == {}


def test_server_error_is_tried_again(s3, tmp_path):
    errors = [error(503, "SlowDown"), error(500, "InternalError")]
    s3.rule = lambda r: errors.pop() if "/_ocr/" in r.path and errors else None
    assert counts(push(state_of(tmp_path, "one"), bucket(s3))) == {"MOVED": 1}


def test_store_that_keeps_failing_ends_the_run(s3, tmp_path, monkeypatch):
    monkeypatch.setattr(transfer, "MAX_FAILURES", 3)
    s3.rule = lambda r: error(400, "Strange") if "/_ocr/" in r.path else None
    with pytest.raises(TransferError, match=r"3 files failed, at last .*HTTP 400 Strange"):
        push(state_of(tmp_path, *map(str, range(50))), bucket(s3), jobs=1)
    assert len(puts(s3)) < 8


# ---- names and links


HOSTILE = [
    "_ocr/../../evil.json",
    f"_ocr/aa/../../{'aa' * 32}.faulty-0123456789ab.json",
    f"_ocr/bb/{'aa' * 32}.faulty-0123456789ab.json",
    f"_ocr/{'aa' * 32}.faulty-0123456789ab.json",
    f"_ocr/aa/{'aa' * 32}.faulty-0123456789ab.json\n",
    f"_ocr/aa/{'aa' * 32}.Faulty-0123456789ab.json",
    f"_ocr/_conflicts/aa/{'aa' * 32}.faulty-0123456789ab.json",
    "_ocr/aa/\x1b[2Jevil.json",
]


def test_keys_that_are_no_names_of_the_store_are_left_alone(s3, tmp_path):
    data = store._dump("aa" * 32, ENGINE, [PageResult(1, Outcome.TEXT, "evil")], {})

    def hostile(request):
        if "list-type" in request.path:
            items = "".join(
                f"<Contents><Key>{key.replace(chr(27), '%1B').replace(chr(10), '%0A')}</Key>"
                f"<Size>{len(data)}</Size><ETag>x</ETag></Contents>"
                for key in HOSTILE
            )
            body = (
                "<ListBucketResult><EncodingType>url</EncodingType>"
                f"<IsTruncated>false</IsTruncated>{items}</ListBucketResult>"
            )
            answer = error(200, "")
            answer.body = body.encode()
            return answer
        return None

    s3.rule = hostile
    state = state_of(tmp_path / "deep" / "state")
    report = pull(state, bucket(s3))
    assert counts(report) == {"STRANGER": len(HOSTILE)}
    assert tree(tmp_path) == {}
    assert "\x1b" not in "".join(report.lines())
    assert report.exit_code == 0


def test_object_larger_than_any_result_is_not_fetched(s3, tmp_path, monkeypatch):
    state = state_of(tmp_path / "a", "one")
    push(state, bucket(s3))
    monkeypatch.setattr("regcomments.transfer_s3.MAX_FILE", 50)
    assert counts(pull(state_of(tmp_path / "b"), bucket(s3))) == {"STRANGER": 1}


def test_links_are_not_followed_when_pushing(s3, tmp_path):
    state, outside = state_of(tmp_path / "state", "one"), state_of(tmp_path / "outside", "two", "3")
    two, three = (store.stored_files(outside, digest(word))[0] for word in ("two", "3"))
    folder = state / "_ocr" / two.parent.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.symlink_to(two.parent)
    link = state / "_ocr" / three.parent.name / three.name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(three)
    report = push(state, bucket(s3))
    assert counts(report) == {"MOVED": 1, "STRANGER": 2}


@pytest.mark.parametrize("link", ["_ocr", "_ocr/{aa}", "_ocr/_conflicts"])
def test_nothing_is_written_through_a_link(s3, tmp_path, link):
    first = state_of(tmp_path / "first", "one")
    push(first, bucket(s3))
    state = tmp_path / "state"
    state.mkdir()
    if link.endswith("_conflicts"):
        add(state, "one", "Another reading.")
    (tmp_path / "outside").mkdir()
    path = state / link.format(aa=digest("one")[:2])
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(tmp_path / "outside")
    with pytest.raises(UserError, match="symbolic link"):
        pull(state, bucket(s3))
    assert tree(tmp_path / "outside") == {}


def test_link_in_the_place_of_a_file_is_not_read(s3, tmp_path):
    first = state_of(tmp_path / "first", "one")
    push(first, bucket(s3))
    state = state_of(tmp_path / "state")
    path = store.stored_files(first, digest("one"))[0]
    link = state / path.relative_to(first)
    link.parent.mkdir()
    link.symlink_to(tmp_path / "secret")
    assert counts(pull(state, bucket(s3))) == {"DAMAGED": 1}
