"""Pilots, and one process of the experiment's tool on one image or file, whose cells they size.

Pilots run before a block's cells and find their sizes or rates. Each is kept as evidence, with a note.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from replay.base.errors import ReplayError
from replay.design.design import Cell, CellSet, Design, digest_of
from replay.design.sizing import (
    MOST_ROUNDS,
    PilotRound,
    Write,
    cell_bytes,
    first_bytes,
    is_enough,
    longer_bytes,
    next_bytes,
)
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Measured, host
from replay.measure.protocol import Driver, Protocol, WhileRunning
from replay.protocols.drivers.tool import bytes_written, client_values, hidden, run_observed, writes
from replay.tools import OutputError, Result, Tool

#: Stands in for a cell's id in the account.
PEAK = "peak"


class Pilots:
    """The pilots of one cell on this machine, round by round."""

    def __init__(self, raw: BlockWriter, cell: Cell) -> None:
        self.raw, self.cell = raw, cell
        self._earlier = raw.history.pilots(host()["id"], cell.cell_id)

    @property
    def done(self) -> int:
        """The number of the last round on this machine, in this block or an earlier one; 0 if there was none."""
        return max(self._earlier, default=0)

    def last(self) -> Mapping[str, Any]:
        """Return the note of the last round, or an empty one if there was none."""
        return self._earlier[self.done] if self._earlier else {}

    def seed(self, kind: str, number: int) -> int:
        return int(digest_of([self.cell.cell_id, kind, number], 8), 16)

    def keep(self, number: int, measured: Measured, **found: Any) -> None:
        """Record a round: its output, and a note about what it ran and found."""
        note = {
            "schema_version": 1,
            "cell_id": self.cell.cell_id,
            "point": self.cell.point,
            "variant": self.cell.variant.name,
            "levels": dict(self.cell.levels),
            "argv": measured.argv,
            "exit_status": measured.exit_status,
            "started_at": measured.started_at,
            "ended_at": measured.ended_at,
            **found,
            "host": host(),
        }
        self.raw.record_pilot(host()["id"], self.cell.cell_id, number, measured.results, note)


def pilots_before(design: Design, raw: BlockWriter) -> list[tuple[Cell, Mapping[str, Any]]]:
    """Return the pilots that this block already has on this machine, each with its cell, as they ran.

    Sets of a block are compared with each other, so what a part of it found holds for all: also what was found for sets
    that this run leaves out, or before an interruption.
    """
    cells = {cell.cell_id: cell for cell_set in design.all_sets for cell in cell_set.cells}
    notes = raw.history.pilots_of_block(host()["id"], raw.block)
    return [(cells[note["cell_id"]], note) for note in notes if note["cell_id"] in cells]


def run_for_peak(protocol: Protocol, raw: BlockWriter, cell: Cell) -> tuple[float, Measured, Callable[..., None]]:
    """Run a cell as a pilot, with the protocol's driver and job options as they are now.

    Returns its peak in operations per second, what was measured, and a function that records it, with what else was
    found. What it writes is charged to the run's account. Raises ReplayError if it gives no rate, because an unknown
    peak has no share.
    """
    pilots = Pilots(raw, cell)
    number = pilots.done + 1
    seed = pilots.seed(PEAK, number) & 0x7FFFFFFF
    budget = protocol.bench.budget
    expected = sum(map(budget.media_bytes, protocol.expected_writes(cell)))
    with budget.reserve_set(f"finding the peak of {cell.variant.name}", {PEAK: expected}) as reservation:
        reservation.begin(PEAK)
        measured = protocol.observe(cell, seed, component="pilot")
        result = protocol.verify(cell, measured)
        reservation.end(void=measured.invalid is not None)
    _refuse_invalid(protocol, cell, measured, "the peak could not be found")
    peak = result.metrics["operations_per_second"]
    return peak, measured, partial(pilots.keep, number, measured, seed=seed, peak_operations_per_second=peak)


def _refuse_invalid(protocol: Protocol, cell: Cell, measured: Measured, what: str) -> None:
    """Raise ReplayError, which begins with `what`, if a pilot is invalid."""
    if measured.invalid is not None:
        reason, detail = measured.invalid
        raise ReplayError(
            f"{what}: {reason}: {detail}",
            where=f"{protocol.design.name}, {cell.point} {cell.variant.label}",
            next_step="fix the cause, then run measure again",
        )


class OneTool(Driver):
    """Runs a tool that transfers `{io_total_bytes}`, or does `{operations}`, on what the target names."""

    def begin(self) -> None:
        self.io_total_bytes: dict[str, int] = {}
        self.sized_by: dict[str, Cell] = {}

    def check(self) -> None:
        if not isinstance(self.protocol.reader, Tool):
            self.protocol.refuse(f"{self.protocol.reader.name} is a reader of logs, not a tool to run")

    def open(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Find the size of every cell that has none yet; a variant's `size_of` names the variant that it copies."""
        cells = [cell for cell_set in sets for cell in cell_set.cells]
        for cell_set in sets:
            by_variant = {cell.variant.name: cell for cell in cell_set.cells}
            for cell in cell_set.cells:
                self.sized_by[cell.cell_id] = by_variant.get(cell.variant.size_of, cell)
        leaders = dict.fromkeys(self.sized_by[cell.cell_id].cell_id for cell in cells)
        unsized = [cell for cell in cells if cell.cell_id in leaders and not self.is_sized(raw, cell)]
        for number, cell in enumerate(unsized, start=1):
            self.bench.say(f"pilot {number} of {len(unsized)}: {cell.point} {cell.variant.label}")
            self.pilot(raw, cell)

    def run(
        self,
        cell: Cell,
        seed: int,
        *,
        while_running: WhileRunning | None = None,
        io_total_bytes: int | None = None,
        component: str = "tool",
    ) -> Measured:
        """Run the tool. A pilot passes the number of bytes to transfer."""
        place = self.protocol.target.names(cell)
        options = {
            **self.protocol.job_options(cell),
            "client_options": dict(cell.variant.client_options),
            "keyring": self.bench.primary_cluster.keyring is not None,
            "namespace": bool(place.get("namespace")),
        }
        if io_total_bytes is None:
            io_total_bytes = self.io_total_bytes[self.sized_by[cell.cell_id].cell_id]
        tool = self.protocol.reader
        measured = run_observed(
            self.bench,
            tool.argv_template(cell.levels, options),
            {
                **client_values(self.bench),
                **place,
                "io_total_bytes": str(io_total_bytes),
                "operations": str(io_total_bytes // int(cell.levels["io_size_bytes"])),
                "seed": str(seed),
            },
            timeout_seconds=60 + 30 * self.design.sizing.target_seconds,
            component=component,
            result_files=tool.result_files,
            while_running=while_running,
        )
        return hidden(measured, {place["file"]: "{file}"} if "file" in place else {})

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return the bytes that the tool is told to transfer."""
        if not writes(cell):
            return []
        return [self.protocol.target.write_of(cell, self.io_total_bytes[self.sized_by[cell.cell_id].cell_id])]

    def written_bytes(self, cell: Cell, result: Result) -> float:
        return int(bytes_written(cell, result.metrics))

    def after_invalid(self, raw: BlockWriter, cell: Cell, measured: Measured) -> None:
        """Run a pilot for a cell that was too short, and give the cell a larger size than before.

        If it goes through all of its image or file already, only a person can make it longer.
        """
        if measured.invalid is None or measured.invalid[0] != "too_short":
            return
        leader = self.sized_by[cell.cell_id]
        total = self.io_total_bytes[leader.cell_id]
        if total >= self._most_bytes(leader):
            self.bench.say(
                f"{leader.point} {leader.variant.label} ends too early, although it goes through all {total} bytes; "
                f"next: raise {self.protocol.target.size_key} in config/experiments/{self.design.name}.yaml"
            )
            return
        self.pilot(raw, leader, too_short=_round(self._result(cell, measured), total))

    def is_sized(self, raw: BlockWriter, cell: Cell) -> bool:
        """Take the cell's size from its last pilot on this machine; return whether there was one."""
        last = Pilots(raw, cell).last()
        if "io_total_bytes_of_cell" not in last:
            return False
        self.io_total_bytes[cell.cell_id] = int(last["io_total_bytes_of_cell"])
        return True

    def pilot(self, raw: BlockWriter, cell: Cell, *, too_short: PilotRound | None = None) -> None:
        """Run ever larger pilots until one lasts long enough, and keep each as evidence.

        `too_short` says how much a cell that ended too early transferred, and how long that took.

        Raises ReplayError if a pilot fails, because a cell without a size cannot be measured.
        """
        sizing, size, pilots = self.design.sizing, int(cell.levels["io_size_bytes"]), Pilots(raw, cell)
        threads, done, most = int(self.protocol.option("io_threads", cell)), pilots.done, self._most_bytes(cell)
        total = min(2 * int(pilots.last()["io_total_bytes"]) if done else first_bytes(size, threads, sizing), most)
        for number in range(done + 1, done + 1 + MOST_ROUNDS):
            if writes(cell):
                what = f"pilot {number} of {cell.point} {cell.variant.name}"
                self.bench.budget.reserve(what, self.protocol.target.write_of(cell, total))
            seed = pilots.seed("pilot", number)
            measured = self.protocol.observe(cell, seed, io_total_bytes=total, component="pilot")
            result = self.protocol.read(cell, measured)
            if measured.invalid is not None and measured.invalid[0] == "too_short":
                measured.invalid = None  # the next one is larger
            _refuse_invalid(self.protocol, cell, measured, "a pilot failed")
            last = _round(result, total)
            if result is None and cell.levels["io_type"] == "write":
                # Without its output, the bytes of a mix with reads are not known.
                result = Result(metrics={"bytes": total})
            for observer in self.protocol.observers:
                observer.verify(cell, measured, result)
            waits = [wait for observer in self.protocol.observers for wait in observer.restore(cell, measured)]
            enough = is_enough(last, sizing) or total == most or number == done + MOST_ROUNDS
            note = {
                "io_total_bytes": total,
                "duration_seconds": last.seconds,
                "waits": [wait.public() for wait in waits],
            }
            if enough:
                wanted = cell_bytes(last, size, threads, sizing)
                if too_short:
                    wanted = longer_bytes(wanted, too_short, size, threads, sizing)
                self.io_total_bytes[cell.cell_id] = min(wanted, most)
                note["io_total_bytes_of_cell"] = self.io_total_bytes[cell.cell_id]
            pilots.keep(number, measured, **note)
            if enough:
                return
            total = min(next_bytes(last, size, threads, sizing), most)

    def _result(self, cell: Cell, measured: Measured) -> Result | None:
        """Return the parsed output of a run; None if it ended before the tool's clock moved."""
        try:
            return self.protocol.parse(cell, measured)
        except OutputError as error:
            if error.reason != "too_short":
                raise
            return None

    def _most_bytes(self, cell: Cell) -> float:
        """Return the most bytes that a cell may transfer: if it is sequential, as many as its target allows."""
        sequential = str(cell.levels.get("io_pattern", "")).endswith("seq")
        return self.protocol.target.most_sequential_bytes(cell) if sequential else math.inf


def _round(result: Result | None, total_bytes: int) -> PilotRound:
    """Return what a run transferred and how long it took: 0 s if it ended before the tool's clock moved."""
    return PilotRound(total_bytes, 0.0 if result is None else result.metrics["duration_seconds"])
