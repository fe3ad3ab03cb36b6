"""The version of this program: its number, and a digest of its code."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from importlib import metadata

from replay.base.paths import PACKAGE, ROOT

#: The rooms whose code derives an experiment, and those whose code judges and describes a data set.
DERIVING = ("base", "design", "evidence", "tools", "derive")
JUDGING = (*DERIVING, "claims")


def version() -> str:
    """Return the version of the installed package; in a checkout the version in pyproject.toml."""
    if ROOT is None:
        return metadata.version("replay")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


@cache
def program_digest(*rooms: str) -> str:
    """Return the digest of the code in these rooms of the package: if it changes, what the code made is out of date."""
    whole = hashlib.sha256()
    for path in sorted(path for room in rooms for path in (PACKAGE / room).rglob("*.py")):
        whole.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes() + b"\0")
    return whole.hexdigest()
