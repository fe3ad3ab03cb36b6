"""Turns a data set's tables into the rows of answer.csv. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from replay.base.tables import csv_text, level_text
from replay.claims.answer.estimates import PARTS, column_of, fields_of
from replay.claims.answer.model import COMPARED, FIGURES, Figure, Mode, Question, Source
from replay.claims.model import Selector
from replay.claims.presupposed import failing_value
from replay.claims.table import Row, Table

MODE_COLUMNS = ("name", "label", "mode", "snapshot_interval_seconds", "journal_poll_age_seconds")
SOURCE = "source"
Tables = Mapping[str, Table | None]


def columns() -> list[str]:
    """Return the header of answer.csv: the mode, then each figure's parts and its source."""
    figures = [column_of(figure, part) for figure in FIGURES.values() for part in (*PARTS[figure.kind], SOURCE)]
    return [*MODE_COLUMNS, *figures]


def answer_csv(question: Question, tables: Tables, *, altered: bool = False) -> str:
    """Return the text of answer.csv, one row per mode. For an altered data set, a last column of each row says so."""
    mark = ("altered", "true") if altered else None
    rows = answer_rows(question, tables)
    header = columns()
    lines = [[level_text(row.get(column)) for column in header] for row in rows]
    return csv_text([[*header, *(mark or ())[:1]], *([*line, *(mark or ())[1:]] for line in lines)])


def answer_rows(question: Question, tables: Tables) -> list[dict[str, str | float | int | None]]:
    """Return one row per mode, as fields by column. What was not measured is left out."""
    rows: list[dict[str, str | float | int | None]] = [_of_mode(mode) for mode in question.modes]
    for name, figure in FIGURES.items():
        source = next((one for one in question.sources.get(name, ()) if _has_runs(one, question, tables)), None)
        if source is None:
            continue
        table = tables[source.experiment]
        for mode, row in zip(question.modes, rows, strict=True):
            row.update(_of_figure(figure, source, mode, table, question.reference))
    return rows


def _of_mode(mode: Mode) -> dict[str, str | float | int | None]:
    intervals = (mode.snapshot_interval_seconds, mode.journal_poll_age_seconds)
    return dict(zip(MODE_COLUMNS, (mode.name, mode.label, mode.kind, *intervals), strict=True))


def _of_figure(
    figure: Figure, source: Source, mode: Mode, table: Table, reference: Mode
) -> dict[str, str | float | int | None]:
    compared = figure.kind in COMPARED
    runs, beside = _runs(source, mode, table), _runs(source, reference, table) if compared else {}
    if not runs or (compared and (mode.is_reference or not beside)):
        return {}
    problem = _problem(source, mode, list(runs.values()))
    if compared and not problem and (of_reference := _problem(source, reference, list(beside.values()))):
        problem = f"{of_reference} in {reference.name}"
    if problem:
        return {column_of(figure, SOURCE): f"{source.text()}; not testable here: {problem}"}
    found = fields_of(figure, _values(runs, source), _values(beside, source))
    return {**found, column_of(figure, SOURCE): source.text()} if found else {}


def _has_runs(source: Source, question: Question, tables: Tables) -> bool:
    """Return whether a data set measured the source in any mode other than the reference."""
    table = tables.get(source.experiment)
    others = [mode for mode in question.modes if not mode.is_reference]
    return table is not None and any(_runs(source, mode, table) for mode in others)


def _runs(source: Source, mode: Mode, table: Table) -> dict[int, Row]:
    """Return the runs that measure a mode and have a value of each metric, by block."""
    if mode.name not in source.variants:
        return {}
    selector = Selector(source.variants[mode.name], {factor: (level,) for factor, level in source.levels.items()})
    found = {block: rows[0] for block in table.blocks if (rows := table.find(block, selector))}
    return {
        block: row for block, row in found.items() if all(row.get(name) not in (None, "") for name in source.metrics)
    }


def _values(runs: Mapping[int, Row], source: Source) -> dict[int, float]:
    return {block: math.fsum(float(row[name]) for name in source.metrics) for block, row in runs.items()}


def _problem(source: Source, mode: Mode, runs: Sequence[Row]) -> str:
    """Return why runs say nothing about a mode: they state another interval, or lack what is presupposed."""
    for name, wanted in mode.stated().items():
        stated = {float(row[name]) for row in runs if row.get(name) not in (None, "")}
        if other := sorted(stated - {float(wanted)}):
            return f"{name} was {other[0]:g}"
    for one in source.presupposes:
        if mode.name not in one.modes:
            continue
        fact, values = one.predicate.fact, [row["facts"].get(one.predicate.fact.name) for row in runs]
        if (failed := failing_value(one.predicate, values)) is not None:
            return f"{fact.noun} was {one.predicate.found_in_words(failed)}"
        if None in values:
            return f"{fact.noun} was not recorded"
    return ""
