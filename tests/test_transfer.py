"""`regcomments push` and `pull` against an S3 server that stumbles."""

import errno
import functools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import boto3
import pytest
from regcomments import cli, transfer, transfer_files
from regcomments.errors import UserError
from regcomments.ocr import store
from regcomments.ocr.engines import Outcome, PageResult
from regcomments.transfer import Fate, pull, push
from regcomments.transfer_compare import variants
from regcomments.transfer_s3 import Bucket, TransferError

from tests.ocr_fakes import FaultyEngine
from tests.s3_server import BUCKET, CREDENTIALS, error, s3_server

ENGINE = FaultyEngine()


@pytest.fixture(scope="module")
def server():
    with s3_server() as proxy:
        yield proxy


@pytest.fixture(autouse=True)
def credentials(monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def s3(server):
    """The proxy, with an empty bucket behind it and no rule."""
    server.rule = server.after = None
    raw = client(server)
    server.make_bucket()
    server.requests.clear()
    yield server
    server.rule = server.after = None
    for item in raw.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
        raw.delete_object(Bucket=BUCKET, Key=item["Key"])


# A client takes a third of a second to make.
@functools.cache
def client(server):
    return boto3.client("s3", endpoint_url=server.url, region_name="us-east-1")


@functools.cache
def bucket(server, **options) -> Bucket:
    return Bucket(BUCKET, endpoint=server.url, **options)


def state_of(folder: Path, *words: str) -> Path:
    """A state folder with a result of one page for each of `words`."""
    (folder / "_ocr").mkdir(parents=True, exist_ok=True)
    for word in words:
        add(folder, word)
    return folder


def add(state: Path, word: str, text: str | None = None) -> Path:
    page = PageResult(1, Outcome.TEXT, text or f"The text of {word}.", 0.9)
    return store.write(state, digest(word), ENGINE, [page], {}, part=False)


def digest(word: str) -> str:
    return sha256(word.encode()).hexdigest()


def tree(state: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(state)): path.read_bytes()
        for path in sorted(state.rglob("*"))
        if path.is_file()
    }


def counts(report) -> dict[str, int]:
    return {fate.name: number for fate, number in report.counts.items() if number}


def puts(server) -> list[str]:
    return [r.path for r in server.requests if r.method == "PUT" and "/_ocr/" in r.path]


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


# ---- the commands


def command(name, server, state, *more):
    return [name, "--state", str(state), "--bucket", BUCKET, "--endpoint", server.url, *more]


def test_commands(s3, tmp_path, capsys):
    first, second = state_of(tmp_path / "first", "one"), state_of(tmp_path / "second")
    assert cli.main(command("push", s3, first)) == 0
    assert "push: 1 files moved (0.0 MB), 0 were there already" in capsys.readouterr().out
    assert cli.main(command("pull", s3, second)) == 0
    out = capsys.readouterr().out
    assert "pull: 1 files moved" in out
    assert "snakemake merge_ocr" in out
    add(second, "two")
    add(first, "two", "Another reading.")
    assert cli.main(command("push", s3, second)) == 0
    assert cli.main(command("push", s3, first)) == 1
    assert cli.main(command("pull", s3, first)) == 1


@pytest.mark.parametrize("name", ["push", "pull"])
@pytest.mark.parametrize(
    "fault, says",
    [
        (error(403, "AccessDenied"), "is denied (HTTP 403)"),
        (error(403, "InvalidAccessKeyId"), "knows no such credentials (InvalidAccessKeyId)"),
        (error(404, "NoSuchBucket"), "there is no bucket results at http"),
        (error(301, "PermanentRedirect"), "bucket results at http"),
    ],
    ids=["denied", "key", "bucket", "redirect"],
)
def test_fault_of_the_store_is_one_clear_line(s3, tmp_path, capsys, name, fault, says):
    s3.rule = lambda _: replace(fault)
    assert cli.main(command(name, s3, state_of(tmp_path, "one"))) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("regcomments: ")
    assert says in lines[0]


@pytest.mark.parametrize("name", ["push", "pull"])
def test_store_that_is_not_there_is_one_clear_line(tmp_path, capsys, name, monkeypatch):
    monkeypatch.setattr("regcomments.transfer_s3.ATTEMPTS", 1)  # spares the pauses
    state = state_of(tmp_path, "one")
    given = [name, "--state", str(state), "--bucket", BUCKET, "--endpoint", "http://127.0.0.1:9"]
    assert cli.main(given) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert "can't reach bucket results at http://127.0.0.1:9" in lines[0]


def test_missing_credentials_are_one_clear_line(s3, tmp_path, capsys, monkeypatch):
    for variable in CREDENTIALS:
        monkeypatch.delenv(variable)
    assert cli.main(command("push", s3, state_of(tmp_path, "one"))) == 2
    assert "no credentials for bucket results" in capsys.readouterr().err


@pytest.mark.parametrize(
    "environment, says",
    [
        ({"AWS_PROFILE": "nobody"}, "nobody"),
        ({"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": ""}, "credentials"),
    ],
    ids=["profile", "half"],
)
def test_credentials_that_cannot_serve(s3, tmp_path, capsys, monkeypatch, environment, says):
    for variable in CREDENTIALS:
        monkeypatch.delenv(variable)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    assert cli.main(command("push", s3, state_of(tmp_path, "one"))) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert says in lines[0]


@pytest.mark.parametrize(
    "endpoint, says",
    [
        ("rustfs:9000", "it is a URL such as"),
        ("file:///etc/passwd", "it is a URL such as"),
        ("http://", "it is a URL such as"),
        ("http://host:99999", "Port out of range"),
        ("http://me:secret@host:9000", "holds a password"),
    ],
)
def test_endpoints_that_cannot_serve(tmp_path, capsys, endpoint, says):
    state = state_of(tmp_path, "one")
    given = ["push", "--state", str(state), "--bucket", BUCKET, "--endpoint", endpoint]
    assert cli.main(given) == 2
    err = capsys.readouterr().err
    assert says in err
    assert "secret" not in err


@pytest.mark.parametrize("given", [["--jobs", "0"], ["--jobs", "many"], []])
def test_wrong_arguments(s3, tmp_path, capsys, given):
    line = command("push", s3, state_of(tmp_path), *given)
    if not given:
        del line[3:5]  # no bucket
    with pytest.raises(SystemExit) as stop:
        cli.main(line)
    assert stop.value.code == 2


def test_empty_store_is_no_error(s3, tmp_path, capsys):
    assert cli.main(command("push", s3, tmp_path)) == 0
    assert cli.main(command("pull", s3, tmp_path)) == 0
    assert Fate.MOVED.name not in capsys.readouterr().out
