"""Latency of one client's writes, from fio's report, its log of each window's slowest write, and the steps. Pure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from replay.tools.base import Reader, Result, Run
from replay.tools.cell_logs import (
    Logged,
    check_readings,
    check_windows,
    logged_since_origin,
    moments,
    read_samples,
    snapshots_taken,
    whole_steps,
)
from replay.tools.fio import TOOL as FIO
from replay.tools.fio_report import PERCENTILES

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


#: The entity of the trim queue, which belongs to the whole cluster.
_CLUSTER = "cluster"
#: The time around a snapshot that charts show, in seconds before and after the order to take it.
BEFORE_SECONDS, AFTER_SECONDS = 2.0, 6.0
#: A window this soon after the order counts as near the snapshot.
NEAR_SECONDS = 2.0


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
        report = FIO.read(replace(run, levels={**run.levels, "clients": 1}))
        steps = whole_steps(run)
        log_file, counters_file = run.file("latency"), run.file("counters")
        windows = logged_since_origin(run.text("latency"), log_file, steps)
        check_windows(windows, report.metrics, log_file)
        rows = read_samples(run.text("counters"), counters_file)
        check_readings(rows, counters_file, {_CLUSTER})
        first, last = windows[0].unix_seconds, windows[-1].unix_seconds
        orders = [at for _, at in snapshots_taken(steps) if first <= at <= last]
        if run.levels.get("snapshot_interval_seconds") is not None and not orders:
            steps.refuse("no snapshot was taken while the client wrote", reason="no_snapshot")
        queue = [(at, left) for at, left in moments(rows, _CLUSTER, "snapshots_to_trim") if at <= last]
        metrics = {
            **report.metrics,
            "snapshots": float(len(orders)),
            "latency_worst_window_seconds": max(one.latency_seconds for one in windows),
            "trimming_seconds": _busy_seconds(queue),
            **_near_and_away(windows, orders),
        }
        series = [(one.unix_seconds - first, "latency_seconds", one.latency_seconds) for one in windows]
        series += [(at - first, "snapshots_to_trim", left) for at, left in queue if at >= first]
        series += [
            (offset, "latency_around_snapshot_seconds", one.latency_seconds)
            for one in windows
            if (offset := _offset(one.unix_seconds, orders)) is not None and -BEFORE_SECONDS <= offset < AFTER_SECONDS
        ]
        return Result(metrics=metrics, series=tuple(series), histogram=report.histogram)


SNAPSHOT_INTERVAL = SnapshotInterval()


def _offset(at: float, orders: list[float]) -> float | None:
    """Return how many seconds a moment is after the nearest order (negative: before it), None without orders."""
    return min((at - order for order in orders), key=abs, default=None)


def _near_and_away(windows: list[Logged], orders: list[float]) -> dict[str, float]:
    """Return the mean latency of windows near a snapshot and of the others; nothing without snapshots."""
    near, away = [], []
    for one in windows:
        is_near = any(0 <= one.unix_seconds - order < NEAR_SECONDS for order in orders)
        (near if is_near else away).append(one.latency_seconds)
    if not near or not away:
        return {}
    return {
        "latency_near_snapshot_seconds": math.fsum(near) / len(near),
        "latency_away_seconds": math.fsum(away) / len(away),
    }


def _busy_seconds(queue: list[tuple[float, float]]) -> float:
    """Return how long the readings showed something left to trim. Each reading holds until the next one."""
    return math.fsum(later[0] - earlier[0] for earlier, later in itertools.pairwise(queue) if earlier[1] > 0)
