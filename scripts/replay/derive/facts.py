"""The facts of a cell that a claim may presuppose, what evidence says of them, and predicates on them. Pure.

docs/data-formats.md explains each fact, and names the part of the evidence that states it. A fact is empty if the
evidence does not: data sets that were measured before it was recorded lack it.
"""

from __future__ import annotations

import math
import operator
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.paths import suggestion
from replay.derive.computed import of_whole_run
from replay.evidence.record import FACTS_OF_MACHINES, STEADY, UNSEEN_MACHINES, Bottleneck, busy_fractions
from replay.tools.cell_logs import Steps, moments, progress, read_samples, snapshots_taken


class FactType(Enum):
    """The kind of values that a fact has, and so how several runs of one cell are judged together.

    For fractions, ratios and seconds, the median of the runs counts. A count must be right in every run, and a word in
    more than half of them.
    """

    FRACTION = "fraction"
    RATIO = "ratio"
    SECONDS = "seconds"
    COUNT = "count"
    WORD = "word"


@dataclass(frozen=True)
class Fact:
    """One fact: its name, which is also its column in tidy.csv, and its type.

    `noun` names it in a sentence. `words` are the values of a fact of type WORD.
    """

    name: str
    type: FactType
    noun: str
    words: tuple[str, ...] = ()

    @property
    def unrecorded(self) -> str:
        """What is missing where the evidence does not state the fact, and what adds it; empty if nobody can add it."""
        return UNSEEN_MACHINES if self.name in FACTS_OF_MACHINES else ""


#: By name.
FACTS = {
    fact.name: fact
    for fact in (
        Fact("idle_cpu_fraction", FactType.FRACTION, "the idle share of the CPU"),
        Fact("limiter", FactType.WORD, "what limited the cell", ("cpu", "disk", "network", "none")),
        Fact("load_seconds", FactType.SECONDS, "the length of the load"),
        Fact("offered_share_met", FactType.FRACTION, "the share of the offered load that was met"),
        Fact("replayed_fraction_during_cell", FactType.FRACTION, "the share that was replayed while the client wrote"),
        Fact("poll_ages_in_cell", FactType.RATIO, "the number of poll ages in the cell"),
        Fact("offered_to_replay_ratio", FactType.RATIO, "the offered load over the daemon's own rate of replay"),
        Fact("snapshots_taken_in_cell", FactType.COUNT, "the number of snapshots taken in the cell"),
        Fact("snapshots_synced_in_cell", FactType.COUNT, "the number of snapshots copied within the cell"),
        Fact("snapshot_intervals_in_cell", FactType.RATIO, "the number of snapshot intervals in the cell"),
        Fact("snapshot_distance_median_seconds", FactType.SECONDS, "the median distance between snapshots"),
        Fact("snapshot_distance_longest_seconds", FactType.SECONDS, "the longest distance between snapshots"),
        Fact("longest_gap_seconds", FactType.SECONDS, "the longest time in which nothing was acknowledged"),
        Fact("daemons_stopped", FactType.COUNT, "the number of daemons stopped at the loss"),
        Fact("machine_cpu_seconds_per_operation", FactType.SECONDS, "the CPU time per operation"),
        Fact("machine_cpu_seconds_per_byte", FactType.SECONDS, "the CPU time per byte"),
    )
}

#: These stand in the sidecar under the same name.
_RECORDED = (
    "snapshot_distance_median_seconds",
    "snapshot_distance_longest_seconds",
    "longest_gap_seconds",
    "daemons_stopped",
)
_IMAGE = "image-1"

Value = float | str


def lower_bound_of(metric: str) -> str:
    """Return the column of a metric's lower bound: tools give one for what is beyond their last bin."""
    return f"{metric.removesuffix('_seconds')}_at_least_seconds"


