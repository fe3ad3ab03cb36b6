"""docs/command.md names every existing command, and no other."""

from __future__ import annotations

import re

from replay.base.paths import ROOT
from replay.cli.commands import COMMANDS


def test_the_page_of_the_command_has_a_row_for_each():
    text = (ROOT / "docs" / "command.md").read_text()
    rows = re.findall(r"^\| `replay ([a-z]+)", text, re.MULTILINE)
    assert rows == list(COMMANDS)
