"""How far a replica was behind its writer, and how fast it caught up: from the steps, the counters, fio's report. Pure.

The lag compares acknowledged writes with what the second cluster had. Catching up is timed by the mirror daemon's
counters.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from statistics import median
from typing import NamedTuple

from replay.tools.base import OutputError, Reader, Result, Run
from replay.tools.cell_logs import (
    Sample,
    Steps,
    check_rests,
    moments,
    progress,
    read_latency_log,
    read_samples,
    snapshots_taken,
    whole_steps,
)
from replay.tools.fio import check_levels
from replay.tools.fio import metrics as fio_metrics
from replay.tools.fio_report import Client, reported_clients

IMAGE = "image-1"
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
        - `lag_growth_seconds`: `lag_end_seconds` for each second of writing.
        - `journal_max_bytes`, and `journal_end_bytes` once the replica had caught up.

        Series since the first write: `lag_seconds`, `journal_bytes`. Raises OutputError.
        """
        clients = reported_clients(run)
        if len(clients) != 1 or "write" not in clients[0].directions:
            raise OutputError("expected one client that wrote", file=run.file("output"), reason="client_lost")
        check_levels(clients[0], run.levels)
        steps = whole_steps(run)
        counters_file = run.file("counters")
        acknowledged = [operation.elapsed_seconds for operation in read_latency_log(run, steps)]
        reported = clients[0].directions["write"].latency.samples
        if len(acknowledged) != reported:
            what = f"{len(acknowledged)} operations are logged, {reported:.0f} reported"
            raise OutputError(what, file=run.file("latency"))
        rows = read_samples(run.text("counters"), counters_file)
        held = _journal_position if run.levels.get("mode") == "journal" else _snapshot_position
        positions = held(rows, acknowledged, steps, counters_file)
        return _result(acknowledged, positions, rows, clients, counters_file)


LAG = MirrorLag()

#: (elapsed_seconds, how many of the acknowledged writes the replica held)
_Positions = list[tuple[float, int]]


def _journal_position(rows: list[Sample], acknowledged: list[float], steps: Steps, file: str) -> _Positions:
    """Return the position by the bytes that the daemon replayed. It replays entries in the order of the writes.

    Each entry exceeds its write by the same number of bytes, so the share of all bytes is the share of all writes.
    """
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
    held = [bisect_right(acknowledged, snapshot.ordered_seconds) for snapshot in taken]
    ids = [snapshot.number for snapshot in taken]
    positions = []
    for at, copied in moments(rows, IMAGE, _COPIED):
        newest = bisect_right(ids, copied)
        positions.append((at, held[newest - 1] if newest else 0))
    if not positions or positions[-1][1] < len(acknowledged):
        raise OutputError("the last snapshot is not on the second cluster", file=file, reason="replay_did_not_advance")
    return positions


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
        "clients": float(len(clients)),
        **fio_metrics(clients),
        "lag_median_seconds": median(lag for _, lag in lags),
        "lag_max_seconds": max(lag for _, lag in lags),
        "lag_end_seconds": lags[-1][1],
        **({"lag_growth_seconds": lags[-1][1] / (last - first)} if last > first else {}),
        "lost_writes_max": float(max(lost)),
    }
    if level is not None:
        metrics["seconds_to_level"] = level - last
    if journal:
        metrics |= {"journal_max_bytes": max(size for _, size in journal), "journal_end_bytes": journal[-1][1]}
    series = [(at, "lag_seconds", lag) for at, lag in lags]
    series += [(at - first, "journal_bytes", size) for at, size in journal if at >= first]
    return Result(metrics=metrics, series=tuple(series))


#: By mode: the daemon's counter of how far it is with an image.
_COUNTERS = {"journal": "replay_bytes", "snapshot": "snapshots"}
#: How long the daemon copied snapshots, by its own clock.
_COPY_SECONDS = "snapshots_time.sum"


