"""Several fio clients at once, started together in one cell, each on its own image.

The other protocols here run the same cells: with every daemon watched, at an offered rate, or with journals in a pool
of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from replay.base.errors import cleaning_up
from replay.cluster.site import missing
from replay.design.design import Cell, CellSet, Skip, Variant, canonical_json
from replay.design.needs import NUMBER, Factor, Needs
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Measured
from replay.measure.protocol import Protocol
from replay.ownership.pools import PoolSpec, await_pools, create_pool, remove_leftover_pools
from replay.protocols.drivers.fio import FioClients
from replay.protocols.drivers.sized_tool import pilots_before, run_for_peak
from replay.protocols.drivers.tool import CLIENTS, FIO_FACTORS, FIO_OPTIONS, IO_DEPTH, RAMP, RATE_IO_DEPTH
from replay.protocols.observers.daemons import SteadyDaemons
from replay.protocols.targets.images import Images
from replay.tools.fio import rw_of


class MultiClient(Protocol):
    """Runs `levels["clients"]` fio clients at once, each on its own image."""

    needs = Needs(
        tools=("fio",),
        factors=(CLIENTS, *FIO_FACTORS),
        options=FIO_OPTIONS,
        programs=("fio",),
        programs_elsewhere=("ssh",),
    )
    target = Images(count="clients")
    driver = FioClients()
    overhead_seconds = 2.7


class FioProfile(MultiClient):
    """Runs `multi_client`'s cells and adds, as `samples.daemons`, what each daemon did in the steady part."""

    needs = replace(MultiClient.needs, osd_counters="may")
    observers = (SteadyDaemons(),)


# Latency by offered rate: clients request a share of the peak at random moments, however slow the answers are ---------
#
# The peak is the rate of a closed loop in the same block, for each variant and workload. Requests then arrive as a
# Poisson process at a share of it, so a slow answer does not hold back the next request (coordinated omission).
# fio measures latency from the moment it issues a request. The time that a request waits because `rate_io_depth` others
# are in flight is not included; it shows as a part of the offered rate that was not reached.

READ_SHARE_OF_MIX = 50


