"""Latency by offered rate: clients request a share of the peak at random moments, however slow the answers are.

The peak is the rate of a closed loop in the same block, for each variant and workload. Requests then arrive as a
Poisson process at a share of it, so a slow answer does not hold back the next request (coordinated omission).
fio measures latency from the moment it issues a request. The time that a request waits because `rate_io_depth` others
are in flight is not included; it shows as a part of the offered rate that was not reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from replay.design.design import Cell, CellSet, canonical_json
from replay.design.needs import WHOLE, Factor, Option
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Measured
from replay.protocols.drivers.fio import FioClients
from replay.protocols.drivers.sized_tool import run_for_peak
from replay.protocols.drivers.tool import CLIENTS, FIO_FACTORS, IO_DEPTH, RAMP
from replay.protocols.fio_profile import FioProfile
from replay.tools.fio import rw_of

READ_SHARE_OF_MIX = 50


class PacedClients(FioClients):
    """fio clients whose peak is found first. `finding_peak` is true while they run as a closed loop."""

    def begin(self) -> None:
        """Start without peaks."""
        super().begin()
        self.peaks: dict[str, float] = {}
        self.finding_peak = False

    def open(self, raw: BlockWriter, sets: Sequence[CellSet]) -> None:
        """Find the peak of each variant and workload, and keep the output as evidence.

        Raises ReplayError if a closed loop gives no rate, because there is no share of an unknown peak.
        """
        leaders = {peak_key(cell): cell for cell_set in sets for cell in cell_set.cells}
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
            found = run_for_peak(self.protocol, raw, cell)
        finally:
            self.finding_peak = False
        found.keep()
        return found.peak


class OfferedRate(FioProfile):
    """Offers `levels["offered_share"]` of the peak. `options.io_depth` is the depth of the closed loop, per client."""

    needs = replace(
        FioProfile.needs,
        factors=(
            Factor("offered_share", "the offered rate as a share of the peak, above 0", required=True),
            CLIENTS,
            *FIO_FACTORS,
        ),
        options=(
            # Not a factor: at an offered rate, the depth is a result.
            replace(IO_DEPTH, varies=False, meaning="operations in flight of the closed loop, per client"),
            Option(
                "rate_io_depth", WHOLE, "operations", "the most operations in flight at an offered rate", default=128
            ),
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

    def check(self) -> None:
        """Refuse invalid shares."""
        shares = [cell.levels["offered_share"] for cell_set in self.design.sets for cell in cell_set.cells]
        if any(not isinstance(share, int | float) or share <= 0 for share in shares):
            self.refuse("offered_rate needs the factor `offered_share`: shares of the peak above 0")


def peak_key(cell: Cell) -> str:
    """Return the key of a cell's peak: the variant and all levels except the offered share."""
    levels = {name: level for name, level in cell.levels.items() if name != "offered_share"}
    return canonical_json([cell.variant.name, levels])


PROTOCOL = OfferedRate
