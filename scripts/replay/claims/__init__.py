"""Claims: the talk's sentences as predicates, and each data set's verdict on them."""

from __future__ import annotations

from pathlib import Path

from replay.base.paths import config_directory


def claims_path() -> Path:
    """Return the file of the claims. A talk without this file makes none."""
    return config_directory() / "claims.yaml"
