"""Latency of one client's writes, from fio's report, its log of each window's slowest write, and the steps. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from replay.tools.base import Reader, Result, Run
from replay.tools.fio import TOOL as FIO
from replay.tools.fio_report import PERCENTILES
from replay.tools.logs.fio_log import Logged, check_windows, logged_since_origin
from replay.tools.logs.snapshots import snapshots_taken
from replay.tools.logs.steps import whole_steps

#: A percentile is reported if at least this many operations are expected to be slower. With fewer, it would be the
#: slowest operation by another name.
SLOWER_OPERATIONS = 2
#: The cells of a set may differ in length, so the slowest operation is taken over spans of one length.
SPAN_SECONDS = 30.0


class WriteLatency(Reader):
    """Reads the cells that the protocol of the same name runs."""

    name = "write_latency"

    def read(self, run: Run) -> Result:
        """Parse fio's report (`output`), its log of windows (`latency`) and the `steps`.

        Metrics: fio's own, without percentiles for which there are too few operations; `snapshots`; and
        `latency_worst_seconds`, the slowest operation in half a minute, as the mean over the cell's whole half minutes.
        Raises OutputError, with the reason `no_snapshot` if the levels state an interval and no snapshot was taken.
        """
        report = FIO.read(replace(run, levels={**run.levels, "clients": 1}))
        steps, file = whole_steps(run), run.file("latency")
        windows = logged_since_origin(run.text("latency"), file, steps)
        check_windows(windows, report.metrics, file)
        first, last = windows[0].unix_seconds, windows[-1].unix_seconds
        orders = [at for _, at in snapshots_taken(steps) if first <= at <= last]
        if run.levels.get("snapshot_interval_seconds") is not None and not orders:
            steps.refuse("no snapshot was taken while the client wrote", reason="no_snapshot")
        metrics = {**told(report.metrics), "snapshots": float(len(orders)), **worst(windows)}
        return Result(metrics=metrics, histogram=report.histogram)


READER = WriteLatency()


def worst(windows: Sequence[Logged]) -> dict[str, float]:
    """Return the mean, over whole half minutes, of the slowest window in each; empty if the cell is shorter.

    The more operations there are, the slower is the slowest of them, so only spans of one length can be compared.
    """
    first = windows[0].unix_seconds
    spans = int((windows[-1].unix_seconds - first) / SPAN_SECONDS)
    slowest = [0.0] * spans
    for one in windows:
        if (span := int((one.unix_seconds - first) / SPAN_SECONDS)) < spans:
            slowest[span] = max(slowest[span], one.latency_seconds)
    return {"latency_worst_seconds": math.fsum(slowest) / spans} if spans else {}


def told(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return metrics without the percentiles that fewer than SLOWER_OPERATIONS operations are expected to exceed."""
    untold = {
        f"latency_p{percent:g}_seconds".replace(".", "_")
        for percent in PERCENTILES
        if metrics["operations"] * (1 - percent / 100) < SLOWER_OPERATIONS - 1e-9
    }
    return {name: value for name, value in metrics.items() if name not in untold}
