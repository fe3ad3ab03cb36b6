"""The version of this program."""

from __future__ import annotations

import tomllib
from importlib import metadata

from replay.base.paths import ROOT


def version() -> str:
    """Return the version of the installed package; in a checkout the version in pyproject.toml."""
    if ROOT is None:
        return metadata.version("replay")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
