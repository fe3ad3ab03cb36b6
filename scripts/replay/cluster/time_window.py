"""When a site may be measured: a part of the day in the site's own time zone. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class TimeWindow:
    """Open daily from `start` to `end` (local times in `zone`); over midnight if `end` is not later than `start`.

    When clocks change, the shorter interpretation counts: a start that happens twice (or not at all) means the later
    moment, an end the earlier one. A tenant's morning matters more than an hour of measuring.
    """

    start: time
    end: time
    zone: ZoneInfo

    def is_open(self, now: datetime) -> bool:
        """Whether measuring is allowed at `now` (an aware datetime)."""
        return any(opens <= now < closes for opens, closes in self._windows(now))

    def seconds_until_open(self, now: datetime) -> float:
        """Seconds until the window opens; 0 when it is open."""
        if self.is_open(now):
            return 0.0
        return min((opens - now).total_seconds() for opens, _ in self._windows(now) if opens > now)

    def seconds_until_close(self, now: datetime) -> float:
        """Seconds that remain; 0 when the window is closed."""
        return max(
            ((closes - now).total_seconds() for opens, closes in self._windows(now) if opens <= now < closes),
            default=0.0,
        )

    def __str__(self) -> str:
        return f"{self.start:%H:%M} to {self.end:%H:%M} {self.zone.key}"

    def _windows(self, now: datetime) -> Iterator[tuple[datetime, datetime]]:
        """Yield the windows of the days around `now` as UTC instants, which clock changes leave alone."""
        if now.tzinfo is None:
            raise ValueError("a moment needs its time zone")
        today = now.astimezone(self.zone).date()
        for days in range(-2, 4):
            first = today + timedelta(days=days)
            last = first if self.end > self.start else first + timedelta(days=1)
            opens = max(self._instant(datetime.combine(first, self.start), fold) for fold in (0, 1))
            closes = min(self._instant(datetime.combine(last, self.end), fold) for fold in (0, 1))
            if opens < closes:
                yield opens, closes

    def _instant(self, local: datetime, fold: int) -> datetime:
        return local.replace(tzinfo=self.zone, fold=fold).astimezone(UTC)
