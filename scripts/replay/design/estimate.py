"""Estimates what a measurement takes: cells, hours, bytes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from statistics import median
from typing import Any

from replay.design.design import Cell, CellSet, Design, Image
from replay.design.media import media_bytes
from replay.design.procedures import needs_of, protocol_class
from replay.design.sizing import ASSUMED_BYTES_PER_SECOND, seconds_of, writes

#: For estimates before anything was measured: seconds to create an image, seconds to fill one MiB of it, and seconds
#: until the second cluster has caught up after a write. Measured on a sandbox. The protocols declare everything else.
IMAGE_SECONDS = 1.0
FILL_SECONDS_PER_MEBIBYTE = 0.004
MIRRORED_WRITE_WAIT_SECONDS = 6.0


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
        return Estimate(*(one + another for one, another in zip(astuple(self), astuple(other), strict=True)))


def reckon(
    design: Design, todo: Sequence[Sequence[CellSet]], receipts: Iterable[Mapping[str, Any]], *, replicas: int = 3
) -> Estimate:
    """Estimate what it takes to measure `todo`, the missing sets of each block. Pure.

    `receipts` are those of this experiment's earlier blocks, at any scale.
    """
    protocol = design.configuration["protocol"]
    per_set = seconds_per_set(receipts, design.scale, sized_once=protocol_class(protocol).pilot_share > 0)
    blocks = [[cell for one in sets for cell in one.cells] for sets in todo]
    client = media = 0.0
    for cells in blocks:
        for cell in (cell for cell in cells if writes(cell.levels)):
            written = ASSUMED_BYTES_PER_SECOND * seconds_of(cell.levels, design.sizing)
            client += written
            media += media_bytes(written, replicas=replicas, journaled="journaling" in cell.variant.image.features)
        for image in _images(protocol, cells):
            client += image.size_bytes
            media += media_bytes(image.size_bytes, replicas=replicas)
    if per_set:
        seconds = median(per_set) * sum(len(sets) for sets in todo)
    else:
        seconds = sum(seconds_by_design(design, cells, first=number == 0) for number, cells in enumerate(blocks))
    left, in_all = sum(map(len, blocks)), len(blocks) * sum(len(one.cells) for one in design.sets)
    return Estimate(left, in_all, seconds, client, media, len(per_set) if left else 0)


def seconds_per_set(receipts: Iterable[Mapping[str, Any]], scale: str, *, sized_once: bool) -> list[float]:
    """Return the mean seconds per set of each block with a receipt at this scale, including waits and cleaning up.

    `sized_once` leaves out pilots, which do not run again. Receipts of sittings that measured nothing do not count.
    """
    told = [one for one in receipts if one["scale"] == scale and one["sets_measured_in_this_sitting"]]
    return [
        (one["costs_seconds"]["total"] - (one["costs_seconds"].get("pilot", 0.0) if sized_once else 0.0))
        / one["sets_measured_in_this_sitting"]
        for one in told
    ]


def seconds_by_design(design: Design, cells: Sequence[Cell], *, first: bool) -> float:
    """Return the seconds that a block with these cells takes by its design; the `first` block also runs pilots."""
    name = design.configuration["protocol"]
    protocol, target = protocol_class(name), design.sizing.target_seconds
    running = sum(seconds_of(cell.levels, design.sizing) for cell in cells)
    besides = target * (protocol.pilot_share if first else 0.0) + protocol.overhead_seconds
    mirrored = sum(writes(cell.levels) and cell.variant.image.mirroring is not None for cell in cells)
    filling = sum(
        IMAGE_SECONDS + image.size_bytes / 2**20 * FILL_SECONDS_PER_MEBIBYTE * (2 if image.mirroring else 1)
        for image in _images(name, cells)
    )
    return running + besides * len(cells) + MIRRORED_WRITE_WAIT_SECONDS * mirrored + filling


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
