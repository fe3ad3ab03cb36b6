"""answer.csv: the talk's question in a table, what each mode of mirroring loses, and what its writes pay.

config/answer.yaml names its rows and figures, and where each figure comes from. A figure's estimate is made of valid
runs, by block. A field without a value is empty in the file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from replay.base import stats
from replay.base.errors import ConfigurationError
from replay.base.paths import suggestion
from replay.base.tables import csv_text, level_text, write_if_changed
from replay.claims.load import levels_of
from replay.claims.model import Selector
from replay.claims.tables import Row, Table, failing_value, is_bound, is_known, read_table
from replay.derive.facts import Predicate, parse_predicate
from replay.design.configuration import Document, answer_path, experiment_names, load_answer_document, load_experiment


class Kind(Enum):
    """How a figure is estimated from runs."""

    TRIALS = "every trial by itself: the worst, the median, and a bound of the 95th percentile"
    MEAN = "the mean over blocks"
    MEDIAN = "the median over blocks, with the lowest and the highest block"
    ADDED = "the mean of the difference to the reference in each block"
    RATIO = "the mean of the reference divided by the mode in each block, on the logarithm"


#: The kinds that compare a mode with the reference, block by block.
COMPARED = (Kind.ADDED, Kind.RATIO)


@dataclass(frozen=True)
class Figure:
    """A figure of the table. `unit` ends the names of its columns; it is empty for a ratio."""

    name: str
    kind: Kind
    unit: str = ""

    def column(self, part: str) -> str:
        """Return the name of the column of a part of the figure."""
        return "_".join(filter(None, (self.name, part, "" if part in _WITHOUT_UNIT else self.unit)))


_OF_A_WRITE = (
    ("latency_added", Kind.ADDED, "seconds"),
    ("cpu_time", Kind.MEAN, "seconds"),
    ("media_bytes_per_byte", Kind.MEAN, ""),
    ("peak_ratio", Kind.RATIO, ""),
)
#: By name, in the order of the columns.
FIGURES: Mapping[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure("recovery_point", Kind.TRIALS, "seconds"),
        Figure("recovery_time", Kind.TRIALS, "seconds"),
        Figure("lag_below_replay", Kind.TRIALS, "seconds"),
        Figure("lag_beyond_replay", Kind.TRIALS, "seconds"),
        Figure("lag_growth", Kind.MEDIAN, "seconds"),
        Figure("latency_p50_4k", Kind.MEDIAN, "seconds"),
        Figure("latency_p99_4k", Kind.MEDIAN, "seconds"),
        *(Figure(f"{name}_{size}", kind, unit) for size in ("4k", "4m") for name, kind, unit in _OF_A_WRITE),
    )
}


#: What a mode may say of its runs: how often a copy is updated, and how long a message takes there and back.
STATED = ("snapshot_interval_seconds", "journal_poll_age_seconds", "link_rtt_seconds")


@dataclass(frozen=True)
class Mode:
    """A row of the table: a way to protect an image, and how often its copy is brought up to date.

    `kind` is none, journal (not mirrored), journal-mirrored, snapshot-mirrored or stretch. `stated` is what a run of
    this mode must state, by the names in STATED, if it states anything under that name; in seconds.
    """

    name: str
    label: str
    kind: str
    is_reference: bool = False
    stated: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ModePresupposition:
    """What must have been true of the runs of some modes for a figure to mean anything."""

    predicate: Predicate
    modes: frozenset[str]


@dataclass(frozen=True)
class FigureSource:
    """Where a figure may come from: the sum of `metrics` in the cells of an experiment at these levels.

    `variants` maps each mode to the variant that measures it. These modes state the factors that `levels` lacks. A
    `supplement` measures as the source before it does, and adds the modes which that one lacks.
    """

    experiment: str
    metrics: tuple[str, ...]
    levels: Mapping[str, Any]
    variants: Mapping[str, str]
    presupposes: tuple[ModePresupposition, ...] = ()
    supplement: bool = False

    def text(self) -> str:
        return f"{self.experiment}: {' + '.join(self.metrics)}"


@dataclass(frozen=True)
class AnswerPlan:
    """The table's rows, and each figure's sources. The first that was measured counts, with its supplements."""

    modes: tuple[Mode, ...]
    sources: Mapping[str, tuple[FigureSource, ...]]

    @property
    def reference(self) -> Mode:
        """The mode with which the others are compared."""
        return next(mode for mode in self.modes if mode.is_reference)


def load_answer_plan() -> AnswerPlan:
    """Return what config/answer.yaml says. Raises ConfigurationError that names the file, the line and the mistake."""
    document = load_answer_document()
    modes = tuple(_mode(raw) for raw in document.data["modes"])
    for number, mode in enumerate(modes):
        if mode.name in [other.name for other in modes[:number]]:
            raise ConfigurationError(
                f"two modes are called {mode.name!r}", where=document.where("modes", number), next_step="rename one"
            )
    if (count := sum(mode.is_reference for mode in modes)) != 1:
        raise ConfigurationError(
            f"{count} modes are the reference",
            where=document.where("modes"),
            next_step="give `reference: true` to exactly one mode, with which the others are compared",
        )
    sources = {}
    for name, raw_sources in document.data["figures"].items():
        if name not in FIGURES:
            raise ConfigurationError(
                f"there is no figure {name!r}",
                where=document.where("figures", name),
                next_step=suggestion(name, list(FIGURES)),
            )
        sources[name] = tuple(_source(raw, name, modes, document, number) for number, raw in enumerate(raw_sources))
    return AnswerPlan(modes, sources)


def _mode(raw: Mapping[str, Any]) -> Mode:
    stated = {name: raw[name] for name in STATED if name in raw}
    return Mode(raw["name"], raw["label"], raw["mode"], bool(raw.get("reference")), stated)


def _source(
    raw: Mapping[str, Any], figure: str, modes: tuple[Mode, ...], document: Document, number: int
) -> FigureSource:
    def refuse(what: str, known: list[str], wrong: str, *keys: str | int) -> None:
        where = document.where("figures", figure, number, *keys)
        raise ConfigurationError(what, where=where, next_step=suggestion(wrong, known))

    name, names = raw["experiment"], [mode.name for mode in modes]
    if name not in experiment_names():
        refuse(f"there is no experiment {name!r}", experiment_names(), name, "experiment")
    experiment = load_experiment(name)
    metrics = [each["metric"] for each in experiment["metrics"]]
    variants = [each["name"] for each in experiment["variants"]]
    for metric in raw["metrics"]:
        if metric not in metrics:
            refuse(f"{name} has no metric {metric!r}", metrics, metric, "metrics")
    for mode, variant in raw["variants"].items():
        if mode not in names:
            refuse(f"there is no mode {mode!r}", names, mode, "variants")
        if variant not in variants:
            refuse(f"{name} has no variant {variant!r}", variants, variant, "variants")
    of_modes = set.intersection(*(set(mode.stated) for mode in modes if mode.name in raw["variants"]))
    levels = _levels(raw.get("levels", {}), experiment, of_modes, document.where("figures", figure, number, "levels"))
    reference = next(mode.name for mode in modes if mode.is_reference)
    if FIGURES[figure].kind in COMPARED and reference not in raw["variants"]:
        refuse(f"nothing measures the reference {reference!r}", names, reference, "variants")
    presupposes = []
    for index, presupposed in enumerate(raw.get("presupposes", ())):
        where = document.where("figures", figure, number, "presupposes", index)
        for mode in presupposed["of"]:
            if mode not in raw["variants"]:
                refuse(f"of: {mode!r} is not measured here", list(raw["variants"]), mode, "presupposes", index)
        predicate = parse_predicate(presupposed["that"], where)
        presupposes.append(ModePresupposition(predicate, frozenset(presupposed["of"])))
    supplement = raw.get("supplement", False)
    return FigureSource(name, tuple(raw["metrics"]), levels, dict(raw["variants"]), tuple(presupposes), supplement)


def _levels(raw: Mapping[str, Any], experiment: Mapping[str, Any], of_modes: set[str], where: str) -> dict[str, Any]:
    """Return one level of each of the experiment's factors but those that every mode states.

    Raises ConfigurationError if one is missing or unknown.
    """
    factors = experiment["factors"]
    levels = {factor: several[0] for factor, several in factors.items() if len(several) == 1} | dict(raw)
    needed = {name: several for name, several in factors.items() if name in levels or name not in of_modes}
    return {factor: level for factor, (level,) in levels_of(levels, needed, where).items()}


# The table ------------------------------------------------------------------------------------------------------------

ANSWER = "answer.csv"
MODE_COLUMNS = ("name", "label", "mode", *STATED)
SOURCE = "source"
#: Fields of a row by column.
Fields = dict[str, str | float | int | None]

#: The parts of a figure, each in a column of its own, apart from its source: of every trial, and of an estimate.
_OF_TRIALS = ("worst", "median", "median_low", "median_high", "p95_bound", "worst_bounds_p95_confidence", "n")
_OF_ESTIMATE = ("", "low", "high", "n")
_WITHOUT_UNIT = ("worst_bounds_p95_confidence", "n", "source")
Tables = Mapping[str, Table | None]


def write_answer(data_set: Path) -> None:
    """Write a data set's answer.csv from its experiments' tables if it changes.

    Call it while holding `locked(data_set)`. A talk without config/answer.yaml has no answer.csv. Raises
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
    figures = [figure.column(part) for figure, several in parts.items() for part in (*several, SOURCE)]
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
        return {figure.column(SOURCE): f"{source.text()}; not testable here: {problem}"}
    if compared:
        blocks = runs.keys() & beside.keys()
        runs, beside = ({block: side[block] for block in sorted(blocks)} for side in (runs, beside))
    if missing := _missing(figure, source, [*runs.values(), *beside.values()]):
        return {figure.column(SOURCE): f"{source.text()}; no figure: {missing}"}
    parts = _parts(figure, *([_value(row, source) for row in side.values()] for side in (runs, beside)))
    fields = {figure.column(part): value for part, value in parts.items()}
    hosts = {row.get("host") for row in runs.values()}
    mark = f"; on {len(hosts)} hosts" if len(hosts) > 1 else ""
    return {**fields, figure.column(SOURCE): f"{source.text()}{mark}"} if fields else {}


