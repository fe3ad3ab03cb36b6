"""answer.csv: the talk's question in a table, what each mode of mirroring loses, and what its writes pay.

A figure's estimate is made of valid runs, by block. A field without a value is empty in the file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from replay.base import stats
from replay.base.tables import csv_text, level_text, write_if_changed
from replay.claims.answer_plan import (
    COMPARED,
    FIGURES,
    STATED,
    AnswerPlan,
    Figure,
    FigureSource,
    Kind,
    Mode,
    load_answer_plan,
)
from replay.claims.model import Selector
from replay.claims.tables import Row, Table, failing_value, read_table
from replay.design.configuration import answer_path, load_experiment

ANSWER = "answer.csv"
MODE_COLUMNS = ("name", "label", "mode", *STATED)
SOURCE = "source"
Values = Mapping[int, float]
#: Fields of a row by column.
Fields = dict[str, str | float | int | None]

#: The parts of a figure, each in a column of its own, apart from its source: of every trial, and of an estimate.
_OF_TRIALS = ("worst", "median", "median_low", "median_high", "p95_bound", "worst_bounds_p95_confidence", "n")
_OF_ESTIMATE = ("", "low", "high", "n")
_WITHOUT_UNIT = ("worst_bounds_p95_confidence", "n", "source")
Tables = Mapping[str, Table | None]


def write_answer(data_set: Path) -> None:
    """Write a data set's answer.csv from its experiments' tables if it changes.

    Call it while holding `exclusive(data_set)`. A talk without config/answer.yaml has no answer.csv. Raises
    ConfigurationError if that file is invalid.
    """
    if not answer_path().exists():
        return
    plan = load_answer_plan()
    names = sorted({source.experiment for sources in plan.sources.values() for source in sources})
    tables = {name: read_table(data_set / name, list(load_experiment(name)["factors"])) for name in names}
    write_if_changed(data_set / ANSWER, answer_csv(plan, tables))


def columns() -> list[str]:
    """Return the header of answer.csv: the mode, then each figure's parts and its source."""
    parts = {figure: _OF_TRIALS if figure.kind is Kind.TRIALS else _OF_ESTIMATE for figure in FIGURES.values()}
    figures = [column_of(figure, part) for figure, several in parts.items() for part in (*several, SOURCE)]
    return [*MODE_COLUMNS, *figures]


def answer_csv(plan: AnswerPlan, tables: Tables) -> str:
    """Return the text of answer.csv, one row per mode."""
    header = columns()
    rows = answer_rows(plan, tables)
    return csv_text([header, *([level_text(row.get(column)) for column in header] for row in rows)])


def answer_rows(plan: AnswerPlan, tables: Tables) -> list[Fields]:
    """Return one row per mode, as fields by column. What was not measured is left out."""
    rows = [{"name": mode.name, "label": mode.label, "mode": mode.kind, **mode.stated} for mode in plan.modes]
    for name, figure in FIGURES.items():
        sources = _counting(plan.sources.get(name, ()), plan, tables)
        for mode, row in zip(plan.modes, rows, strict=True):
            source = next((source for source in sources if _runs(source, mode, tables[source.experiment])), None)
            if source is not None:
                row.update(_of_figure(figure, source, mode, tables[source.experiment], plan.reference))
    return rows


def _of_figure(figure: Figure, source: FigureSource, mode: Mode, table: Table, reference: Mode) -> Fields:
    """Return the fields of a figure for a mode that the source measured."""
    compared = figure.kind in COMPARED
    runs, beside = _runs(source, mode, table), _runs(source, reference, table) if compared else {}
    if compared and (mode.is_reference or not beside):
        return {}
    problem = _problem(source, mode, list(runs.values()))
    if compared and not problem and (of_reference := _problem(source, reference, list(beside.values()))):
        problem = f"{of_reference} in {reference.name}"
    if problem:
        return {column_of(figure, SOURCE): f"{source.text()}; not testable here: {problem}"}
    fields = _fields(figure, _values(runs, source), _values(beside, source))
    hosts = {row.get("host") for row in runs.values()}
    mark = f"; on {len(hosts)} hosts" if len(hosts) > 1 else ""
    return {**fields, column_of(figure, SOURCE): f"{source.text()}{mark}"} if fields else {}