def facts_of(
    sidecar: Mapping[str, Any], outputs: Mapping[str, str], metrics: Mapping[str, float], bottleneck: Bottleneck
) -> dict[str, Value]:
    """Return a valid cell's facts, from its sidecar, its tool's files by role, its metrics, and its bottleneck.

    Units are those of FACTS. What is not known is left out. Raises OutputError if samples are malformed.
    """
    facts: dict[str, Value | None] = {
        "idle_cpu_fraction": _idle_cpu(sidecar, bottleneck),
        "limiter": None if bottleneck.resource == "unknown" else bottleneck.resource,
        "load_seconds": metrics.get("duration_seconds"),
        "offered_share_met": metrics.get("offered_share_met"),
        "snapshots_taken_in_cell": metrics.get("snapshots_taken"),
        **{name: metrics.get(name) for name in _RECORDED},
        "snapshots_synced_in_cell": metrics.get("snapshots_copied_in_cell"),
        "poll_ages_in_cell": _quotient(metrics, "duration_seconds", "journal_poll_age_seconds"),
        "snapshot_intervals_in_cell": _quotient(metrics, "duration_seconds", "snapshot_interval_seconds"),
        "replayed_fraction_during_cell": _quotient(
            {**metrics, **of_whole_run(metrics)}, "replayed_bytes_in_cell", "bytes"
        ),
        **_cpu_costs(sidecar, metrics, bottleneck),
    }
    facts |= _over_time(sidecar, outputs)
    return {name: facts[name] for name in FACTS if facts.get(name) is not None}


def _quotient(metrics: Mapping[str, float], over: str, under: str) -> float | None:
    numerator, denominator = metrics.get(over), metrics.get(under)
    return None if numerator is None or not denominator else numerator / denominator


def _idle_cpu(sidecar: Mapping[str, Any], bottleneck: Bottleneck) -> float | None:
    """Return the idle share of the busiest machine; None if no machine with OSDs was observed."""
    samples, load = sidecar.get("samples") or {}, sidecar.get("load") or {}
    if bottleneck.over == STEADY:
        return samples["daemons"]["machine"]["cpu_idle_fraction"]
    if "prometheus" in samples:
        busy, _ = busy_fractions(samples["prometheus"])
        return 1 - max(busy) if busy else None
    return None if bottleneck.resource == "unknown" else load.get("cpu_idle_fraction")


def _cpu_costs(sidecar: Mapping[str, Any], metrics: Mapping[str, float], bottleneck: Bottleneck) -> dict[str, float]:
    """Return the CPU time per operation and per byte; empty unless the machine was sampled under the steady load."""
    cores = (sidecar.get("host") or {}).get("cores")
    if bottleneck.over != STEADY or not cores:
        return {}
    used = cores * (1 - sidecar["samples"]["daemons"]["machine"]["cpu_idle_fraction"])
    rates = {"operation": metrics.get("operations_per_second"), "byte": metrics.get("bytes_per_second")}
    return {f"machine_cpu_seconds_per_{unit}": used / rate for unit, rate in rates.items() if rate}


def _over_time(sidecar: Mapping[str, Any], outputs: Mapping[str, str]) -> dict[str, float]:
    """Return what the samples over time of a steady load say about replay; empty for other protocols.

    Raises OutputError if the samples are malformed, as the reader does.
    """
    if sidecar.get("tool") != "mirror-lag" or "counters" not in outputs:
        return {}
    rows, steps = read_samples(outputs["counters"], "counters"), Steps(outputs.get("steps", ""), "steps")
    write = steps.one("write")
    began, ended = steps.start(write), steps.end(write)
    levels = sidecar.get("levels") or {}
    if levels.get("mode") == "journal":
        return _replay_facts(progress(moments(rows, _IMAGE, "replay_bytes"), started_seconds=began), ended, levels)
    ids = [snapshot.number for snapshot in snapshots_taken(steps)]
    copied = [value for at, value in moments(rows, _IMAGE, "copied_snapshot_id") if began <= at <= ended]
    return {"snapshots_synced_in_cell": float(bisect_right(ids, max(copied, default=0)))}


def _replay_facts(replayed: list[tuple[float, float]], ended: float, levels: Mapping[str, Any]) -> dict[str, float]:
    if not replayed or replayed[-1][1] <= 0:
        return {}
    at_end = bisect_right(replayed, ended, key=lambda moment: moment[0])
    facts = {"replayed_fraction_during_cell": replayed[at_end - 1][1] / replayed[-1][1] if at_end else 0.0}
    # Only the time in which the counter advanced: a daemon that waits for its next look at the journal is not slow.
    moved = [(after - before, done - had) for (before, had), (after, done) in pairwise(replayed) if done > had]
    seconds = math.fsum(duration for duration, _ in moved)
    offered = levels.get("writes_per_second"), levels.get("io_size_bytes")
    if seconds > 0 and all(offered):
        facts["offered_to_replay_ratio"] = offered[0] * offered[1] / (math.fsum(done for _, done in moved) / seconds)
    return facts


