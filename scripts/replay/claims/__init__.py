"""Claims: sentences of the talk as predicates, and what a data set says of each."""

from __future__ import annotations

from pathlib import Path

from replay.base.paths import config_directory


def claims_path() -> Path:
    """Return where the claims are written down. A talk without this file makes none."""
    return config_directory() / "claims.yaml"