class MirrorReplay(Reader):
    """Reads the catch-ups that the protocol of the same name runs."""

    name = "mirror_replay"

    def read(self, run: Run) -> Result:
        """Parse the writers' report (`output`), the `steps` and the daemon's `counters`.

        `levels["mode"]` is journal or snapshot, `levels["images"]` the number of images. Time counts from the first
        order to start replay.

        Metrics:
        - `bytes`: what the clients wrote while replay was stopped; `write_bytes_per_second`.
        - `seconds_to_catch_up`: until the last image had caught up; `bytes_per_second`: `bytes` divided by that.
        - `image_bytes_per_second`: the mean rate of one image once it was under way, for a journal from its first
          progress, for a snapshot by the daemon's own clock.
        - `seconds_to_first_progress`; `replayed_bytes`: what the daemon says it moved.

        Raises OutputError.
        """
        mode, images = run.levels["mode"], int(run.levels.get("images", 1))
        steps = whole_steps(run)
        written, write_seconds = self._written(run, images)
        starts = steps.all("start")
        if sorted(str(step.get("image")) for step in starts) != sorted(written):
            steps.refuse(f"{len(starts)} starts of {images} images", reason="incomplete")
        if mode == "snapshot" and len(steps.all("snapshot")) != images:
            steps.refuse(f"{len(steps.all('snapshot'))} snapshots of {images} images", reason="no_snapshot")
        began = min(steps.start(step) for step in starts)
        file = run.file("counters")
        rows = read_samples(run.text("counters"), file)
        images_replayed = [_replayed(rows, image, wanted, mode, began, file) for image, wanted in written.items()]
        seconds = max(image.level_seconds for image in images_replayed) - began
        rates = [image.rate for image in images_replayed if image.rate is not None]
        total = math.fsum(written.values())
        metrics = {
            "bytes": total,
            "duration_seconds": seconds,
            "seconds_to_catch_up": seconds,
            "bytes_per_second": total / seconds,
            **({"image_bytes_per_second": math.fsum(rates) / len(rates)} if rates else {}),
            "seconds_to_first_progress": min(image.first_seconds for image in images_replayed) - began,
            "replayed_bytes": sum(image.replayed_bytes for image in images_replayed),
            "write_bytes_per_second": total / write_seconds,
        }
        return Result(metrics=metrics)

    @staticmethod
    def _written(run: Run, images: int) -> tuple[dict[str, float], float]:
        """Return what each job wrote, in bytes, and the longest job's time."""
        file, clients = run.file("output"), reported_clients(run)
        for client in clients:
            check_levels(client, run.levels)
        writes = {client.name: client.directions["write"] for client in clients if "write" in client.directions}
        if len(writes) != images:
            raise OutputError(f"{len(writes)} of {images} images were written to", file=file, reason="client_lost")
        if len({direction.io_bytes for direction in writes.values()}) != 1:
            raise OutputError("images were not written to alike", file=file, reason="incomplete")
        return {name: direction.io_bytes for name, direction in writes.items()}, max(
            direction.seconds for direction in writes.values()
        )


REPLAY = MirrorReplay()


class _Replayed(NamedTuple):
    """When the daemon began with an image, when it was level with it, and how much it moved, at which mean rate.

    `rate` is None if the first reading already had everything.
    """

    first_seconds: float
    level_seconds: float
    replayed_bytes: float
    rate: float | None


def _replayed(rows: list[Sample], image: str, written: float, mode: str, began: float, file: str) -> _Replayed:
    counter = _COUNTERS[mode]
    samples = progress(moments(rows, image, counter), started_seconds=began)
    end = samples[-1][1] if samples else 0.0
    # A journal's entries are larger than the writes in them. A snapshot counts once it is complete.
    if end < (written if mode == "journal" else 1.0):
        raise OutputError(
            f"{image}: the daemon's {counter} went up by {end:.0f}, less than what was written",
            file=file,
            reason="replay_did_not_advance",
        )
    check_rests(samples, f"{image}: the daemon's {counter}", file)
    moved = progress(moments(rows, image, "replay_bytes"), started_seconds=began)
    copying = progress(moments(rows, image, _COPY_SECONDS), started_seconds=began)
    return _Replayed(
        first_seconds=next(at for at, value in samples if value > 0),
        level_seconds=next(at for at, value in samples if value == end),
        replayed_bytes=moved[-1][1] if moved else 0.0,
        rate=_rate(samples) if mode == "journal" else _quotient(moved, copying),
    )


def _rate(readings: list[tuple[float, float]]) -> float | None:
    """Return a counter's mean rise per second from first to last progress; None if one reading saw it all."""
    end = readings[-1][1]
    first = next((at, value) for at, value in readings if value > 0)
    last = next(at for at, value in readings if value == end)
    return (end - first[1]) / (last - first[0]) if last > first[0] else None


def _quotient(amounts: list[tuple[float, float]], seconds: list[tuple[float, float]]) -> float | None:
    """Return the last amount divided by the last time, None if either is unknown."""
    if not amounts or not seconds or seconds[-1][1] <= 0:
        return None
    return amounts[-1][1] / seconds[-1][1]
