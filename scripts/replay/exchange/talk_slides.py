"""Writes the slides of a new talk as Markdown. Every name and figure is bound to the data, and `?` until then. Pure.

`npm run check -- --fix` then writes what the data say: only the deck knows how a value is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay.exchange.importing.arrange import KIND_FACTORS
from replay.exchange.talk_parts import (
    SECONDS,
    Slide,
    busy,
    differences,
    differing,
    fixed,
    forest,
    load_slides,
    marks,
    measure,
    measured_with,
    panels,
    rows_of,
    walk_slide,
)
from replay.exchange.talk_points import FACTOR_WORDS, SOURCE, Walk, bound, counted, first_upper, sourced
from replay.exchange.talk_sense import Finding, Plan
from replay.exchange.talk_titles import (
    answer,
    carries,
    knee_of,
    named,
    needs,
    next_step,
    not_the_same_question,
    subject_of,
    title_of,
)

QUESTION_SECONDS, ANSWER_SECONDS = 25, 60
#: As many facts as a slide has room for, and as many slides of findings as a talk.
FACTS, MOST = 9, 4
#: What a picture of rates draws.
RANGE = "a mark is the median, a line reaches from the lowest run to the highest"


def talk_slides(plan: Plan) -> list[Slide]:
    """Return the slides of the talk's one chapter, the appendix last."""
    ranked = _ranked(plan)
    if len(plan.told.variants) > 1:
        answers = [_answer(plan) if plan.findings else _not_the_same(plan)]
        layers = [each for each in ranked if each[0].name == "layers"]
        carrying = [each for each in ranked if each not in layers and carries(each[0], plan)]
        later = [walk_slide(plan, *each) for each in ranked if each not in layers + carrying]
        slides = [walk_slide(plan, *each) for each in layers + carrying]
        slides += [_metric(plan, several) for several in plan.compared.values() if several]
        slides, later = [*slides, *_mix(plan)], [*later, *load_slides(plan)]
    else:
        best = next((each for each in ranked if knee_of(*each) is not None), ranked[0] if ranked else None)
        answers = [walk_slide(plan, *best)._replace(name="answer") if best else _figures(plan)]
        slides, later = _of_one(plan, [each for each in ranked if each is not best]), []
    main = [_question(plan), *answers, *slides[:MOST], _next(plan)]
    appendix = [*slides[MOST:], *later, _setup(plan), _method(plan)]
    return [*main, *(slide._replace(in_appendix=True) for slide in appendix)]


def _ranked(plan: Plan) -> list[tuple[Walk, Sequence[Finding]]]:
    """Return the walks in the order in which a talk would tell them."""
    order = ("layers", "curve", "clients", "sizes", "tail")
    return sorted(plan.walks, key=lambda pair: order.index(pair[0].name))


def _of_one(plan: Plan, walks: Sequence[tuple[Walk, Sequence[Finding]]]) -> list[Slide]:
    """Return the slides of one variant behind its answer, the best first: another curve, sizes, heat maps, the tail."""
    curves = [each for each in walks if each[0].name == "curve"]
    # The walk of the first kind of operations has the claim of its name.
    firsts = [*curves[:1], *(each for each in walks if each[0].claim == each[0].name in ("clients", "sizes"))]
    tails = [each for each in walks if each[0].name == "tail"]
    rest = [each for each in walks if each not in firsts + tails]
    slides = [[walk_slide(plan, *each) for each in several] for several in (firsts, tails, rest)]
    return [*slides[0], *load_slides(plan), *slides[1], *slides[2], *_mix(plan)]


# Slides --------------------------------------------------------------------------------------------------------------


def _question(plan: Plan) -> Slide:
    told = plan.told
    several = len(told.variants) > 1
    versus = _versus(plan) if several else bound("manifest.label")
    times = ", once each" if told.runs_each == "1" else f", {sourced(told.runs_each, SOURCE)} runs each"
    what = "questions" if several else "loads"
    body = [
        '<h1 data-talk="title"></h1>',
        f'<p class="lead">{versus}</p>',
        marks(told.points),
        f"<p>{first_upper(counted(len(told.points)))} {what if len(told.points) > 1 else what[:-1]}{times}</p>",
        '<p class="credits" data-talk="speaker event date repository"></p>',
        f'<p class="source">{measured_with(plan)}</p>',
    ]
    note = (
        f"{versus}: people have opinions about it. Here are runs instead. Each mark is a load, circles for reads and "
        f"squares for writes, and it is hollow because nothing is known about it yet. How many of them will be filled?"
        if several
        else "Each mark is a load that was measured: circles for reads, squares for writes. What do you expect?"
    )
    return Slide("question", QUESTION_SECONDS, body, note, "why it matters to you", ' class="night"')


def _versus(plan: Plan) -> str:
    *labels, last = (plan.told.label(variant) for variant in plan.told.variants)
    return f"{', '.join(labels)} or {last}"


