"""How a cell is measured. An experiment's key `protocol` names a module of `replay.protocols` with such a protocol.

`Protocol` has the phases of a cell: `prepare, run, observe, verify, restore`. A protocol declares the rest: its `needs`
(options, factors, tools, programs), the `target` of the I/O, the `driver` that does the I/O, its `observers`, and the
line that people see for a cell (`headline`). Target, driver and observers are parts; each block has its own copies.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from replay.base.errors import ConfigurationError, cleaning_up
from replay.cluster.site import Site
from replay.design import sizing
from replay.design.design import Cell, CellSet, Design, Skip, Variant
from replay.design.needs import REQUIRED, Needs, check_experiment
from replay.design.sizing import Write
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Measured, Wait
from replay.measure.bench import Bench, redact_cell
from replay.tools import OutputError, Reader, Result, judge, reader

WhileRunning = Callable[[float], None]
"""Called repeatedly while a tool runs, with the seconds since its start."""


class ProtocolPart:
    """A target, a driver or an observer. A protocol's class declares it; each block has its own copy."""

    protocol: Protocol
    bench: Bench
    design: Design

    def bound_to(self, protocol: Protocol) -> Self:
        """Return a copy that serves the block of that protocol."""
        made = copy.copy(self)
        made.protocol, made.bench, made.design = protocol, protocol.bench, protocol.design
        made.begin()
        return made

    def begin(self) -> None:
        """Prepare the block's state. Creates nothing on the cluster."""

    def lacking(self, site: Site) -> dict[str, str]:
        """Return what the part lacks on a site; see `Protocol.lacking`. Called on the declaration, without a block."""
        return {}

    def check(self) -> None:
        """Raise ConfigurationError if the part cannot work on this site or with this design."""


class Target(ProtocolPart):
    """The target of the I/O: created when a block opens, or before each cell; removed when the block closes."""

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create what the cells of these sets need. Variants that cannot be created go to `protocol.unavailable`."""

    def prepare(self, cell: Cell) -> list[Wait]:
        """Bring the cluster into the state for measuring the cell; return the waits for the record."""
        return []

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
        """Return `size_bytes` that a cell's clients write, with where they go, for the account of the run."""
        return Write(size_bytes)

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove what the cell left behind; return the waits for the record."""
        return []

    def close(self) -> None:
        """Remove everything that was created. Also called after an interruption."""


class Driver(ProtocolPart):
    """Does the I/O of a cell."""

    def open(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Find out what cells need, such as their sizes. `raw` stores evidence that belongs to no attempt."""

    def start(self, cell: Cell) -> None:
        """Prepare a cell's logs before the observers start."""

    def run(self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None) -> Measured:
        """Do the cell's I/O, and return the result."""
        raise NotImplementedError

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Add logs to the results, after the observers have ended."""

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what clients will write in a cell. For a tool that runs for a given time, a rate is assumed."""
        if not sizing.writes(cell.levels):
            return []
        terms = sizing.Terms(rate_bytes_per_second=self.bench.site.ceilings.rate_bytes_per_second)
        return [self.protocol.target.write_of(cell, terms.rate(cell) * self.design.sizing.target_seconds)]

    def written_bytes(self, cell: Cell, result: Result) -> float:
        """Return how many bytes to charge for a cell that wrote; 0 if `run` has already charged them."""
        return 0.0

    def after_invalid(self, raw: BlockWriter, cell: Cell, measured: Measured) -> None:
        """Learn from an invalid cell before its set is run again (for example resize a cell that was too short)."""

    def close(self) -> None:
        """Undo what an interrupted cell has changed."""


