"""Time, in the format that evidence uses."""

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
