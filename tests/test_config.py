"""Configuration: strings from a command line, and errors that name the key."""

from pathlib import Path

import pytest
import yaml
from regcomments.config import check_config
from regcomments.errors import UserError

FOLDER = Path(__file__).resolve().parents[1] / "config"


def checked(**changes):
    config = {**yaml.safe_load((FOLDER / "config.yaml").read_text("utf-8")), **changes}
    check_config(config, FOLDER / "config.schema.yaml")
    return config


@pytest.mark.parametrize(
    ("section", "key", "given", "meant"),
    [
        ("ocr", "dpi", "300", 300),
        ("ocr", "page_seconds", "12.5", 12.5),
        ("read", "max_pages", "7", 7),
        ("shard", "comments", 50, 50),
    ],
)
def test_numbers_of_a_section_given_on_the_command_line(section, key, given, meant):
    assert checked(**{section: {key: given}})[section][key] == meant


def test_top_level_number_and_name_of_digits():
    config = checked(limit="20", docket=2023)
    assert (config["limit"], config["docket"]) == (20, "2023")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ocr": {"dpi": "fine"}}, ["ocr.dpi", "fine"]),
        ({"ocr": {"dpi": "30"}}, ["ocr.dpi", "72"]),
        ({"read": {"max_page": 3}}, ["max_page", "did you mean 'max_pages'"]),
        ({"state": ""}, ["state"]),
        ({"limt": 3}, ["limt", "did you mean 'limit'"]),
    ],
)
def test_wrong_value_is_named(changes, words):
    with pytest.raises(UserError) as caught:
        checked(**changes)
    assert all(word in str(caught.value) for word in words)
