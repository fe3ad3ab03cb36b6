"""Time: in the format that evidence uses, and durations for people."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """Return the time now, UTC, ISO 8601 with milliseconds and `Z`."""
    return utc_text(datetime.now(UTC))


def utc_text(moment: datetime) -> str:
    """Return a moment as UTC, ISO 8601 with milliseconds and `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_of(text: str) -> float:
    """Return a moment that `utc_text` wrote as seconds since 1970. Raises ValueError for other text."""
    return datetime.fromisoformat(text).timestamp()


def elapsed_text(seconds: float) -> str:
    """Return a duration for people: `45 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
