"""Block device images: one for each variant, several for each, or a fresh one for each cell."""

from __future__ import annotations

from collections.abc import Sequence

from replay.design.design import Cell, CellSet, Image
from replay.design.media import Write
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Target, is_journaled
from replay.ownership.images import BlockImage, create_image, create_images, remove_images


class Images(Target):
    """A block's filled images, by the variants' `image_name`: one of each, or as many as the factor `count` says."""

    def __init__(self, count: str | None = None) -> None:
        self.count = count

    def begin(self) -> None:
        """Start without images."""
        self.images: dict[str, list[BlockImage]] = {}

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create and fill the images that these sets need and that do not exist yet."""
        if self.count is not None:
            create_images(self.bench, sets, self.count, self.images, create=self.create)
            return
        for cell in (cell for one in sets for cell in one.cells):
            name = cell.variant.image_name
            if name not in self.images:
                self.bench.say(f"creating and filling an image for {name}")
                self.images[name] = [self.create(name, cell.variant.image, name)]

    def create(self, suffix: str, image: Image, image_name: str) -> BlockImage:
        """Create and fill one image of the variants that share `image_name`."""
        owner = next(one for one in self.design.variants if one.image_name == image_name)
        return create_image(self.bench, suffix, image, **self.protocol.place_of(owner))

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
        """Return a write to the cell's images, perhaps through a journal."""
        made = self.images.get(cell.variant.image_name)
        return Write(size_bytes, pool=made[0].pool if made else None, journaled=is_journaled(cell))

    def close(self) -> None:
        """Remove this block's images."""
        images = self.all()
        self.images.clear()
        remove_images(self.bench, images)

    def all(self) -> list[BlockImage]:
        """Return all images."""
        return [made for several in self.images.values() for made in several]

    def of(self, cell: Cell) -> list[BlockImage]:
        """Return as many images as the cell needs."""
        made = self.images[cell.variant.image_name]
        return made if self.count is None else made[: int(cell.levels[self.count])]


class FreshImage(Images):
    """One image for each cell, filled right before it and removed right after it, so that its journal starts empty."""

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create nothing."""

    def prepare(self, cell: Cell) -> list[Wait]:
        """Create and fill the cell's image."""
        self.close()
        name = cell.variant.image_name
        self.images[name] = [create_image(self.bench, cell.variant.name, cell.variant.image)]
        return []

    def of(self, cell: Cell) -> list[BlockImage]:
        """Return the cell's image."""
        return self.all()

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove the image."""
        self.close()
        return []
