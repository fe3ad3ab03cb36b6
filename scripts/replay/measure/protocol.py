"""The lifecycle that all protocols share. An experiment's `protocol` key names its protocol.

The base class does what all of them have in common: check, open, observer, run, judge, account, settle, close. A protocol
declares the rest: its `needs` (options, factors, tools, programs), the `target` of the I/O, the `driver` that does the
I/O, what it `watches` meanwhile, and the line that people see for a cell (`headline`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from replay.base.errors import ConfigurationError, cleaning_up
from replay.cluster.site import Site
from replay.design.design import Cell, CellSet, Design, Skip, Variant
from replay.design.media import Write
from replay.design.needs import REQUIRED, Needs
from replay.design.procedures import check_experiment
from replay.design.sizing import seconds_of
from replay.measure.bench import Bench
from replay.measure.nameless import make_nameless
from replay.measure.parts import Driver, WhileRunning, Target, Observer
from replay.evidence.evidence import BlockWriter
from replay.evidence.record import Measured, Wait
from replay.tools import OutputError, Reader, Result, adapter, judge


class Protocol:
    """Measures the cells of an experiment. One instance serves one block."""

    needs: ClassVar[Needs] = Needs()
    target: Target = Target()
    driver: Driver
    observers: tuple[Observer, ...] = ()
    #: These serve estimates as long as nothing has been measured. The figures come from blocks on a sandbox: the time
    #: of a cell on top of its target (starting tools, filling, settling, removing); the time of its pilots as a share
    #: of its target, which each machine spends once per data set; what a block needs once, besides its images (pools,
    #: settings, and removing them); and, on top of a mirrored write, the time until the second cluster has caught up.
    overhead_seconds: ClassVar[float] = 0.4
    pilot_share: ClassVar[float] = 0.0
    block_seconds: ClassVar[float] = 0.0
    mirrored_wait_seconds: ClassVar[float] = 6.0
    #: Reasons of invalidity after which the output is parsed all the same, because only the output says why.
    read_after: ClassVar[tuple[str, ...]] = ()
    #: Whether `expected_writes` is exact, so that what an earlier cell wrote is no better estimate.
    writes_are_known: ClassVar[bool] = False

    def __init__(self, bench: Bench, design: Design) -> None:
        self.bench, self.design = bench, design
        check_experiment(design.configuration)
        self.reader: Reader = adapter(design.configuration["tool"])
        #: Variants that this cluster turned out to refuse. They are left out of the block, and its receipt names them.
        self.unavailable: list[Skip] = []
        self.target = self.target.bound_to(self)
        self.driver = self.driver.bound_to(self)
        self.observers = tuple(observer.bound_to(self) for observer in self.observers)
        for part in (self.target, self.driver, *self.observers):
            part.check()
        self.check()

    @classmethod
    def lacking(cls, site: Site) -> dict[str, str]:
        """Return what the protocol lacks on a site beyond the experiment's `requires`, as words with reasons.

        Only words that the experiment or its variants require count: these are then skipped with that reason.
        """
        found: dict[str, str] = {}
        for part in (cls.target, cls.driver, *cls.observers):
            found |= part.lacking(site)
        return found

    @classmethod
    def cell_seconds(cls, cell: Cell, design: Design) -> float:
        """Return how long the I/O of a cell is expected to last, for estimates."""
        return seconds_of(cell.levels, design.sizing)

    @property
    def program(self) -> str:
        """The program whose version goes into a cell's record."""
        return getattr(self.reader, "program", self.needs.programs[0] if self.needs.programs else "")

    # What a protocol may override ------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise ConfigurationError for a design that the protocol cannot run, before anything is created."""

    def place_of(self, variant: Variant) -> dict[str, Any]:
        """Return `pool` and `journal_pool` of a variant's image if they differ from the site's."""
        return {}

    def job_options(self, cell: Cell) -> dict[str, Any]:
        """Return the tool's options for a cell."""
        return dict(self.design.options)

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what clients will write in a cell, to check it against the site's ceiling.

        For a tool that runs for a given time, this is an assumption; what an earlier cell wrote is then used instead.
        """
        return self.driver.expected_writes(cell)

    def expected_bytes(self, one: CellSet) -> tuple[dict[str, float], float]:
        """Return how many bytes each cell of a set will write to media, by id, and how many all add to stored data."""
        spending, expected, added = self.bench.spending, {}, 0.0
        for cell in one.cells:
            ahead = self.expected_writes(cell)
            before = None if self.writes_are_known else spending.most_written(cell.cell_id)
            expected[cell.cell_id] = sum(map(spending.media_bytes, ahead)) if before is None else before
            added += sum(spending.media_bytes(write) for write in ahead if write.adds)
        return expected, added

    def verdict(self, cell: Cell, measured: Measured, result: Result) -> None:
        """Set `measured.invalid` if the output is valid but the cell must not count; may add facts from the output."""

    def headline(self, metrics: Mapping[str, float]) -> str:
        """Return the line to print when the cell has finished."""
        return rate(metrics)

    # The lifecycle ---------------------------------------------------------------------------------------------------

    def open_block(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Create what the cells of these sets need, and size them. `raw` stores evidence that belongs to no attempt."""
        self.target.open(sets)
        for observer in self.observers:
            observer.open()
        self.driver.open(raw, self.available(sets))

    def close_block(self) -> None:
        """Undo and remove everything that `open_block` and the cells made. Also called after an interruption."""
        with cleaning_up(self.driver.close, self.target.close):
            pass

    def prepare(self, cell: Cell) -> list[Wait]:
        """Bring the cluster into the state for measuring the cell; return the waits for the record."""
        waits = self.target.prepare(cell)
        for observer in self.observers:
            observer.prepare(cell)
        return waits

    def run(self, cell: Cell, seed: int) -> Measured:
        """Measure the cell, and judge it."""
        measured = self.observe(cell, seed)
        self.verify(cell, measured)
        return measured

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait for or undo the cell's after-effects; may set `measured.invalid`. Return the waits for the record."""
        waits = self.target.restore(cell, measured)
        for observer in self.observers:
            waits += observer.restore(cell, measured)
        return waits

    def after_invalid(self, raw: BlockWriter, cell: Cell, measured: Measured) -> None:
        """Learn from a void cell before its set is run again (for example resize a cell that was too short)."""
        self.driver.after_invalid(raw, cell, measured)

    # Steps of the lifecycle, which drivers also use for pilots --------------------------------------------------------

    def observe(self, cell: Cell, seed: int, **how: Any) -> Measured:
        """Run the driver once with all watches. `how` holds further arguments for the driver's `run`."""
        self.driver.start(cell)
        begun: list[Observer] = []

        def stop() -> None:
            with cleaning_up(*(observer.stop for observer in reversed(begun))):
                pass

        with cleaning_up(stop):
            for observer in self.observers:
                begun.append(observer)
                observer.started(cell)
            looks = [look for observer in self.observers if (look := observer.while_running(cell)) is not None]
            measured = self.driver.run(cell, seed, look=_all_of(looks), **how)
            for observer in self.observers:
                observer.ended(cell, measured)
        self.driver.ended(cell, measured)
        make_nameless(measured, self.bench.names)
        return measured

    def verify(self, cell: Cell, measured: Measured) -> Result | None:
        """Set `measured.invalid` if the cell must not count; charge what it wrote. Return the parsed output, if any."""
        result = self.read(cell, measured)
        if result is not None:
            self.verdict(cell, measured, result)
            if written := self.driver.written_bytes(cell, result):
                self.bench.account(self.target.write_of(cell, written))
            if result.complete:
                measured.headline = self.headline(result.metrics)
        for observer in self.observers:
            observer.verify(cell, measured, result)
        return result

    def read(self, cell: Cell, measured: Measured) -> Result | None:
        """Return the cell's parsed output, or None if it cannot be parsed; set `measured.invalid` accordingly."""
        if measured.invalid is not None and measured.invalid[0] not in self.read_after:
            return None
        try:
            result = self.parse(cell, measured)
        except OutputError as error:
            measured.invalid = (error.reason, str(error).splitlines()[0])
            return None
        if measured.invalid is None:
            measured.invalid = judge(result, self.design.sizing.minimum_seconds)
        return result

    def parse(self, cell: Cell, measured: Measured) -> Result:
        """Return a cell's parsed output. Raises OutputError if it cannot be parsed."""
        outputs = {role: content.decode(errors="replace") for role, (_, content) in measured.results.items()}
        return self.reader.parse(outputs, measured.exit_status, cell.levels)

    def option(self, name: str, cell: Cell | None = None) -> Any:
        """Return an option's value: the cell's level if it is a factor, else the experiment's, else the default."""
        if cell is not None and name in cell.levels:
            return cell.levels[name]
        default = self.needs.option(name).default
        return self.design.options.get(name, None if default is REQUIRED else default)

    def available(self, sets: Sequence[CellSet]) -> list[CellSet]:
        """Return the sets without the variants that are unavailable."""
        refused = {skip.variant for skip in self.unavailable}
        rest = [replace(one, cells=tuple(c for c in one.cells if c.variant.name not in refused)) for one in sets]
        return [one for one in rest if one.cells]

    def refuse(self, what: str, next_step: str = "") -> None:
        """Raise a ConfigurationError about the experiment's file."""
        where = f"config/experiments/{self.design.name}.yaml"
        raise ConfigurationError(what, where=where, next_step=next_step)


def _all_of(looks: Sequence[WhileRunning]) -> WhileRunning | None:
    if len(looks) < 2:
        return looks[0] if looks else None

    def look(elapsed_seconds: float) -> None:
        for each in looks:
            each(elapsed_seconds)

    return look


def rate(metrics: Mapping[str, float]) -> str:
    """Return the rate in operations per second, as text for people; empty without one."""
    found = metrics.get("operations_per_second")
    return f"{found:,.0f} operations/s" if found else ""


def throughput(metrics: Mapping[str, float]) -> str:
    """Return the rate in bytes per second, as text for people."""
    return f"{metrics['bytes_per_second'] / 2**20:,.1f} MiB/s"
