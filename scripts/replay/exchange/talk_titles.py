"""The titles of a new talk, which say what the figures decide: the answer, a metric, a walk, what next. Pure.

A title counts points or names them; none is about a mean over them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from replay.base.stats import median
from replay.exchange.importing.arrange import DATE, KIND_FACTORS, VERSION
from replay.exchange.sides import RATE, Metric
from replay.exchange.talk_points import SOURCE, Told, Walk, counted, first_upper, said, sourced
from replay.exchange.talk_sense import MANY_RUNS, MOST_RUNS, TAILS, Finding, Plan, Sense

#: What the sides are called if this option alone differs, and otherwise.
ASKED = {"ioengine": "engine", "scheduler": "scheduler", "filename": "disk", "directory": "disk"}
VARIANT = "variant"
_OF_TAILS = {name for name, _, _ in TAILS}

# The answer ----------------------------------------------------------------------------------------------------------


def answer(plan: Plan) -> tuple[str, str]:
    """Return the title of the answer and its second line, by the first rule that applies."""
    findings, told = plan.findings, plan.told
    settled = _settled(findings)
    rate = [finding for finding in findings if finding.ratio.metric == findings[0].ratio.metric]
    furthest = max(rate, key=lambda finding: abs(math.log(finding.estimate)))
    n = max(finding.n for finding in findings)
    if n == 1:
        apart = f"{first_upper(named(furthest, told))}: <em>{furthest.ratio.bound()}</em>, by chance or not."
        return "One run each: figures, and no answer.", apart
    is_apart = any(not finding.is_same for finding in settled)
    if not is_apart and 4 * sum(finding.is_same for finding in findings) >= 3 * len(findings):
        return f"No difference that counts: within {sourced('10 %')}.", ""
    if len(told.variants) > 2:
        title = f"{first_upper(counted(len(settled)))} of {counted(len(findings))} comparisons {_are(settled)} settled."
        only = f"The only comparison is {'settled' if settled else 'not settled'}."
        return only if len(findings) == 1 else title, _spread_and_distance(plan, rate)
    go_one_way = all(len({each.is_better for each in _settled(several)}) < 2 for several in plan.compared.values())
    if 2 * len(settled) >= len(findings) and go_one_way:
        return _one_way(plan), ""
    if 4 * len(settled) >= len(findings) and (parted := _parted(findings, told)):
        return parted, ""
    return f"Neither, as far as {counted(n)} runs can tell.", _spread_and_distance(plan, rate)


def noun_of(told: Told) -> str:
    """Return what the sides are called: engine, or variant if more than one known option differs."""
    options = [name for name in told.differing if name not in (VERSION, DATE)]
    return ASKED.get(options[0], VARIANT) if len(options) == 1 else VARIANT


def _spread_and_distance(plan: Plan, rate: Sequence[Finding]) -> str:
    """Return how far the runs of one side are apart at most, and how far the medians of the sides."""
    spreads, distances = [], []
    for finding in rate:
        values = [
            [*plan.told.values(str(side["variant"]), finding.ratio.point, finding.ratio.metric.column).values()]
            for side in (finding.ratio.over, finding.ratio.under)
        ]
        spreads += [max(several) / min(several) for several in values]
        medians = [median(several) for several in values]
        distances.append(max(medians) / min(medians))
    noun = noun_of(plan.told)
    runs, sides = _times(max(spreads)), _times(max(distances))
    return f"One {noun}'s runs differ <em>{runs}</em>, the {noun}s <em>{sides}</em>."


def _times(ratio: float) -> str:
    digits = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}" if ratio >= 1.1 else f"{ratio:.3g}"
    return sourced(f"{digits}\N{MULTIPLICATION SIGN}", SOURCE)


def _one_way(plan: Plan) -> str:
    """Return the title where all that is settled of a metric goes one way: from the smallest ratio to the largest."""
    leading, *others = [several for several in plan.compared.values() if _settled(several)]
    least, most = (edge(_settled(leading), key=lambda finding: finding.estimate) for edge in (min, max))
    is_one = f"{least.estimate:.2g}" == f"{most.estimate:.2g}"
    range_ = least.ratio.bound() if is_one else f"{least.ratio.bound()} to {most.ratio.bound()}"
    metric = least.ratio.metric
    what = subject_of(metric) if metric.title.isupper() else subject_of(metric).lower()
    other = plan.told.label(plan.told.variants[1])
    title = f"{other}: <em>{range_}</em> {what if _is_tail(leading) else f'the {what}'}"
    tails = next(filter(_is_tail, others), [])
    more = f", and {'shorter' if _settled(tails)[0].is_better else 'longer'} tails{_at(tails)}" if tails else ""
    return f"{title}{_at(leading)}{more}."


def _is_tail(findings: Sequence[Finding]) -> bool:
    return findings[0].ratio.metric.name in _OF_TAILS


def _settled(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.is_settled]


def _at(findings: Sequence[Finding]) -> str:
    """Return at how many points a metric is settled, unless that is all of them."""
    settled = _settled(findings)
    return "" if len(settled) == len(findings) else f" at {counted(len(settled))} of {counted(len(findings))}"


def _are(settled: Sequence[Finding]) -> str:
    return "are" if len(settled) > 1 else "is"


def _parted(findings: Sequence[Finding], told: Told) -> str | None:
    """Return the title where the levels of one factor part who is ahead; None if none does."""
    settled = _settled(findings)
    for factor in told.entry["factors"]:
        sides: dict[Any, set[bool]] = {}
        kinds: dict[bool, dict[str, None]] = {True: {}, False: {}}
        for finding in settled:
            level = finding.ratio.point.levels[factor]
            sides.setdefault(level, set()).add(finding.is_better)
            kind = finding.ratio.point.kind if factor in KIND_FACTORS else told.words_of(factor, level)
            kinds[finding.is_better][kind] = None
        if set(map(len, sides.values())) == {1} and all(kinds.values()):
            ahead, behind = (" and ".join(kinds[way]) for way in (True, False))
            is_open = "" if len(settled) == len(findings) else "; the rest is open"
            return f"{told.label(told.variants[1])} for {ahead}, {told.label(told.variants[0])} for {behind}{is_open}."
    return None


def not_the_same_question(told: Told) -> str:
    """Return the title where variants share no point: what they had in flight, if that differs."""
    levels = {}
    for variant in told.variants[:2]:
        depths = {point.levels.get("io_depth") for point in told.points if (variant.name, point.name) in told.runs}
        levels[variant] = depths.pop() if len(depths) == 1 else None
    first, other = levels
    if levels[first] != levels[other] and None not in levels.values():
        depths = [told.level("io_depth", levels[variant]) for variant in (first, other)]
        return f"{told.label(first)} had {depths[0]} in flight, {told.label(other)} {depths[1]}: not the same question."
    return f"{told.label(first)} and {told.label(other)} had no load in common: nothing to compare."


# One metric ----------------------------------------------------------------------------------------------------------


def subject_of(metric: Metric) -> str:
    """Return what a title is about: a metric's name, or what its percentile says in words."""
    return next((sourced(text) for name, _, text in TAILS if name == metric.name), sourced(metric.title)
                if any(map(str.isdigit, metric.title)) else metric.title)  # fmt: skip


