"""What one writer met: a fail-over (docs/experiments.md), slow windows, and snapshots while it wrote. Pure.

What the second cluster holds after a fail-over must be what the first one had acknowledged at some moment.

Latencies come from fio's report, its log of windows, and the moments at which snapshots were ordered. Two protocols log
this: one asks for the slowest write of each window, the other for the mean around snapshots.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from replay.tools.base import OutputError, Reader, Result, Run, number
from replay.tools.cell_logs import (
    Logged,
    Step,
    Steps,
    check_end,
    moments,
    read_latency_log,
    read_samples,
    snapshots_taken,
    whole_steps,
)
from replay.tools.fio import PERCENTILES
from replay.tools.fio import TOOL as FIO

# A fail-over ----------------------------------------------------------------------------------------------------------

#: The step that kills a mirror daemon that holds on to the image.
MIRROR_DAEMON_KILLED = "mirror_daemon_killed"
CSV_HEADER = "write,acknowledged_seconds"


class Failover(Reader):
    """Reads the trials that the protocol of the same name runs."""

    name = "failover"

    def read(self, run: Run) -> Result:
        """Parse the steps (`stdout`) and the writer's acknowledgements.

        Metrics of every trial:
        - `seconds_to_first_write`: from the start of the demotion (planned) or the moment of loss (forced) until the
          second cluster acknowledges its first write.
        - `seconds_without_write`: from the last write that the first cluster acknowledged until then.
        - `promote_seconds`: from the first attempt to the end of the accepted one; `promote_attempts`. In a stretch
          cluster, whose level `mode` says so, nothing is promoted.
        - `lost_seconds`, `lost_writes`: what the first cluster acknowledged and the second does not have.

        Of a planned trial also `demote_seconds`. Of a forced trial whose levels state an interval also:
        - `recovery_point_seconds`: from the last write that the second cluster has until the loss; `intervals_lost` is
          the same in intervals, `beyond_two_intervals` is 1 if that is more than two, else 0.
        - `promotion_hung`: 1 if the mirror daemon had to be killed before the second cluster could write, else 0.

        Raises OutputError, with the reason `data_differ` if the contents match no moment of the first cluster or a
        planned trial lost anything.
        """
        if run.exit_status != 0:
            raise OutputError("the trial did not end well", file=run.file("stdout"), reason="failed")
        kind = run.levels["kind"]
        log = Steps(run.text("stdout"), run.file("stdout"))
        times = _acknowledged(run.text("acknowledgements"), run.file("acknowledgements"))
        given_up = _check_trial(log, kind, len(times))
        write, first = log.one("write"), log.one("first_write")
        # In a stretch cluster there is nothing to promote.
        promotions = [] if run.levels.get("mode") == "stretch" else log.all("promote")
        if promotions and promotions[-1]["exit_status"] != 0:
            log.refuse("no promotion was accepted", promotions[-1], reason="failed")
        acknowledged, began = log.value(first, "acknowledged_seconds"), log.start(given_up)
        present = _check_contents(log, kind, len(times))
        lost = max(0, len(times) - present)
        kept_until = times[min(present, len(times)) - 1] if present else log.start(write)
        metrics = {
            "seconds_to_first_write": acknowledged - began,
            "seconds_without_write": acknowledged - times[-1],
            "first_write_seconds": acknowledged - log.start(first),
            "operations": float(len(times)),
            "writes_present": float(present),
            "lost_writes": float(lost),
            "lost_seconds": times[-1] - kept_until if lost else 0.0,
        }
        if promotions:
            metrics["promote_seconds"] = log.end(promotions[-1]) - log.start(promotions[0])
            metrics["promote_attempts"] = float(len(promotions))
        # At which interval the copy was updated, if the levels say so.
        interval = run.levels.get("snapshot_interval_seconds") or run.levels.get("journal_poll_age_seconds")
        if kind == "forced" and interval:
            # A write may be acknowledged while the daemons are being stopped, a moment after the loss.
            seconds = max(0.0, began - kept_until)
            metrics |= {
                "recovery_point_seconds": seconds,
                "intervals_lost": seconds / float(interval),
                "beyond_two_intervals": float(seconds > 2 * float(interval)),
                "promotion_hung": float(bool(log.any(MIRROR_DAEMON_KILLED))),
            }
        if kind == "planned":
            metrics["demote_seconds"] = log.value(given_up, "seconds")
        return Result(metrics=metrics)


FAILOVER = Failover()


def _check_trial(log: Steps, kind: str, acknowledged: int) -> Step:
    """Return the step that gave up the first cluster. `acknowledged` writes are listed beside the log.

    Raises OutputError if the steps do not make up a trial of that kind.
    """
    write, first = log.one("write"), log.one("first_write")
    given_up = log.one("demote" if kind == "planned" else "disaster")
    # The frozen writer of a forced trial has no status.
    for step in [given_up, first, *log.any("verify"), *([write] if kind == "planned" else [])]:
        if step["exit_status"] != 0:
            log.refuse(f"{step['step']} ended with status {step['exit_status']}", step, reason="failed")
    if log.value(write, "acknowledged") != acknowledged:
        log.refuse(f"{write['acknowledged']} writes acknowledged, the list has {acknowledged}", write)
    return given_up


def _check_contents(log: Steps, kind: str, acknowledged: int) -> int:
    """Return how many writes the second cluster holds. Raises OutputError (`data_differ`) if the data contradict it."""

    def differ(what: str, step: Step) -> NoReturn:
        log.refuse(what, step, reason="data_differ")

    verified = log.all("verify")
    sides = [str(step.get("side")) for step in verified]
    if sides != (["first", "second"] if kind == "planned" else ["second"]):
        log.refuse(f"the trial verified {sides}", verified[-1], reason="incomplete")
    for side, step in zip(sides, verified, strict=True):
        if not isinstance(step.get("sha256"), str) or step["sha256"] != step.get("expected_sha256"):
            unexplained = log.value(step, "unexplained_blocks")
            differ(f"{unexplained:.0f} blocks of the {side} cluster's image come from no write", step)
    first, second = verified[0], verified[-1]
    present = int(log.value(second, "writes_present"))
    if second.get("first_write_present") is not True:
        differ("the first write after the promotion is missing", second)
    if present > acknowledged + 1:
        differ(f"{present} writes are there, {acknowledged} were acknowledged, and at most one was under way", second)
    if kind == "planned":
        if first["sha256"] != second["sha256"]:
            differ("the two clusters' images differ", second)
        if present < acknowledged:
            differ(f"a planned fail-over lost {acknowledged - present} of {acknowledged} writes", second)
    return present


def _acknowledged(text: str, file: str) -> list[float]:
    """Return when each write was acknowledged, in seconds since the origin, in order. Raises OutputError."""
    check_end(text, file)
    lines = text.splitlines()
    if not lines or lines[0] != CSV_HEADER:
        raise OutputError(f"the first line is not {CSV_HEADER!r}", file=file, line=1)
    times: list[float] = []
    for line, content in enumerate(lines[1:], start=2):
        index, _, when = content.partition(",")
        seconds = number(when)
        if index != str(len(times)) or seconds is None:
            raise OutputError(f"not write {len(times)}: {content[:40]!r}", file=file, line=line)
        times.append(seconds)
    if not times:
        raise OutputError("no write was acknowledged", file=file, reason="incomplete")
    return times


# The latency of its writes --------------------------------------------------------------------------------------------

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
        return Result(metrics=metrics)


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
        rows = read_samples(run.text("counters"), run.file("counters"))
        first, last = windows[0].elapsed_seconds, windows[-1].elapsed_seconds
        queue = [(at, left) for at, left in moments(rows, _CLUSTER, "snapshots_to_trim") if at <= last]
        metrics = {
            **report.metrics,
            "snapshots": float(len(orders)),
            "latency_worst_window_seconds": max(window.latency_seconds for window in windows),
            "trimming_seconds": _busy_seconds(queue),
            **_near_and_away(windows, orders),
        }
        series = [(window.elapsed_seconds - first, "latency_seconds", window.latency_seconds) for window in windows]
        series += [(at - first, "snapshots_to_trim", left) for at, left in queue if at >= first]
        series += [
            (offset, "latency_around_snapshot_seconds", window.latency_seconds)
            for window in (windows if orders else ())
            # How many seconds it is after the nearest order; negative if before it.
            if -BEFORE_SECONDS
            <= (offset := min((window.elapsed_seconds - order for order in orders), key=abs))
            < AFTER_SECONDS
        ]
        return Result(metrics=metrics, series=tuple(series))


WRITE_LATENCY, SNAPSHOT_INTERVAL = WriteLatency(), SnapshotInterval()


def _report(run: Run) -> Result:
    return FIO.read(replace(run, levels={**run.levels, "clients": 1}))


def _windows_and_orders(run: Run) -> tuple[list[Logged], list[float]]:
    """Return the log's windows, and when snapshots were ordered between the first and the last of them.

    Raises OutputError if there was to be a snapshot and none was taken.
    """
    steps = whole_steps(run)
    windows = read_latency_log(run, steps)
    first, last = windows[0].elapsed_seconds, windows[-1].elapsed_seconds
    orders = [at for _, at in snapshots_taken(steps) if first <= at <= last]
    if run.levels.get("snapshot_interval_seconds") is not None and not orders:
        steps.refuse("no snapshot was taken while the client wrote", reason="no_snapshot")
    return windows, orders


def worst(windows: Sequence[Logged]) -> dict[str, float]:
    """Return the mean, over whole half minutes, of the slowest window in each; empty if the cell is shorter.

    The more operations there are, the slower is the slowest of them, so only spans of one length can be compared.
    """
    first = windows[0].elapsed_seconds
    spans = int((windows[-1].elapsed_seconds - first) / SPAN_SECONDS)
    slowest = [0.0] * spans
    for window in windows:
        if (span := int((window.elapsed_seconds - first) / SPAN_SECONDS)) < spans:
            slowest[span] = max(slowest[span], window.latency_seconds)
    return {"latency_worst_seconds": math.fsum(slowest) / spans} if spans else {}


def well_supported(metrics: Mapping[str, float]) -> dict[str, float]:
    """Return metrics without the percentiles that fewer than SLOWER_OPERATIONS operations are expected to exceed."""
    sparse = {
        f"latency_p{percent:g}_seconds".replace(".", "_")
        for percent in PERCENTILES
        if metrics["operations"] * (1 - percent / 100) < SLOWER_OPERATIONS - 1e-9
    }
    # A lower bound is that of the percentile: `latency_p99_at_least_seconds`.
    return {name: value for name, value in metrics.items() if name.replace("_at_least", "") not in sparse}


def _near_and_away(windows: list[Logged], orders: list[float]) -> dict[str, float]:
    """Return the mean latency of windows near a snapshot and of the others; nothing without snapshots."""
    near, away = [], []
    for window in windows:
        is_near = any(0 <= window.elapsed_seconds - order < NEAR_SECONDS for order in orders)
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