class PacedClients(FioClients):
    """fio clients whose peak is found first. `finding_peak` is true while they run as a closed loop."""

    def begin(self) -> None:
        super().begin()
        self.peaks: dict[str, float] = {}
        self.finding_peak = False

    def open(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Find the peak of each variant and workload once in a block, and keep the output as evidence.

        Raises ReplayError if a closed loop gives no rate, because there is no share of an unknown peak.
        """
        leaders = {peak_key(cell): cell for cell_set in sets for cell in cell_set.cells}
        for cell, note in pilots_before(self.design, raw):
            self.peaks.setdefault(peak_key(cell), note["peak_operations_per_second"])
        for number, (key, cell) in enumerate(leaders.items(), start=1):
            if key not in self.peaks:
                self.bench.say(f"peak {number} of {len(leaders)}: {cell.variant.label}")
                self.peaks[key] = self._find_peak(raw, cell)

    def rates(self, cell: Cell) -> dict[str, int]:
        """Return the rate that one client offers, in whole operations per second, by direction."""
        offered = self.peaks[peak_key(cell)] * float(cell.levels["offered_share"]) / int(cell.levels["clients"])
        workload = rw_of(cell.levels).removeprefix("rand")
        if workload in ("rw", "readwrite"):
            share = int(cell.levels.get("rw_mix_read", READ_SHARE_OF_MIX)) / 100
            return {"read": max(1, round(offered * share)), "write": max(1, round(offered * (1 - share)))}
        return {workload: max(1, round(offered))}

    def _find_peak(self, raw: BlockWriter, cell: Cell) -> float:
        self.finding_peak = True
        try:
            peak, _, keep = run_for_peak(self.protocol, raw, cell)
        finally:
            self.finding_peak = False
        keep()
        return peak


class OfferedRate(FioProfile):
    """Offers `levels["offered_share"]` of the peak. `options.io_depth` is the depth of the closed loop, per client."""

    needs = replace(
        FioProfile.needs,
        factors=(
            Factor("offered_share", "the offered rate as a share of the peak, above 0", required=True, kind=NUMBER),
            CLIENTS,
            *FIO_FACTORS,
        ),
        options=(
            # Not a factor: at an offered rate, the depth is a result.
            replace(IO_DEPTH, varies=False, meaning="operations in flight of the closed loop, per client"),
            RATE_IO_DEPTH,
            RAMP,
        ),
    )
    driver = PacedClients()
    #: Includes a share of finding the peaks, which every block does.
    overhead_seconds = 6.0

    def run(self, cell: Cell, seed: int) -> Measured:
        """Run the clients at their share of the peak."""
        measured = super().run(cell, seed)
        offered = sum(self.driver.rates(cell).values()) * int(cell.levels["clients"])
        measured.facts["peak_operations_per_second"] = round(self.driver.peaks[peak_key(cell)], 3)
        measured.facts["offered_operations_per_second"] = offered
        if measured.headline:
            measured.headline += f" of {offered:,} offered"
        return measured

    def job_options(self, cell: Cell) -> dict[str, Any]:
        """Return fio's options: those of a closed loop, or a rate with room for waiting requests."""
        options = super().job_options(cell)
        if self.driver.finding_peak:
            return options
        rates = ",".join(str(rate) for rate in self.driver.rates(cell).values())
        paced = {"rate_iops": rates, "rate_process": "poisson"}
        return {**options, "io_depth": self.option("rate_io_depth"), "fio_options": paced}


def peak_key(cell: Cell) -> str:
    """Return the key of a cell's peak: the variant and all levels except the offered share."""
    levels = {name: level for name, level in cell.levels.items() if name != "offered_share"}
    return canonical_json([cell.variant.name, levels])


# Journaled images, whose journals are in the data pool or in a pool of their own --------------------------------------


#: Values of a variant's level `journal_pool`.
IN_DATA_POOL, OF_ITS_OWN = "data", "own"


class JournaledImages(Images):
    """Images, and a pool for some of their journals: the one that the site names, or else a new one for the block.

    A new pool has as many copies as the data pool. No other variant uses a site's journal pool.
    """

    def begin(self) -> None:
        super().begin()
        self.journal_pool: str | None = None

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create the journals' pool if a variant of these sets needs one, then the images.

        If the site neither names a journal pool nor lets Replay create one, those variants are unavailable.
        """
        variants = {cell.variant.name: cell.variant for cell_set in sets for cell in cell_set.cells}
        separate = [variant for variant in variants.values() if place_of_journal(variant) == OF_ITS_OWN]
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
            self.journal_pool = create_pool(self.bench, "journals", self._spec(), application="rbd")
            await_pools(self.bench, [self.journal_pool])
        super().open(sets)

    def close(self) -> None:
        """Remove the images, then the journals' pool, which holds objects as long as the images exist."""
        with cleaning_up(super().close, lambda: remove_leftover_pools(self.bench)):
            pass

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
                of_variants=True,
            ),
        ),
    )
    target = JournaledImages(count="clients")

    def place_of(self, variant: Variant) -> dict[str, Any]:
        own, data = self.target.journal_pool, self.bench.site.pools.data.name
        return {"journal_pool": own if place_of_journal(variant) == OF_ITS_OWN else data}

    def check(self) -> None:
        """Refuse contradictory variants."""
        places: dict[str, str] = {}
        for variant in self.design.variants:
            where = place_of_journal(variant)
            if where == OF_ITS_OWN and "journaling" not in variant.image.features:
                self.refuse(f"{variant.name} has a journal pool, but no journal")
            if places.setdefault(variant.image_name, where) != where:
                self.refuse(f"{variant.name} shares an image, but names another place for its journal")


def place_of_journal(variant: Variant) -> str:
    return str(variant.levels.get("journal_pool", IN_DATA_POOL))


PROTOCOL = MultiClient
