"""Estimates what a measurement takes: cells, hours, bytes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from statistics import median
from typing import Any

from replay.design.design import Cell, CellSet, Design, Image
from replay.design.needs import needs_of, protocol_class
from replay.design.sizing import ASSUMED_BYTES_PER_SECOND, PoolCopies, seconds_of, writes

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


@dataclass(frozen=True)
class Estimate:
    """The remaining work: cells, seconds, bytes that clients write, bytes that reach media (copies and journals).

    `earlier_blocks` is the number of blocks that the seconds come from; 0 if they come from the design alone.
    """

    cells: int = 0
    cells_in_all: int = 0
    seconds: float = 0.0
    client_bytes: float = 0.0
    media_bytes: float = 0.0
    earlier_blocks: int = 0

    def __add__(self, other: Estimate) -> Estimate:
        """Return the sum of both."""
        return Estimate(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


def reckon(
    design: Design,
    todo: Sequence[Sequence[CellSet]],
    receipts: Iterable[Mapping[str, Any]],
    terms: Terms | None = None,
) -> Estimate:
    """Estimate what it takes to measure `todo`, the missing sets of each block. Pure.

    `receipts` are those of this experiment's earlier blocks, at any scale. `terms` are by default those of a site that
    nobody has asked.
    """
    terms = terms or Terms()
    protocol = design.configuration["protocol"]
    per_set = seconds_per_set(receipts, design.scale, sized_once=protocol_class(protocol).pilot_share > 0)
    blocks = [[cell for cell_set in sets for cell in cell_set.cells] for sets in todo]
    client = media = 0.0
    for cells in blocks:
        for cell in (cell for cell in cells if writes(cell.levels)):
            written = terms.rate(cell) * seconds_of(cell.levels, design.sizing)
            client += written
            media += terms.copies.media_bytes(written, journaled="journaling" in cell.variant.image.features)
        for image in _images(protocol, cells):
            client += image.size_bytes
            media += terms.copies.media_bytes(image.size_bytes)
    if per_set:
        seconds = median(per_set) * sum(len(sets) for sets in todo)
    else:
        seconds = sum(
            seconds_by_design(design, cells, first=number == 0, terms=terms) for number, cells in enumerate(blocks)
        )
    left, in_all = sum(map(len, blocks)), len(blocks) * sum(len(cell_set.cells) for cell_set in design.sets)
    return Estimate(left, in_all, seconds, client, media, len(per_set) if left else 0)


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


def seconds_by_design(design: Design, cells: Sequence[Cell], *, first: bool, terms: Terms | None = None) -> float:
    """Return the seconds that a block with these cells takes by its design; the `first` block also runs pilots."""
    terms = terms or Terms()
    name = design.configuration["protocol"]
    protocol, target = protocol_class(name), design.sizing.target_seconds
    running = sum(protocol.cell_seconds(cell, design) for cell in cells)
    besides = target * (protocol.pilot_share if first else 0.0) + protocol.overhead_seconds
    mirrored = [cell for cell in cells if writes(cell.levels) and cell.variant.image.mirroring is not None]
    awaited = len(mirrored)
    if first and protocol.pilot_share:
        # A variant that takes the size of another one has no pilots of its own.
        awaited += PILOTS * sum(not cell.variant.size_of for cell in mirrored)
    filling = sum(map(terms.fill_seconds, _images(name, cells)))
    connecting = HOST_SECONDS * terms.other_hosts * sum("clients" in cell.levels for cell in cells)
    waiting = protocol.mirrored_wait_seconds * awaited
    # A block without missing cells makes nothing.
    set_up = protocol.block_seconds if cells else 0.0
    return set_up + running + besides * len(cells) + waiting + filling + connecting


def bytes_at_once(design: Design) -> int:
    """Return how many bytes of images a block of the design keeps at the same time."""
    protocol = design.configuration["protocol"]
    sizes = [image.size_bytes for image in _images(protocol, [cell for one in design.sets for cell in one.cells])]
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
