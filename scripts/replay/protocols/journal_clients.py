"""Several clients at once on journaled images, whose journals are in the data pool or in a pool of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from replay.base.errors import cleaning_up
from replay.cluster.site import missing
from replay.design.design import CellSet, Skip, Variant
from replay.design.needs import Factor
from replay.ownership.pools import ExperimentPool, PoolSpec, await_pools, create_pool, remove_pool_entries
from replay.protocols.multi_client import MultiClient
from replay.protocols.targets.images import Images

#: Values of a variant's level `journal_pool`.
IN_DATA_POOL, OF_ITS_OWN = "data", "own"


class JournaledImages(Images):
    """Images, and a pool for some of their journals: the one that the site names, or else a new one for the block.

    A new pool has as many copies as the data pool. No other variant uses a site's journal pool.
    """

    def begin(self) -> None:
        """Start without a pool."""
        super().begin()
        self.journal_pool: str | None = None
        self.made: ExperimentPool | None = None

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create the journals' pool if a variant of these sets needs one, then the images.

        If the site neither names a journal pool nor lets Replay create one, those variants are unavailable.
        """
        variants = {cell.variant.name: cell.variant for cell_set in sets for cell in cell_set.cells}
        separate = [variant for variant in variants.values() if place(variant) == OF_ITS_OWN]
        lacks = missing(["pool_create", "pool_delete"], self.bench.site)
        if separate and self.bench.site.pools.journal is not None:
            self.journal_pool = self.bench.site.pools.journal.name
        elif separate and lacks:
            word, why = lacks[0]
            why = f"it names no journal pool, and {why}"
            self.protocol.unavailable += [Skip(variant.name, word, why) for variant in separate]
            sets = self.protocol.available(sets)
        elif separate:
            self.bench.say("creating a pool for journals")
            self.made = create_pool(self.bench, "journals", self._spec(), application="rbd")
            await_pools(self.bench, [self.made])
            self.journal_pool = self.made.name
        super().open(sets)

    def close(self) -> None:
        """Remove the images, then the journals' pool, which holds objects as long as the images exist.

        If the pool's creation was cut short, only the ledger names it, and the next run removes it.
        """
        with cleaning_up(super().close, self._remove_pool):
            pass

    def _remove_pool(self) -> None:
        made, self.made, self.journal_pool = self.made, None, None
        if made is not None:
            remove_pool_entries(self.bench, lambda entry: entry.id == made.entry_id)

    def _spec(self) -> PoolSpec:
        """Return the specification of a pool like the data pool, so that only the place of the journals differs."""
        pools = self.bench.session.command({"prefix": "osd pool ls", "detail": "detail"})
        data = next(pool for pool in pools if pool["pool_name"] == self.bench.site.pools.data.name)
        return PoolSpec(replicas=data["size"], pg_num=data["pg_num"])


class JournalClients(MultiClient):
    """Runs `multi_client`'s cells. A variant's level `journal_pool` says which pool holds its journals."""

    needs = replace(
        MultiClient.needs,
        factors=(
            *MultiClient.needs.factors,
            Factor(
                "journal_pool",
                "which pool holds the journals; the data pool by default",
                words=(IN_DATA_POOL, OF_ITS_OWN),
            ),
        ),
    )
    target = JournaledImages(count="clients")

    def place_of(self, variant: Variant) -> dict[str, Any]:
        """Return the pool of the journals, which for some variants is the data pool."""
        own, data = self.target.journal_pool, self.bench.site.pools.data.name
        return {"journal_pool": own if place(variant) == OF_ITS_OWN else data}

    def check(self) -> None:
        """Refuse contradictory variants."""
        places: dict[str, str] = {}
        for variant in self.design.variants:
            where = place(variant)
            if where == OF_ITS_OWN and "journaling" not in variant.image.features:
                self.refuse(f"{variant.name} has a journal pool, but no journal")
            if places.setdefault(variant.image_name, where) != where:
                self.refuse(f"{variant.name} shares an image, but names another place for its journal")


def place(variant: Variant) -> str:
    """Return where a variant's journals are."""
    return str(variant.levels.get("journal_pool", IN_DATA_POOL))


PROTOCOL = JournalClients
