"""Answers an unknown name with the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Return `did you mean 'NAME'?` for the closest known name, or an empty text if none is close."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else ""


def suggestion(word: str, known: Sequence[str]) -> str:
    """Return `did_you_mean`, or the list of known names if none is close."""
    return did_you_mean(word, known) or (f"there are: {', '.join(known)}" if known else "there are none yet")
