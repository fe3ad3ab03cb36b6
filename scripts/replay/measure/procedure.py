"""The lifecycle that all procedures share. An experiment's `protocol` key names its procedure.

The base class does what all have in common: check, open, watch, run, judge, account, settle, close. A procedure
declares the rest: its `needs` (options, factors, tools, programs), the `target` of the I/O, the `driver` that makes the
I/O, what it `watches` meanwhile, and the line that people see for a cell (`headline`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, ClassVar, Self

from replay.base.errors import ConfigurationError
from replay.cluster.site import Site
from replay.design import sizing
from replay.design.design import Cell, CellSet, Design, Skip, Variant
from replay.design.media import Write
from replay.design.needs import REQUIRED, Needs
from replay.design.procedures import check_experiment
from replay.measure.bench import Bench
from replay.raw.evidence import BlockWriter
from replay.raw.record import Measured, Wait
from replay.tools import OutputError, Reader, Result, adapter, judge

Look = Callable[[float], None]
"""Called repeatedly while a tool runs, with the seconds since its start."""


class Part:
    """A target, a driver or a watch. A procedure's class declares it; each block has its own copy."""

    procedure: Procedure
    bench: Bench
    design: Design

    def bound_to(self, procedure: Procedure) -> Self:
        """Return a copy that serves the block of that procedure."""
        made = copy.copy(self)
        made.procedure, made.bench, made.design = procedure, procedure.bench, procedure.design
        made.begin()
        return made

    def begin(self) -> None:
        """Prepare the block's state. Creates nothing on the cluster."""

    def lacking(self, site: Site) -> dict[str, str]:
        """Return what it lacks on a site, see `Procedure.lacking`. Called on the declaration, without a block."""
        return {}

    def check(self) -> None:
        """Raise ConfigurationError if it cannot work on this site or with this design."""


class Target(Part):
    """The target of the I/O: created when a block opens, or before each cell; removed when the block closes."""

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create what the cells of these sets need. Variants that cannot be created go to `procedure.unavailable`."""

    def prepare(self, cell: Cell) -> list[Wait]:
        """Bring the cluster into the state for measuring the cell; return the waits for the record."""
        return []

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
        """Return what a cell's clients write, with where it goes, for the ceilings' account."""
        return Write(size_bytes)

    def settle(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove what the cell left behind; return the waits for the record."""
        return []

    def close(self) -> None:
        """Remove everything that was created. Also called after an interruption."""