def named(finding: Finding, told: Told) -> str:
    """Return what a finding is about in a sentence: its point, and which variant if there are several."""
    phrase = finding.ratio.point.phrase
    if len(told.variants) == 2:
        return phrase
    variant = next(variant for variant in told.variants if variant.name == finding.ratio.over["variant"])
    return f"{told.label(variant)}, {phrase}"


def title_of(findings: Sequence[Finding], told: Told) -> str:
    """Return the title of a metric: how many points are settled, and which, or who is ahead in how many."""
    settled, several = _settled(findings), len(told.variants) > 2
    subject, all_of = subject_of(findings[0].ratio.metric), counted(len(findings))
    if len(findings) == 1:
        head = f"{subject}: {'settled' if settled else 'not settled'}"
    else:
        head = f"{subject}: {counted(len(settled))} of {all_of} {_are(settled)} settled"
    if not settled:
        return f"{head}."
    ways = {finding.is_better for finding in settled}
    if len(settled) <= 2:
        disagree = ", and they disagree" if len(ways) == 2 and not several else ""
        figures = [f"{named(finding, told)}: <em>{finding.ratio.bound()}</em>" for finding in settled]
        return f"{head}{disagree}.<br>{first_upper('; '.join(figures))}."
    if several:
        return f"{head}."
    ahead = sum(finding.is_better for finding in settled)
    behind = counted(len(settled) - ahead)
    return f"{subject}: {told.label(told.variants[1])} is ahead in {counted(ahead)} of {all_of}, behind in {behind}."


def knee_of(walk: Walk, findings: Sequence[Finding]) -> int | None:
    """Return the cell of a load from which on there is more waiting than work, as the kind `response` draws it.

    It has the most work for its waiting. None if that is the last one.
    """
    if walk.name not in ("curve", "clients"):
        return None
    by_name = {finding.ratio.name: finding.estimate for finding in findings}
    to_last = [by_name[work.name] / by_name[waiting.name] for work, waiting in zip(*walk.to_last.values(), strict=True)]
    least = min(to_last)
    return to_last.index(least) if least < 1 else None


