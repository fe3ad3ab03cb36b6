"""Answers an unknown name with the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from replay.base.invocation import replay_command


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Return `did you mean 'NAME'?` for the closest known name, or an empty text if none is close."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else ""


def suggestion(word: str, known: Sequence[str]) -> str:
    """Return `did_you_mean`, or the list of known names if none is close."""
    return did_you_mean(word, known) or (f"there are: {', '.join(known)}" if known else "there are none yet")


def after_missing(data_set: Path) -> str:
    """Return the next step for a missing or empty data set folder: the name that was probably meant, or to measure."""
    beside = data_set.parent.glob("*/") if data_set.parent.is_dir() else ()
    names = sorted(path.name for path in beside if path != data_set)
    return suggestion(data_set.name, names) if names else f"measure first: {replay_command('measure', '--help')}"
