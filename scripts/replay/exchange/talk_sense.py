"""What a talk rests on: what is true of the runs, and what the ratios decide.

Somebody who knows storage looks at the queue, pairs, order, time, cache and disk before believing a figure.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import stdev
from typing import Any

from replay.base.clock import seconds_of
from replay.base.stats import median, t_quantile
from replay.claims.model import REFUTED
from replay.evidence.read import SIDECAR, list_raw
from replay.exchange.importing.arrange import LOADS
from replay.exchange.sides import MEAN_LATENCY, RATE, Metric
from replay.exchange.talk_points import CLIENTS, SOURCE, MeasuredVariant, Point, Ratio, Told, Walk
from replay.tools.base import bytes_of
from replay.tools.fio_report import START

#: By Little's law, rate times latency is what was in flight. Below this share of what was asked for, the queue was not
#: full.
_FULL = 0.95
#: Below this share, what was in flight was nearer to half of what was asked for.
_REACHED = math.sqrt(0.5)
#: The percentiles of latency, the highest first: the operations that each run needs for it, and what it is in words.
TAILS = (
    ("latency-p99-9", 10_000, "The slowest of a thousand"),
    ("latency-p99", 1_000, "The slowest of a hundred"),
    ("latency-p95", 200, "The slowest of twenty"),
)
#: Runs are neighbours if no more than three runs fit between them.
_GAP = 3
#: From these shares in percent on, a disk or fio's processor counts as full.
_BUSY = {"the disk": 80, "fio's processor": 85}
_SHORT_SECONDS, _SMALL_BYTES = 10, 4 << 30


@dataclass(frozen=True)
class Sense:
    """What is true of the runs behind the figures.

    `in_flight`: by variant and point, what was in flight as a share of what was asked for; only where that is known.
    `first`: the variant that always ran first. `tail`: the percentile that every run has the operations for. `busy`: by
    variant and point, what was full and to which percentage. `cached`: all of them went through the page cache.
    `small_file`: the size of the file as fio was told it, if a cache below may hold it.
    """

    runs: int
    in_flight: Mapping[tuple[str, str], float]
    neighbours: bool
    first: MeasuredVariant | None
    seconds: float | None
    tail: str | None
    busy: Mapping[tuple[str, str], tuple[str, float]]
    cached: bool
    ramp: bool
    small_file: str | None

    @property
    def too_short(self) -> bool:
        """Whether runs are so short that a hiccup of the disk is a part of the result."""
        return self.seconds is not None and self.seconds < _SHORT_SECONDS

    def is_full(self, variant: MeasuredVariant, point: Point) -> bool:
        """Return whether the queue was kept full, as far as that is known."""
        return self.in_flight.get((variant.name, point.name), 1.0) >= _FULL

    def is_reached(self, variant: MeasuredVariant, point: Point) -> bool:
        """Return whether about as much was in flight as was asked for, as far as that is known."""
        return self.in_flight.get((variant.name, point.name), 1.0) >= _REACHED

    def same_load(self, variants: Iterable[MeasuredVariant], point: Point) -> bool:
        """Return whether these variants had about as much in flight: otherwise their ratio compares two loads."""
        shares = [self.in_flight.get((variant.name, point.name), 1.0) for variant in variants]
        return max(shares) <= 1.1 * min(shares)


def sense_of(told: Told, raw: Path, memory_bytes: float | None) -> Sense:
    """Return what is true of the runs of an experiment, whose evidence is in `raw`, on a machine of so much memory."""
    options = [told.experiment.options.get(variant.name, {}) for variant in told.variants]
    every = [run for runs in told.runs.values() for run in runs.values()]
    seconds = [run.values["duration_seconds"] for run in every if "duration_seconds" in run.values]
    neighbours, first = _turns(told)
    small = max(_SMALL_BYTES, (memory_bytes or 0) / 10)
    # With a size of 0, fio takes the whole file or disk.
    sizes = [size for of_variant in options if (size := of_variant.get("size")) and (bytes_of(size) or small) < small]
    return Sense(
        runs=min(map(len, told.runs.values())),
        in_flight=dict(_in_flight(told)),
        neighbours=neighbours,
        first=first,
        seconds=median(seconds) if seconds else None,
        tail=_tail(told, every),
        busy=_busy(told, raw) if told.entry["tool"] == "fio_report" else {},
        cached={of_variant.get("direct") for of_variant in options} == {"0"},
        ramp=any("ramp_time" in of_variant for of_variant in options),
        small_file=sizes[0] if sizes else None,
    )


def _in_flight(told: Told) -> Iterable[tuple[tuple[str, str], float]]:
    options = (told.experiment.options.get(variant.name, {}) for variant in told.variants)
    if any("rate" in name for names in (*options, told.entry["factors"]) for name in names):
        return  # an open loop: what is in flight follows from the rate
    for (variant, name), runs in told.runs.items():
        point = next(point for point in told.points if point.name == name)
        asked = [point.levels[factor] for factor in LOADS if factor in point.levels]
        # fio's jobs are those of all clients. Any other load is that of each of them.
        if asked and "jobs" not in point.levels:
            asked += [point.levels[factor] for factor in CLIENTS if factor in point.levels]
        values = [run.values[RATE] * run.values[MEAN_LATENCY] for run in runs.values()
                  if RATE in run.values and MEAN_LATENCY in run.values]  # fmt: skip
        if values and asked and all(isinstance(value, int) for value in asked):
            yield (variant, name), median(values) / math.prod(asked)


def _tail(told: Told, every: Iterable[Any]) -> str | None:
    operations = [run.values.get("operations", 0) for run in every]
    return next(
        (name for name, needed, _ in TAILS
         if name in told.experiment.metrics and min(operations) >= needed),
        None,
    )  # fmt: skip


def _turns(told: Told) -> tuple[bool, MeasuredVariant | None]:
    """Return whether the repetitions of all variants at a point are neighbours in time, and which always ran first."""
    neighbours, firsts = True, set()
    for point in told.points:
        times = [_times(told, variant, point) for variant in told.variants]
        shared = set.intersection(*(set(spans_of_variant) for spans_of_variant in times))
        spans = []
        for block in shared:
            starts, ends = zip(*(spans_of_variant[block] for spans_of_variant in times), strict=True)
            spans.append((min(starts), max(ends)))
            firsts.add(told.variants[starts.index(min(starts))])
            longest = max(end - start for start, end in zip(starts, ends, strict=True))
            neighbours &= spans[-1][1] - spans[-1][0] <= (1 + _GAP) * len(times) * longest
        neighbours &= all(earlier[1] <= later[0] for earlier, later in pairwise(sorted(spans)))
    is_told = len(told.variants) > 1 and bool(firsts)
    return neighbours and is_told, firsts.pop() if len(firsts) == 1 and is_told else None


def _times(told: Told, variant: MeasuredVariant, point: Point) -> dict[int, tuple[float, float]]:
    """Return the start and the end of a point's runs in seconds, as far as they state them."""
    spans = {}
    for block, run in told.runs.get((variant.name, point.name), {}).items():
        if run.ended_at and (run.started_at or "duration_seconds" in run.values):
            end = seconds_of(run.ended_at)
            start = seconds_of(run.started_at) if run.started_at else end - run.values["duration_seconds"]
            spans[block] = (start, end)
    return spans


