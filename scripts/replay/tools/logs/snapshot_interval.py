"""Latency of writes around mirror snapshots, from fio's report and log and from the snapshots' times. Pure."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from replay.tools.base import Reader, Result, Run
from replay.tools.fio import TOOL as FIO
from replay.tools.logs.fio_log import Logged, check_windows, logged_since_origin
from replay.tools.logs.readings import check_readings
from replay.tools.logs.samples import moments, read_samples
from replay.tools.logs.snapshots import snapshots_taken
from replay.tools.logs.steps import whole_steps

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


READER = SnapshotInterval()


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
