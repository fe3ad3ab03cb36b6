"""Turns the log of a catch-up into metrics: its steps, the mirror daemon's counters, the writers' report. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from replay.tools.base import OutputError, Reader, Result, Run
from replay.tools.fio_report import check_levels, reported_clients
from replay.tools.logs.readings import check_readings, check_rests
from replay.tools.logs.samples import Sample, moments, progress, read_samples
from replay.tools.logs.steps import whole_steps

#: By mode: the daemon's counter of how far it is with an image, and its counter of the bytes that it moved.
_COUNTERS = {"journal": ("replay_bytes", "replay_bytes"), "snapshot": ("snapshots", "replay_bytes")}
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

        Series: `backlog_bytes`, which stays 0 once the last image has caught up, because nobody writes any more.
        Raises OutputError.
        """
        mode, images = str(run.levels.get("mode")), int(run.levels.get("images", 1))
        steps = whole_steps(run)
        if mode not in _COUNTERS:
            steps.refuse(f"mode is {mode!r}")
        written, write_seconds = self._written(run, images)
        starts = steps.all("start")
        if sorted(str(step.get("image")) for step in starts) != sorted(written):
            steps.refuse(f"{len(starts)} starts of {images} images", reason="incomplete")
        if mode == "journal" and steps.any("snapshot"):
            steps.refuse("snapshots of an image whose journal is mirrored", steps.any("snapshot")[0])
        if mode == "snapshot" and len(steps.all("snapshot")) != images:
            steps.refuse(f"{len(steps.all('snapshot'))} snapshots of {images} images", reason="no_snapshot")
        began = min(steps.start(step) for step in starts)
        file = run.file("counters")
        rows = read_samples(run.text("counters"), file)
        check_readings(rows, file, written)
        catch_up = _CatchUp(rows, written, mode, began, file)
        seconds = catch_up.level_seconds - began
        total = math.fsum(written.values())
        metrics: dict[str, float | None] = {
            "bytes": total,
            "duration_seconds": seconds,
            "seconds_to_catch_up": seconds,
            "bytes_per_second": total / seconds,
            "image_bytes_per_second": catch_up.image_rate(),
            "seconds_to_first_progress": catch_up.first_seconds - began,
            "replayed_bytes": catch_up.replayed_bytes,
            "write_bytes_per_second": total / write_seconds,
        }
        known = {name: value for name, value in metrics.items() if value is not None}
        return Result(metrics=known, series=catch_up.backlog(began), after_end={"backlog_bytes": 0.0})

    @staticmethod
    def _written(run: Run, images: int) -> tuple[dict[str, float], float]:
        """Return what each job wrote, in bytes, and the longest job's time."""
        file, clients = run.file("output"), reported_clients(run)
        for client in clients:
            check_levels(client, run.levels)
        writes = {one.name: one.directions["write"] for one in clients if "write" in one.directions}
        if len(writes) != images:
            raise OutputError(f"{len(writes)} of {images} images were written to", file=file, reason="client_lost")
        if len({one.io_bytes for one in writes.values()}) != 1:
            raise OutputError("images were not written to alike", file=file, reason="incomplete")
        return {name: one.io_bytes for name, one in writes.items()}, max(one.seconds for one in writes.values())


READER = MirrorReplay()


class _CatchUp:
    """How far the daemon was with each image at each reading, as a share of what was written to it."""

    def __init__(self, rows: list[Sample], written: Mapping[str, float], mode: str, began: float, file: str) -> None:
        self.written = written
        counter, moved = _COUNTERS[mode]
        self.shares: dict[str, list[tuple[float, float]]] = {}
        self.replayed_bytes = 0.0
        self._rates: list[float] = []
        for image, wanted in written.items():
            found = progress(moments(rows, image, counter), started_seconds=began)
            end = found[-1][1] if found else 0.0
            # A journal's entries are larger than the writes in them. A snapshot counts once it is complete.
            if end < (wanted if mode == "journal" else 1.0):
                raise OutputError(
                    f"{image}: the daemon's {counter} went up by {end:.0f}, less than what was written",
                    file=file,
                    reason="replay_did_not_advance",
                )
            self.shares[image] = [(at, value / end) for at, value in found]
            check_rests(found, f"{image}: the daemon's {counter}", file)
            bytes_moved = progress(moments(rows, image, moved), started_seconds=began)
            if bytes_moved:
                check_rests(bytes_moved, f"{image}: the daemon's {moved}", file)
            self.replayed_bytes += bytes_moved[-1][1] if bytes_moved else 0.0
            copying = progress(moments(rows, image, _COPY_SECONDS), started_seconds=began)
            rate = _rate(found) if mode == "journal" else _quotient(bytes_moved, copying)
            self._rates += [] if rate is None else [rate]
        self.level_seconds = max(next(at for at, share in one if share == 1.0) for one in self.shares.values())
        self.first_seconds = min(next(at for at, share in one if share > 0.0) for one in self.shares.values())
        if self.level_seconds <= began:
            raise OutputError("it had caught up before it began", file=file)

    def image_rate(self) -> float | None:
        """Return the mean rate of the images in bytes/s, None if the first reading already had everything."""
        return math.fsum(self._rates) / len(self._rates) if self._rates else None

    def backlog(self, began: float) -> tuple[tuple[float, str, float], ...]:
        """Return the series of bytes, of all images, that were not replayed yet, from the start to the last reading."""
        last = dict.fromkeys(self.written, 0.0)
        events = sorted((at, image, share) for image, one in self.shares.items() for at, share in one)
        rest = {began: math.fsum(self.written.values())}
        for at, image, share in events:
            last[image] = share
            # Of several images in one reading, the last one leaves the sum.
            rest[at] = math.fsum(wanted * (1 - last[name]) for name, wanted in self.written.items())
        return tuple((at - began, "backlog_bytes", left) for at, left in rest.items())


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