def _busy(told: Told, raw: Path) -> dict[tuple[str, str], tuple[str, float]]:
    """Return what was full, by variant and point: the median over the runs, as fio reported it."""
    shares: dict[tuple[str, str, str], list[float]] = {}
    for block in list_raw(raw).blocks:
        for folder in block.folders():
            for sidecar in (json.loads(text) for name, text in folder.contents.items() if SIDECAR.fullmatch(name)):
                point = next((point for point in told.points if point.levels == sidecar.get("levels")), None)
                if point is None:
                    continue
                for name in sidecar["files"].values():
                    text = folder.contents.get(name, b"").decode(errors="replace")
                    for what, share in _shares(text, alone="job_in_a_row" not in sidecar):
                        shares.setdefault((sidecar["variant"], point.name, what), []).append(share)
    busiest: dict[tuple[str, str], tuple[str, float]] = {}
    for (variant, name, what), values in shares.items():
        share = median(values)
        if share >= _BUSY[what] and share > busiest.get((variant, name), ("", 0))[1]:
            busiest[variant, name] = what, share
    return busiest


def _shares(text: str, *, alone: bool) -> Iterable[tuple[str, float]]:
    """Yield how busy fio says that the disk and its own processor were, in percent. A log is no report.

    It says how busy the disk was of a whole report: of the run itself only if it was `alone` in it.
    """
    start = START.search(text)
    try:
        report = json.JSONDecoder().raw_decode(text, start.start())[0] if start else {}
    except ValueError:
        return  # it is a part of a report or a log, and only whole reports state this
    for disk in (report.get("disk_util") or ()) if alone else ():
        yield "the disk", float(disk.get("util") or 0)
    for job in report.get("jobs") or ():
        yield "fio's processor", float(job.get("usr_cpu") or 0) + float(job.get("sys_cpu") or 0)