def _answer(plan: Plan) -> Slide:
    title, second = answer(plan)
    heading = title + (f"<br>{second}" if second else "")
    if plan.sense.runs > 1:
        # The marks alone look like an answer. The title comes with a click, once the room has seen the lines.
        finding = f'<span class="finding fragment" data-fragment-index="0">{heading}</span>'
        heading = f'{finding}<span class="question">{_versus(plan)}: which is ahead?</span>'
    rate = next(several for several in plan.compared.values() if several)
    widest = sorted(rate, key=lambda finding: -finding.width)
    charts = panels(plan, [(finding.ratio.metric.name, finding.ratio.point) for finding in widest])
    body = [f"## {heading}", measure(plan, _with_facts(plan)), charts or forest(plan, rate)]
    note = (
        "Look at the marks first: at each load, one of them leads. That is the chart of a blog post. "
        "Now look at the lines. They reach from the lowest to the highest run of the same thing. "
        "Where the marks are close and the lines are long, the next run may well say the opposite. "
        f"*(click)* Of {counted(len(plan.findings))} differences that we tested, we can be sure of "
        f"{counted(sum(finding.is_settled for finding in plan.findings))}."
        if plan.sense.runs > 1
        else "These are figures, one run each. Whether the next run would say the same, nobody knows."
    )
    return Slide("answer", ANSWER_SECONDS, body, note, "what you would do with this answer")


def _with_facts(plan: Plan) -> str:
    """Return what a picture of rates draws, and whether the sides are of another version or day."""
    return "; ".join([RANGE, *differing(plan.told, facts_only=True)])


def _not_the_same(plan: Plan) -> Slide:
    charts = panels(plan, [(plan.rate.name, point) for point in plan.told.points])
    body = [f"## {not_the_same_question(plan.told)}", measure(plan, _with_facts(plan)), charts]
    note = "Nobody can divide these figures: the loads were not the same. So there is no ratio in this talk."
    return Slide("answer", ANSWER_SECONDS, body, note, "why the loads differ")


def _figures(plan: Plan) -> Slide:
    point, several = plan.told.points[0], len(plan.told.points)
    metrics = [plan.rate, *([plan.tail] if plan.tail else [])]
    title = point.phrase if several == 1 else f"{counted(several)} loads"
    charts = panels(
        plan, [(metric.name, point) for metric in metrics], {metric.name: subject_of(metric) for metric in metrics}
    )
    body = [f"## {first_upper(title)}{fixed(plan)}.", measure(plan, RANGE), charts]
    note = "This is what was measured, and nothing to compare it with. Is it much? Ask what you need."
    return Slide("answer", ANSWER_SECONDS, body, note, "what you need")


def _metric(plan: Plan, findings: Sequence[Finding]) -> Slide:
    told, metric = plan.told, findings[0].ratio.metric
    pairs = "paired by run" if plan.sense.neighbours else "not paired (Welch)"
    interval = (
        f"{pairs}, {bound('method.confidence')} intervals, filled: settled after Holm over {counted(len(findings))}"
    )
    if plan.sense.runs == 1:
        interval = "one run each: no interval"
    over = told.label(told.variants[1]) if len(told.variants) == 2 else "each"
    body = [
        f"## {title_of(findings, told)}",
        measure(plan, f"{over} ÷ {told.label(told.variants[0])}, {interval}"),
        forest(plan, findings),
        busy(plan, findings),
    ]
    better = "more, which is better" if metric.better == "higher" else "less, which is better"
    side = "right" if metric.better == "higher" else "left"
    settled = [finding for finding in findings if finding.is_settled]
    note = f"The same as ratios. To the {side} it is {better}. A bar is where the truth may lie. " + (
        f"Filled are the marks that are settled: the first is {named(settled[0], told)}, "
        f"{settled[0].ratio.bound()}, its interval {settled[0].ratio.bound('interval')}."
        if settled
        else "No mark is filled: not one bar stays on its side of the line once we count how many we looked at. "
        f"The first is {named(findings[0], told)}, {findings[0].ratio.bound()}."
    )
    widest = max(findings, key=lambda finding: finding.width)
    if widest.width and not widest.is_settled:
        note += (
            f" And look at the longest bar, {named(widest, told)}: {widest.ratio.bound('interval')}. "
            "That is not a small difference. It means that we do not know."
        )
    if hidden := len(findings) - len(rows_of(findings)):
        note += f" {first_upper(counted(hidden))} more are not shown."
    name = "tail" if plan.tail and metric == plan.tail else findings[0].ratio.claim
    return Slide(name, SECONDS, body, note, "what would explain it, if you can test it")


def _mix(plan: Plan) -> list[Slide]:
    point = next((point for point in plan.told.points if point.kind.endswith("reads and writes")), None)
    names = [name for name in (f"read-{plan.rate.name}", f"write-{plan.rate.name}") if point]
    if not names or not all(plan.told.chart(name, point) for name in names):
        return []
    titles = dict(zip(names, ("Reads", "Writes"), strict=True))
    charts = panels(plan, [(name, point) for name in names], titles)
    body = ["## A mix is two loads: reads and writes, each apart.", measure(plan, RANGE), charts]
    note = "The average of a read and a write is the time of neither. So here they are apart, as the tool counted them."
    return [Slide("mix", SECONDS, body, note, "which of them your users wait for")]


