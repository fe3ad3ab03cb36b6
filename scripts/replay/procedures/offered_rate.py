"""Latency against offered rate: clients that ask for a share of the peak, at random moments, whatever the answers take.

The peak is the rate of a closed loop, found in the same block, for each variant and workload. Requests then come as a
Poisson process at a share of it, so that a slow answer does not hold the next request back (coordinated omission).
fio counts latency from the moment it issues a request: what waits because `rate_io_depth` are in flight is not counted,
and shows as a share of the offered rate that was not met.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, ReplayError
from replay.design.design import Cell, CellSet, canonical_json, digest_of
from replay.measure.bench import Bench
from replay.procedures.fio_profile import FioProfile
from replay.raw.evidence import pretty_json, record
from replay.raw.provenance import host
from replay.raw.record import Measured
from replay.tools.fio import rw_of

RATE_IO_DEPTH = 128
READ_SHARE_OF_MIX = 50
#: In the account, in place of a cell's id.
PEAK = "peak"


class OfferedRate(FioProfile):
    """Offers `levels["offered_share"]` of the peak. `options.io_depth` is the depth of the closed loop, per client."""

    #: With its share of finding the peaks, which every block does.
    overhead_seconds = 6.0

    def __init__(self, bench: Bench, design) -> None:
        super().__init__(bench, design)
        self.peaks: dict[str, float] = {}
        self._finding_peak = False

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Make the images, then find the peak of each variant and workload; its output is kept as evidence.

        Raises ReplayError when a closed loop gives no rate: without a peak there is nothing to offer a share of.
        """
        super().open_block(raw, sets)
        leaders = {peak_key(cell): cell for one in sets for cell in one.cells}
        for number, (key, cell) in enumerate(leaders.items(), start=1):
            if key not in self.peaks:
                self.bench.say(f"peak {number} of {len(leaders)}: {cell.variant.label}")
                self.peaks[key] = self._find_peak(raw, cell)

    def run(self, cell: Cell, seed: int) -> Measured:
        """Run the clients at their share of the peak."""
        measured = super().run(cell, seed)
        if not self._finding_peak:
            measured.facts["peak_operations_per_second"] = round(self.peaks[peak_key(cell)], 3)
            measured.facts["offered_operations_per_second"] = sum(self._rates(cell).values()) * self._clients(cell)
            if measured.headline:
                measured.headline += f" of {measured.facts['offered_operations_per_second']:,} offered"
        return measured

    def _find_peak(self, raw: Path, cell: Cell) -> float:
        folder = f"pilot/{host()['id']}/{cell.cell_id}"
        # `round-1.json` is a note, `round-1.result.json` an output.
        notes = [path for path in (raw / folder).glob("round-*.json") if path.stem.removeprefix("round-").isdigit()]
        number = 1 + len(notes)
        seed = int(digest_of([cell.cell_id, "peak", number], 8), 16) & 0x7FFFFFFF
        self._finding_peak = True
        expected = sum(map(self.bench.spending.media_bytes, self.expected_writes(cell)))
        with self.bench.spending.reserve(f"finding the peak of {cell.variant.name}", {PEAK: expected}) as reservation:
            reservation.begin(PEAK)
            try:
                measured = self.run(cell, seed)
            finally:
                self._finding_peak = False
            reservation.end(void=measured.invalid is not None)
        outputs = {role: content.decode(errors="replace") for role, (_, content) in measured.results.items()}
        if measured.invalid:
            raise ReplayError(
                f"the peak could not be found: {measured.invalid[0]}: {measured.invalid[1]}",
                where=f"{self.design.name}, {cell.point} {cell.variant.label}",
                next_step="mend the cause and run measure again",
            )
        result = self.adapter.parse(outputs, measured.exit_status, cell.levels)
        peak = result.metrics["operations_per_second"]
        note = {
            "schema_version": 1,
            "cell_id": cell.cell_id,
            "point": cell.point,
            "variant": cell.variant.name,
            "levels": dict(cell.levels),
            "argv": measured.argv,
            "exit_status": measured.exit_status,
            "started_at": measured.started_at,
            "ended_at": measured.ended_at,
            "seed": seed,
            "peak_operations_per_second": peak,
            "host": host(),
        }
        for suffix, content in measured.results.values():
            record(raw, f"{folder}/round-{number}.{suffix}", content)
        record(raw, f"{folder}/round-{number}.json", pretty_json(note))
        return peak

    def _observe(self, template: Sequence[str], values: Mapping[str, str | None], **how: Any) -> Measured:
        component = "pilot" if self._finding_peak else "tool"
        return super()._observe(template, values, component=component, **how)

    def _options(self, cell: Cell) -> dict[str, Any]:
        options = super()._options(cell)
        if self._finding_peak:
            return options
        rates = self._rates(cell)
        paced = {"rate_iops": ",".join(str(rate) for rate in rates.values()), "rate_process": "poisson"}
        depth = self.design.options.get("rate_io_depth", RATE_IO_DEPTH)
        return {**options, "io_depth": depth, "fio_options": {**(options.get("fio_options") or {}), **paced}}

    def _clients(self, cell: Cell) -> int:
        return int(cell.levels["clients"])

    def _rates(self, cell: Cell) -> dict[str, int]:
        """Return what one client offers, in whole operations per second, by direction."""
        offered = self.peaks[peak_key(cell)] * float(cell.levels["offered_share"]) / self._clients(cell)
        workload = rw_of(cell.levels).removeprefix("rand")
        if workload in ("rw", "readwrite"):
            share = int(cell.levels.get("rw_mix_read", READ_SHARE_OF_MIX)) / 100
            return {"read": max(1, round(offered * share)), "write": max(1, round(offered * (1 - share)))}
        return {workload: max(1, round(offered))}

    def _check(self) -> None:
        super()._check()
        where = f"config/experiments/{self.design.name}.yaml"
        shares = [cell.levels.get("offered_share") for one in self.design.sets for cell in one.cells]
        wrong = [share for share in shares if not isinstance(share, int | float) or share <= 0]
        if wrong:
            raise ConfigurationError(
                "offered_rate needs the factor `offered_share`: shares of the peak above 0", where=where
            )
        if any("io_depth" in cell.levels for one in self.design.sets for cell in one.cells):
            what = "offered_rate takes io_depth from `options`: at an offered rate the depth is what it comes to"
            raise ConfigurationError(what, where=where)


def peak_key(cell: Cell) -> str:
    """Return what cells of one peak share: the variant and all levels but the share that is offered."""
    levels = {name: level for name, level in cell.levels.items() if name != "offered_share"}
    return canonical_json([cell.variant.name, levels])


PROTOCOL = OfferedRate
