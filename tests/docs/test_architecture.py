"""docs/architecture.md lists the rooms in their order, and the files that it names exist."""

from __future__ import annotations

import re

import pytest

from replay.base.paths import ROOT
from test_rooms import ORDER

TEXT = (ROOT / "docs" / "architecture.md").read_text()
#: The folders in which a path on the page may begin.
ROOTS = (ROOT, ROOT / "scripts" / "replay")


def test_the_rooms_of_the_package_are_listed_from_the_top_down():
    section = TEXT.partition("\n## The rooms of the Python package\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z]+)/` \|", section, re.MULTILINE) == [*reversed(ORDER)]


def test_every_room_of_the_deck_is_listed():
    section = TEXT.partition("\n## The rooms of the deck\n")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `deck/([a-z-]+)/` \|", section, re.MULTILINE))
    assert listed == {path.name for path in (ROOT / "deck").iterdir() if path.is_dir()}


#: A folder, or a file in one, except what `site` builds.
PATH = re.compile(r"`([a-zA-Z-]+(?:/[\w.-]+)*/(?:[\w.-]+\.(?:py|js|yaml|json|css|md))?)`")
NAMED = sorted({*PATH.findall(TEXT)} - {"dist/"})


@pytest.mark.parametrize("name", NAMED)
def test_what_the_page_names_exists(name):
    assert any((root / name).exists() for root in ROOTS), name
