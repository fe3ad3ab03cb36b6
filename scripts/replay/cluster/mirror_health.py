"""Whether mirror daemons do their work, according to `rbd mirror pool status --verbose`. Pure.

That a daemon is registered says little: one that may not read the first cluster stays registered and replays nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: What a daemon says of its health, the worst last.
_GOOD, _PASSING = ("OK",), ("UNKNOWN", "WARNING")


@dataclass(frozen=True)
class Verdict:
    """`level` is `ok`, `warning` or `broken`; `text` is for people, with what the daemons themselves complain about."""

    level: str
    text: str


def judge(status: Mapping[str, Any]) -> Verdict | None:
    """Judge the daemons that serve a pool; None if there is none.

    One daemon leads a pool. The others stand by, and so does one that was killed, for a minute.
    """
    daemons = status.get("daemons", ())
    if not daemons:
        return None
    leading = [one for one in daemons if one.get("leader")]
    complaints = sorted({said for one in leading or daemons for said in one.get("callouts", ())})
    said = f": {'; '.join(complaints)}" if complaints else ""
    if not leading:
        return Verdict("broken", f"{len(daemons)} rbd-mirror daemon(s) are registered, but none leads the pool{said}")
    health = leading[0].get("health", "UNKNOWN")
    if health in _GOOD:
        return Verdict("ok", f"rbd-mirror replays the pool{_images(status)}")
    level = "warning" if health in _PASSING else "broken"
    return Verdict(level, f"rbd-mirror leads the pool, and its health is {health}{said}{_images(status)}")


def _images(status: Mapping[str, Any]) -> str:
    states = status.get("summary", {}).get("states", {})
    return f" ({', '.join(f'{count} images {state}' for state, count in sorted(states.items()))})" if states else ""