class Driver(Part):
    """Makes the I/O of a cell."""

    def open(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Find out what cells need, such as their size. `raw` stores evidence that belongs to no attempt."""

    def start(self, cell: Cell) -> None:
        """Prepare a cell's logs before the watches start."""

    def run(self, cell: Cell, seed: int, *, look: Look | None = None) -> Measured:
        """Make the cell's I/O, and return the result."""
        raise NotImplementedError

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Add logs to the results, after the watches have ended."""

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what clients will write in a cell, if known in advance; it is not for tools that run for a time."""
        if not writes(cell):
            return []
        rate = float(sizing.ASSUMED_BYTES_PER_SECOND)
        if (limit := self.bench.site.ceilings.rate_bytes_per_second) is not None:
            rate = min(rate, limit * int(cell.levels.get("clients", 1)))
        return [self.procedure.target.write_of(cell, rate * self.design.sizing.target_seconds)]

    def written_bytes(self, cell: Cell, result: Result) -> float:
        """Return what to charge for a cell that wrote; 0 if `run` has already charged it."""
        return 0.0

    def after_invalid(self, raw: BlockWriter, cell: Cell, measured: Measured) -> None:
        """Learn from a void cell before its set is run again."""

    def close(self) -> None:
        """Undo what an interrupted cell has changed."""


class Watch(Part):
    """Observes cells, and waits for their after-effects. Watches are called in the order of their declaration."""

    def open(self) -> None:
        """Wait until the block's targets are ready to be measured."""

    def prepare(self, cell: Cell) -> None:
        """Wait until the cell's own target is ready to be measured."""

    def started(self, cell: Cell) -> None:
        """Take a first reading right before the tool runs."""

    def look_of(self, cell: Cell) -> Look | None:
        """Return a function to call repeatedly while the cell's tool runs."""
        return None

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Take the last reading right after the tool ran, and add the observations to the cell."""

    def stop(self) -> None:
        """End everything that still runs. Called after every cell, even an interrupted one."""

    def judged(self, cell: Cell, measured: Measured, result: Result | None) -> None:
        """Judge the cell once its output has been read; may set `measured.invalid`. `result` may be None."""

    def settle(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait for the cell's after-effects; may set `measured.invalid`. Return the waits for the record."""
        return []


class Procedure:
    """Measures the cells of an experiment. One instance serves one block."""

    needs: ClassVar[Needs] = Needs()
    target: Target = Target()
    driver: Driver
    watches: tuple[Watch, ...] = ()
    #: For estimates while nothing was measured, from blocks on a sandbox. What a cell takes on top of its target: tools
    #: that start, filling, settling, removal. And what sizing it takes, as a share of its target, once per data set and
    #: machine.
    overhead_seconds: ClassVar[float] = 0.4
    pilot_share: ClassVar[float] = 0.0
    #: Reasons of invalidity after which the output is read all the same, because it alone says why.
    read_after: ClassVar[tuple[str, ...]] = ()
    #: Whether `expected_writes` is exact, so that what a cell wrote before is no better.
    writes_are_known: ClassVar[bool] = False

    def __init__(self, bench: Bench, design: Design) -> None:
        self.bench, self.design = bench, design
        check_experiment(design.configuration)
        self.reader: Reader = adapter(design.configuration["tool"])
        #: Variants that this cluster turned out to refuse: they are left out of the block, and said to be.
        self.unavailable: list[Skip] = []
        self.target = self.target.bound_to(self)
        self.driver = self.driver.bound_to(self)
        self.watches = tuple(watch.bound_to(self) for watch in self.watches)
        for part in (self.target, self.driver, *self.watches):
            part.check()
        self.check()

    @classmethod
    def lacking(cls, site: Site) -> dict[str, str]:
        """Return what the procedure lacks on a site beyond the experiment's `requires`: a word to the reason.

        Only words that the experiment or its variants require count: those are skipped with that reason.
        """
        found: dict[str, str] = {}
        for part in (cls.target, cls.driver, *cls.watches):
            found |= part.lacking(site)
        return found

    @property
    def program(self) -> str:
        """The program whose version goes into a cell's record."""
        return getattr(self.reader, "program", self.needs.programs[0] if self.needs.programs else "")

    # What a procedure may say of its own -----------------------------------------------------------------------------

    def check(self) -> None:
        """Raise ConfigurationError for a design that it cannot run, before anything is created."""

    def place_of(self, variant: Variant) -> dict[str, Any]:
        """Return `pool` and `journal_pool` of a variant's image if they differ from the site's."""
        return {}

    def job_options(self, cell: Cell) -> dict[str, Any]:
        """Return the tool's options for a cell."""
        return dict(self.design.options)

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what clients will write in a cell, if known in advance, to check it against the site's ceiling.

        It is unknown for a tool that runs for a given time; what an earlier cell wrote is then used instead.
        """
        return self.driver.expected_writes(cell)

    def verdict(self, cell: Cell, measured: Measured, result: Result) -> None:
        """Set `measured.invalid` if the output is valid but the cell must not count; add facts from the output."""

    def headline(self, metrics: Mapping[str, float]) -> str:
        """Return the line to print when the cell is done."""
        return rate(metrics)

    # The lifecycle ---------------------------------------------------------------------------------------------------

    def open_block(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Create what the cells of these sets need, and size them. `raw` stores evidence that belongs to no attempt."""
        self.target.open(sets)
        for watch in self.watches:
            watch.open()
        self.driver.open(raw, self.available(sets))

    def close_block(self) -> None:
        """Undo and remove everything that `open_block` and the cells made. Also called after an interruption."""
        with ExitStack() as last_first:
            last_first.callback(self.target.close)
            last_first.callback(self.driver.close)

    def prepare(self, cell: Cell) -> list[Wait]:
        """Bring the cluster into the state for measuring the cell; return the waits for the record."""
        waits = self.target.prepare(cell)
        for watch in self.watches:
            watch.prepare(cell)
        return waits

    def run(self, cell: Cell, seed: int) -> Measured:
        """Measure the cell, and judge it."""
        measured = self.watched(cell, seed)
        self.judge(cell, measured)
        return measured

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait for or undo the cell's after-effects; may set `measured.invalid`. Return the waits for the record."""
        waits = self.target.settle(cell, measured)
        for watch in self.watches:
            waits += watch.settle(cell, measured)
        return waits

    def after_invalid(self, raw: BlockWriter, cell: Cell, measured: Measured) -> None:
        """Learn from a void cell before its set is run again (for example resize a cell that was too short)."""
        self.driver.after_invalid(raw, cell, measured)

    # Its steps, which drivers also use for pilots ---------------------------------------------------------------------

    def watched(self, cell: Cell, seed: int, **how: Any) -> Measured:
        """Run the driver once with all watches; `how` holds further arguments for the driver's `run`."""
        self.driver.start(cell)
        with ExitStack() as stack:
            for watch in self.watches:
                stack.callback(watch.stop)
                watch.started(cell)
            looks = [look for watch in self.watches if (look := watch.look_of(cell)) is not None]
            measured = self.driver.run(cell, seed, look=_all_of(looks), **how)
            for watch in self.watches:
                watch.ended(cell, measured)
        self.driver.ended(cell, measured)
        return measured

    def judge(self, cell: Cell, measured: Measured) -> Result | None:
        """Set `measured.invalid` if the cell must not count; charge what it wrote. Return the parsed output."""
        result = self.read(cell, measured)
        if result is not None:
            self.verdict(cell, measured, result)
            if written := self.driver.written_bytes(cell, result):
                self.bench.account(self.target.write_of(cell, written))
            if result.complete:
                measured.headline = self.headline(result.metrics)
        for watch in self.watches:
            watch.judged(cell, measured, result)
        return result

    def read(self, cell: Cell, measured: Measured) -> Result | None:
        """Return the cell's parsed output, None if it cannot be parsed; set `measured.invalid` accordingly."""
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
        """Parse a cell's output. Raises OutputError."""
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


def _all_of(looks: Sequence[Look]) -> Look | None:
    if len(looks) < 2:
        return looks[0] if looks else None

    def look(elapsed_seconds: float) -> None:
        for each in looks:
            each(elapsed_seconds)

    return look


def rate(metrics: Mapping[str, float]) -> str:
    """Return operations per second for people."""
    found = metrics.get("operations_per_second")
    return f"{found:,.0f} operations/s" if found else ""


def throughput(metrics: Mapping[str, float]) -> str:
    """Return bytes per second for people."""
    return f"{metrics['bytes_per_second'] / 2**20:,.1f} MiB/s"


def writes(cell: Cell) -> bool:
    """Return whether a cell's clients write."""
    return sizing.writes(cell.levels)


def is_journaled(cell: Cell) -> bool:
    """Return whether a cell's writes also go through its image's journal."""
    return "journaling" in cell.variant.image.features


def expected_bytes(procedure: Procedure, one: CellSet) -> tuple[dict[str, float], float]:
    """Return what each cell of a set will write to media, by its id, and how much all of them add to stored data."""
    spending = procedure.bench.spending
    expected, added = {}, 0.0
    for cell in one.cells:
        ahead = procedure.expected_writes(cell)
        before = None if procedure.writes_are_known else spending.most_written(cell.cell_id)
        expected[cell.cell_id] = sum(map(spending.media_bytes, ahead)) if before is None else before
        added += sum(spending.media_bytes(write) for write in ahead if write.adds)
    return expected, added
