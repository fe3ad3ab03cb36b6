"""What the figures decide, in titles: which answer the comparisons give, what each metric says, what would settle more.

A title counts points or names them; none is about a mean over them. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay.base.stats import median, t_quantile
from replay.exchange.sides import Metric
from replay.exchange.talk_points import (
    KIND_FACTORS,
    SOURCE,
    Told,
    counted,
    first_upper,
    sourced,
)
from replay.exchange.talk_ratios import Ratio, Walk
from replay.exchange.talk_sense import RATE, TAILS, Sense

#: Within this factor, a difference does not count.
SAME = 1.1
#: The normal quantile of a power of 80 %.
_POWER = 0.84
#: So many runs are too many to ask for, and so many are looked for.
MANY_RUNS, _MOST_RUNS = 20, 999
_REFUTED = "refuted"


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
        if self.n < 2:
            return None
        mean = math.fsum(self.logs) / self.n
        spread = math.sqrt(math.fsum((one - mean) ** 2 for one in self.logs) / (self.n - 1))
        enough = (n for n in range(2, _MOST_RUNS) if (t_quantile(n) + _POWER) * spread / math.sqrt(n) <= math.log(SAME))
        return next(enough, _MOST_RUNS)


def findings_of(document: Mapping[str, Any], ratios: Iterable[Ratio]) -> list[Finding]:
    """Return what claims.json says of ratios, without those that no block has."""
    found = []
    for one in ratios:
        said = document["claims"][one.claim]["conditions"][one.name]
        if said["estimate"] is not None:
            logs = tuple(math.log(value) for value in said["blocks"].values())
            settled = said["verdict"] == _REFUTED
            found.append(Finding(one, said["estimate"], said["low"], said["high"], said["n"], logs, settled))
    return found


# The answer ----------------------------------------------------------------------------------------------------------


def answer(findings: Sequence[Finding], told: Told) -> tuple[str, str]:
    """Return the title of the answer and its second line, by the first rule that applies."""
    settled = [one for one in findings if one.is_settled]
    widest = max(findings, key=lambda one: (one.ratio.metric.better == "higher", one.width))
    rate = [one for one in findings if one.ratio.metric == findings[0].ratio.metric]
    furthest = max(rate, key=lambda one: abs(math.log(one.estimate)))
    n = max(one.n for one in findings)
    if n == 1:
        apart = f"{first_upper(furthest.ratio.point.phrase)}: <em>{furthest.ratio.bound()}</em>, by chance or not."
        return "One run each: figures, and no answer.", apart
    if 4 * sum(one.is_same for one in findings) >= 3 * len(findings):
        return f"No difference that counts: within {sourced('10 %')}.", ""
    if len(told.variants) > 2:
        title = f"{first_upper(counted(len(settled)))} of {counted(len(findings))} comparisons are settled."
        return title, _widest(widest)
    if 2 * len(settled) >= len(findings) and len({(one.ratio.metric.name, one.is_better) for one in settled}) == len(
        {one.ratio.metric.name for one in settled}
    ):
        return _one_way(settled, told), ""
    if 4 * len(settled) >= len(findings) and (parted := _parted(settled, told)):
        return parted, ""
    return f"Neither, as far as {counted(n)} runs can tell.", _widest(widest)


def _widest(one: Finding) -> str:
    return (
        f"{first_upper(one.ratio.point.phrase)}: anywhere from <em>{one.ratio.bound('low')}</em> "
        f"to <em>{one.ratio.bound('high')}</em>."
    )


def _one_way(settled: Sequence[Finding], told: Told) -> str:
    """Return the title where all that is settled of a metric goes one way: from the smallest ratio to the largest."""
    leading = [one for one in settled if one.ratio.metric == settled[0].ratio.metric]
    least, most = (edge(leading, key=lambda one: one.estimate) for edge in (min, max))
    is_one = f"{least.estimate:.2g}" == f"{most.estimate:.2g}"
    range_ = least.ratio.bound() if is_one else f"{least.ratio.bound()} to {most.ratio.bound()}"
    what = subject_of(settled[0].ratio.metric)
    tails = [one for one in settled if one.ratio.metric != settled[0].ratio.metric]
    more = f", and {'shorter' if tails[0].is_better else 'longer'} tails" if tails else ""
    return f"{told.label(told.variants[1])}: <em>{range_}</em> the {what if what.isupper() else what.lower()}{more}."


def _parted(settled: Sequence[Finding], told: Told) -> str | None:
    """Return the title where the levels of one factor part who is ahead; None if none does."""
    for factor in told.entry["factors"]:
        sides: dict[Any, set[bool]] = {}
        kinds: dict[Any, str] = {}
        for one in settled:
            level = one.ratio.point.levels[factor]
            sides.setdefault(level, set()).add(one.is_better)
            kinds[level] = one.ratio.point.kind if factor in KIND_FACTORS else told.words_of(factor, level)
        if set(map(len, sides.values())) == {1} and len(set.union(*sides.values())) == 2:
            ahead = " and ".join(kinds[level] for level, side in sides.items() if True in side)
            return f"{told.label(told.variants[1])} for {ahead}, {told.label(told.variants[0])} for the rest."
    return None


def not_the_same_question(told: Told) -> str:
    """Return the title where variants share no point: what they had in flight, if that differs."""
    levels = {}
    for variant in told.variants[:2]:
        depths = {point.levels.get("io_depth") for point in told.points if (variant.name, point.name) in told.runs}
        levels[variant] = depths.pop() if len(depths) == 1 else None
    first, other = levels
    if levels[first] != levels[other] and None not in levels.values():
        depths = [told.level("io_depth", levels[one]) for one in (first, other)]
        return f"{told.label(first)} had {depths[0]} in flight, {told.label(other)} {depths[1]}: not the same question."
    return f"{told.label(first)} and {told.label(other)} had no load in common: nothing to compare."


# One metric ----------------------------------------------------------------------------------------------------------


def subject_of(metric: Metric) -> str:
    """Return what a title is about: a metric's name, or what its percentile says in words."""
    return next((sourced(text) for name, _, text in TAILS if name == metric.name), sourced(metric.title)
                if any(map(str.isdigit, metric.title)) else metric.title)  # fmt: skip


