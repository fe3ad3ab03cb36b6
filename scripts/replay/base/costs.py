"""Where a run's time went: tools, recorded waits, preparation, and the runner itself."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

#: What is not the runner's own cost. `tool` is measurement, `pilot` its sizing, `wait` is recorded waits,
#: `prepare` creates, fills and removes images (Ceph's own tools, not the runner).
OUTSIDE = ("tool", "pilot", "wait", "prepare")


@dataclass
class Costs:
    """Seconds by component. Everything between start and end that no component claims is `other`."""

    started: float = field(default_factory=time.monotonic)
    seconds: dict[str, float] = field(default_factory=dict)
    _stack: list[list[float]] = field(default_factory=list)

    @contextlib.contextmanager
    def measure(self, component: str) -> Iterator[None]:
        """Charge the time inside to `component`, less what components nested in it claim."""
        begin = time.monotonic()
        self._stack.append([0.0])
        try:
            yield
        finally:
            spent = time.monotonic() - begin
            nested = self._stack.pop()[0]
            self.seconds[component] = self.seconds.get(component, 0.0) + spent - nested
            if self._stack:
                self._stack[-1][0] += spent

    def summary(self) -> dict[str, float]:
        """Return seconds by component with `total`, `other`, `own` and `own_fraction` (own over total)."""
        total = time.monotonic() - self.started
        rounded = {name: round(value, 3) for name, value in sorted(self.seconds.items())}
        outside = sum(self.seconds.get(name, 0.0) for name in OUTSIDE)
        own = total - outside
        return {
            **rounded,
            "other": round(total - sum(self.seconds.values()), 3),
            "total": round(total, 3),
            "own": round(own, 3),
            "own_fraction": round(own / total, 5) if total > 0 else 0.0,
        }
