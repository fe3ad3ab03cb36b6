"""A slide of a new talk, and its parts: pictures, and lines above and below them; the slides of walks. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from replay.base.stats import median
from replay.exchange.importing.arrange import DATE, KIND_FACTORS, LOADS, SIZES, VERSION
from replay.exchange.page import shortened
from replay.exchange.talk_points import (
    SOURCE,
    Drawn,
    Point,
    Told,
    Walk,
    axis_of,
    bound,
    first_upper,
    sourced,
)
from replay.exchange.talk_sense import SAME, Finding, Plan
from replay.exchange.talk_titles import carries, settled_on, title_of_turn, title_of_walk

#: How long a slide of a finding takes, and one of a walk, whose axes have to be told.
SECONDS, WALK_SECONDS = 45, 60


class Slide(NamedTuple):
    """A slide: its id, how long it takes, its body, its note, what only the speaker can say, attributes.

    The parts of the body have a blank line between them; an empty one is left out.
    """

    name: str
    seconds: int
    body: Sequence[str]
    note: str
    yours: str = ""
    more: str = ""
    in_appendix: bool = False

    @property
    def text(self) -> str:
        """Its Markdown."""
        uncounted = ' data-visibility="uncounted"' if self.in_appendix else ""
        head = f'<!-- .slide: id="{self.name}" data-timing="{self.seconds}"{self.more}{uncounted} -->'
        yours = ["", f"(yours: {self.yours})"] if self.yours else []
        body = "\n\n".join(filter(None, self.body))
        return "\n".join([head, body, "", "<!-- Note -->", self.note, *yours])


# Pictures ------------------------------------------------------------------------------------------------------------

#: As many as are legible: panels, places of an axis in a panel, rows of a picture, marks in a row.
PANELS, PLACES, ROWS, MARKS = 2, 4, 24, 49
#: The most letters of an option's value in a line.
VALUE = 40
_LOGARITHMIC = ' data-chart-y-scale="logarithmic"'


def rows_of(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Return the ratios that a picture has room for: of too many, only those that are settled, if any is."""
    if len(findings) <= ROWS:
        return findings
    return ([finding for finding in findings if finding.is_settled] or findings)[:ROWS]


def forest(plan: Plan, findings: Sequence[Finding]) -> str:
    """Return a picture of ratios with their intervals, a row each, filled if it is settled."""
    rows = rows_of(findings)
    drawn = " | ".join(f"{row.ratio.label} = {row.ratio.claim}.{row.ratio.name}" for row in rows)
    filled = " | ".join(row.ratio.label for row in rows if row.is_settled) or "none"
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
    places = [*told.entry["factors"].get(axis_of(told.entry), ())]
    if len(places) > PLACES:
        places = [places[round(at * (len(places) - 1) / (PLACES - 1))] for at in range(PLACES)]
    at = f' data-chart-at="{" | ".join(map(str, places))}"' if places else ""
    canvases = [canvas(told, "forest", name, at + _LOGARITHMIC) for name in chosen]
    return side_by_side(zip(headings, canvases, strict=True))


def _heading(told: Told, chart: str, point: Point) -> str:
    told_apart = [told.words_of(factor, level) for factor, level in told.entry["charts"][chart]["workload"].items()
                  if factor not in (*KIND_FACTORS, *SIZES) and len(told.entry["factors"][factor]) > 1]  # fmt: skip
    return ", ".join([first_upper(point.kind), *told_apart])


def response(plan: Plan, work: Drawn, waiting: Drawn, kind: str, walk: Walk) -> str:
    """Return the curve of what waits against what is finished, along the loads of a walk."""
    more = f' data-chart-more="{file(plan.told, work.chart)}" data-chart-load-name="{walk.unit.strip()}"'
    more += f' data-chart-x-unit="{plan.rate.unit}" data-chart-x-title="{first_upper(kind)} a second"'
    more += f' data-chart-at="{" | ".join(cell.tag for cell in walk.cells)}"'
    return canvas(plan.told, "response", waiting.chart, more + _only(waiting))


def _line(told: Told, drawn: Drawn) -> str:
    return canvas(told, "line", drawn.chart, _only(drawn) + _LOGARITHMIC)


def _only(drawn: Drawn) -> str:
    """Return the option that shows one row of a chart whose series are no variants."""
    return f' data-chart-series="{escape(drawn.row)}"' if drawn.row else ""


