"""Recorded answers of Ceph and its tools, by release: tests/fixtures/releases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "releases"
RELEASES = tuple(sorted(int(path.name) for path in FOLDER.iterdir() if path.is_dir()))


def text_of(release: int, name: str) -> str:
    """Return a file of a release."""
    return (FOLDER / str(release) / name).read_text()


def answer_of(release: int, name: str) -> Any:
    """Return a JSON file of a release, parsed."""
    return json.loads(text_of(release, name))
