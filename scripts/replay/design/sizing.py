"""How much a cell transfers, what clients write, how much of it reaches media, what a measurement takes. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from statistics import median
from typing import Any

from replay.design.design import Cell, CellSet, Design, Image, Sizing
from replay.design.link import line_of, seconds_to_set
from replay.design.needs import needs_of, protocol_class

#: A pilot counts when it lasted this share of the target; a shorter one is start-up, and is followed by a longer one.
ENOUGH_OF_TARGET = 0.2
MOST_ROUNDS = 5
MOST_GROWTH = 64.0
#: What all clients of a cell together are assumed to write before the cell was ever measured.
ASSUMED_BYTES_PER_SECOND = 64 << 20
#: How many small writes all clients of a cell together are assumed to finish.
ASSUMED_OPERATIONS_PER_SECOND = 1000.0


def writes(levels: Mapping[str, Any]) -> bool:
    """Return whether a cell with these levels writes; the default is yes."""
    kind = str(levels.get("io_type", levels.get("mode", "write")))
    return "write" in kind or "rw" in kind


def seconds_of(levels: Mapping[str, Any], sizing: Sizing) -> float:
    """Return how long a cell should last: its own level `cell_seconds` if it has one, else the scale's target."""
    return float(levels.get("cell_seconds", sizing.target_seconds))


@dataclass(frozen=True)
class PilotRound:
    """One pilot: the bytes that it had to transfer, and how long that took."""

    bytes: int
    seconds: float


def first_bytes(io_size_bytes: int, io_threads: int, sizing: Sizing) -> int:
    """Return how many bytes the first pilot transfers: a few operations per thread."""
    return io_size_bytes * io_threads * max(1, math.ceil(sizing.minimum_operations / 4 / io_threads))


def is_enough(last: PilotRound, sizing: Sizing) -> bool:
    """Return whether a pilot lasted long enough to trust its rate."""
    return last.seconds >= ENOUGH_OF_TARGET * sizing.target_seconds


def next_bytes(last: PilotRound, io_size_bytes: int, io_threads: int, sizing: Sizing) -> int:
    """Return how many bytes the next pilot transfers: half the target time at the last rate, with bounded growth."""
    seconds = max(last.seconds, 0.004)
    wanted = last.bytes * min(MOST_GROWTH, max(2.0, 0.5 * sizing.target_seconds / seconds))
    return whole_operations(wanted, io_size_bytes, io_threads, sizing)


def cell_bytes(last: PilotRound, io_size_bytes: int, io_threads: int, sizing: Sizing) -> int:
    """Return how many bytes a cell transfers: the target time at the pilot's rate, in whole operations per thread."""
    wanted = last.bytes / max(last.seconds, 0.004) * sizing.target_seconds
    return whole_operations(wanted, io_size_bytes, io_threads, sizing)


def longer_bytes(piloted: int, before: PilotRound, io_size_bytes: int, io_threads: int, sizing: Sizing) -> int:
    """Return how many bytes a cell transfers after it was too short with `before`; a new pilot suggests `piloted`.

    The machine may be busier during the pilot than during the cell. So the size never falls below the target time at
    the rate of the cell that was too short; otherwise the same set could be invalid again and again. Growth is bounded,
    because the rate of a cell that ended within one tick of its tool's clock is unknown.
    """
    growth = min(MOST_GROWTH, sizing.target_seconds / max(before.seconds, 0.004))
    return max(piloted, whole_operations(before.bytes * growth, io_size_bytes, io_threads, sizing))


def whole_operations(wanted_bytes: float, io_size_bytes: int, io_threads: int, sizing: Sizing) -> int:
    """Round bytes up to the same number of operations for every thread, and to no fewer than the minimum."""
    operations = max(sizing.minimum_operations, math.ceil(wanted_bytes / io_size_bytes))
    return math.ceil(operations / io_threads) * io_threads * io_size_bytes


@dataclass(frozen=True)
class Write:
    """Bytes that clients write: to the site's images, or to another `pool`; `journaled` goes through a journal.

    `copies` is set if it differs from the pool's, such as 1 for a local file. `adds` says that the writes need free
    space: filling an image and writing new objects do, overwriting does not.
    """

    bytes: float
    pool: str | None = None
    journaled: bool = False
    copies: float | None = None
    adds: bool = False


@dataclass(frozen=True)
class PoolCopies:
    """How many bytes reach media for each byte in the site's data pool, and in the pool of its journals.

    Three copies are assumed where nobody has asked the cluster.
    """

    data: float = 3.0
    journal: float = 3.0

    def media_bytes(self, client_bytes: float, *, journaled: bool = False) -> float:
        """Return how much the cluster writes to media when clients write `client_bytes`; a journal holds all of it too.

        BlueStore's own log, deferred writes and metadata are not included.
        """
        return client_bytes * (self.data + (self.journal if journaled else 0.0))


# What a measurement takes: cells, hours, bytes -----------------------------------------------------------------------


#: For estimates before anything was measured: seconds to create an image, and seconds to fill one MiB of it. Measured
#: on a sandbox. The protocols declare everything else.
IMAGE_SECONDS = 0.6
FILL_SECONDS_PER_MEBIBYTE = 0.003
#: A cell is sized by about so many pilots, and mirroring is awaited after each.
PILOTS = 2
#: Seconds until the clients on another host are ready: one connection through SSH, and its end.
HOST_SECONDS = 1.5


