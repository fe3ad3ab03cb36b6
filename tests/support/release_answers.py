"""Recorded answers of Ceph and its tools, by release: tests/fixtures/release-*.txt."""

from __future__ import annotations

import json
from typing import Any

from support.samples import FOLDER, fixtures

RELEASES = tuple(sorted(int(path.stem.removeprefix("release-")) for path in FOLDER.glob("release-*.txt")))


def names_of(release: int) -> set[str]:
    """Return the names of a release's files."""
    return set(fixtures(f"release-{release}"))


def text_of(release: int, name: str) -> str:
    """Return a file of a release."""
    return fixtures(f"release-{release}")[name].decode()


def answer_of(release: int, name: str) -> Any:
    """Return a JSON file of a release, parsed."""
    return json.loads(text_of(release, name))
