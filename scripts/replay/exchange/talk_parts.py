"""The parts of the slides of a new talk: their titles, which say what the figures decide; pictures; lines. Pure.

A title counts points or names them; none is about a mean over them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from replay.base.stats import median
from replay.exchange.sides import Metric
from replay.exchange.talk_points import (
    KIND_FACTORS,
    SIZES,
    SOURCE,
    Point,
    Told,
    Walk,
    bound,
    counted,
    first_upper,
    sourced,
)
from replay.exchange.talk_sense import MANY_RUNS, MOST_RUNS, RATE, TAILS, Finding, Plan, Sense

# Titles: the answer --------------------------------------------------------------------------------------------------


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
    texts = [f"over {one - 1}" if one == MOST_RUNS else str(one) for one in (min(numbers), max(numbers))]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


# Pictures ------------------------------------------------------------------------------------------------------------

#: As many as are legible: panels, places of an axis in a panel, rows of a picture, marks in a row.
PANELS, PLACES, ROWS, MARKS = 2, 4, 24, 12


def rows_of(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Return the ratios that a picture has room for: of too many, only those that are settled, if any is."""
    if len(findings) <= ROWS:
        return findings
    return ([one for one in findings if one.is_settled] or findings)[:ROWS]


def forest(plan: Plan, findings: Sequence[Finding]) -> str:
    """Return a picture of ratios with their intervals, a row each, filled if it is settled."""
    rows = rows_of(findings)
    drawn = " | ".join(f"{one.ratio.label} = {one.ratio.claim}.{one.ratio.name}" for one in rows)
    filled = " | ".join(one.ratio.label for one in rows if one.is_settled) or "none"
    return (
        f'<canvas data-chart="forest" data-chart-src="benchmarks/{plan.told.data_set}/claims.json" '
        f'data-chart-claims="{escape(drawn)}" data-chart-emphasis="{escape(filled)}" data-chart-judged="false" '
        'data-chart-line-name="the same"></canvas>'
    )


def panels(plan: Plan, wanted: Iterable[tuple[str, Point]], titles: Mapping[str, str] | None = None) -> str:
    """Return charts of medians and ranges, a row for each variant: the first that there are of these metrics at points.

    `titles` are headings by metric; without one, a chart is headed by what the operations were.
    """
    told = plan.told
    charts = {chart: (name, point) for name, point in wanted if (chart := told.chart(name, point))}
    chosen = [name for name in told.entry["charts"] if name in [*charts][:PANELS]]
    headings = [(titles or {}).get(charts[name][0]) or _heading(told, name, charts[name][1]) for name in chosen]
    places = [*told.entry["factors"].get(told.axis, ())]
    if len(places) > PLACES:
        places = [places[round(at * (len(places) - 1) / (PLACES - 1))] for at in range(PLACES)]
    at = f' data-chart-at="{" | ".join(map(str, places))}"' if places else ""
    more = f'{at} data-chart-y-scale="logarithmic"'
    return side_by_side(
        (heading, canvas(told, "forest", name, more)) for heading, name in zip(headings, chosen, strict=True)
    )


def _heading(told: Told, chart: str, point: Point) -> str:
    told_apart = [told.words_of(factor, level) for factor, level in told.entry["charts"][chart]["workload"].items()
                  if factor not in (*KIND_FACTORS, *SIZES) and len(told.entry["factors"][factor]) > 1]  # fmt: skip
    return ", ".join([first_upper(point.kind), *told_apart])


def side_by_side(charts: Iterable[tuple[str, str]]) -> str:
    """Return charts beside each other, each with its heading; "" for none."""
    rows = [f'<div class="panel"><h3>{heading}</h3>{one}</div>' for heading, one in charts]
    return "\n".join(['<div class="panels">', *rows, "</div>"]) if rows else ""


def canvas(told: Told, kind: str, chart: str, more: str = "") -> str:
    """Return a chart of the experiment."""
    return f'<canvas data-chart="{kind}" data-chart-src="{file(told, chart)}"{more}></canvas>'


def file(told: Told, chart: str) -> str:
    """Return the address of a chart's table."""
    return f"benchmarks/{told.data_set}/{told.name}/aggregate/{chart}.csv"


