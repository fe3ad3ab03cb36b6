"""Suggests existing data sets when somebody names one that does not exist."""

from __future__ import annotations

from pathlib import Path

from replay.base.did_you_mean import suggestion
from replay.base.invocation import replay_command


def after_missing(data_set: Path) -> str:
    """Return the next step for a missing or empty data set folder: the name that was probably meant, or to measure."""
    beside = data_set.parent.glob("*/") if data_set.parent.is_dir() else ()
    names = sorted(path.name for path in beside if path != data_set)
    return suggestion(data_set.name, names) if names else f"measure first: {replay_command('measure', '--help')}"
