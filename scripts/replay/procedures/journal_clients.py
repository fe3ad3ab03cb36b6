"""Several clients at once on journaled images whose journals lie in the data pool, or in a pool of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.cluster.capabilities import missing
from replay.design.design import CellSet, Image, Skip, Variant
from replay.owned.experiment_pools import ExperimentPool, PoolSpec, await_pools, create_pool, remove_pool_entries
from replay.owned.images import BlockImage, create_image
from replay.procedures.multi_client import MultiClient

#: Values of a variant's level `journal_pool`.
IN_DATA_POOL, OF_ITS_OWN = "data", "own"


class JournalClients(MultiClient):
    """Runs `multi_client`'s cells; a variant's level `journal_pool` says where its journals lie (`data`, `own`).

    A journal pool of its own is the one that the site names, else one that is made for the block, with as many copies
    as the data pool. A site's journal pool is used by no other variant.
    """

    def __init__(self, bench, design) -> None:
        super().__init__(bench, design)
        self.journal_pool: str | None = None
        self.made: ExperimentPool | None = None

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Make the journals' pool where a variant of these sets needs one, then the images.

        Where the site neither names a journal pool nor lets Replay make one, those variants are unavailable.
        """
        variants = {cell.variant.name: cell.variant for one in sets for cell in one.cells}
        separate = [variant for variant in variants.values() if _place(variant) == OF_ITS_OWN]
        lacks = missing(["pool_create", "pool_delete"], self.bench.site)
        if separate and self.bench.site.pools.journal is not None:
            self.journal_pool = self.bench.site.pools.journal.name
        elif separate and lacks:
            word, why = lacks[0]
            self.unavailable += [Skip(one.name, word, f"it names no journal pool, and {why}") for one in separate]
            rest = [
                replace(one, cells=tuple(cell for cell in one.cells if cell.variant not in separate)) for one in sets
            ]
            sets = [one for one in rest if one.cells]
        elif separate:
            self.bench.say("a pool for journals: create")
            self.made = create_pool(self.bench, "journals", self._spec(), application="rbd")
            await_pools(self.bench, [self.made])
            self.journal_pool = self.made.name
        super().open_block(raw, sets)

    def close_block(self) -> None:
        """Remove the images, and then the journals' pool, which holds objects until they are gone.

        The pool of a creation that was cut short stands in the ledger only; it goes with the next run's leftovers.
        """
        try:
            super().close_block()
        finally:
            made, self.made, self.journal_pool = self.made, None, None
            if made is not None:
                remove_pool_entries(self.bench, lambda entry: entry.id == made.entry_id)

    def _create_image(self, suffix: str, image: Image, image_name: str) -> BlockImage:
        owner = next(one for one in self.design.variants if one.image_name == image_name)
        pool = self.journal_pool if _place(owner) == OF_ITS_OWN else self.bench.site.pools.data.name
        return create_image(self.bench, suffix, image, journal_pool=pool)

    def _spec(self) -> PoolSpec:
        """Return a pool like the data pool: where journals lie is the only difference."""
        pools = self.bench.session.command({"prefix": "osd pool ls", "detail": "detail"})
        data = next(pool for pool in pools if pool["pool_name"] == self.bench.site.pools.data.name)
        return PoolSpec(replicas=data["size"], pg_num=data["pg_num"])

    def _check(self) -> None:
        super()._check()
        where = f"config/experiments/{self.design.name}.yaml"
        places: dict[str, str] = {}
        for variant in self.design.variants:
            place = _place(variant)
            if place not in (IN_DATA_POOL, OF_ITS_OWN):
                raise ConfigurationError(f"{variant.name}: no journal_pool {place!r}", where=where)
            if place == OF_ITS_OWN and "journaling" not in variant.image.features:
                raise ConfigurationError(f"{variant.name} has a journal pool and no journal", where=where)
            if places.setdefault(variant.image_name, place) != place:
                raise ConfigurationError(f"{variant.name} shares an image, but not where its journal lies", where=where)


def _place(variant: Variant) -> str:
    return str(variant.levels.get("journal_pool", IN_DATA_POOL))


PROTOCOL = JournalClients
