"""How far a replica was behind its writer: acknowledged writes, compared with what the second cluster had. Pure."""

from __future__ import annotations

from bisect import bisect_right
from statistics import median

from replay.tools.base import OutputError, Reader, Result, Run
from replay.tools.fio_report import Client, check_levels, histogram, reported_clients
from replay.tools.fio_report import metrics as fio_metrics
from replay.tools.logs.fio_log import check_operations, logged_since_origin
from replay.tools.logs.readings import check_readings, check_rests
from replay.tools.logs.samples import Sample, line_of, moments, progress, read_samples
from replay.tools.logs.snapshots import Snapshot, snapshots_taken
from replay.tools.logs.steps import Steps, whole_steps

IMAGE = "image-1"
#: What the samplers report about themselves.
_PROBE = "probe"
_COPIED = "copied_snapshot_id"


class MirrorLag(Reader):
    """Reads the cells that the protocol of the same name runs."""

    name = "mirror_lag"

    def read(self, run: Run) -> Result:
        """Parse fio's report (`output`) and log (`latency`), the `steps` and the `counters`.

        `levels["mode"]` is journal or snapshot. The lag at a moment is the time between the last write that the first
        cluster had acknowledged and the last one that the replica had: what losing the site at that moment would cost.

        Metrics besides fio's own:
        - `lag_median_seconds`, `lag_max_seconds`, `lost_writes_max`: over the readings while the writer wrote.
        - `lag_end_seconds`: at the end of writing; `seconds_to_level`: from then until the replica had caught up.
        - `journal_max_bytes`, and `journal_end_bytes` once the replica had caught up.

        Series since the first write: `lag_seconds`, `journal_bytes`. Raises OutputError.
        """
        clients = reported_clients(run)
        if len(clients) != 1 or "write" not in clients[0].directions:
            raise OutputError("expected one client that wrote", file=run.file("output"), reason="client_lost")
        check_levels(clients[0], run.levels)
        steps = whole_steps(run)
        log_file, counters_file = run.file("latency"), run.file("counters")
        logged = logged_since_origin(run.text("latency"), log_file, steps)
        check_operations(logged, clients[0].directions["write"].latency, log_file)
        acknowledged = [one.unix_seconds for one in logged]
        rows = read_samples(run.text("counters"), counters_file)
        check_readings(rows, counters_file, {IMAGE, _PROBE})
        held = _journal_position if run.levels.get("mode") == "journal" else _snapshot_position
        positions = held(rows, acknowledged, steps, counters_file)
        return _result(acknowledged, positions, rows, clients, counters_file)


READER = MirrorLag()

#: (elapsed_seconds, how many of the acknowledged writes the replica held)
_Positions = list[tuple[float, int]]


def _journal_position(rows: list[Sample], acknowledged: list[float], steps: Steps, file: str) -> _Positions:
    """Return the position by the bytes that the daemon replayed. It replays entries in the order of the writes.

    Each entry exceeds its write by the same number of bytes, so the share of all bytes is the share of all writes.
    """
    if steps.any("snapshot"):
        steps.refuse("snapshots of an image whose journal is mirrored", steps.any("snapshot")[0])
    began = steps.start(steps.one("write"))
    replayed = progress(moments(rows, IMAGE, "replay_bytes"), started_seconds=began)
    if not replayed or replayed[-1][1] <= 0:
        raise OutputError("the daemon replayed nothing", file=file, reason="replay_did_not_advance")
    check_rests(replayed, "what the daemon replayed", file)
    end, writes = replayed[-1][1], len(acknowledged)
    return [(at, int(writes * done / end + 1e-9)) for at, done in replayed]


def _snapshot_position(rows: list[Sample], acknowledged: list[float], steps: Steps, file: str) -> _Positions:
    """Return the position by the newest complete snapshot in the copy. It has all writes from before it was ordered."""
    taken = snapshots_taken(steps)
    if not taken:
        steps.refuse("no mirror snapshot was taken", reason="no_snapshot")
    held = [bisect_right(acknowledged, one.ordered_seconds) for one in taken]
    ids = [one.number for one in taken]
    if len(taken) == len(steps.any("snapshot")):
        _check_copies(rows, taken, file)
    positions = []
    for at, copied in moments(rows, IMAGE, _COPIED):
        newest = bisect_right(ids, copied)
        positions.append((at, held[newest - 1] if newest else 0))
    if not positions or positions[-1][1] < len(acknowledged):
        raise OutputError("the last snapshot is not on the second cluster", file=file, reason="replay_did_not_advance")
    return positions


def _check_copies(rows: list[Sample], taken: list[Snapshot], file: str) -> None:
    """Refuse a copy of a snapshot that had not been ordered yet, and an older one after a newer one.

    The first reading shows the copy from before the cell, whichever snapshot that is of. A later copy is of a snapshot
    that was ordered in the cell.
    """
    ordered, newest = {one.number: one.ordered_seconds for one in taken}, None
    for index, row in enumerate(rows):
        if row.metric != _COPIED:
            continue
        at, copied = row.elapsed_seconds, row.value
        newest = copied if newest is None else newest
        of_the_cell = copied >= taken[0].number or copied > newest
        if copied < newest or (of_the_cell and (copied not in ordered or at < ordered[int(copied)])):
            what = f"snapshot {copied:.0f} cannot be in the copy at {at:.6f} s"
            raise OutputError(what, file=file, line=line_of(index))
        newest = copied


def _result(
    acknowledged: list[float], positions: _Positions, rows: list[Sample], clients: list[Client], file: str
) -> Result:
    first, last = acknowledged[0], acknowledged[-1]
    lags, lost, level = [], [], None
    for at, held in positions:
        if at > last and held >= len(acknowledged):
            level = at if level is None else level
        if not first <= at <= last:
            continue
        now = bisect_right(acknowledged, at)
        lost.append(max(0, now - held))
        kept_until = acknowledged[held - 1] if held else first
        lags.append((at - first, max(0.0, acknowledged[now - 1] - kept_until)))
    if not lags:
        raise OutputError("no reading of the replica while the writer wrote", file=file, reason="incomplete")
    journal = moments(rows, IMAGE, "journal_bytes")
    metrics = {
        **fio_metrics(clients),
        "lag_median_seconds": median(lag for _, lag in lags),
        "lag_max_seconds": max(lag for _, lag in lags),
        "lag_end_seconds": lags[-1][1],
        "lost_writes_max": float(max(lost)),
    }
    if level is not None:
        metrics["seconds_to_level"] = level - last
    if journal:
        metrics |= {"journal_max_bytes": max(size for _, size in journal), "journal_end_bytes": journal[-1][1]}
    series = [(at, "lag_seconds", lag) for at, lag in lags]
    series += [(at - first, "journal_bytes", size) for at, size in journal if at >= first]
    return Result(metrics=metrics, series=tuple(series), histogram=lambda: histogram(clients))
