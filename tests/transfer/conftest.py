"""Hosts with results, and a bucket between them."""

import functools
import os
from hashlib import sha256
from pathlib import Path

import boto3
import pytest
from regcomments.ocr import store
from regcomments.ocr.engines import Outcome, PageResult
from regcomments.transfer_s3 import Bucket

from tests.ocr_fakes import FaultyEngine
from tests.s3_server import BUCKET, CREDENTIALS, s3_server

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
