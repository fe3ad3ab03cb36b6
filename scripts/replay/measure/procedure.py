"""The lifecycle that all procedures share. A procedure is what an experiment's key `protocol` names.

The base does all that is alike: check, open, watch, run, judge, account, settle, close. A procedure declares what is
its own: `needs` (options, factors, tools, programs), the `target` that I/O goes to, the `driver` that makes the I/O,
what it `watches` meanwhile, and the line that a person reads of a cell (`headline`).
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
"""Called over and over while a tool runs, with the seconds since it started."""


class Part:
    """A target, a driver or a watch. A procedure's class declares it; each block has a copy of its own."""

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
        """Set up what a block needs to remember. Creates nothing."""

    def lacking(self, site: Site) -> dict[str, str]:
        """Return what it lacks on a site, see `Procedure.lacking`. Asked of the declaration, without a block."""
        return {}

    def check(self) -> None:
        """Refuse what it cannot do on this site, or with this design. Raises ConfigurationError."""


class Target(Part):
    """Where I/O goes: created when a block opens, or before each cell; removed when the block closes."""

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create what the cells of these sets need. A variant that cannot be had goes to `procedure.unavailable`."""

    def prepare(self, cell: Cell) -> list[Wait]:
        """Bring the cluster into the state in which the cell is measured; return the waits for the record."""
        return []

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
        """Return what a cell's clients write, with where it goes, for the ceilings' account."""
        return Write(size_bytes)

    def settle(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove what the cell left; return the waits for the record."""
        return []

    def close(self) -> None:
        """Remove all that was created. Called after an interruption as well."""


