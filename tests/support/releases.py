"""Releases of Ceph in tests: the one that sandboxes run, and answers recorded from several of them."""

from __future__ import annotations

import json
import os
from typing import Any

from support.samples import FOLDER, fixtures

VARIABLE = "REPLAY_TEST_RELEASE"
#: The release of the tests' sandboxes: the host's, or the number that `npm run test:releases` names, as text.
RELEASE = os.environ.get(VARIABLE, "host")
#: The releases with recorded answers, in tests/fixtures/release-*.txt.
RECORDED = tuple(sorted(int(path.stem.removeprefix("release-")) for path in FOLDER.glob("release-*.txt")))


def names_of(release: int) -> set[str]:
    """Return the names of a release's files."""
    return set(fixtures(f"release-{release}"))


def text_of(release: int, name: str) -> str:
    """Return a file of a release."""
    return fixtures(f"release-{release}")[name].decode()


def answer_of(release: int, name: str) -> Any:
    """Return a JSON file of a release, parsed."""
    return json.loads(text_of(release, name))