def title_of(findings: Sequence[Finding], told: Told) -> str:
    """Return the title of a metric: how many points are settled, and which, or who is ahead in how many."""
    settled = [one for one in findings if one.is_settled]
    subject, all_of = subject_of(findings[0].ratio.metric), counted(len(findings))
    if len(findings) == 1:
        head = f"{subject}: {'settled' if settled else 'not settled'}"
    else:
        head = f"{subject}: {counted(len(settled))} of {all_of} {'are' if len(settled) > 1 else 'is'} settled"
    if not settled:
        return f"{head}."
    ways = {one.is_better for one in settled}
    if len(settled) <= 2:
        disagree = ", and they disagree" if len(ways) == 2 else ""
        figures = [f"{one.ratio.point.phrase}: <em>{one.ratio.bound()}</em>" for one in settled]
        return f"{head}{disagree}.<br>{first_upper('; '.join(figures))}."
    if len(told.variants) > 2:
        return f"{head}."
    ahead = sum(one.is_better for one in settled)
    behind = counted(len(settled) - ahead)
    return f"{subject}: {told.label(told.variants[1])} is ahead in {counted(ahead)} of {all_of}, behind in {behind}."


def title_of_walk(walk: Walk, findings: Sequence[Finding]) -> str:
    """Return the title of a walk: what its ends do, or from where on a load brings more waiting than work."""
    by_name = {one.ratio.name: one.estimate for one in findings}
    (work, waiting), steps = [*walk.to_last.values()], [*walk.steps.values()]
    beyond = (at for at, (one, other) in enumerate(zip(*steps, strict=True)) if by_name[other.name] > by_name[one.name])
    knee = next(beyond, None) if walk.name == "curve" else None
    start = knee or 0
    what = "bytes" if walk.name == "sizes" else "wait"
    kind = walk.cells[0].point.kind
    figures = f"<em>{work[start].bound()}</em> the {kind}, <em>{waiting[start].bound()}</em> the {what}"
    first, last = walk.cells[start].place, walk.cells[-1].place
    if knee is not None:
        return f"Past {first}{walk.unit}, you buy more waiting than work.<br>Up to {last}: {figures}."
    return f"From {first} to {last}{walk.unit}: {figures}."


# What next -----------------------------------------------------------------------------------------------------------


def next_step(findings: Sequence[Finding], sense: Sense, *, is_full: bool) -> str:
    """Return the title of the last slide: the first thing that would make the answer better."""
    needed = [(runs, one) for one in findings if not one.is_settled and (runs := one.runs_needed) is not None]
    if not is_full:
        return "Fill the queue first."
    if sense.runs == 1:
        return f"Run it {sourced('five')} times."
    if not findings:
        return "Change one thing, and compare."
    if needed and median([runs for runs, _ in needed]) > MANY_RUNS:
        return "Longer runs, not more of them."
    further = [(runs - one.n, one) for runs, one in needed if runs > one.n]
    if further:
        more, closest = min(further, key=lambda pair: pair[0])
        runs = "run settles" if more == 1 else "runs settle"
        return f"{first_upper(sourced(str(more), SOURCE))} more {runs} {closest.ratio.point.phrase}."
    return "Settled here. Is it so on your machine?"


def needs(findings: Sequence[Finding]) -> tuple[str, str] | None:
    """Return how many runs would settle the open rates, by kind: the figure of the most, and a sentence."""
    by_kind: dict[str, list[int]] = {}
    for one in findings:
        if one.ratio.metric.column == RATE and not one.is_settled and one.runs_needed is not None:
            by_kind.setdefault(one.ratio.point.kind, []).append(one.runs_needed)
    if not by_kind:
        return None
    ranges = {kind: _range(numbers) for kind, numbers in by_kind.items()}
    most = max(by_kind, key=lambda kind: max(by_kind[kind]))
    others = "".join(f" For {kind}: {sourced(text, SOURCE)}." for kind, text in ranges.items() if kind != most)
    return ranges[most], f"runs like these would settle {sourced('10 %')} of {most}.{others}"


def _range(numbers: Sequence[int]) -> str:
    texts = [f"over {one - 1}" if one == _MOST_RUNS else str(one) for one in (min(numbers), max(numbers))]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)