#: Each comparison as a function, and in words.
_COMPARISONS: Mapping[str, tuple[Callable[[float | str, float | str], bool], str]] = {
    ">=": (operator.ge, "at least"),
    "<=": (operator.le, "at most"),
    "!=": (operator.ne, "anything but"),
    "=": (operator.eq, ""),
    ">": (operator.gt, "more than"),
    "<": (operator.lt, "less than"),
}
#: Which comparisons a type allows: words have no order, and two measured fractions are never equal.
_ALLOWED = {FactType.WORD: ("=", "!="), FactType.COUNT: tuple(_COMPARISONS)}
_OF_MEASURES = (">=", "<=", ">", "<")
_FORM = re.compile(r"\s*([a-z0-9_]+)\s*(>=|<=|!=|=|>|<)\s*(\S+)\s*")
_NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,4})?", re.ASCII)


@dataclass(frozen=True)
class Predicate:
    """A comparison of one fact with a value, in the fact's own unit."""

    fact: Fact
    comparison: str
    value: float | str

    def holds(self, value: float | str) -> bool:
        return _COMPARISONS[self.comparison][0](value, self.value)

    def text(self) -> str:
        """Return the predicate as config/claims.yaml writes it."""
        value = self.value
        if not isinstance(value, str):
            value = str(int(value)) if value.is_integer() else repr(value)
        return f"{self.fact.name} {self.comparison} {value}"

    def in_words(self) -> str:
        """Return what the fact must be, for people, such as `at least 25%`."""
        return f"{_COMPARISONS[self.comparison][1]} {_shown(self.fact, self.value, 15)}".strip()

    def found_in_words(self, value: float | str) -> str:
        """Return a value that was found, with enough digits to tell it from the required value."""
        asked = _shown(self.fact, self.value, 15)
        shown = [_shown(self.fact, value, digits) for digits in range(3, 16)]
        return next((text for text in shown if text != asked), shown[-1]) if value != self.value else asked


def parse_predicate(text: str, where: str) -> Predicate:
    """Return the predicate that `text` states. Raises ConfigurationError that names `where` and the mistake."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise ConfigurationError(
            f"{text!r} is not a predicate",
            where=where,
            next_step="write FACT COMPARISON VALUE, for example: idle_cpu_fraction >= 0.25",
        )
    name, comparison, value = match.groups()
    if name not in FACTS:
        raise ConfigurationError(
            f"{text!r}: there is no fact {name!r}", where=where, next_step=suggestion(name, list(FACTS))
        )
    fact = FACTS[name]
    allowed = _ALLOWED.get(fact.type, _OF_MEASURES)
    if comparison not in allowed:
        raise ConfigurationError(
            f"{text!r}: {comparison} does not compare a {fact.type.value}",
            where=where,
            next_step=f"use one of {' '.join(allowed)}",
        )
    return Predicate(fact, comparison, _value(fact, value, text, where))


def _value(fact: Fact, value: str, text: str, where: str) -> float | str:
    if fact.type is FactType.WORD:
        if value not in fact.words:
            raise ConfigurationError(
                f"{text!r}: {fact.name} is never {value!r}", where=where, next_step=f"one of {', '.join(fact.words)}"
            )
        return value
    number = float(value) if _NUMBER.fullmatch(value) else None
    if number is None or (fact.type is FactType.COUNT and not number.is_integer()):
        what = "a whole number" if fact.type is FactType.COUNT else "a number of 0 or more, such as 0.25"
        raise ConfigurationError(f"{text!r}: {value!r} is not {what}", where=where, next_step=f"write {what}")
    if fact.type is FactType.FRACTION and number > 1:
        raise ConfigurationError(f"{text!r}: a fraction is at most 1", where=where, next_step="0.25 is 25 per cent")
    return number


def _shown(fact: Fact, value: float | str, digits: int) -> str:
    if isinstance(value, str):
        return value
    if fact.type is FactType.FRACTION:
        return f"{100 * value:.{digits}g}%"
    return f"{value:.{digits}g} s" if fact.type is FactType.SECONDS else f"{value:.{digits}g}"
