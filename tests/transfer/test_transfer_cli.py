"""The commands `regcomments push` and `pull`: exit codes and one clear line for each fault."""

from dataclasses import replace

import pytest
from regcomments import cli
from regcomments.transfer import Fate

from tests.s3_server import BUCKET, CREDENTIALS, error
from tests.transfer.conftest import add, state_of


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
        ("s3://me:secret@host", "holds a password"),
        ("me:secret@host:9000", "holds a password"),
        ("http://me:secret@host:port", "holds a password"),
        ("http://me:secret@[host", "holds a password"),
        ("http://host:9000/?token=secret", "holds a password"),
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
