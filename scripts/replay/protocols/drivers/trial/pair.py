"""One image on two clusters: created on the primary, mirrored, perhaps failed over, and removed from both."""

from __future__ import annotations

from replay.measure.bench import Bench
from replay.ownership.images import BlockImage, remove_images


class MirroredPair:
    """An image and its copy. The second cluster's ledger names the copy before it can become primary."""

    def __init__(self, bench: Bench, made: BlockImage) -> None:
        self.bench = bench
        self.made = made
        self.copy: BlockImage | None = None

    @property
    def copy_spec(self) -> str:
        """The copy's spec on the second cluster."""
        return f"{self.bench.site.second_site.pool}/{self.made.name}"

    def own_copy(self) -> None:
        """Enter the copy in the second cluster's ledger: once promoted, it is not removed along with its original."""
        bench, ledger, pool = self.bench, self.bench.secondary_ledger, self.bench.site.second_site.pool
        entry = ledger.intend(
            "image",
            pool,
            "",
            self.made.name,
            site=bench.site.name,
            data_set=bench.data_set,
            details={"size_bytes": self.made.image.size_bytes},
        )
        self.copy = BlockImage(pool, "", self.made.name, self.made.image, entry)
        self.copy.rbd_id = bench.site.secondary.json("rbd", "info", self.copy.spec)["id"]
        ledger.confirm(entry, {"id": self.copy.rbd_id})

    def remove(self) -> None:
        """Remove both, the original first: while that exists and is primary, the daemon would copy it again.

        Raises ReplayError if one cannot be removed. A ledger then still names it, and `replay clean` removes it.
        """
        remove_images(self.bench, [self.made] if self.copy is None else [self.made, self.copy])