class Observer(ProtocolPart):
    """Observes cells, and waits for their after-effects. Observers are called in the order of their declaration."""

    def open(self) -> None:
        """Wait until the block's targets are ready to be measured."""

    def prepare(self, cell: Cell) -> None:
        """Wait until the cell's own target is ready to be measured."""

    def started(self, cell: Cell) -> None:
        """Take a first reading right before the tool runs."""

    def while_running(self, cell: Cell) -> WhileRunning | None:
        """Return a function to call repeatedly while the cell's tool runs, or None."""
        return None

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Take the last reading right after the tool has ended, and add the observations to the cell."""

    def stop(self) -> None:
        """End everything that still runs. Called after every cell, even an interrupted one."""

    def verify(self, cell: Cell, measured: Measured, result: Result | None) -> None:
        """Check the cell once its output has been read; may set `measured.invalid`. `result` may be None."""

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait for the cell's after-effects; may set `measured.invalid`. Return the waits for the record."""
        return []


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
        self.reader: Reader = reader(design.configuration["tool"])
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
        reasons: dict[str, str] = {}
        for part in (cls.target, cls.driver, *cls.observers):
            reasons |= part.lacking(site)
        return reasons

    @classmethod
    def cell_seconds(cls, cell: Cell, design: Design) -> float:
        """Return how long the I/O of a cell is expected to last, for estimates."""
        return sizing.seconds_of(cell.levels, design.sizing)

    @classmethod
    def client_bytes(cls, cell: Cell, design: Design, terms: sizing.Terms = sizing.UNASKED) -> float:
        """Return how many bytes a cell's clients are expected to write, for estimates: here at an assumed rate."""
        if not sizing.writes(cell.levels):
            return 0.0
        return terms.rate(cell) * sizing.seconds_of(cell.levels, design.sizing)

    # A block ----------------------------------------------------------------------------------------------------------

    def open_block(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Create what the cells of these sets need, and size them. `raw` stores evidence that belongs to no attempt."""
        self.target.open(sets)
        for observer in self.observers:
            observer.open()
        self.driver.open(raw, self.available(sets))

    def available(self, sets: Sequence[CellSet]) -> list[CellSet]:
        return [rest for cell_set in sets if (rest := self.without_refused(cell_set)).cells]

    def without_refused(self, cell_set: CellSet) -> CellSet:
        """Return a set without the variants that are unavailable; none of its cells may be left."""
        refused = {skip.variant for skip in self.unavailable}
        return replace(cell_set, cells=tuple(cell for cell in cell_set.cells if cell.variant.name not in refused))

    def close_block(self) -> None:
        """Undo and remove everything that `open_block` and the cells made. Also called after an interruption."""
        with cleaning_up(self.driver.close, self.target.close):
            pass

    # The phases of a cell: prepare, run, observe, verify, restore -----------------------------------------------------

    def prepare(self, cell: Cell) -> list[Wait]:
        """Bring the cluster into the state for measuring the cell; return the waits for the record."""
        waits = self.target.prepare(cell)
        for observer in self.observers:
            observer.prepare(cell)
        return waits

    def run(self, cell: Cell, seed: int) -> Measured:
        measured = self.observe(cell, seed)
        self.verify(cell, measured)
        return measured

    def observe(self, cell: Cell, seed: int, **how: Any) -> Measured:
        """Run the driver once with all observers. `how` holds further arguments for the driver's `run`."""
        self.driver.start(cell)
        begun: list[Observer] = []
        watching: list[WhileRunning] = []

        def stop() -> None:
            with cleaning_up(*(observer.stop for observer in reversed(begun))):
                pass

        def while_running(elapsed_seconds: float) -> None:
            for watch in watching:
                watch(elapsed_seconds)

        with cleaning_up(stop):
            for observer in self.observers:
                begun.append(observer)
                observer.started(cell)
            watching += filter(None, [observer.while_running(cell) for observer in self.observers])
            measured = self.driver.run(cell, seed, while_running=while_running if watching else None, **how)
            for observer in self.observers:
                observer.ended(cell, measured)
        self.driver.ended(cell, measured)
        redact_cell(measured, self.bench.names)
        return measured

    def verify(self, cell: Cell, measured: Measured) -> Result | None:
        """Set `measured.invalid` if the cell must not count; charge what it wrote. Return the parsed output, if any."""
        result = self.read(cell, measured)
        if result is not None:
            self.verdict(cell, measured, result)
            if written := self.driver.written_bytes(cell, result):
                self.bench.budget.commit(self.target.write_of(cell, written))
            if result.complete:
                measured.headline = self.headline(result.metrics)
        for observer in self.observers:
            observer.verify(cell, measured, result)
        return result

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait for or undo the cell's after-effects; may set `measured.invalid`. Return the waits for the record."""
        waits = self.target.restore(cell, measured)
        for observer in self.observers:
            waits += observer.restore(cell, measured)
        return waits

    def read(self, cell: Cell, measured: Measured) -> Result | None:
        """Return the cell's parsed output, or None if it cannot be parsed; set `measured.invalid` accordingly."""
        if measured.invalid is not None and measured.invalid[0] not in self.read_after:
            return None
        try:
            result = self.parse(cell, measured)
        except OutputError as error:
            said = str(error).splitlines()[0]
            reason, detail = measured.invalid or (error.reason, "")
            measured.invalid = (reason, f"{detail}; {said}" if detail else said)
            return None
        if measured.invalid is None:
            measured.invalid = judge(result, self.design.sizing.minimum_seconds)
        return result

    def parse(self, cell: Cell, measured: Measured) -> Result:
        """Return a cell's parsed output. Raises OutputError if it cannot be parsed."""
        outputs = {role: content.decode(errors="replace") for role, (_, content) in measured.results.items()}
        return self.reader.parse(outputs, measured.exit_status, cell.levels)

    # What a protocol may override -------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise ConfigurationError for a design that the protocol cannot run, before anything is created."""

    @property
    def program(self) -> str:
        """The program whose version goes into a cell's record."""
        return getattr(self.reader, "program", self.needs.programs[0] if self.needs.programs else "")

    def place_of(self, variant: Variant) -> dict[str, Any]:
        """Return `pool` and `journal_pool` of a variant's image if they differ from the site's."""
        return {}

    def job_options(self, cell: Cell) -> dict[str, Any]:
        return dict(self.design.options)

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what clients will write in a cell, to check it against the site's limit.

        For a tool that runs for a given time, this is an assumption; what an earlier cell wrote is then used instead.
        """
        return self.driver.expected_writes(cell)

    def verdict(self, cell: Cell, measured: Measured, result: Result) -> None:
        """Set `measured.invalid` if the output is valid but the cell must not count; may add facts from the output."""

    def headline(self, metrics: Mapping[str, float]) -> str:
        """Return the line to print when the cell has finished: its rate, if it has one."""
        if rate := metrics.get("operations_per_second"):
            return f"{rate:,.0f} operations/s"
        rate = metrics.get("bytes_per_second")
        return f"{rate / 2**20:,.1f} MiB/s" if rate else ""

    # For its parts ----------------------------------------------------------------------------------------------------

    def expected_bytes(self, cell_set: CellSet) -> tuple[dict[str, float], float]:
        """Return how many bytes each cell of a set will write to media, by id, and how many all add to stored data."""
        budget, expected, added = self.bench.budget, {}, 0.0
        most = {} if self.writes_are_known else budget.most_written()
        for cell in cell_set.cells:
            ahead = self.expected_writes(cell)
            before = most.get(cell.cell_id)
            expected[cell.cell_id] = sum(map(budget.media_bytes, ahead)) if before is None else before
            added += sum(budget.media_bytes(write) for write in ahead if write.adds)
        return expected, added

    def option(self, name: str, cell: Cell | None = None) -> Any:
        """Return an option's value: the cell's level if it is a factor, else the experiment's, else the default."""
        if cell is not None and name in cell.levels:
            return cell.levels[name]
        default = self.needs.option(name).default
        return self.design.options.get(name, None if default is REQUIRED else default)

    def refuse(self, what: str, next_step: str = "") -> None:
        """Raise a ConfigurationError about the experiment's file."""
        raise ConfigurationError(what, where=f"config/experiments/{self.design.name}.yaml", next_step=next_step)
