"""Images and pools on two device classes, one of them capped; and the watch that sees that the cap holds."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from replay.cluster.site import Site
from replay.design.design import Cell, CellSet, Variant
from replay.measure.parts import Watch
from replay.measure.procedure import Procedure
from replay.procedures.targets.device_classes import CAPPED, DeviceClasses, Reading, lacking
from replay.procedures.targets.images import Images
from replay.procedures.targets.pools import ObjectPools
from replay.raw.record import Measured, Wait
from replay.tools import Result


class CappedImages(Images):
    """An image for each variant in the pool of its class. The cap is set when all of them are filled."""

    def begin(self) -> None:
        """Have neither classes nor images yet."""
        super().begin()
        self.classes = DeviceClasses(self.bench, self.design.options, application="rbd")

    def lacking(self, site: Site) -> dict[str, str]:
        """Say why this machine cannot cap an OSD's I/O."""
        return lacking(site)

    def open(self, sets: Sequence[CellSet]) -> None:
        """Make the classes and their pools, fill the images, cap the OSDs."""
        self.classes.open()
        super().open(sets)
        self.classes.cap()
        self.classes.await_quiet()

    def close(self) -> None:
        """Lift the caps, then remove images and pools, then set the classes back."""
        images = ExitStack()
        images.callback(super().close)
        self.classes.close(before_pools=images)


class CappedPools(ObjectPools):
    """A pool of objects on each class."""

    def begin(self) -> None:
        """Have no classes yet."""
        super().begin()
        self.classes = DeviceClasses(self.bench, self.design.options, application="rados")

    def lacking(self, site: Site) -> dict[str, str]:
        """Say why this machine cannot cap an OSD's I/O."""
        return lacking(site)

    def open(self, sets: Sequence[CellSet]) -> None:
        """Make the classes and their pools, and cap the OSDs."""
        self.classes.open()
        self.classes.cap()

    def close(self) -> None:
        """Lift the caps, then remove the pools with all that is in them, then set the classes back."""
        self.classes.close()

    def pool_of(self, cell: Cell) -> str:
        """Return the pool of the cell's class."""
        return self.classes.pools[str(cell.levels["device_class"])].name

    def run_names(self, cell: Cell) -> list[str]:
        """Return the one run name."""
        return ["replay-write"]


class CappedDisks(Watch):
    """Sees that the cap held while a cell ran, and waits until the capped OSDs have done what it left them."""

    def begin(self) -> None:
        """Know the classes of the target."""
        self.classes: DeviceClasses = self.procedure.target.classes
        self.before: Reading | None = None

    def started(self, cell: Cell) -> None:
        """Read what the capped disks have done."""
        self.before = self.classes.read()

    def judged(self, cell: Cell, measured: Measured, result: Result | None) -> None:
        """Record what they did meanwhile; the cell is void where that is more than the cap."""
        self.classes.observe(measured, self.before)

    def settle(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait until they rest."""
        return [self.classes.await_quiet()]


def check_labels(procedure: Procedure) -> None:
    """Refuse a design whose labels hide the cap that its variants stand for."""
    for one in procedure.design.variants:
        cap = procedure.option("cap_iops")
        if one.levels["device_class"] == CAPPED and str(cap) not in one.label:
            procedure.refuse(
                f"{one.name}: the label {one.label!r} does not say the cap, {cap} IOPS",
                next_step="call it by its cap: it is no other kind of device",
            )


def journal_class(variant: Variant) -> str:
    """Return the class that a variant's journal lies on."""
    return str(variant.levels.get("journal_class", variant.levels["device_class"]))
