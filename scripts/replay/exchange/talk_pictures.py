"""The pictures of a new talk and the lines beside them: which chart draws what, at which points. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from replay.exchange.sides import Metric
from replay.exchange.talk_findings import Finding
from replay.exchange.talk_points import KIND_FACTORS, SIZES, SOURCE, Point, Told, bound, first_upper, sourced
from replay.exchange.talk_ratios import Walk
from replay.exchange.talk_sense import Sense

#: As many as are legible: panels, places of an axis in a panel, rows of a picture, marks in a row.
PANELS, PLACES, ROWS, MARKS = 2, 4, 24, 12


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
        return [one for several in self.compared.values() for one in several]


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


def panels(plan: Plan, wanted: Iterable[tuple[str, Point]], titles: Mapping[str, str] | None = None) -> list[str]:
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


def side_by_side(charts: Iterable[tuple[str, str]]) -> list[str]:
    """Return charts beside each other, each with its heading."""
    rows = [f'<div class="panel"><h3>{heading}</h3>{one}</div>' for heading, one in charts]
    return ['<div class="panels">', *rows, "</div>"] if rows else []


def canvas(told: Told, kind: str, chart: str, more: str = "") -> str:
    """Return a chart of the experiment."""
    return f'<canvas data-chart="{kind}" data-chart-src="{file(told, chart)}"{more}></canvas>'


def file(told: Told, chart: str) -> str:
    """Return the address of a chart's table."""
    return f"benchmarks/{told.data_set}/{told.name}/aggregate/{chart}.csv"


def marks(points: Sequence[Point]) -> list[str]:
    """Return a drawing of a hollow mark for each load: circles for reads, squares for writes, a row for each kind."""
    rows: dict[str, list[Point]] = {}
    for point in points:
        rows.setdefault(point.kind, []).append(point)
    parts = []
    for row, (kind, several) in enumerate([*rows.items()][:2]):
        y = 40 + 90 * row
        parts.append(f'<text class="name" x="0" y="{y + 8}">{kind}</text>')
        labels = [point.label.removeprefix(kind).strip(" ,") for point in several[:MARKS]]
        needed = 60 + 11 * max(map(len, labels))
        step = min(needed, 860 // len(labels))
        for at, label in enumerate(labels):
            x = 260 + at * step
            shape = (
                f'<rect class="flow" x="{x - 14}" y="{y - 14}" width="28" height="28"/>'
                if "writes" in kind
                else f'<circle class="flow" cx="{x}" cy="{y}" r="15"/>'
            )
            text = escape(label) if step == needed else ""
            parts.append(f'{shape}<text class="detail" x="{x + 22}" y="{y + 7}">{text}</text>')
    label = "A hollow mark for each load: circles for reads, squares for writes"
    height = 90 * min(2, len(rows))
    svg = f'<svg viewBox="0 0 1136 {height}" role="img" aria-label="{label}" data-source="definition">'
    return [f'<div class="drawing">{svg}{"".join(parts)}</svg></div>']


# Lines ---------------------------------------------------------------------------------------------------------------


def measure(plan: Plan, text: str) -> str:
    """Return the line below a title."""
    cache = ", through the page cache" if plan.sense.cached else ""
    return f'<p class="measure">{text}{cache}</p>'


def busy(plan: Plan, findings: Sequence[Finding]) -> list[str]:
    """Return the line below a picture that says what was full where something is settled."""
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
    return ["", f'<p class="source">{first_upper("; ".join(texts))}</p>'] if texts else []


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
