"""Sets the line between the sites of a sandbox before each set, and puts it back when the block closes."""

from __future__ import annotations

from pathlib import Path

from replay.base.errors import ReplayError
from replay.cluster import sandbox_record
from replay.cluster.sandbox_options import show_rate
from replay.cluster.sandbox_record import Sandbox
from replay.cluster.site import require
from replay.design.design import CellSet, Design
from replay.design.link import WORD, Line, farthest, line_of
from replay.measure.bench import Bench
from replay.sandbox import link
from replay.sandbox.tools import locked


class LineBetweenSites:
    """The line of a block's sandbox. It is left alone if the factors of the experiment do not name it."""

    def __init__(self, bench: Bench, design: Design) -> None:
        self.bench = bench
        self._farthest = farthest(line_of(cell_set.levels) for cell_set in design.sets)
        self._before: dict[str, float | None] | None = None
        self._now: Line = {}

    def open_block(self) -> None:
        """Set the farthest line of all sets: what a block finds out when it opens, such as a rate, holds for each."""
        self._set(self._farthest)

    def before_set(self, cell_set: CellSet) -> None:
        """Set the line that a set asks for, and measure it, unless it is there.

        Raises SandboxError if the line is not as asked, RefusedError if the site is no sandbox with a line.
        """
        self._set(line_of(cell_set.levels))

    def close_block(self) -> None:
        """Put the line back as it was before the block. One that has ended stays so: `up` starts it."""
        if self._before is None or link.lost_line(self.bench.site) is not None:
            return
        before, self._before = self._before, None
        self._change(before)

    def _set(self, wanted: Line) -> None:
        if not wanted or wanted == self._now:
            return
        require(self.bench.site, WORD, self.bench.session.fsid())
        if self._before is None:
            there = self._sandbox().link
            self._before = {name: getattr(there, name) for name in wanted}
        # Whatever ends this, the next set finds out again what the line is.
        self._now = {}
        self._change(dict(wanted))
        self._now = wanted

    def _change(self, wanted: dict[str, float | None]) -> None:
        rate = wanted.get("rate_bytes_per_second")
        asked = f"{1e3 * (wanted['rtt_seconds'] or 0.0):g} ms" + (f" and {show_rate(rate)}" if rate else "")
        self.bench.say(f"setting the line between the sites: {asked}")
        directory = Path(self._sandbox().directory)
        with self.bench.costs.measure("prepare"), locked(directory):
            link.change(sandbox_record.load(directory), self.bench.say, **wanted)

    def _sandbox(self) -> Sandbox:
        sandbox = sandbox_record.owner_of(self.bench.session.fsid())
        if sandbox is None:
            raise ReplayError("the sandbox is gone", where=f"site {self.bench.site.name}", next_step="start it again")
        return sandbox