def _counting(sources: Sequence[FigureSource], plan: AnswerPlan, tables: Tables) -> list[FigureSource]:
    """Return the first source that was measured, in a mode besides the reference, and such of its supplements."""
    others = [mode for mode in plan.modes if not mode.is_reference]
    group: list[FigureSource] = []
    for source in sources:
        if group and not source.supplement:
            break
        table = tables.get(source.experiment)
        if table is not None and any(_runs(source, mode, table) for mode in others):
            group.append(source)
    return group


def _runs(source: FigureSource, mode: Mode, table: Table) -> dict[int, Row]:
    """Return the runs that measure a mode and have a value of each metric, or a lower bound of one, by block."""
    if mode.name not in source.variants:
        return {}
    factors = {name: value for name, value in mode.stated.items() if name in table.factors} | source.levels
    selector = Selector(source.variants[mode.name], {factor: (level,) for factor, level in factors.items()})
    runs = ((block, row) for block, (row,) in table.runs(selector).items())
    return {block: row for block, row in runs if all(is_known(row, name) for name in source.metrics)}


def _value(row: Row, source: FigureSource) -> float:
    return math.fsum(float(row[name]) for name in source.metrics)


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


def _missing(figure: Figure, source: FigureSource, runs: Sequence[Row]) -> str:
    """Return why there is no figure of these runs: without some of them, it would look smaller or larger than it is."""
    if bounds := sum(any(is_bound(row, name) for name in source.metrics) for row in runs):
        return f"only a lower bound in {bounds} of {len(runs)} runs"
    zeros = sum(_value(row, source) <= 0 for row in runs) if figure.kind is Kind.RATIO else 0
    return f"a value of 0 in {zeros} of {len(runs)} runs, which has no ratio" if zeros else ""


def _parts(figure: Figure, values: list[float], reference: list[float]) -> Fields:
    """Return a figure's fields by part; empty without pairs for a figure that is compared.

    `values` are a mode's, `reference` those of the reference in the same blocks.
    """
    if figure.kind is Kind.TRIALS:
        return _trials(values)
    if figure.kind is Kind.MEDIAN:
        return {"": stats.median(values), "low": min(values), "high": max(values), "n": len(values)}
    if not values:
        return {}
    if figure.kind is Kind.MEAN:
        estimate = stats.mean_with_interval(values)
    elif figure.kind is Kind.ADDED:
        estimate = stats.mean_with_interval([value - beside for value, beside in zip(values, reference, strict=True)])
    else:  # as ratio charts and claims estimate it
        estimate = stats.paired_log_ratio(reference, values)
    return {"": estimate.value, "low": estimate.low, "high": estimate.high, "n": estimate.n}


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