def title_of_walk(walk: Walk, findings: Sequence[Finding], tail: Metric | None) -> str:
    """Return the title of a walk: what its ends do, or from where on a load brings more waiting than work."""
    ratios, other = walk.to_last.values()
    knee = knee_of(walk, findings)
    start = knee or 0
    first, last = walk.cells[start].place, walk.cells[-1].place
    over, under = ratios[start].bound(), other[start].bound()
    if walk.name == "tail" and tail:
        typical = "typical" if ratios[0].metric.name.endswith("p50") else "mean"
        figures = f"<em>{over}</em> the {typical} wait,<br><em>{under}</em> that of {subject_of(tail).lower()}"
        return f"{first_upper(walk.kind)} from {first} to {last}{walk.unit}: {figures}."
    figures = f"<em>{over}</em> the {walk.kind}, <em>{under}</em> the {'bytes' if walk.name == 'sizes' else 'wait'}"
    if knee is not None:
        load = said(walk.axis, walk.cells[start].point.levels[walk.axis], first)
        return f"Past {load}, you buy more waiting than work.<br>Up to {last}: {figures}."
    return f"From {first} to {last}{walk.unit}: {figures}."


def title_of_turn(walk: Walk, settled: Sequence[Finding], told: Told) -> str:
    """Return the title of a walk on which one side is ahead here, and the other there."""
    places = {
        is_ahead: " and ".join(
            told.words_of(walk.axis, finding.ratio.point.levels[walk.axis])
            for finding in settled
            if finding.is_better is is_ahead
        )
        for is_ahead in (True, False)
    }
    first, other = told.variants[:2]
    ahead = f"{told.label(other)} is ahead at {places[True]}, {told.label(first)} at {places[False]}"
    return f"{first_upper(walk.kind)}: {ahead}."


def settled_on(walk: Walk, plan: Plan) -> list[Finding]:
    """Return what is settled of the rate at the points of a walk."""
    names = {cell.point.name for cell in walk.cells}
    return [
        finding for finding in plan.findings
        if finding.is_settled and finding.ratio.metric == plan.rate and finding.ratio.point.name in names
    ]  # fmt: skip


def carries(walk: Walk, plan: Plan) -> bool:
    """Return whether a walk shows a finding that ratios do not: a load, where they are settled; sizes that disagree."""
    settled = settled_on(walk, plan)
    return len({finding.is_better for finding in settled}) == 2 if walk.name == "sizes" else bool(settled)


# What next -----------------------------------------------------------------------------------------------------------


def next_step(findings: Sequence[Finding], sense: Sense, *, is_full: bool) -> str:
    """Return the title of the last slide: the first thing that would make the answer better."""
    needed = [
        (runs, finding) for finding in findings if not finding.is_settled and (runs := finding.runs_needed) is not None
    ]
    if not is_full:
        return "Fill the queue first."
    if sense.runs == 1:
        return f"Run it {sourced('five')} times."
    if not findings:
        return "Change one thing, and compare."
    if needed and median([runs for runs, _ in needed]) > MANY_RUNS:
        return "Longer runs, not more of them."
    further = [(runs - finding.n, finding) for runs, finding in needed if runs > finding.n]
    if further:
        more, closest = min(further, key=lambda pair: pair[0])
        runs = f"{sourced(str(more), SOURCE)} more {'run' if more == 1 else 'runs'}"
        return f"{runs} would probably settle a difference of {sourced('10 %')} in {closest.ratio.point.phrase}."
    return "Settled here. Is it so on your machine?"


def needs(findings: Sequence[Finding]) -> tuple[str, str] | None:
    """Return how many runs would settle the open rates, by kind: the figure of the most, and a sentence."""
    by_kind: dict[str, list[int]] = {}
    for finding in findings:
        if finding.ratio.metric.column == RATE and not finding.is_settled and finding.runs_needed is not None:
            by_kind.setdefault(finding.ratio.point.kind, []).append(finding.runs_needed)
    if not by_kind:
        return None
    ranges = {kind: _range(numbers) for kind, numbers in by_kind.items()}
    most = max(by_kind, key=lambda kind: max(by_kind[kind]))
    others = "".join(f" For {kind}: {sourced(text, SOURCE)}." for kind, text in ranges.items() if kind != most)
    settle = f"runs like these would probably settle a difference of {sourced('10 %')} in {most}"
    return ranges[most], f"{settle}.{others}"


def _range(numbers: Sequence[int]) -> str:
    texts = [f"over {number - 1}" if number == MOST_RUNS else str(number) for number in (min(numbers), max(numbers))]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)