def _next(plan: Plan) -> Slide:
    told, sense = plan.told, plan.sense
    empty = [(sense.in_flight[variant.name, point.name], point) for point in told.points for variant in told.variants
             if not sense.is_full(variant, point)]  # fmt: skip
    rows = []
    if needed := needs(plan.findings):
        rows.append(needed)
    if empty:
        share, point = min(empty, key=lambda pair: pair[0])
        rows.append((f"{100 * share:.0f} %", f"of what was asked for was in flight, on average, at {point.phrase}."))
    if sense.seconds and (sense.too_short or sense.small_file):
        ramp = "" if sense.ramp else ", without a ramp"
        small = f", on a file of {sourced(sense.small_file)}: what lies below may hold it" if sense.small_file else ""
        rows.append((f"{sense.seconds:.0f} s", f"a run{ramp}{small}."))
    if sense.first:
        rows.append(("1st", f"{told.label(sense.first)} ran first each time. The order may look like a difference."))
    elif len(told.variants) > 1 and not sense.neighbours:
        rows.append(("apart", "The runs of a load are no neighbours in time. A drift may look like a difference."))
    if sense.cached:
        rows.append(("cache", "The figures are of the page cache, and not of a disk."))
    if sense.runs == 1:
        rows.append(("n = 1", "A single run cannot say whether a difference is more than noise."))
    figures = [
        f'<div><p class="order"><em>{sourced(figure, SOURCE)}</em></p><p>{text}</p></div>' for figure, text in rows[:3]
    ]
    title = next_step(plan.findings, sense, is_full=not empty)
    body = [f"## {title}", "\n".join(['<div class="monday">', *figures, "</div>"]) if figures else ""]
    if told.entry["tool"] == "fio_report" and (sense.too_short or sense.small_file or not sense.ramp):
        command = "fio --runtime=60 --ramp_time=5 --size=16g"
        body.append(f"<p><code>{command}</code>, in random order, {sourced('five')} times</p>")
    note = (
        "What would settle more? Longer runs, a few seconds of warm-up that do not count, a file that no cache can "
        "hold, and a coin that says which goes first. Then the same command makes this talk again, perhaps with "
        "another title."
    )
    return Slide("next", SECONDS, body, note, "what you will measure next", ' class="night"')


def _setup(plan: Plan) -> Slide:
    told, setup = plan.told, plan.manifest.get("setup") or {}
    facts = [*differences(told)]
    names = {"tool_versions": "Tool", "ceph_version": "Ceph", "cpu": "Processor", "cores": "Cores"}
    facts += [(title, bound(f"manifest.setup.{key}")) for key, title in names.items() if setup.get(key)]
    facts.append(("Runs of each load", sourced(told.runs_each, SOURCE)))
    facts.append(("Kinds", ", ".join(dict.fromkeys(point.kind for point in told.points))))
    facts += [(term, told.bound(f"factors.{factor}")) for factor, (_, term) in FACTOR_WORDS.items()
              if factor in told.entry["factors"] and (factor != "rw_mix_read" or _mix(plan))]  # fmt: skip
    facts += [(f"<code>{factor}</code>", told.bound(f"factors.{factor}")) for factor in told.entry["factors"]
              if factor not in FACTOR_WORDS and factor not in KIND_FACTORS]  # fmt: skip
    lines = [f"<div><dt>{term}</dt><dd>{text}</dd></div>" for term, text in facts[:FACTS]]
    body = ["## What was measured, and how often", "\n".join(['<dl class="facts">', *lines, "</dl>"])]
    limited = [bound("manifest.limitation")] if plan.manifest.get("limitation") else []
    notes = [*limited, *(f"{sourced(note)}." for note in told.experiment.notes)]
    return Slide("setup", SECONDS, body, " ".join(notes) or "Say what the machine is, and whose.")


def _method(plan: Plan) -> Slide:
    lines = ["A mark is the median of its runs, or the geometric mean of their ratios"]
    if plan.findings or plan.walks:
        lines += [
            "A ratio is paired by run where the runs were neighbours in time: otherwise the interval is Welch's",
            f"Settled: the {bound('method.confidence')} interval of the ratio excludes {sourced('1')}, "
            "after Holm's correction over the points of its metric",
            f"It does not count if the whole interval lies within {sourced('10 %')}",
            "The questions were asked after the data were known: the answers are exploratory",
        ]
    if plan.sense.runs == 1:
        lines.append("A point with a single run cannot say whether a difference is more than noise")
    if plan.tail:
        lines.append(
            f"{subject_of(plan.tail)}: higher percentiles need more operations than a run has, or are not stated"
        )
    body = ["## How to read these figures", "\n".join(f"- {line}" for line in lines)]
    note = "Say here what a careful listener would doubt first. Whoever wants to test a finding measures it again."
    return Slide("method", SECONDS, body, note, more=' class="dense"')