def _counting(sources: Sequence[FigureSource], plan: AnswerPlan, tables: Tables) -> list[FigureSource]:
    """Return the first source that was measured, and those of its supplements that were."""
    group: list[FigureSource] = []
    for source in sources:
        if group and not source.supplement:
            break
        if _has_runs(source, plan, tables):
            group.append(source)
    return group


def _has_runs(source: FigureSource, plan: AnswerPlan, tables: Tables) -> bool:
    """Return whether a data set measured the source in any mode other than the reference."""
    table = tables.get(source.experiment)
    others = [mode for mode in plan.modes if not mode.is_reference]
    return table is not None and any(_runs(source, mode, table) for mode in others)


def _runs(source: FigureSource, mode: Mode, table: Table) -> dict[int, Row]:
    """Return the runs that measure a mode and have a value of each metric, by block."""
    if mode.name not in source.variants:
        return {}
    factors = {name: value for name, value in mode.stated.items() if name in table.factors} | source.levels
    selector = Selector(source.variants[mode.name], {factor: (level,) for factor, level in factors.items()})
    runs = {block: rows[0] for block in table.blocks if (rows := table.find(block, selector))}
    return {
        block: row for block, row in runs.items() if all(row.get(name) not in (None, "") for name in source.metrics)
    }


def _values(runs: Mapping[int, Row], source: FigureSource) -> dict[int, float]:
    return {block: math.fsum(float(row[name]) for name in source.metrics) for block, row in runs.items()}


def _problem(source: FigureSource, mode: Mode, runs: Sequence[Row]) -> str:
    """Return why runs say nothing about a mode: they state another interval, or lack what is presupposed."""
    for name, wanted in mode.stated.items():
        stated = {float(row[name]) for row in runs if row.get(name) not in (None, "")}
        if other := sorted(stated - {float(wanted)}):
            return f"{name} was {other[0]:g}"
    for presupposition in source.presupposes:
        if mode.name not in presupposition.modes:
            continue
        predicate, fact = presupposition.predicate, presupposition.predicate.fact
        values = [row["facts"].get(fact.name) for row in runs]
        if (failed := failing_value(predicate, values)) is not None:
            return f"{fact.noun} was {predicate.found_in_words(failed)}"
        if None in values:
            return f"{fact.noun} was not recorded"
    return ""


def column_of(figure: Figure, part: str) -> str:
    """Return the name of the column that holds a part of a figure."""
    return f"{figure.name}_{part}" if part in _WITHOUT_UNIT else figure.column(part)


def _fields(figure: Figure, values: Values, reference: Values) -> Fields:
    """Return a figure's fields by column; empty without pairs for a figure that is compared.

    `values` are a mode's by block, `reference` those of the reference by the same blocks.
    """
    parts: Fields = {}
    if figure.kind is Kind.TRIALS:
        parts = _trials(list(values.values()))
    elif figure.kind is Kind.MEAN:
        parts = _estimate(stats.mean_with_interval(list(values.values())))
    elif figure.kind is Kind.MEDIAN:
        parts = _median(list(values.values()))
    elif blocks := sorted(values.keys() & reference.keys()):
        pairs = [(values[block], reference[block]) for block in blocks]
        estimate = _difference(pairs) if figure.kind is Kind.ADDED else _ratio(pairs)
        parts = _estimate(estimate) if estimate else {}
    return {column_of(figure, part): value for part, value in parts.items()}


def _trials(values: list[float]) -> Fields:
    low, high = stats.median_interval(values) or (None, None)
    return {
        "worst": max(values),
        "median": stats.median(values),
        "median_low": low,
        "median_high": high,
        "p95_bound": stats.quantile_bound(values),
        "worst_bounds_p95_confidence": stats.confidence_of_largest(len(values)),
        "n": len(values),
    }


def _median(values: list[float]) -> Fields:
    return {"": stats.median(values), "low": min(values), "high": max(values), "n": len(values)}


def _difference(pairs: Sequence[tuple[float, float]]) -> stats.Estimate:
    return stats.mean_with_interval([value - reference for value, reference in pairs])


def _ratio(pairs: Sequence[tuple[float, float]]) -> stats.Estimate | None:
    """Return the reference divided by the mode, as ratio charts and claims estimate it; pairs with a rate of 0 are out.

    None if no pair is left.
    """
    pairs = [pair for pair in pairs if min(pair) > 0]
    return stats.paired_log_ratio([over for _, over in pairs], [under for under, _ in pairs]) if pairs else None


def _estimate(estimate: stats.Estimate) -> Fields:
    return {"": estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n}