@dataclass(frozen=True)
class Terms:
    """What a site adds to a design: the copies of its pools, what it allows a client, and its other client hosts."""

    copies: PoolCopies = field(default_factory=PoolCopies)
    rate_bytes_per_second: float | None = None
    other_hosts: int = 0

    def rate(self, cell: Cell) -> float:
        """Return what the clients of a cell are taken to write, in bytes per second."""
        if self.rate_bytes_per_second is None:
            return ASSUMED_BYTES_PER_SECOND
        return min(ASSUMED_BYTES_PER_SECOND, self.rate_bytes_per_second * int(cell.levels.get("clients", 1)))

    def fill_seconds(self, image: Image) -> float:
        """Return how long it takes to create an image and to write all of it."""
        seconds = image.size_bytes / 2**20 * FILL_SECONDS_PER_MEBIBYTE
        if self.rate_bytes_per_second is not None:
            seconds = max(seconds, image.size_bytes / self.rate_bytes_per_second)
        return IMAGE_SECONDS + seconds * (2 if image.mirroring else 1)


#: Those of a site that nobody has asked.
UNASKED = Terms()


@dataclass(frozen=True)
class RemainingWork:
    """The remaining work: cells, seconds, bytes that clients write, bytes that reach media (copies and journals).

    `earlier_blocks` is the number of blocks that the seconds come from; 0 if they come from the design alone.
    """

    cells: int = 0
    cells_in_all: int = 0
    seconds: float = 0.0
    client_bytes: float = 0.0
    media_bytes: float = 0.0
    earlier_blocks: int = 0

    def __add__(self, other: RemainingWork) -> RemainingWork:
        return RemainingWork(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


def reckon(
    design: Design,
    todo: Sequence[Sequence[CellSet]],
    receipts: Iterable[Mapping[str, Any]],
    terms: Terms = UNASKED,
) -> RemainingWork:
    """Estimate what it takes to measure `todo`, the missing sets of each block. Pure.

    `receipts` are those of this experiment's earlier blocks, at any scale.
    """
    name = design.configuration["protocol"]
    protocol = protocol_class(name)
    per_set = seconds_per_set(receipts, design.scale, sized_once=protocol.pilot_share > 0)
    blocks = [[cell for cell_set in sets for cell in cell_set.cells] for sets in todo]
    client = media = 0.0
    for cells in blocks:
        for cell in cells:
            written = protocol.client_bytes(cell, design, terms)
            client += written
            media += terms.copies.media_bytes(written, journaled="journaling" in cell.variant.image.features)
        for image in _images(name, cells):
            client += image.size_bytes
            media += terms.copies.media_bytes(image.size_bytes)
    if per_set:
        seconds = median(per_set) * sum(len(sets) for sets in todo)
    else:
        seconds = sum(
            seconds_by_design(design, cells, first=number == 0, terms=terms) for number, cells in enumerate(blocks)
        )
    left, in_all = sum(map(len, blocks)), len(blocks) * sum(len(cell_set.cells) for cell_set in design.sets)
    return RemainingWork(left, in_all, seconds, client, media, len(per_set) if left else 0)


def seconds_per_set(receipts: Iterable[Mapping[str, Any]], scale: str, *, sized_once: bool) -> list[float]:
    """Return the mean seconds per set of each block with a receipt at this scale, including waits and cleaning up.

    `sized_once` leaves out pilots, which do not run again. Receipts of sittings that measured nothing do not count.
    """
    return [
        (receipt["costs_seconds"]["total"] - (receipt["costs_seconds"].get("pilot", 0.0) if sized_once else 0.0))
        / receipt["sets_measured_in_this_sitting"]
        for receipt in receipts
        if receipt["scale"] == scale and receipt["sets_measured_in_this_sitting"]
    ]


def seconds_by_design(design: Design, cells: Sequence[Cell], *, first: bool, terms: Terms = UNASKED) -> float:
    """Return the seconds that a block with these cells takes by its design; the `first` block also runs pilots."""
    name = design.configuration["protocol"]
    protocol, target = protocol_class(name), design.sizing.target_seconds
    running = sum(protocol.cell_seconds(cell, design) for cell in cells)
    besides = target * (protocol.pilot_share if first else 0.0) + protocol.overhead_seconds
    mirrored = [cell for cell in cells if writes(cell.levels) and cell.variant.image.mirroring is not None]
    awaited = len(mirrored)
    if first and protocol.pilot_share:
        # A variant that takes the size of another one has no pilots of its own.
        awaited += PILOTS * sum(cell.variant.size_of == cell.variant.name for cell in mirrored)
    filling = sum(map(terms.fill_seconds, _images(name, cells)))
    connecting = HOST_SECONDS * terms.other_hosts * sum("clients" in cell.levels for cell in cells)
    waiting = protocol.mirrored_wait_seconds * awaited
    # A block without missing cells makes nothing.
    set_up = protocol.block_seconds if cells else 0.0
    lines = seconds_to_set(line_of(cell.levels) for cell in cells)
    return set_up + lines + running + besides * len(cells) + waiting + filling + connecting


def bytes_at_once(design: Design) -> int:
    """Return how many bytes of images a block of the design keeps at the same time."""
    protocol = design.configuration["protocol"]
    sizes = [
        image.size_bytes for image in _images(protocol, [cell for cell_set in design.sets for cell in cell_set.cells])
    ]
    return max(sizes, default=0) if needs_of(protocol).image_per_cell else sum(sizes)


def _images(protocol: str, todo: Sequence[Cell]) -> list[Image]:
    """Return a block's images: one per cell, or per variant one or as many as `clients` or `images` say.

    In experiments without images, variants have an image of size 0, which is left out.
    """
    if needs_of(protocol).image_per_cell:
        return [cell.variant.image for cell in todo]
    most: dict[str, tuple[Image, int]] = {}
    for cell in todo:
        name, count = cell.variant.image_name, int(cell.levels.get("clients", cell.levels.get("images", 1)))
        most[name] = (cell.variant.image, max(count, most[name][1] if name in most else 0))
    return [image for image, count in most.values() if image.size_bytes for _ in range(count)]