# What the ratios decide ----------------------------------------------------------------------------------------------

#: Within this factor, a difference does not count.
SAME = 1.1
#: The normal quantile of a power of 80 %.
_POWER = 0.84
#: So many runs are too many to ask for, and so many are looked for.
MANY_RUNS, MOST_RUNS = 20, 999


@dataclass(frozen=True)
class Finding:
    """A ratio with what claims.json says of it. `logs` are those of its repetitions."""

    ratio: Ratio
    estimate: float
    low: float | None
    high: float | None
    n: int
    logs: tuple[float, ...]
    is_settled: bool

    @property
    def is_same(self) -> bool:
        """Whether the whole interval is so close to 1 that the difference does not count."""
        return self.low is not None and self.low >= 1 / SAME and self.high <= SAME

    @property
    def is_better(self) -> bool:
        """Whether the side above the line is ahead."""
        return (self.estimate > 1) != (self.ratio.metric.better == "lower")

    @property
    def width(self) -> float:
        """How wide the interval is, as a logarithm; 0 without one."""
        return math.log(self.high / self.low) if self.low else 0.0

    @property
    def runs_needed(self) -> int | None:
        """The runs that would settle a difference of 10 % with a power of 80 %; None without a spread."""
        if len(self.logs) < 2:
            return None
        spread = stdev(self.logs)
        enough = (n for n in range(2, MOST_RUNS) if (t_quantile(n) + _POWER) * spread / math.sqrt(n) <= math.log(SAME))
        return next(enough, MOST_RUNS)


def claims_document(told: Told, ratios: Iterable[Ratio], *, paired: bool) -> dict[str, Any]:
    """Return config/claims.yaml: a claim for each metric or walk, with a condition for each ratio: it is exactly 1.

    A condition that is refuted, after Holm's correction over its claim, is a difference that is settled. `paired`:
    whether the runs of variants at a point were neighbours in time.
    """
    by_claim: dict[str, list[Ratio]] = {}
    for ratio in ratios:
        by_claim.setdefault(ratio.claim, []).append(ratio)
    return {
        "sources": {SOURCE: "The data of this talk"},
        "claims": [
            {
                "id": claim,
                "sentence": f"{several[0].metric.title}: the same on both sides of each of these ratios.",
                "source": SOURCE,
                "ours": "made from the data set, to say where a difference is settled",
                "experiment": told.name,
                "metric": several[0].metric.column,
                "presupposes_nothing": "it says only what these runs show, whatever limited them",
                "conditions": [
                    {
                        "name": ratio.name,
                        "says": re.sub(r"[{}]", " ", f"{ratio.metric.title}, {ratio.label}"),
                        **({} if ratio.metric == several[0].metric else {"metric": ratio.metric.column}),
                        **({} if paired or ratio.over["variant"] == ratio.under["variant"] else {"independent": True}),
                        "over": dict(ratio.over),
                        "under": dict(ratio.under),
                        "between": [1, 1],
                    }
                    for ratio in several
                ],
            }
            for claim, several in by_claim.items()
        ],
    }


def findings_of(document: Mapping[str, Any], ratios: Iterable[Ratio]) -> list[Finding]:
    """Return what claims.json says of ratios, without those that no block has."""
    findings = []
    for ratio in ratios:
        judged = document["claims"][ratio.claim]["conditions"][ratio.name]
        if judged["estimate"] is not None:
            logs = tuple(math.log(value) for value in judged["blocks"].values())
            settled = judged["verdict"] == REFUTED
            findings.append(
                Finding(ratio, judged["estimate"], judged["low"], judged["high"], judged["n"], logs, settled)
            )
    return findings


@dataclass(frozen=True)
class Plan:
    """What the talk says: its comparisons by metric, and its walks, each with what its ratios are."""

    told: Told
    sense: Sense
    manifest: Mapping[str, Any]
    rate: Metric
    tail: Metric | None
    compared: Mapping[str, Sequence[Finding]]
    walks: Sequence[tuple[Walk, Sequence[Finding]]]

    @property
    def findings(self) -> list[Finding]:
        """All comparisons, those of the rate first."""
        return [ratio for several in self.compared.values() for ratio in several]