def marks(points: Sequence[Point]) -> str:
    """Return a drawing of a hollow mark for each load: circles for reads, squares for writes, a row for each kind.

    A phone shows the second one, in which the marks of a kind are below each other.
    """
    rows: dict[str, list[Point]] = {}
    for point in points:
        rows.setdefault(point.kind, []).append(point)
    wide, narrow, down = [], [], 0
    for row, (kind, several) in enumerate([*rows.items()][:2]):
        y = 40 + 90 * row
        labels = [point.label.removeprefix(kind).strip(" ,") for point in several[:MARKS]]
        needed = 60 + 11 * max(map(len, labels))
        step = min(needed, 860 // len(labels))
        wide.append(f'<text class="name" x="0" y="{y + 8}">{kind}</text>')
        narrow.append(f'<text class="name" x="0" y="{down + 20}">{kind}</text>')
        for at, label in enumerate(labels):
            wide.append(_mark(kind, 260 + at * step, y, 14, label if step == needed else ""))
            narrow.append(_mark(kind, 12, down + 44 + 30 * at, 9, label))
        down += 50 + 30 * len(labels)
    label = "A hollow mark for each load: circles for reads, squares for writes"
    svgs = [
        f'<svg viewBox="0 0 1136 {90 * min(2, len(rows))}">{"".join(wide)}</svg>',
        f'<svg class="narrow" viewBox="0 0 350 {down}">{"".join(narrow)}</svg>',
    ]
    return f'<div class="drawing" role="img" aria-label="{label}" data-source="definition">{"".join(svgs)}</div>'


def _mark(kind: str, x: int, y: int, radius: int, label: str) -> str:
    shape = (
        f'<rect class="flow" x="{x - radius}" y="{y - radius}" width="{2 * radius}" height="{2 * radius}"/>'
        if "writes" in kind
        else f'<circle class="flow" cx="{x}" cy="{y}" r="{radius + 1}"/>'
    )
    return f'{shape}<text class="detail" x="{x + radius + 8}" y="{y + 7}">{escape(label)}</text>'


# Lines ---------------------------------------------------------------------------------------------------------------


def measure(plan: Plan, text: str) -> str:
    """Return the line below a title."""
    cache = ", through the page cache" if plan.sense.cached else ""
    return f'<p class="measure">{text}{cache}</p>'


def busy(plan: Plan, findings: Sequence[Finding]) -> str:
    """Return the line below a picture that says what was full where something is settled; "" if nothing was."""
    found: dict[str, list[tuple[float, str]]] = {}
    for one in findings:
        full = [plan.sense.busy.get((variant.name, one.ratio.point.name)) for variant in plan.told.variants]
        if one.is_settled and None not in full:
            what, share = min(full, key=lambda pair: pair[1])
            found.setdefault(what, []).append((share, one.ratio.point.phrase))
    texts = []
    for what, points in found.items():
        share = sourced(f"{min(points)[0]:.0f} %", SOURCE)
        texts.append(f"{what} was {share} busy or more at {', '.join(text for _, text in points)}")
    return f'<p class="source">{first_upper("; ".join(texts))}</p>' if texts else ""


def differences(told: Told) -> Iterable[tuple[str, str]]:
    """Yield the options that differ between the variants, with the value of each."""
    options = [told.experiment.options.get(one.name, {}) for one in told.variants]
    for name in dict.fromkeys(key for one in options for key in one):
        values = [one.get(name, "not stated") for one in options]
        if len(set(values)) > 1:
            texts = [f"{sourced(text)} with {told.label(one)}" for text, one in zip(values, told.variants, strict=True)]
            yield f"<code>{escape(name)}</code> differs", ", ".join(texts)


def fixed(plan: Plan) -> str:
    """Return what was in flight, if it is the same at all points."""
    levels = plan.told.entry["factors"].get("io_depth", ())
    is_one = len(levels) == 1 and isinstance(levels[0], int)
    return f", {plan.told.words_of('io_depth', levels[0])}" if is_one else ""


def measured_with(plan: Plan) -> str:
    """Return when and with what it was measured, and how."""
    manifest, design = plan.manifest, f"design.{plan.told.name}"
    parameters = plan.told.entry["parameters"]
    parts = [f"measured {bound('manifest.measured')}"] if manifest.get("measured_from") else []
    parts += [bound("manifest.setup.tool_versions")] if (manifest.get("setup") or {}).get("tool_versions") else []
    parts += [fixed(plan).removeprefix(", ")] if fixed(plan) else []
    parts += ["through the page cache" if plan.sense.cached else "direct"] if "direct" in parameters else []
    parts += [f"a file of {bound(f'{design}.size')}"] if "size" in parameters else []
    differing = [f"<code>{escape(name)}</code>" for name in plan.sense.differing]
    parts += [f"what differs: {', '.join(differing[:3])}"] if differing else []
    return first_upper(" · ".join(parts)) or bound("manifest.label")