class Driver(Part):
    """What makes the I/O of a cell."""

    def open(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Find out what cells need to know, such as their size. `raw` takes evidence that belongs to no attempt."""

    def start(self, cell: Cell) -> None:
        """Set up a cell's logs, before anything begins to watch."""

    def run(self, cell: Cell, seed: int, *, look: Look | None = None) -> Measured:
        """Make the cell's I/O, and return what it left."""
        raise NotImplementedError

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Add logs to the results, when nothing watches any more."""

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what clients will write in a cell, as far as that is known before. Of a time alone nobody knows."""
        if not writes(cell):
            return []
        rate = float(sizing.ASSUMED_BYTES_PER_SECOND)
        if (limit := self.bench.site.ceilings.rate_bytes_per_second) is not None:
            rate = min(rate, limit * int(cell.levels.get("clients", 1)))
        return [self.procedure.target.write_of(cell, rate * self.design.sizing.target_seconds)]

    def written_bytes(self, cell: Cell, result: Result) -> float:
        """Return what is to be charged for a cell that wrote; 0 where `run` has charged it."""
        return 0.0

    def after_invalid(self, raw: BlockWriter, cell: Cell, measured: Measured) -> None:
        """Learn from a void cell before its set is run again."""

    def close(self) -> None:
        """Undo what a cell that was interrupted has changed."""


class Watch(Part):
    """What looks on, and awaits what a cell sets in motion. Watches are asked in the order of their declaration."""

    def open(self) -> None:
        """Wait until the block's targets are fit to be measured."""

    def prepare(self, cell: Cell) -> None:
        """Wait until the cell's own target is fit to be measured."""

    def started(self, cell: Cell) -> None:
        """Take a first reading, right before the tool runs."""

    def look_of(self, cell: Cell) -> Look | None:
        """Return what is called over and over while the cell's tool runs."""
        return None

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Take the last reading, right after the tool ran, and add what was seen to the cell."""

    def stop(self) -> None:
        """End what still runs. Called after every cell, also after one that was interrupted."""

    def judged(self, cell: Cell, measured: Measured, result: Result | None) -> None:
        """Say what is known once the output was read; may set `measured.invalid`. No result: it says nothing."""

    def settle(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Await what the cell leaves behind; may set `measured.invalid`. Return the waits for the record."""
        return []


class Procedure:
    """How the cells of an experiment are measured. One instance serves one block."""

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
        """Return what the procedure lacks on a site beyond the experiment's `requires`: one of its words to the reason.

        Only words that the experiment or its variants require count: these are skipped with that reason.
        """
        found: dict[str, str] = {}
        for part in (cls.target, cls.driver, *cls.watches):
            found |= part.lacking(site)
        return found

    @property
    def program(self) -> str:
        """The program whose version a cell's record names."""
        return getattr(self.reader, "program", self.needs.programs[0] if self.needs.programs else "")

    # What a procedure may say of its own -----------------------------------------------------------------------------

    def check(self) -> None:
        """Refuse a design that it cannot run, before anything is created. Raises ConfigurationError."""

    def place_of(self, variant: Variant) -> dict[str, Any]:
        """Return `pool` and `journal_pool` of a variant's image, where they are not the site's."""
        return {}

    def job_options(self, cell: Cell) -> dict[str, Any]:
        """Return the tool's options for a cell."""
        return dict(self.design.options)

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what clients will write in a cell, as far as that is known before: the site's ceiling is asked first.

        Of a tool that runs for a time nobody knows; what a cell wrote before is then taken in place of this.
        """
        return self.driver.expected_writes(cell)

    def verdict(self, cell: Cell, measured: Measured, result: Result) -> None:
        """Set `measured.invalid` where the output is good and yet cannot stand; add facts that it tells."""

    def headline(self, metrics: Mapping[str, float]) -> str:
        """Return the line that a person reads when the cell is done."""
        return rate(metrics)

    # The lifecycle ---------------------------------------------------------------------------------------------------

    def open_block(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Create what the cells of these sets need, and size them. `raw` takes evidence that belongs to no attempt."""
        self.target.open(sets)
        for watch in self.watches:
            watch.open()
        self.driver.open(raw, self.available(sets))

    def close_block(self) -> None:
        """Undo and remove all that `open_block` and the cells made. Called after an interruption as well."""
        with ExitStack() as last_first:
            last_first.callback(self.target.close)
            last_first.callback(self.driver.close)

    def prepare(self, cell: Cell) -> list[Wait]:
        """Bring the cluster into the state in which the cell is measured; return the waits for the record."""
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
        """Await or undo what the cell leaves behind; may set `measured.invalid`. Return the waits for the record."""
        waits = self.target.settle(cell, measured)
        for watch in self.watches:
            waits += watch.settle(cell, measured)
        return waits

    def after_invalid(self, raw: BlockWriter, cell: Cell, measured: Measured) -> None:
        """Learn from a void cell before its set is run again (a cell that was too short is sized anew)."""
        self.driver.after_invalid(raw, cell, measured)

    # Its steps, which drivers use for pilots as well ------------------------------------------------------------------

    def watched(self, cell: Cell, seed: int, **how: Any) -> Measured:
        """Run the driver once, with everything looking on; `how` is what the driver's `run` takes besides."""
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
        """Set `measured.invalid` where the cell cannot stand; charge what it wrote. Return what its output says."""
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
        """Return what the cell's output says, None where it says nothing; set `measured.invalid` accordingly."""
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
        """Return an option's value: the cell's level where it is a factor, else the experiment's, else the default."""
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
        """Raise the ConfigurationError that the experiment's file cannot be run as it is."""
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
    """Return operations per second as a person reads them."""
    found = metrics.get("operations_per_second")
    return f"{found:,.0f} operations/s" if found else ""


def throughput(metrics: Mapping[str, float]) -> str:
    """Return bytes per second as a person reads them."""
    return f"{metrics['bytes_per_second'] / 2**20:,.1f} MiB/s"


def writes(cell: Cell) -> bool:
    """Tell whether a cell's clients write."""
    return sizing.writes(cell.levels)


def is_journaled(cell: Cell) -> bool:
    """Tell whether what a cell writes goes through its image's journal as well."""
    return "journaling" in cell.variant.image.features


def expected_bytes(procedure: Procedure, one: CellSet) -> tuple[dict[str, float], float]:
    """Return what each cell of a set will write to media, by its id, and what all of them add to what is stored."""
    spending = procedure.bench.spending
    expected, added = {}, 0.0
    for cell in one.cells:
        ahead = procedure.expected_writes(cell)
        before = None if procedure.writes_are_known else spending.most_written(cell.cell_id)
        expected[cell.cell_id] = sum(map(spending.media_bytes, ahead)) if before is None else before
        added += sum(spending.media_bytes(write) for write in ahead if write.adds)
    return expected, added