def heat_maps(plan: Plan) -> dict[str, tuple[str, list[Point]]]:
    """Return the chart of the rate by what was in flight and how many sent it, with its points, by kind."""
    told, variant = plan.told, plan.told.variants[0]
    charts = {
        name: chart
        for name, chart in told.entry["charts"].items()
        if {chart.get("rows"), chart["x"].get("factor")} <= {*LOADS}
        and chart["metric"].startswith(f"{plan.rate.name}-by-")
    }
    maps: dict[str, tuple[str, list[Point]]] = {}
    for point in told.points:
        if not told.values(variant.name, point, plan.rate.column):
            continue
        is_here = (name for name, chart in charts.items() if chart["workload"].items() <= point.levels.items())
        if (chart := next(is_here, None)) and maps.setdefault(point.kind, (chart, []))[0] == chart:
            maps[point.kind][1].append(point)
    return maps


def side_by_side(charts: Iterable[tuple[str, str]]) -> str:
    """Return charts beside each other, each with its heading; "" for none."""
    rows = [f'<div class="panel"><h3>{heading}</h3>{chart}</div>' for heading, chart in charts]
    return "\n".join(['<div class="panels">', *rows, "</div>"]) if rows else ""


def canvas(told: Told, kind: str, chart: str, more: str = "") -> str:
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
        radius = min(14, 2 * step // 5)
        for at, label in enumerate(labels):
            wide.append(_mark(kind, 260 + at * step, y, radius, label if step == needed else ""))
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
    shares: dict[str, list[tuple[float, str]]] = {}
    for finding in findings:
        full = [plan.sense.busy.get((variant.name, finding.ratio.point.name)) for variant in plan.told.variants]
        # Only what was full on all sides may have bounded them all.
        if finding.is_settled and None not in full and len({what for what, _ in full}) == 1:
            what, share = min(full, key=lambda pair: pair[1])
            shares.setdefault(what, []).append((share, finding.ratio.point.phrase))
    texts = []
    for what, points in shares.items():
        share = sourced(f"{min(points)[0]:.0f} %", SOURCE)
        texts.append(f"{what} was {share} busy or more at {', '.join(text for _, text in points)}")
    return f'<p class="source">{first_upper("; ".join(texts))}</p>' if texts else ""


def differences(told: Told) -> Iterable[tuple[str, str]]:
    """Yield what differs between the variants, with the value of each."""
    for name, values in told.differing.items():
        texts = [
            f"{sourced(text)} with {told.label(variant)}" for text, variant in zip(values, told.variants, strict=True)
        ]
        yield f"<code>{escape(name)}</code> differs", ", ".join(texts)


def differing(told: Told, *, facts_only: bool = False) -> list[str]:
    """Return what differs between the variants, each with its values."""
    return [
        f"{name if name in (VERSION, DATE) else f'<code>{escape(name)}</code>'}: "
        + " or ".join(sourced(shortened(text, VALUE)) for text in dict.fromkeys(values))
        for name, values in told.differing.items()
        if name in (VERSION, DATE) or not facts_only
    ]


def fixed(plan: Plan) -> str:
    """Return what was in flight, if it is the same at all points."""
    levels = plan.told.entry["factors"].get("io_depth", ())
    is_one = len(levels) == 1 and isinstance(levels[0], int)
    return f", {plan.told.words_of('io_depth', levels[0])}" if is_one else ""


def measured_with(plan: Plan) -> str:
    """Return when and with what it was measured, and how: what differs comes first."""
    manifest, design = plan.manifest, f"design.{plan.told.name}"
    parameters = plan.told.entry["parameters"]
    parts = differing(plan.told)
    parts += [f"measured {bound('manifest.measured')}"] if manifest.get("measured_from") else []
    parts += [bound("manifest.setup.tool_versions")] if (manifest.get("setup") or {}).get("tool_versions") else []
    parts += [fixed(plan).removeprefix(", ")] if fixed(plan) else []
    parts += ["through the page cache" if plan.sense.cached else "direct"] if "direct" in parameters else []
    parts += [f"a file of {bound(f'{design}.size')}"] if "size" in parameters else []
    return first_upper(" · ".join(parts)) or bound("manifest.label")


# Slides of walks and of loads ----------------------------------------------------------------------------------------

#: What says which kind the operations are.
_OF_KIND = (*KIND_FACTORS, "rw_mix_read")


def walk_slide(plan: Plan, walk: Walk, findings: Sequence[Finding]) -> Slide:
    """Return the slide of a walk: what its ends do, drawn along it."""
    told, first, last = plan.told, walk.cells[0], walk.cells[-1]
    title = title_of_walk(walk, findings, plan.tail)
    where = ", ".join([told.label(first.variant), walk.kind, *(_fixed_on(walk, plan) if walk.axis else ())])
    if walk.name == "layers":
        picture = panels(plan, [(name, first.point) for name in walk.steps], _titles(plan, walk))
        where = f"{first.point.phrase}{fixed(plan)}"
        note = "Each layer lies on the one before, so it can only cost. Where is the largest step?"
    elif walk.name == "tail":
        picture = _tails(plan, walk)
        note = "Whoever sends many requests meets the slowest of them, again and again. This is how long they take."
    elif walk.name == "sizes":
        canvases = [_line(told, told.along(name, first.point, walk.axis)) for name in walk.steps]
        picture = side_by_side(zip(_titles(plan, walk).values(), canvases, strict=True))
        note = "Small requests count by their number, large ones by their bytes. Both pictures are of the same runs."
        if len(told.variants) == 2 and carries(walk, plan):
            title = title_of_turn(walk, settled_on(walk, plan), told)
    else:
        work, waiting = (told.along(name, first.point, walk.axis) for name in walk.steps)
        picture = response(plan, work, waiting, walk.kind, walk)
        note = "To the right is what it finishes, upwards how long each request waits. Each point has more in flight."
    note += f" It goes from {first.place} to {last.place}{walk.unit}."
    body = [f"## {title}", measure(plan, where), picture]
    return Slide(walk.claim, WALK_SECONDS, body, note, "where your own load is")


def _fixed_on(walk: Walk, plan: Plan) -> list[str]:
    """Return what is the same along a walk, though it varies elsewhere, and whether loads are left out."""
    factors = plan.told.entry["factors"]
    fixed = [
        plan.told.words_of(factor, level) for factor, level in walk.cells[0].point.levels.items()
        if factor not in (walk.axis, *_OF_KIND) and len(factors[factor]) > 1
    ]  # fmt: skip
    are_fewer = walk.axis not in SIZES and len(walk.cells) < len(factors[walk.axis])
    return [*fixed, "without loads that were not reached"] if are_fewer else fixed


def _titles(plan: Plan, walk: Walk) -> dict[str, str]:
    """Return the names of a walk's metrics, as headings."""
    named = {chart["metric"]: name for name, chart in plan.told.entry["charts"].items()}
    return {metric: plan.told.bound(f"charts.{named[metric]}.y.label") for metric in walk.steps}


def _tails(plan: Plan, walk: Walk) -> str:
    """Return a picture of the tail along a walk, for the first two kinds of operations."""
    told, by_kind, first = plan.told, {}, walk.cells[0].point
    same = [factor for factor in first.levels if factor not in _OF_KIND]
    for point in told.points:
        drawn = [told.along(metric.name, point, walk.axis) for metric in (plan.rate, plan.tail)]
        if all(drawn) and all(point.levels[factor] == first.levels[factor] for factor in same):
            if walk.axis in LOADS:
                by_kind[point.kind] = response(plan, *drawn, point.kind, walk)
            else:
                by_kind[point.kind] = _line(told, drawn[1])
    return side_by_side((first_upper(kind), chart) for kind, chart in [*by_kind.items()][:PANELS])


def load_slides(plan: Plan) -> list[Slide]:
    """Return the slide of heat maps of what was in flight by how many sent it, if both were varied."""
    told, variant, by_kind = plan.told, plan.told.variants[0], heat_maps(plan)
    if not by_kind:
        return []
    (kind, (_, points)), *_ = by_kind.items()
    rates = {point.name: median([*told.values(variant.name, point, plan.rate.column).values()]) for point in points}
    enough = [point for point in points if rates[point.name] >= max(rates.values()) / SAME]
    factors = [factor for factor in LOADS if len(told.entry["factors"].get(factor, ())) > 1]

    def sent(point: Point) -> tuple[int, ...]:
        levels = [point.levels[factor] for factor in factors]
        return math.prod(levels), *levels

    least = min(enough, key=sent)
    load = " and ".join(told.words_of(factor, least.levels[factor]) for factor in factors)
    title = f"{first_upper(kind)}: {load} come within {sourced('10 %')} of the most."
    maps = [(first_upper(kind), canvas(told, "heatmap", chart)) for kind, (chart, _) in [*by_kind.items()][:PANELS]]
    sizes = [
        told.words_of(factor, least.levels[factor])
        for factor in SIZES
        if len(told.entry["factors"].get(factor, ())) > 1
    ]
    where = ", ".join([told.label(variant), *sizes, "medians: programs (jobs) by what each had in flight"])
    body = [f"## {title}", measure(plan, where), side_by_side(maps)]
    note = (
        "Each square is a load: to the right more in flight for each program, and a row for each number of programs. "
        "The key says which colour is the most. Whoever sends more than it takes to get there only waits longer."
    )
    return [Slide("load", SECONDS, body, note, "which of these squares is your own load")]
