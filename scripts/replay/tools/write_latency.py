"""Latency of one client's writes: fio's report, its log of windows, and the moments at which snapshots were ordered.

Two protocols log this: one asks for the slowest write of each window, the other for the mean around snapshots. Pure.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from replay.tools.base import Reader, Result, Run
from replay.tools.cell_logs import Logged, logged_since_origin, moments, read_samples, snapshots_taken, whole_steps
from replay.tools.fio import PERCENTILES
from replay.tools.fio import TOOL as FIO

#: A percentile is reported if at least this many operations are expected to be slower. With fewer, it would be the
#: slowest operation by another name.
SLOWER_OPERATIONS = 2
#: The cells of a set may differ in length, so the slowest operation is taken over spans of one length.
SPAN_SECONDS = 30.0
#: The entity of the trim queue, which belongs to the whole cluster.
_CLUSTER = "cluster"
#: The time around a snapshot that charts show, in seconds before and after the order to take it.
BEFORE_SECONDS, AFTER_SECONDS = 2.0, 6.0
#: A window this soon after the order counts as near the snapshot.
NEAR_SECONDS = 2.0


class WriteLatency(Reader):
    """Reads the cells that the protocol of the same name runs."""

    name = "write_latency"

    def read(self, run: Run) -> Result:
        """Parse fio's report (`output`), its log of windows (`latency`) and the `steps`.

        Metrics: fio's own, without percentiles for which there are too few operations; `snapshots`; and
        `latency_worst_seconds`, the slowest operation in half a minute, as the mean over the cell's whole half minutes.
        Raises OutputError, with the reason `no_snapshot` if the levels state an interval and no snapshot was taken.
        """
        report = _report(run)
        windows, orders = _windows_and_orders(run)
        metrics = {**well_supported(report.metrics), "snapshots": float(len(orders)), **worst(windows)}
        return Result(metrics=metrics, histogram=report.histogram)


class SnapshotInterval(Reader):
    """Reads the cells that the protocol of the same name runs."""

    name = "snapshot_interval"

    def read(self, run: Run) -> Result:
        """Parse fio's report (`output`) and log of windows (`latency`), the `steps` and the `counters`.

        Metrics besides fio's own:
        - `snapshots`; `latency_worst_window_seconds`: the mean of the slowest window.
        - `latency_near_snapshot_seconds`, `latency_away_seconds`: means of the windows that end within two seconds
          after the order to take a snapshot, and of all others.
        - `trimming_seconds`: for how long removed snapshots were still to be trimmed while the client wrote.

        Series: `latency_seconds` and `snapshots_to_trim` since the first window, and `latency_around_snapshot_seconds`
        since the nearest order (negative before it). Raises OutputError, with the reason `no_snapshot` if the levels
        state an interval and no snapshot was taken.
        """
        report = _report(run)
        windows, orders = _windows_and_orders(run)
        rows = read_samples(run.text("counters"), run.file("counters"), {_CLUSTER})
        first, last = windows[0].unix_seconds, windows[-1].unix_seconds
        queue = [(at, left) for at, left in moments(rows, _CLUSTER, "snapshots_to_trim") if at <= last]
        metrics = {
            **report.metrics,
            "snapshots": float(len(orders)),
            "latency_worst_window_seconds": max(window.latency_seconds for window in windows),
            "trimming_seconds": _busy_seconds(queue),
            **_near_and_away(windows, orders),
        }
        series = [(window.unix_seconds - first, "latency_seconds", window.latency_seconds) for window in windows]
        series += [(at - first, "snapshots_to_trim", left) for at, left in queue if at >= first]
        series += [
            (offset, "latency_around_snapshot_seconds", window.latency_seconds)
            for window in windows
            if (offset := _offset(window.unix_seconds, orders)) is not None
            and -BEFORE_SECONDS <= offset < AFTER_SECONDS
        ]
        return Result(metrics=metrics, series=tuple(series), histogram=report.histogram)


WRITE_LATENCY, SNAPSHOT_INTERVAL = WriteLatency(), SnapshotInterval()


def _report(run: Run) -> Result:
    return FIO.read(replace(run, levels={**run.levels, "clients": 1}))


def _windows_and_orders(run: Run) -> tuple[list[Logged], list[float]]:
    """Return the log's windows, and when snapshots were ordered between the first and the last of them.

    Raises OutputError if there was to be a snapshot and none was taken.
    """
    steps = whole_steps(run)
    windows = logged_since_origin(run.text("latency"), run.file("latency"), steps)
    first, last = windows[0].unix_seconds, windows[-1].unix_seconds
    orders = [at for _, at in snapshots_taken(steps) if first <= at <= last]
    if run.levels.get("snapshot_interval_seconds") is not None and not orders:
        steps.refuse("no snapshot was taken while the client wrote", reason="no_snapshot")
    return windows, orders


def worst(windows: Sequence[Logged]) -> dict[str, float]:
    """Return the mean, over whole half minutes, of the slowest window in each; empty if the cell is shorter.

    The more operations there are, the slower is the slowest of them, so only spans of one length can be compared.
    """
    first = windows[0].unix_seconds
    spans = int((windows[-1].unix_seconds - first) / SPAN_SECONDS)
    slowest = [0.0] * spans
    for window in windows:
        if (span := int((window.unix_seconds - first) / SPAN_SECONDS)) < spans:
            slowest[span] = max(slowest[span], window.latency_seconds)
    return {"latency_worst_seconds": math.fsum(slowest) / spans} if spans else {}


def well_supported(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return metrics without the percentiles that fewer than SLOWER_OPERATIONS operations are expected to exceed."""
    sparse = {
        f"latency_p{percent:g}_seconds".replace(".", "_")
        for percent in PERCENTILES
        if metrics["operations"] * (1 - percent / 100) < SLOWER_OPERATIONS - 1e-9
    }
    return {name: value for name, value in metrics.items() if name not in sparse}


def _offset(at: float, orders: list[float]) -> float | None:
    """Return how many seconds a moment is after the nearest order (negative: before it), None without orders."""
    return min((at - order for order in orders), key=abs, default=None)


def _near_and_away(windows: list[Logged], orders: list[float]) -> dict[str, float]:
    """Return the mean latency of windows near a snapshot and of the others; nothing without snapshots."""
    near, away = [], []
    for window in windows:
        is_near = any(0 <= window.unix_seconds - order < NEAR_SECONDS for order in orders)
        (near if is_near else away).append(window.latency_seconds)
    if not near or not away:
        return {}
    return {
        "latency_near_snapshot_seconds": math.fsum(near) / len(near),
        "latency_away_seconds": math.fsum(away) / len(away),
    }


def _busy_seconds(queue: list[tuple[float, float]]) -> float:
    """Return how long the readings showed something left to trim. Each reading holds until the next one."""
    return math.fsum(later[0] - earlier[0] for earlier, later in itertools.pairwise(queue) if earlier[1] > 0)
