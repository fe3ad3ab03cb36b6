"""Several images per variant for one block: as many as its largest cell needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from replay.design.design import CellSet, Image
from replay.owned.images import BlockImage, create_image
from replay.owned.open_site import OpenSite


def create_images(
    bench: OpenSite,
    sets: Iterable[CellSet],
    factor: str,
    images: dict[str, list[BlockImage]],
    *,
    create: Callable[[str, Image, str], BlockImage] | None = None,
) -> None:
    """Create and fill the images that `levels[factor]` asks for and that `images` (by the variants' image name) lacks.

    Each is added as soon as it is complete. `create` (name, image, name of the variant's images) replaces
    `create_image`. Raises CephCommandError if a command fails; everything created by then is in the ledger.
    """
    wanted: dict[str, tuple[Image, int]] = {}
    for cell in (cell for one in sets for cell in one.cells):
        name, count = cell.variant.image_name, int(cell.levels[factor])
        wanted[name] = (cell.variant.image, max(count, wanted[name][1] if name in wanted else 0))
    for name, (image, count) in wanted.items():
        made = images.setdefault(name, [])
        for number in range(len(made) + 1, count + 1):
            bench.say(f"image {number} of {count} for {name}: create and fill")
            one = f"{name}-{number}"
            made.append(create(one, image, name) if create else create_image(bench, one, image))
