"""What a lost site takes with it: every trial, the worst of them, and the time to the first write. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from replay.base.stats import QUANTILE, confidence_of_largest
from replay.design.link import RTT
from replay.exchange.page import NUMBER, Column, heading, paragraph, table
from replay.exchange.report.figure import DIAMOND, STROKE, Row, strip
from replay.exchange.report.read import DataSet, Measured
from replay.exchange.report.words import (
    NOTHING,
    Part,
    between,
    distance_of,
    largest,
    middle,
    n_of,
    per_second,
    ran_out,
    seconds,
    share,
    told,
    values,
)

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


def losses(data: DataSet) -> list[tuple[Measured, pd.DataFrame, str]]:
    """Return the experiments that lost a site, with their trials and the column of the loss: those of one protocol.

    Each distance between the sites is apart, and comes after those without one.
    """
    for protocol, columns in LOST.items():
        points = [(one, levels, runs) for one in data.of(protocol) for levels, runs in one.points()]
        points.sort(key=lambda point: RTT in point[1])
        lost = [
            (one, runs, column)
            for one, levels, runs in points
            # Trials in which the first site was handed over lost nothing.
            if levels.get("kind", "forced") == "forced"
            and (column := next((name for name in columns if values(runs, name)), None))
        ]
        if lost:
            return lost
    return []


def loss(data: DataSet) -> Part:
    """Return what was lost with the site, and what of it was not measured."""
    found = losses(data)
    if not found:
        return Part(missing=(f"What a lost site takes with it. {data.to_measure('site-loss')}",))
    body = [heading("What a lost site takes with it")]
    body += [_section(*each) for each in found]
    one, runs, column = found[0]
    groups = [*one.by_variant(runs)]
    worst = [f"{seconds(largest(rows, column))} ({variant['label']})" for variant, rows in groups]
    headline = f"A lost site took with it, at worst, acknowledged writes of the last {', '.join(worst)}."
    return Part(headline, _basis(one, runs), "\n".join(body), (_PEOPLE,))


def _basis(one: Measured, runs: pd.DataFrame) -> str:
    groups = [rows for _, rows in one.by_variant(runs)]
    rates = values(runs, "writes_per_second")
    at = f" at {between(rates, per_second)} writes a second" if rates else ""
    said = f"The worst of {n_of(groups)}{at}. What ran out: {ran_out(runs)}."
    hung = sum(values(runs, "promotion_hung"))
    if hung:
        said += f" In {hung:.0f} of {len(runs)} losses nobody could write at the second site until its mirror daemon"
        said += " was killed."
    return f"{said} {_SMALLER}" if one.entry["protocol"] == "failover" else said


def _section(one: Measured, runs: pd.DataFrame, column: str) -> str:
    groups = [*one.by_variant(runs)]
    least = min(len(rows) for _, rows in groups)
    method = (
        "Each mark is a trial: what the second site then lacked of the acknowledged writes, in seconds. "
        f"The worst of {least} trials is not the worst that can happen: with {share(confidence_of_largest(least))} "
        f"confidence, {share(QUANTILE)} of losses are no larger."
    )
    if one.entry["protocol"] == "failover":
        method += f" {_SMALLER}"
    hung = any(values(runs, "promotion_hung"))
    rows = [_row(variant, trials, column) for variant, trials in groups]
    key = "❘ one lost site" + ("  ◆ the promotion hung until the mirror daemon was killed" if hung else "")
    over = distance_of(runs.iloc[0]) if RTT in one.entry["factors"] else ""
    title = f"{one.name}: seconds of acknowledged writes lost with the site{over}"
    chart = strip(rows, title, key, seconds, logarithmic=False)
    return "\n".join([paragraph(method, "muted"), chart, _table(groups, column, title)])


def _row(variant: Mapping[str, Any], trials: pd.DataFrame, column: str) -> Row:
    hung = trials["promotion_hung"] == 1 if "promotion_hung" in trials else pd.Series(False, index=trials.index)
    marks = [
        (float(value), DIAMOND if hung[place] else STROKE) for place, value in trials[column].dropna().items()
    ]  # fmt: skip
    said = f"{seconds(middle(trials, column))}, at worst {seconds(largest(trials, column))}"
    return Row(str(variant["label"]), said, marks)


def _table(groups: list[tuple[Mapping[str, Any], pd.DataFrame]], column: str, caption: str) -> str:
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
    found = values(trials, "promotion_hung")
    return f"{sum(found):.0f} of {len(found)}" if found else NOTHING


def _whole(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"
