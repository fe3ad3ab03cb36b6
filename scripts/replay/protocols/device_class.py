"""One client of block devices on a fast and on a capped device class, with the journal on either of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from replay.design.design import Variant
from replay.protocols.drivers.tool import CAP_OPTIONS, DEVICE_CLASS
from replay.protocols.single_tool import SingleTool
from replay.protocols.targets.device_classes import CappedDisks, CappedImages, check_labels, journal_class


class DeviceClass(SingleTool):
    """Runs `single_tool`'s cells on images in the pool of the variant's level `device_class`."""

    needs = replace(
        SingleTool.needs,
        factors=(
            *SingleTool.needs.factors,
            DEVICE_CLASS,
            replace(
                DEVICE_CLASS, name="journal_class", meaning="the device class that holds the journal", required=False
            ),
        ),
        options=(*SingleTool.needs.options, *CAP_OPTIONS),
        mirroring="never",
    )
    target = CappedImages()
    observers = (CappedDisks(),)
    overhead_seconds = 1.5
    block_seconds = 25.0

    def place_of(self, variant: Variant) -> dict[str, Any]:
        """Return the pools of the variant's classes."""
        pools = self.target.classes.pools
        pool, journal = pools[str(variant.levels["device_class"])], pools[journal_class(variant)]
        return {"pool": pool.name, "journal_pool": journal.name}

    def check(self) -> None:
        """Refuse labels that hide the cap, and contradictory variants."""
        check_labels(self)
        owners = {variant.name: variant for variant in self.design.variants}
        for variant in self.design.variants:
            if "journal_class" in variant.levels and "journaling" not in variant.image.features:
                self.refuse(f"{variant.name} has the level journal_class, but no journal")
            owner = owners.get(variant.image_name, variant)
            if _places(owner) != _places(variant):
                self.refuse(f"{variant.name} shares the image of {owner.name}, but names another device class")


def _places(variant: Variant) -> tuple[str, str]:
    return str(variant.levels["device_class"]), journal_class(variant)


PROTOCOL = DeviceClass
