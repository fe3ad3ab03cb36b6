"""Writes the slides of a new talk as Markdown. Every name and figure is bound to the data, and `?` until then. Pure.

`npm run check -- --fix` then writes what the data say: only the deck knows how a value is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from replay.exchange.sides import Experiment, Side
from replay.exchange.talk_questions import Chart, Comparison, Question

#: The seconds that slides take.
TITLE_SECONDS, SETUP_SECONDS, QUESTION_SECONDS, METHOD_SECONDS = 20, 40, 60, 40
#: As many facts as the set-up has room for, and as many claims as a table has.
FACTS, CLAIMS = 9, 7
#: The most figures in a title.
FIGURES = 4
#: What marks a slide of the appendix.
UNCOUNTED = ' data-visibility="uncounted"'
_UNSETTLED = "inconclusive not-testable-here not-measured"


def bound(value: str) -> str:
    """Return the element that shows a value of the data."""
    return f'<data value="{value}">?</data>'


def talk_slides(side: Side, questions: Sequence[Question]) -> str:
    """Return the talk's one chapter. Its title is that of its talk.yaml."""
    manifest = side.manifest
    told = {one.experiment: manifest["experiments"][one.experiment] for one in questions}
    spoken = {one.claim for question in questions for _, one in _leading(question)}
    claims = [one.claim for question in questions for chart in question.charts for one in chart.comparisons]
    unspoken = [claim for claim in claims if claim not in spoken]
    slides = [(one.part > 0, _question(manifest["data_set"], one, told[one.experiment])) for one in questions]
    return (
        "\n\n\n".join(
            [
                _title(manifest),
                _setup(side, told),
                *(text for in_appendix, text in slides if not in_appendix),
                _method(bool(claims), told),
                *(text for in_appendix, text in slides if in_appendix),
                *(_further(at // CLAIMS, unspoken[at : at + CLAIMS]) for at in range(0, len(unspoken), CLAIMS)),
            ]
        )
        + "\n"
    )


def seconds(questions: Sequence[Question]) -> int:
    """Return how long the slides take, without the appendix."""
    return TITLE_SECONDS + SETUP_SECONDS + sum(one.part == 0 for one in questions) * QUESTION_SECONDS + METHOD_SECONDS


def _slide(name: str, timing: int, body: Sequence[str], note: str, more: str = "") -> str:
    head = f'<!-- .slide: id="{name}" data-timing="{timing}"{more} -->'
    return "\n".join([head, *body, "", "<!-- Note -->", note])


def _title(manifest: Mapping[str, Any]) -> str:
    measured = f" <span>{bound('manifest.measured')}</span>" if _dated(manifest) else ""
    body = [
        '<h1 data-talk="title"></h1>',
        "",
        '<p class="credits" data-talk="speaker event date repository"></p>',
        "",
        f'<p class="signature"><span>Data: {bound("manifest.label")}</span>{measured}</p>',
    ]
    note = (
        "Say who you are, and why the question matters to this audience. Everything that follows comes from the data."
    )
    return _slide("title", TITLE_SECONDS, body, note, ' class="title"')


def _dated(manifest: Mapping[str, Any]) -> bool:
    return bool(manifest.get("measured_from") or manifest.get("measured_to"))


def _setup(side: Side, told: Mapping[str, Mapping[str, Any]]) -> str:
    facts = [
        *(fact for name, entry in told.items() for fact in _differences(name, entry, side.experiments[name])),
        *_facts_of_set_up(side.manifest),
        *(fact for name, entry in told.items() for fact in _facts(name, entry)),
    ]
    body = ["## What was measured, and how often", "", '<dl class="facts">', *facts[:FACTS], "</dl>"]
    limited = side.manifest.get("limitation")
    notes = [f"{bound('manifest.limitation')}" if limited else "Say what the machine is, and whose."]
    notes += [_stated(note) + "." for name in told for note in side.experiments[name].notes]
    return _slide("setup", SETUP_SECONDS, body, " ".join(notes))


def _differences(name: str, entry: Mapping[str, Any], experiment: Experiment) -> list[str]:
    """Return the options that differ between the variants besides what is compared."""
    variants = [(number, one["name"]) for number, one in enumerate(entry["variants"])]
    options = [experiment.options.get(variant, {}) for _, variant in variants]
    found = []
    for option in dict.fromkeys(name for one in options for name in one):
        values = [one.get(option, "not stated") for one in options]
        if len(set(values)) > 1:
            texts = (
                f"{_stated(value)} with {bound(f'manifest.experiments.{name}.variants.{number}.label')}"
                for (number, _), value in zip(variants, values, strict=True)
            )
            found.append(_fact(f"<code>{escape(option)}</code> differs", ", ".join(texts)))
    return found


def _stated(text: str) -> str:
    """Return a text of the data set that is no figure of a chart: an option, or a note about the files."""
    return f'<span data-source="definition">{escape(text)}</span>'


def _facts_of_set_up(manifest: Mapping[str, Any]) -> list[str]:
    names = {"tool_versions": "Tool", "ceph_version": "Ceph", "cpu": "Processor", "cores": "Cores"}
    setup = manifest.get("setup") or {}
    return [_fact(title, bound(f"manifest.setup.{key}")) for key, title in names.items() if setup.get(key)]


def _facts(name: str, entry: Mapping[str, Any]) -> list[str]:
    at = f"manifest.experiments.{name}"
    variants = [bound(f"{at}.variants.{number}.label") for number in range(len(entry["variants"]))]
    facts = [_fact("Compared", " and ".join(variants))] if len(variants) > 1 else []
    often = f"up to {bound(f'{at}.blocks')} times" if entry["blocks"] > 1 else "no: a single run of each point"
    facts.append(_fact("Repeated", often))
    facts.append(_fact("Cells", f"{bound(f'{at}.cells_measured')}<small>each point of each variant</small>"))
    varied = [factor for factor, levels in entry["factors"].items() if len(levels) > 1]
    fixed = [factor for factor in entry["factors"] if factor not in varied]
    return facts + [_fact(f"<code>{factor}</code>", bound(f"{at}.factors.{factor}")) for factor in [*varied, *fixed]]


def _fact(term: str, description: str) -> str:
    return f"<div><dt>{term}</dt><dd>{description}</dd></div>"


def _question(data_set: str, question: Question, entry: Mapping[str, Any]) -> str:
    charts, first = question.charts, question.charts[0]
    label = bound(f"{_chart_at(question, first)}.y.label")
    axis = bound(f"{_chart_at(question, first)}.x.label")
    body = [
        f"## {_finding(question, entry)}",
        "",
        f'{label} by {axis} <!-- .element: class="measure" -->',
        "",
    ]
    if len(charts) == 1:
        body.append(_canvas(data_set, question, first, entry))
    else:
        body += [
            '<div class="panels">',
            *(
                f'<div class="panel"><h3>{_heading(question, one)}</h3>{_canvas(data_set, question, one, entry)}</div>'
                for one in charts
            ),
            "</div>",
        ]
    return _slide(question.slide, QUESTION_SECONDS, body, _note(question), UNCOUNTED if question.part else "")


def _chart_at(question: Question, chart: Chart) -> str:
    return f"manifest.experiments.{question.experiment}.charts.{chart.name}"


def _finding(question: Question, entry: Mapping[str, Any]) -> str:
    """Return the title: the metric, what is divided by what, and the ratio of each chart."""
    leading = _leading(question)
    label = bound(f"{_chart_at(question, question.charts[0])}.y.label")
    if not leading:
        return f"{label} (n = {bound(f'{_chart_at(question, question.charts[0])}.n.max')})"
    figures = ", ".join(f"{bound(f'{one.claim}.ratio')}{_of(question, chart, one)}" for chart, one in leading)
    chart, one = leading[0]
    if one.across:
        return f"{label} at the largest {bound(f'{_chart_at(question, chart)}.x.label')} ÷ at the smallest: {figures}"
    return f"{label}, {_variant(question, one.variant)} ÷ {_variant(question, question.reference)}: {figures}"


def _of(question: Question, chart: Chart, one: Comparison) -> str:
    """Return what a figure of the title is about, in parentheses, as far as the title does not say it."""
    series = [other for other in chart.comparisons if other.across]
    parts = [*([_variant(question, one.variant)] if len(series) > 1 else []), *_workload(question, chart)]
    return f" ({', '.join(parts)})" if parts else ""


def _variant(question: Question, at: int | None) -> str:
    return bound(f"manifest.experiments.{question.experiment}.variants.{at}.label")


def _leading(question: Question) -> list[tuple[Chart, Comparison]]:
    """Return the comparison of each chart that its slide speaks of: the first variant's."""
    found = [(chart, one) for chart in question.charts for one in chart.comparisons]
    return [(chart, one) for chart, one in found if one.across or one.variant == found[0][1].variant][:FIGURES]


def _workload(question: Question, chart: Chart) -> list[str]:
    """Return the workload of a chart: its words, and its numbers with what they are numbers of."""
    at = f"{_chart_at(question, chart)}.workload"
    return [
        bound(f"{at}.{factor}") if isinstance(level, str) else f"<code>{factor}</code> {bound(f'{at}.{factor}')}"
        for factor, level in chart.entry["workload"].items()
    ]


def _heading(question: Question, chart: Chart) -> str:
    """Return the heading of a panel: its workload, and which way its only figure goes."""
    where = ", ".join(_workload(question, chart)) or bound(f"{_chart_at(question, chart)}.y.label")
    spoken = [one for of, one in _leading(question) if of is chart]
    return f"{where}{_verdict(spoken[0].claim)}" if len(spoken) == 1 else where


def _verdict(claim: str) -> str:
    texts = {"held": "higher", "refuted": "lower", _UNSETTLED: "not settled"}
    return "".join(f'<span data-when="{claim} {verdicts}">: {text}</span>' for verdicts, text in texts.items())


def _canvas(data_set: str, question: Question, chart: Chart, entry: Mapping[str, Any]) -> str:
    kind = _kind(chart.entry, entry)
    file = f"benchmarks/{data_set}/{question.experiment}/aggregate/{chart.name}.csv"
    return f'<canvas data-chart="{kind}" data-chart-src="{file}"></canvas>'


def _kind(chart: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    factor = chart["x"].get("factor")
    if chart["kind"] != "wide":
        return "line" if factor is None and chart.get("runs") is not True else "scatter"
    levels = entry["factors"].get(factor, ())
    return "line" if len(levels) > 1 and all(isinstance(one, int | float) for one in levels) else "bar"


def _note(question: Question) -> str:
    leading = _leading(question)
    if not leading:
        return "Say what these points show, and what they do not. Each is the median of its runs."
    claim = leading[0][1].claim
    found = (
        f'<span data-when="{claim} held">The whole interval lies above one, so the ratio is higher.</span>'
        f'<span data-when="{claim} refuted">The whole interval lies below one, so the ratio is lower.</span>'
        f'<span data-when="{claim} {_UNSETTLED}">These runs do not settle whether it is higher or lower.</span>'
    )
    return (
        f"Each point is the median of its runs; the bands reach from the smallest to the largest. "
        f"The first ratio of the title is {bound(f'{claim}.ratio')}, "
        f"its interval {bound(f'{claim}.ratio.interval')}, n is {bound(f'{claim}.ratio.n')}. {found}"
    )


def _method(judged: bool, told: Mapping[str, Mapping[str, Any]]) -> str:
    imported = any(entry["protocol"] == "imported" for entry in told.values())
    lines = ["- Points are medians of their runs; bands reach from the smallest to the largest"]
    note = "Say here what a careful listener would doubt first."
    if judged:
        confidence, one = bound("method.confidence"), '<span data-source="definition">1</span>'
        lines += [
            "- A ratio is averaged over the points of its chart, and paired by repetition",
            f"- “Higher” and “lower” mean that its whole {confidence} interval lies on that side of {one}",
            "- The comparisons were chosen after the data were known: they are exploratory",
        ]
        note += " Whoever wants to test one of these findings measures it again."
    if any(chart["n"]["min"] == 1 for entry in told.values() for chart in entry["charts"].values() if "n" in chart):
        lines.append("- A point with a single run cannot say whether a difference is more than noise")
    if imported:
        lines.append("- The results were imported, and are packed with the data under their digests")
        note += " Imported runs did not run back to back, so the machine may have changed between them."
    return _slide("method", METHOD_SECONDS, ["## How to read these figures", "", *lines], note)


def _further(number: int, claims: Sequence[str]) -> str:
    """Return a slide of the appendix with the comparisons that no other slide speaks of."""
    body = ["## Further comparisons", "", f'<div data-claims="{" ".join(claims)}"></div>']
    return _slide(f"comparisons-{number + 1}", METHOD_SECONDS, body, "For questions.", UNCOUNTED)
