"""One client of block devices on a fast and on a capped device class, with the journal on either of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.cluster.site import Site
from replay.design.design import Cell, CellSet, Variant
from replay.owned.images import BlockImage, create_image
from replay.procedures.parts.device_classes import DeviceClasses, check_options, lacking
from replay.procedures.single_tool import SingleTool
from replay.raw.record import Measured, Wait


class DeviceClass(SingleTool):
    """Runs `single_tool`'s cells on images in the pool of the variant's level `device_class`.

    `journal_class` says where the journal of a journaled variant lies; without it, where the image does.
    """

    overhead_seconds = 1.5

    def __init__(self, bench, design) -> None:
        super().__init__(bench, design)
        self._check()
        self.classes = DeviceClasses(bench, design.options, application="rbd")

    @classmethod
    def lacking(cls, site: Site) -> dict[str, str]:
        """Say why this machine cannot cap an OSD's I/O."""
        return lacking(site)

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Make the classes and their pools, fill the images, cap the OSDs, and size the cells under the cap."""
        self.classes.open()
        super().open_block(raw, sets)

    def close_block(self) -> None:
        """Lift the caps, then remove images and pools, then set the classes back."""
        images = ExitStack()
        images.callback(super().close_block)
        self.classes.close(before_pools=images)

    def run(self, cell: Cell, seed: int) -> Measured:
        """Run the tool; see that the cap held while it ran."""
        before = self.classes.read()
        measured = super().run(cell, seed)
        self.classes.observe(measured, before)
        return measured

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Wait until the capped OSDs have done what the cell left them."""
        return [*super().restore(cell, measured), self.classes.await_quiet()]

    def _create_image(self, variant: Variant) -> BlockImage:
        pool = self.classes.pools[str(variant.levels["device_class"])].name
        journal = self.classes.pools[_journal_class(variant)].name
        return create_image(self.bench, variant.image_name, variant.image, pool=pool, journal_pool=journal)

    def _images_made(self) -> None:
        self.classes.cap()
        self.classes.await_quiet()

    def _check(self) -> None:
        where = f"config/experiments/{self.design.name}.yaml"
        check_options(self.design, where)
        owners = {one.name: one for one in self.design.variants}
        for one in self.design.variants:
            if one.image.mirroring:
                raise ConfigurationError(f"{one.name}: device_class has no mirrored variants", where=where)
            if _journal_class(one) not in ("fast", "capped"):
                raise ConfigurationError(f"{one.name}: levels.journal_class is fast or capped", where=where)
            if "journal_class" in one.levels and "journaling" not in one.image.features:
                raise ConfigurationError(f"{one.name} says where its journal lies, and has none", where=where)
            owner = owners.get(one.image_name, one)
            if _places(owner) != _places(one):
                raise ConfigurationError(f"{one.name} shares the image of {owner.name}, but not its class", where=where)


def _journal_class(variant: Variant) -> str:
    return str(variant.levels.get("journal_class", variant.levels["device_class"]))


def _places(variant: Variant) -> tuple[str, str]:
    return str(variant.levels["device_class"]), _journal_class(variant)


PROTOCOL = DeviceClass
