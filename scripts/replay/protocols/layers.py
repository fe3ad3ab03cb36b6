"""What each layer of a cluster leaves of the one below: disk, objects in one copy, in all copies, a block device.

The cells of a set are neighbours, so each layer's rate can be divided by that of the next. Ceph acknowledges a write
when it is durable, so each write to the disk is flushed as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from replay.base.errors import cleaning_up
from replay.cluster.site import Site
from replay.design.design import Cell, CellSet
from replay.design.needs import Factor, Needs
from replay.design.sizing import Write
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Protocol
from replay.protocols.drivers.fio import FioProcess, refuse_namespace
from replay.protocols.drivers.rados_bench import RADOS_OPTIONS, RadosRounds, Rounds
from replay.protocols.drivers.tool import (
    ENGINE,
    FIO_FILE_OPTION,
    IO_PATTERN,
    IO_SIZE,
    RAMP,
    ByLevel,
    in_words_of_tool,
    writes,
)
from replay.protocols.object_bench import FILL_OPTIONS, ReplicaPools
from replay.protocols.targets.images import Images, OsdFile
from replay.tools.by_level import BLOCK_DEVICE, DISK, OBJECTS

#: Values of the level `copies` of objects: all are as many as the block device's pool keeps.
ONE, ALL = "one", "all"


def layer_of(cell: Cell) -> str:
    return str(cell.levels["layer"])


class LayerTarget(ReplicaPools):
    """Pools for objects in one copy and in all copies; beside them a file on the OSDs' disk, and an image."""

    file: OsdFile = OsdFile()
    image: Images = Images()

    def begin(self) -> None:
        super().begin()
        self.file, self.image = self.file.bound_to(self.protocol), self.image.bound_to(self.protocol)
        self.all_copies: int | None = None

    def lacking(self, site: Site) -> dict[str, str]:
        return self.file.lacking(site)

    def replicas_of(self, levels: Mapping[str, Any]) -> int | None:
        """Return how many copies of each object these levels ask for; None for other layers."""
        if levels.get("layer") != OBJECTS:
            return None
        return 1 if levels["copies"] == ONE else self.all_copies

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create what the layers of these sets need."""
        pool = self.bench.site.pools.data.name
        self.all_copies = int(
            self.bench.session.command({"prefix": "osd pool get", "pool": pool, "var": "size"})["size"]
        )
        self.file.open(_of_layer(sets, DISK))
        super().open(_of_layer(sets, OBJECTS))
        self.image.open(_of_layer(sets, BLOCK_DEVICE))

    def prepare(self, cell: Cell) -> list[Wait]:
        """Write the objects that a cell reads."""
        return super().prepare(in_words_of_tool(cell)) if layer_of(cell) == OBJECTS else []

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
        layers = {DISK: self.file.write_of, OBJECTS: super().write_of, BLOCK_DEVICE: self.image.write_of}
        return layers[layer_of(cell)](cell, size_bytes)

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove the objects that a cell wrote."""
        return super().restore(in_words_of_tool(cell), measured) if layer_of(cell) == OBJECTS else []

    def close(self) -> None:
        """Remove the image, the file and the pools, even if one of them cannot be removed."""
        with cleaning_up(self.image.close, self.file.close, super().close):
            pass

    def names(self, cell: Cell) -> dict[str, str | None]:
        return (self.file if layer_of(cell) == DISK else self.image).names(cell)


class LayerRounds(RadosRounds):
    """`rados bench`, in as many copies as its layer keeps."""

    def facts(self, cell: Cell, rounds: Rounds) -> dict[str, Any]:
        return {"replicas": self.protocol.target.replicas_of(cell.levels)}


class LayerByLayer(Protocol):
    """Does the same random reads and writes at `levels["layer"]`: disk, objects or block-device."""

    needs = Needs(
        tools=("layers",),
        factors=(
            Factor(
                "layer", "which layer is measured", words=(DISK, OBJECTS, BLOCK_DEVICE), required=True, of_variants=True
            ),
            Factor(
                "copies",
                "copies of each object: one, or all that the block device's pool keeps",
                words=(ONE, ALL),
                of_variants=True,
            ),
            Factor("io_type", "what operations do", words=("read", "write"), required=True),
            replace(IO_PATTERN, words=("rand",), required=True),
            IO_SIZE,
            Factor("io_depth", "operations in flight", required=True),
        ),
        options=(ENGINE, FIO_FILE_OPTION, RAMP, *RADOS_OPTIONS, *FILL_OPTIONS),
        programs=("fio", "rados", "rbd"),
    )
    target = LayerTarget()
    driver = ByLevel("layer", {DISK: FioProcess(), OBJECTS: LayerRounds(), BLOCK_DEVICE: FioProcess()})
    overhead_seconds = 4.0
    block_seconds = 15.0

    def job_options(self, cell: Cell) -> dict[str, Any]:
        """Return fio's options: on the disk it flushes each write, on the block device it needs no engine for files."""
        options = dict(self.design.options)
        if layer_of(cell) != DISK:
            return {name: value for name, value in options.items() if name not in (ENGINE.name, FIO_FILE_OPTION.name)}
        return {**options, "fio_options": {"fdatasync": 1}} if writes(cell) else options

    def check(self) -> None:
        """Refuse objects without a number of copies, copies of anything else, and images that fio cannot reach."""
        refuse_namespace(self.bench.site, self.design.name)
        for variant in self.design.variants:
            if (variant.levels.get("layer") == OBJECTS) != ("copies" in variant.levels):
                self.refuse(
                    f"{variant.name}: objects, and only they, have the level copies",
                    next_step=f"give it `levels: {{ layer: objects, copies: {ONE} }}`, or `{ALL}`",
                )


def _of_layer(sets: Sequence[CellSet], layer: str) -> list[CellSet]:
    """Return the sets with only the cells of a layer, with their levels in the words of its tool."""
    rest = [
        replace(cell_set, cells=tuple(in_words_of_tool(cell) for cell in cell_set.cells if layer_of(cell) == layer))
        for cell_set in sets
    ]
    return [cell_set for cell_set in rest if cell_set.cells]


PROTOCOL = LayerByLayer
