"""Images and pools on two device classes, one of them capped; and the observer that verifies the cap."""

from __future__ import annotations

from collections.abc import Sequence

from replay.cluster.site import Site
from replay.design.design import Cell, CellSet, Variant
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Observer, Protocol
from replay.protocols.targets.device_classes import CAPPED, CappedReading, DeviceClasses, lacking
from replay.protocols.targets.images import Images
from replay.protocols.targets.pools import ObjectPools
from replay.tools import Result


class CappedImages(Images):
    """An image for each variant in the pool of its class. The OSDs are capped once all images are filled."""

    def begin(self) -> None:
        """Start without classes and images."""
        super().begin()
        self.classes = DeviceClasses(self.bench, self.design.options, application="rbd")

    def lacking(self, site: Site) -> dict[str, str]:
        """Return why this machine cannot cap an OSD's I/O."""
        return lacking(site)

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create the classes and their pools, fill the images, cap the OSDs."""
        self.classes.open()
        super().open(sets)
        self.classes.cap()
        self.classes.await_quiet()

    def close(self) -> None:
        """Lift the caps, then remove images and pools, then restore the classes."""
        self.classes.close(before_pools=super().close)


class CappedPools(ObjectPools):
    """A pool of objects on each class."""

    def begin(self) -> None:
        """Start without classes."""
        super().begin()
        self.classes = DeviceClasses(self.bench, self.design.options, application="rados")

    def lacking(self, site: Site) -> dict[str, str]:
        """Return why this machine cannot cap an OSD's I/O."""
        return lacking(site)

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create the classes and their pools, and cap the OSDs."""
        self.classes.open()
        self.classes.cap()

    def close(self) -> None:
        """Lift the caps, then remove the pools with their objects, then restore the classes."""
        self.classes.close()

    def pool_of(self, cell: Cell) -> str:
        """Return the pool of the cell's class."""
        return self.classes.pools[str(cell.levels["device_class"])].name

    def run_names(self, cell: Cell) -> list[str]:
        """Return the one run name."""
        return ["replay-write"]


class CappedDisks(Observer):
    """Verifies that the cap held while a cell ran, and waits until the capped OSDs have finished its work."""

    def begin(self) -> None:
        """Take the classes from the target."""
        self.classes: DeviceClasses = self.protocol.target.classes
        self.before: CappedReading | None = None

    def started(self, cell: Cell) -> None:
        """Read the capped disks' counters."""
        self.before = self.classes.read()

    def verify(self, cell: Cell, measured: Measured, result: Result | None) -> None:
        """Record what the capped disks did meanwhile. The cell is void if they exceeded the cap."""
        self.classes.observe(measured, self.before)

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait until the capped OSDs are quiet."""
        return [self.classes.await_quiet()]


def check_labels(protocol: Protocol) -> None:
    """Refuse a design in which a capped variant's label does not name the cap."""
    for one in protocol.design.variants:
        cap = protocol.option("cap_iops")
        if one.levels["device_class"] == CAPPED and str(cap) not in one.label:
            protocol.refuse(
                f"{one.name}: the label {one.label!r} does not name the cap, {cap} IOPS",
                next_step="name the cap in the label, because this is not another kind of device",
            )


def journal_class(variant: Variant) -> str:
    """Return the device class of a variant's journal."""
    return str(variant.levels.get("journal_class", variant.levels["device_class"]))
