"""The line between the two sites of a sandbox, as factors that any experiment may have. Pure.

A run sets the line before each set, so its levels are hard to change: the sets that share them stay together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

#: The word of `requires`: the sites of the sandbox are joined by a line.
WORD = "link"
RTT, RATE = "link_rtt_seconds", "link_rate_bytes_per_second"
#: What each factor means.
FACTORS = {
    RTT: "the round trip of the line between the sites; 0 adds none",
    RATE: "the rate of the line between the sites",
}
LONGEST_RTT_SECONDS = 2.0
#: In bytes a second: daemons on a slower line hear too little of each other.
SLOWEST_RATE = 125_000.0
#: Setting a line takes this many echoes, one after the other, and this many seconds for everything else.
_ECHOES, _SECONDS = 220, 7.0

#: What is asked of the line: `rtt_seconds`, `rate_bytes_per_second`, or neither.
Line = Mapping[str, float]


def line_of(levels: Mapping[str, Any]) -> Line:
    """Return what the levels of a set ask of the line; empty if they do not name it."""
    return {name.removeprefix("link_"): float(levels[name]) for name in FACTORS if name in levels}


def farthest(lines: Iterable[Line]) -> Line:
    """Return the line with the longest round trip, and of those the slowest; empty if there is none."""
    return max(
        lines, key=lambda line: (line.get("rtt_seconds", 0.0), -line.get("rate_bytes_per_second", 0.0)), default={}
    )


def seconds_to_set(lines: Iterable[Line]) -> float:
    """Return how long a block takes to set these lines, each once, and the farthest once more when it opens."""
    different = [dict(line) for line in {tuple(line.items()) for line in lines if line}]
    set_in_all = [*different, farthest(different)] if different else []
    return sum(_SECONDS + _ECHOES * line.get("rtt_seconds", 0.0) for line in set_in_all)


def check_link(
    configuration: Mapping[str, Any],
    levels_of: Mapping[str, list[tuple[tuple[str | int, ...], Any]]],
    refuse: Callable[..., NoReturn],
) -> None:
    """Refuse levels of the line that no set can have. `levels_of` has every level in the file, with its key path."""
    used = [name for name in FACTORS if name in levels_of]
    for name in used:
        for path, level in levels_of[name]:
            if path[0] != "factors":
                advice = "make it a factor: the line is set before each set, for all variants"
                refuse(f"{'.'.join(map(str, path))}: a variant has no line of its own", *path, next_step=advice)
            if (expected := _expected(name, level)) is not None:
                refuse(f"factors.{name}: expected {expected}, found {level!r}", *path)
        if name not in configuration.get("hard_to_change", ()):
            advice = "add it there, so that the line is set once for all sets that share a level"
            refuse(f"{name} has to be among `hard_to_change`", "factors", name, next_step=advice)
    if used == [RATE]:
        refuse(
            f"{RATE}: a line needs a round trip", "factors", RATE, next_step=f"add the factor {RTT}, with the level 0"
        )
    if used and WORD not in configuration.get("requires", ()):
        refuse(f"{used[0]} needs a line between the sites", "factors", used[0], next_step=f"add {WORD} to `requires`")


def _expected(name: str, level: Any) -> str | None:
    """Return what a level has to be, None if it is that."""
    is_number = isinstance(level, int | float) and not isinstance(level, bool)
    if name == RTT:
        return None if is_number and 0 <= level <= LONGEST_RTT_SECONDS else f"0 to {LONGEST_RTT_SECONDS:g} seconds"
    return None if is_number and level >= SLOWEST_RATE else f"at least {SLOWEST_RATE:g} bytes a second"
