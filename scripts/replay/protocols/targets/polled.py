"""Targets for which the mirror daemon looks at an idle journal as often as the cell's level says."""

from __future__ import annotations

from replay.base.errors import cleaning_up
from replay.design.design import Cell
from replay.design.needs import Factor
from replay.evidence.record import Wait
from replay.measure.protocol import Target
from replay.ownership.poll_age import PollAge
from replay.protocols.targets.fresh_pair import FreshPair
from replay.protocols.targets.images import FreshImage

LEVEL = "journal_poll_age_seconds"
POLL_AGE_FACTOR = Factor(LEVEL, "how long the mirror daemon waits before it looks again at a journal without entries")


class Polled(Target):
    """Sets the poll age before a cell's image is made, and restores it after the cell. Inherit it before a target."""

    poll_age: PollAge | None = None

    def prepare(self, cell: Cell) -> list[Wait]:
        """Set the poll age of a cell that has one, then prepare its image."""
        self._restore()
        if (seconds := cell.levels.get(LEVEL)) is None:
            return super().prepare(cell)
        poll_age = PollAge(self.bench)
        try:
            poll_age.set(float(seconds))
            return super().prepare(cell)
        finally:
            # Not earlier: preparing a cell closes the previous one, which would restore this poll age.
            self.poll_age = poll_age

    def close(self) -> None:
        """Remove what is left, then set the poll age back, whether or not that could be removed."""
        with cleaning_up(super().close, self._restore):
            pass

    def _restore(self) -> None:
        if self.poll_age is not None:
            self.poll_age.restore()
            self.poll_age = None


class PolledPair(Polled, FreshPair):
    """A fresh image and its copy for each cell."""


class PolledImage(Polled, FreshImage):
    """A fresh image for each cell."""
