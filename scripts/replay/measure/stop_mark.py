"""How a block tells the run that started it to start nothing more: a file beside the run's plan."""

from __future__ import annotations

from pathlib import Path

from replay.base.errors import RefusedError


def mark_stopped(plan_file: Path, error: RefusedError) -> None:
    """Mark that the whole run has to end, for the reason that `error` states."""
    _mark(plan_file).write_text(f"{error.what}\n", encoding="utf-8")


def take_mark(plan_file: Path) -> bool:
    """Return whether a block has left the mark, and remove it."""
    mark = _mark(plan_file)
    stopped = mark.exists()
    mark.unlink(missing_ok=True)
    return stopped


def _mark(plan_file: Path) -> Path:
    return plan_file.with_suffix(".stopped")
