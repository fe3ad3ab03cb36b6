"""Verbatim output of real tools, from tests/fixtures: a file there contains several, as its README says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "fixtures"
HEADING = re.compile(rb"(?:\A|\n)==> (.+) <==\n")


@cache
def fixtures(name: str) -> Mapping[str, bytes]:
    """Return the files that `tests/fixtures/NAME.txt` holds, by name."""
    before, *parts = HEADING.split((FOLDER / f"{name}.txt").read_bytes())
    assert not before, f"{name}.txt begins without a heading"
    names = [heading.decode() for heading in parts[::2]]
    assert len(set(names)) == len(names), f"{name}.txt has a name twice"
    return MappingProxyType(dict(zip(names, parts[1::2], strict=True)))


def fixture_json(collection: str, name: str) -> Any:
    """Return a JSON file of a collection, parsed."""
    return json.loads(fixtures(collection)[name])


def output(name: str) -> bytes:
    """Return a sample of a tool's output, with the notes on it, by a name that begins with the tool's."""
    tools = ("fio", "iperf3", "rados-bench", "rbd-bench")
    (tool,) = (tool for tool in tools if name.startswith(f"{tool}-"))
    return fixtures(tool)[name]


def sample(name: str) -> tuple[str, int]:
    """Return (output, exit status) of a sample; its first line (`$ …`) and its last (`# rc=…`) are notes on it."""
    text = output(name).decode()
    status = re.search(r"^# rc=(\d+)", text, re.MULTILINE)
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith(("$ ", "# rc="))]
    return "".join(lines), int(status[1]) if status else 0
