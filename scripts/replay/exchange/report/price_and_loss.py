"""What mirroring costs: what a write pays for it, typical and tail, and what a lost site takes with it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from replay.base.stats import QUANTILE, confidence_of_largest
from replay.design.link import RTT
from replay.exchange.page import DIAMOND, DOT, NUMBER, RING, STROKE, Column, Row, heading, paragraph, strip, table
from replay.exchange.report.data_set import (
    NOTHING,
    DataSet,
    MeasuredExperiment,
    ReportPart,
    between,
    distance_of,
    largest,
    middle,
    middle_seconds,
    n_of,
    number_of,
    per_second,
    ran_out,
    seconds,
    share,
    size,
    times,
    told,
    values,
)

_TYPICAL, _TAIL, _RARE = "latency_p50_seconds", "latency_p99_seconds", "latency_p99_9_seconds"
_ONE_WRITER = "one-writer"
#: Mirroring that mostly happens after the client has ended costs it nothing while it writes.
_MOSTLY = 0.8
_METHOD = (
    "All modes take turns in random order within a block, on images of their own. Typical: the median; slowest of 100: "
    "the 99th percentile, where a run has enough writes for it. A figure is the median over the runs, the slowest of "
    "all that of all runs. ÷: the mean of the ratios within a block, with its 95 % interval; one that contains 1 means "
    "that these runs cannot tell the two apart."
)


def price(data: DataSet) -> ReportPart:
    """Return what writes pay, and what of it was not measured."""
    places = [
        (experiment, levels, runs) for experiment in data.of("write_latency") for levels, runs in experiment.points()
    ]
    # What arrives at an offered rate comes first: only there the tail means something. Distances come later.
    places.sort(key=lambda place: (place[1].get("load") == _ONE_WRITER, RTT in place[1]))
    if not places:
        return ReportPart(missing=(f"What a write pays. {data.to_measure('write-latency')}",))
    missing = []
    if all(levels.get("load") == _ONE_WRITER for _, levels, _ in places):
        missing.append(
            "The slowest of a hundred writes, at a rate that every mode keeps up with: only a writer that waits for "
            f"each write was measured, which writes little in slow moments. {data.to_measure('write-latency')}"
        )
    body = [heading("What a write pays"), paragraph(_METHOD, "muted")]
    body += [_point(*place) for place in places]
    return ReportPart(_headline(*places[0]), _basis(*places[0]), "\n".join(body), tuple(missing))


def _has_tail(levels: Mapping[str, Any]) -> bool:
    return levels.get("load") != _ONE_WRITER


def _headline(experiment: MeasuredExperiment, levels: Mapping[str, Any], runs: pd.DataFrame) -> str:
    """Return what the mirrored modes pay, and what the reference does."""
    copied = ("replayed_fraction_during_cell", "snapshots_taken_in_cell")
    groups = [
        (variant, rows)
        for variant, rows in experiment.by_variant(runs)
        if variant.get("reference") or any(values(rows, column) for column in copied)
    ]
    groups.sort(key=lambda pair: bool(pair[0].get("reference")))
    texts = []
    for variant, rows in groups:
        typical = middle_seconds(rows, _TYPICAL)
        tail = middle_seconds(rows, _TAIL) if _has_tail(levels) else NOTHING
        if texts:
            texts.append(f"{variant['label']}: {typical}" + ("" if tail == NOTHING else f" and {tail}"))
        else:
            slowest = "" if tail == NOTHING else f", the slowest of a hundred {tail}"
            texts.append(f"{variant['label']}: the typical write of {_size(levels)} takes {typical}{slowest}")
    return ". ".join(texts) + "." if texts else ""


def _basis(experiment: MeasuredExperiment, levels: Mapping[str, Any], runs: pd.DataFrame) -> str:
    groups = [*experiment.by_variant(runs)]
    sentence = f"{_load(levels, runs)}; {n_of(rows for _, rows in groups)}. What ran out: {ran_out(runs)}."
    late = [str(variant["label"]) for variant, rows in groups if (copied := _copied(rows)) and copied[0] < _MOSTLY]
    if late:
        sentence += f" Less than {share(_MOSTLY)} was copied while the client wrote: {', '.join(late)}."
        sentence += " What copying the rest costs a write is not in these figures."
    return sentence


def _load(levels: Mapping[str, Any], runs: pd.DataFrame) -> str:
    """Return in words how writes came."""
    apart = distance_of(levels)
    if levels.get("load") == _ONE_WRITER:
        return f"One writer of {_size(levels)} that waits for each write{apart}"
    rates = values(runs, "offered_operations_per_second")
    at = f", {between(rates, per_second)} a second, the same for every mode" if rates else ""
    return f"Writes of {_size(levels)}{at}{apart}"


def _size(levels: Mapping[str, Any]) -> str:
    return size(float(levels["io_size_bytes"])) if "io_size_bytes" in levels else "the size of this experiment"


def _copied(runs: pd.DataFrame) -> tuple[float, str] | None:
    """Return the part that was copied while the client wrote, as a fraction and in words; None if nothing was to be."""
    if (replayed := middle(runs, "replayed_fraction_during_cell")) is not None:
        return replayed, share(replayed)
    taken, synced = middle(runs, "snapshots_taken_in_cell"), middle(runs, "snapshots_synced_in_cell")
    return (synced / taken, f"{synced:g} of {taken:g}") if taken and synced is not None else None


def _snapshots(runs: pd.DataFrame) -> str:
    """Return how often snapshots came, whatever was ordered."""
    if (distance := middle(runs, "snapshot_distance_median_seconds")) is not None:
        return f"each {seconds(distance)}"
    taken = middle(runs, "snapshots_taken_in_cell")
    return f"{taken:g} in {middle(runs, 'duration_seconds'):.0f} s" if taken else NOTHING


def _to_disk(runs: pd.DataFrame) -> str:
    """Return the bytes that reach the disks of each site for each byte that the client writes."""
    here, there = (middle(runs, column) for column in ("media_bytes_per_byte", "second_media_bytes_per_byte"))
    if here is None:
        return NOTHING
    return f"{here:.1f}" if there is None else f"{here:.1f} + {there:.1f}"


def _point(experiment: MeasuredExperiment, levels: Mapping[str, Any], runs: pd.DataFrame) -> str:
    """Return the chart and the table of one load."""
    groups = [*experiment.by_variant(runs)]
    title = _load(levels, runs)
    chart = _chart(groups, title) if _has_tail(levels) else ""
    return "\n".join([heading(title, 3), chart, _table(experiment, groups, levels, title)])


def _chart(groups: list[tuple[Mapping[str, Any], pd.DataFrame]], title: str) -> str:
    rows = []
    for variant, runs in groups:
        points = {_TYPICAL: DOT, _TAIL: RING}
        marks = [(value, kind) for column, kind in points.items() if (value := middle(runs, column))]
        if marks:
            text = ", ".join(text for column in points if (text := middle_seconds(runs, column)) != NOTHING)
            rows.append(Row(str(variant["label"]), text, marks, [value for value, _ in marks]))
    key = "● typical write, ○ slowest of a hundred"
    return strip(rows, title, key, seconds, logarithmic=True) if len(rows) > 1 else ""


def _table(
    experiment: MeasuredExperiment,
    groups: list[tuple[Mapping[str, Any], pd.DataFrame]],
    levels: Mapping[str, Any],
    title: str,
) -> str:
    tables = [runs for _, runs in groups]
    labels = [str(variant["label"]) for variant, _ in groups]

    def figures(name: str, column: str) -> Column:
        return Column(name, [middle_seconds(runs, column) for runs in tables], NUMBER)

    def ratios(name: str, column: str) -> Column:
        turned = experiment.entry.get("ratio_direction") == "reference/variant"
        divided = f"{experiment.reference} ÷ {name}" if turned else f"{name} ÷ {experiment.reference}"
        return Column(divided, [times(experiment.ratio(column, levels, label)) for label in labels], NUMBER)

    tail = [
        figures("slowest of 100", _TAIL),
        ratios("slowest of 100", _TAIL),
        figures("slowest of 1,000", _RARE),
        Column("slowest of all", [seconds(largest(runs, "latency_max_seconds")) for runs in tables], NUMBER),
    ]
    columns = [
        Column("mode", labels),
        figures("typical", _TYPICAL),
        ratios("typical", _TYPICAL),
        *(tail if _has_tail(levels) else []),
        Column("bytes to disk per byte, first + second site", [_to_disk(runs) for runs in tables], NUMBER),
        Column("n", [str(len(runs)) for runs in tables], NUMBER),
        Column("snapshots taken", [_snapshots(runs) for runs in tables], NUMBER),
        Column("copied meanwhile", [copied[1] if (copied := _copied(runs)) else NOTHING for runs in tables], NUMBER),
        Column("ran out of", [ran_out(runs) for runs in tables]),
    ]
    return table(told(columns), f"{experiment.name}: {title}")


# The loss ------------------------------------------------------------------------------------------------------------

#: The columns of the loss, by protocol; the first protocol that was measured counts, and of its columns the first that
#: has a value: where nothing is copied later, as in a stretch cluster, there is no recovery point.
LOST = {"site_loss": ("recovery_point_seconds", "lost_seconds"), "failover": ("lost_seconds",)}
_FIRST_WRITE = "seconds_to_first_write"
#: The mirror daemon of `failover` goes on fetching after the first site has ended.
_SMALLER = (
    "Here the mirror daemon went on fetching after the loss, so a real loss is larger (site-loss stops it as well)."
)
_PEOPLE = (
    "People: nobody had to notice the loss, to decide, or to move clients. The times to the first write are the least "
    "that is possible. An exercise with the people on call shows the rest."
)


def losses(data: DataSet) -> list[tuple[MeasuredExperiment, pd.DataFrame, str]]:
    """Return the experiments that lost a site, with their trials and the column of the loss: those of one protocol.

    Each distance between the sites is apart, and comes after those without one.
    """
    for protocol, columns in LOST.items():
        points = [
            (experiment, levels, runs) for experiment in data.of(protocol) for levels, runs in experiment.points()
        ]
        points.sort(key=lambda point: RTT in point[1])
        lost = [
            (experiment, runs, column)
            for experiment, levels, runs in points
            # Trials in which the first site was handed over lost nothing.
            if levels.get("kind", "forced") == "forced"
            and (column := next((name for name in columns if values(runs, name)), None))
        ]
        if lost:
            return lost
    return []


def loss(data: DataSet) -> ReportPart:
    """Return what was lost with the site, and what of it was not measured."""
    lost = losses(data)
    if not lost:
        command = f"{data.to_measure('site-loss')}, or failover on a cluster that Replay did not start"
        return ReportPart(missing=(f"What a lost site takes with it. {command}",))
    body = [heading("What a lost site takes with it")]
    body += [_section(*each) for each in lost]
    experiment, runs, column = lost[0]
    groups = [*experiment.by_variant(runs)]
    worst = [f"{seconds(largest(rows, column))} ({variant['label']})" for variant, rows in groups]
    headline = f"A lost site took with it, at worst, acknowledged writes of the last {', '.join(worst)}."
    return ReportPart(headline, _loss_basis(experiment, runs), "\n".join(body), (_PEOPLE,))


def _loss_basis(experiment: MeasuredExperiment, runs: pd.DataFrame) -> str:
    groups = [rows for _, rows in experiment.by_variant(runs)]
    rates = values(runs, "writes_per_second")
    at = f", at {between(rates, per_second)} writes a second" if rates else ""
    sentence = f"The worst of {n_of(groups)}{at}. What ran out: {ran_out(runs)}."
    hung = sum(values(runs, "promotion_hung"))
    if hung:
        sentence += (
            f" In {hung:.0f} of {len(runs)} losses nobody could write at the second site until its mirror daemon"
        )
        sentence += " was killed."
    return f"{sentence} {_SMALLER}" if experiment.entry["protocol"] == "failover" else sentence


def _section(experiment: MeasuredExperiment, runs: pd.DataFrame, column: str) -> str:
    groups = [*experiment.by_variant(runs)]
    least = min(len(rows) for _, rows in groups)
    method = (
        "Each mark is a trial: what the second site then lacked of the acknowledged writes, in seconds. "
        f"The worst of {number_of(least, 'trial')} is not the worst that can happen: with "
        f"{share(confidence_of_largest(least))} confidence, {share(QUANTILE)} of losses are no larger."
    )
    if experiment.entry["protocol"] == "failover":
        method += f" {_SMALLER}"
    hung = any(values(runs, "promotion_hung"))
    rows = [_row(variant, trials, column) for variant, trials in groups]
    key = "❘ one lost site" + ("  ◆ the promotion hung until the mirror daemon was killed" if hung else "")
    over = distance_of(runs.iloc[0]) if RTT in experiment.entry["factors"] else ""
    title = f"{experiment.name}: seconds of acknowledged writes lost with the site{over}"
    chart = strip(rows, title, key, seconds, logarithmic=False)
    return "\n".join([paragraph(method, "muted"), chart, _loss_table(groups, column, title)])


def _row(variant: Mapping[str, Any], trials: pd.DataFrame, column: str) -> Row:
    marks = [
        (trial[column], DIAMOND if trial.get("promotion_hung") == 1 else STROKE)
        for trial in trials.dropna(subset=column).to_dict("records")
    ]
    text = f"{seconds(middle(trials, column))}, at worst {seconds(largest(trials, column))}"
    return Row(str(variant["label"]), text, marks)


def _loss_table(groups: list[tuple[Mapping[str, Any], pd.DataFrame]], column: str, caption: str) -> str:
    trials = [rows for _, rows in groups]
    # Where a promotion hung, the time contains how long the trial waited before it killed the daemon.
    smooth = [rows[rows["promotion_hung"] != 1] if "promotion_hung" in rows else rows for rows in trials]
    columns = [
        Column("mode", [str(variant["label"]) for variant, _ in groups]),
        Column("median", [seconds(middle(rows, column)) for rows in trials], NUMBER),
        Column("at worst", [seconds(largest(rows, column)) for rows in trials], NUMBER),
        Column("writes lost at worst", [_whole(largest(rows, "lost_writes")) for rows in trials], NUMBER),
        Column("first write after, median", [seconds(middle(rows, _FIRST_WRITE)) for rows in smooth], NUMBER),
        Column("longest", [seconds(largest(rows, _FIRST_WRITE)) for rows in smooth], NUMBER),
        Column("hung until killed", [_hung(rows) for rows in trials], NUMBER),
        Column("n", [str(len(rows)) for rows in trials], NUMBER),
        Column("ran out of", [ran_out(rows) for rows in trials]),
    ]
    return table(told(columns), f"{caption}. The times to the first write leave out trials that hung.")


def _hung(trials: pd.DataFrame) -> str:
    hung = values(trials, "promotion_hung")
    return f"{sum(hung):.0f} of {len(hung)}" if hung else NOTHING


def _whole(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"
