"""The console program."""

import os
import subprocess
import sys

import pymupdf
import pytest
from regcomments import __version__, cli
from regcomments.tables.store import write_tables
from state_files import sample_state


@pytest.fixture
def state(tmp_path):
    return sample_state(tmp_path / "state")


def test_stats(state, capsys):
    assert cli.main(["stats", "--state", str(state)]) == 0
    assert "4 done, 0 pending" in capsys.readouterr().out


def test_index(state, capsys):
    assert cli.main(["index", "--state", str(state)]) == 0
    assert capsys.readouterr().out.startswith("4 comments in the index (4 read anew, 0 gone)")
    (state / "D-1" / "D-1-0002" / "combined.md").write_text("x")
    assert cli.main(["index", "--state", str(state)]) == 0
    out = capsys.readouterr().out
    assert "(0 read anew" in out and "damaged: D-1/D-1-0002/combined.md: no front matter" in out
    assert cli.main(["index", "--full", "--state", str(state)]) == 0
    assert "(3 read anew" in capsys.readouterr().out


def test_extract(tmp_path, capsys):
    path = tmp_path / "attachment_1.txt"
    path.write_text("I support this rule.")
    assert cli.main(["extract", str(path)]) == 0
    captured = capsys.readouterr()
    assert captured.out == "I support this rule.\n" and captured.err == "ok\n"
    path.write_bytes(b"")
    assert cli.main(["extract", str(path)]) == 1
    assert capsys.readouterr().err.startswith("failed: empty_file")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["stats", "--state", "nowhere"], "there is no state folder"),
        (["index", "--state", "nowhere"], "there is no state folder"),
        (["extract", "nowhere.pdf"], "there is no file"),
    ],
)
def test_errors_of_users_are_one_line(tmp_path, monkeypatch, capsys, arguments, says):
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert captured.err.startswith("regcomments: ") and says in captured.err


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["stats", "--nonsense"]])
def test_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == 2
    assert "usage: regcomments" in capsys.readouterr().err


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    out = capsys.readouterr().out
    assert all(f"  {command.name} " in out and command.help in out for command in cli.COMMANDS)


@pytest.mark.parametrize("name", [command.name for command in cli.COMMANDS])
def test_every_command_has_help(name, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main([name, "--help"])
    assert caught.value.code == 0
    assert f"usage: regcomments {name}" in capsys.readouterr().out


@pytest.fixture
def addresses(tmp_path):
    """A state folder with one ruled table, and the address of the table."""
    folder = tmp_path / "state" / "D-1" / "D-1-0001"
    folder.mkdir(parents=True)
    path = folder / "attachment_1.pdf"
    with pymupdf.open() as document:
        page = document.new_page()
        for row, texts in enumerate([("Code", "Fee"), ("A1", "12.50"), ("B2", "99")]):
            for column, text in enumerate(texts):
                box = pymupdf.Rect(0, 0, 120, 24) + (72 + 120 * column, 72 + 24 * row) * 2
                page.draw_rect(box)
                page.insert_text((box.x0 + 6, box.y0 + 16), text)
        document.save(path)
    (found,) = write_tables(path)
    return tmp_path / "state", found.address


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("csv", "Code,Fee\r\nA1,12.50\r\nB2,99\r\n"),
        ("text", "Code  Fee\nA1    12.50\nB2    99\n"),
        ("pipe", "| Code | Fee |\n| --- | --- |\n| A1 | 12.50 |\n| B2 | 99 |\n"),
    ],
)
def test_table(addresses, capfd, form, expected):
    state, address = addresses
    arguments = ["table", address, "--format", form, "--state", str(state)]
    assert cli.main(arguments) == 0
    assert capfd.readouterr().out == expected


def test_cell(addresses, capsys):
    state, address = addresses
    assert cli.main(["cell", f"{address}/tr[1]/td[1]", "--state", str(state)]) == 0
    captured = capsys.readouterr()
    assert captured.out == "12.50\n" and captured.err == "D-1/D-1-0001/attachment_1.pdf, page 1\n"


def test_crop(addresses, capsys, tmp_path):
    state, address = addresses
    out = tmp_path / "out.png"
    assert cli.main(["crop", address, str(out), "--state", str(state)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("command", "ending", "says"),
    [
        ("cell", "", "names no cell"),
        ("cell", "/tr[9]/td[0]", "has 3 rows"),
        ("table", "/tr[9]", "has 3 rows"),
        ("table", "/nonsense", "address"),
        ("cell", "/tr[0]/td[0]?", "address"),
    ],
)
def test_addresses_that_lead_nowhere(addresses, capsys, command, ending, says):
    state, address = addresses
    assert cli.main([command, address + ending, "--state", str(state)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and says in err


def test_version(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--version"])
    assert capsys.readouterr().out == f"regcomments {__version__}\n"


def test_as_a_program_and_into_a_closed_pipe(state):
    command = f"{sys.executable} -m regcomments stats --state {state}"
    done = subprocess.run(command.split(), capture_output=True, text=True, check=True)
    assert "4 done" in done.stdout
    piped = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | true"], capture_output=True
    )
    assert piped.returncode == 0 and piped.stderr == b""
    read_end, write_end = os.pipe()
    os.close(read_end)
    closed = subprocess.run(command.split(), stdout=write_end, stderr=subprocess.PIPE)
    os.close(write_end)
    assert closed.returncode == 0 and closed.stderr == b""
