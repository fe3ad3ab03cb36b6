"""Ways in which a stored file can be damaged, for property tests; and a path that cannot be looked at."""

from __future__ import annotations

import os
import random
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from support.programs import WHOLE


class ClosedPath(type(Path())):  # type: ignore[misc]
    """A path in a folder that this user may not enter."""

    def stat(self, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))


def tried(examples: int) -> int:
    """Return this number, or a quarter of it outside of the full `npm test`."""
    return examples if WHOLE in os.environ else examples // 4


def at_most(examples: int) -> settings:
    """Return settings that try this many examples, or a quarter of them outside of the full `npm test`."""
    # Input is generated, and the time that an example takes means nothing, least of all on a busy machine.
    return settings(max_examples=tried(examples), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def interleaved(one: str, other: str, seed: int) -> str:
    """Return the lines of two files, each in its order, mixed as if two processes wrote to one file."""
    order = random.Random(seed)
    pairs = [*enumerate(one.splitlines(keepends=True)), *enumerate(other.splitlines(keepends=True))]
    return "".join(line for _, line in sorted(pairs, key=lambda pair: pair[0] + order.uniform(0, 8)))


#: How lines can be damaged; the first three are what happens to files: a lost line, and two runs in one file.
WAYS = ("lost", "mixed with another", "doubled", "repeated", "moved", "swapped", "replaced")


@st.composite
def damaged_lines(draw, text: str, other: str) -> str:
    """Return a text with a line lost, repeated, moved, swapped with or replaced by another, or mixed with `other`."""
    lines = text.splitlines(keepends=True)
    one, two = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
    how = draw(st.sampled_from(WAYS))
    if how == "mixed with another":
        return interleaved(text, other, draw(st.integers(0, 2**32)))
    if how == "doubled":
        return interleaved(text, text, draw(st.integers(0, 2**32)))
    if how == "lost":
        del lines[one]
    elif how == "repeated":
        lines.insert(two, lines[one])
    elif how == "moved":
        lines.insert(two, lines.pop(one))
    elif how == "swapped":
        lines[one], lines[two] = lines[two], lines[one]
    else:
        lines[one] = lines[two]
    return "".join(lines)


def some_lines_of(text: str) -> st.SearchStrategy[str]:
    """Return texts that have some of the lines of a text, in their order."""
    lines = text.splitlines(keepends=True)
    kept = st.lists(st.sampled_from(range(len(lines))), unique=True).map(sorted)
    return kept.map(lambda places: "".join(lines[at] for at in places))
