"""What imported results say, for a report: each load with its runs, percentiles and notes, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from replay.base.stats import median
from replay.exchange.importing.arrange import CONFIGURATION, KIND_FACTORS, LOADS, SIZES
from replay.exchange.page import DOT, NUMBER, STROKE, Column, bullets, heading, over_time, paragraph, strip, table
from replay.exchange.page import Row as Marks
from replay.exchange.report.data_set import (
    NOTHING,
    DataSet,
    MeasuredExperiment,
    ReportPart,
    between,
    bytes_per_second,
    largest,
    middle,
    middle_seconds,
    n_of,
    number_of,
    per_second,
    seconds,
    told,
    values,
)
from replay.exchange.sides import IMPORTED, differences
from replay.exchange.talk_points import Point, axis_of, points_of, said, size_text, words
from replay.exchange.talk_sense import SAME

_P99 = "latency_p99_seconds"
_OVER_TIME = (
    "Means of one second. A line is the median of its runs, the band behind it goes from the lowest to the highest of "
    "them. A line ends with its shortest run."
)
#: The columns that say how much was done, the likeliest first: their name, and how a value is written.
_RATES: Mapping[str, tuple[str, Callable[[float | None], str]]] = {
    "operations_per_second": ("operations a second", per_second),
    "bytes_per_second": ("bytes a second", bytes_per_second),
}
#: Reads and writes are stated apart where both were mixed.
_LATENCIES = {
    "latency_mean_seconds": "mean latency",
    "latency_p50_seconds": "p50",
    _P99: "p99",
    f"read_{_P99}": "p99 of reads",
    f"write_{_P99}": "p99 of writes",
}


class _Load(NamedTuple):
    """The runs of a variant at a point."""

    point: Point
    variant: Mapping[str, Any]
    runs: pd.DataFrame


def imported(data: DataSet) -> ReportPart:
    """Return what imported results say: of each tool a chart and a table of every load, and the notes of the import."""
    loaded = [(experiment, [*_loads(experiment)]) for experiment in data.of(IMPORTED)]
    if not loaded:
        return ReportPart()
    body = [_section(experiment, loads, data.side.name) for experiment, loads in loaded]
    body += _over_time([experiment for experiment, _ in loaded])
    return ReportPart(
        " ".join(_most(*each) for each in loaded), " ".join(_basis(loads) for _, loads in loaded), "\n".join(body)
    )


def differing(data: DataSet) -> list[str]:
    """Return the options and facts that differ between the variants of imported results, each with its values."""
    lines = []
    for experiment in data.of(IMPORTED):
        options = experiment.experiment.options
        stated = {
            each["label"]: options[each["name"]] for each in experiment.entry["variants"] if each["name"] in options
        }
        lines += [f"{name}: {sides}" for name, sides in differences(stated)]
    return list(dict.fromkeys(lines))


def _loads(experiment: MeasuredExperiment) -> Iterator[_Load]:
    for point in points_of(experiment.entry["factors"], experiment.experiment.runs):
        yield from (_Load(point, variant, rows) for variant, rows in experiment.by_variant(experiment.at(point.levels)))


# Sentences -----------------------------------------------------------------------------------------------------------


def _rate(loads: Sequence[_Load]) -> str | None:
    return next((name for name in _RATES if any(values(load.runs, name) for load in loads)), None)


def _most(experiment: MeasuredExperiment, loads: Sequence[_Load]) -> str:
    """Return the highest median rate of each kind of operation, where it was, and its slowest of a hundred."""
    if (column := _rate(loads)) is None:
        return ""
    name, written = _RATES[column]
    by_kind: dict[str, list[_Load]] = {}
    for load in loads:
        if values(load.runs, column):
            by_kind.setdefault(load.point.kind, []).append(load)
    sentences = []
    for several in by_kind.values():
        best = max(several, key=lambda load: middle(load.runs, column) or 0.0)
        label = f" with {best.variant['label']}" if len(experiment.entry["variants"]) > 1 else ""
        tail = middle_seconds(best.runs, _P99)
        beyond = "" if tail == NOTHING else f", the slowest of a hundred in {tail}"
        sentences.append(f"{best.point.label}{label}: {written(middle(best.runs, column))}{beyond}")
    return f"The most {name}: {'; '.join(sentences)}."


def _basis(loads: Sequence[_Load]) -> str:
    points = number_of(len({load.point.name for load in loads}), "load")
    return f"{points}, {n_of(load.runs for load in loads)}. Imported: nobody watched the machines."


# Charts and tables ---------------------------------------------------------------------------------------------------


def _section(experiment: MeasuredExperiment, loads: Sequence[_Load], data_set: str) -> str:
    told_of, title = experiment.experiment, experiment.experiment.title
    configurations = told_of.words.get(CONFIGURATION, {})
    notes = [*told_of.notes, *(f"{CONFIGURATION} {level}: {text}" for level, text in configurations.items())]
    parts = [heading(title), bullets(notes) if notes else ""]
    if _several(experiment):
        sides = " ".join(f"{data_set}:{name}" for name in dict.fromkeys(load.variant["name"] for load in loads))
        parts.append(paragraph(f"Whether they differ by more than noise: replay compare {sides}", "muted"))
    axis = axis_of(experiment.entry)
    groups: dict[tuple[Any, ...], list[_Load]] = {}
    for load in loads:
        key = tuple(level for factor, level in load.point.levels.items() if factor != axis)
        groups.setdefault(key, []).append(load)
    parts += _overviews(experiment, loads)
    for several in groups.values():
        parts += _group(experiment, several, axis, title)
    return "\n".join(filter(None, parts))


def _overviews(experiment: MeasuredExperiment, loads: Sequence[_Load]) -> Iterator[str]:
    """Yield a table of rates for each kind of operation, if a sweep varied what was in flight and how many sent it."""
    pairs = {(chart["x"]["factor"], chart["rows"]) for chart in experiment.entry["charts"].values() if "rows" in chart}
    column = _rate(loads)
    pair = next((pair for pair in pairs if {*pair} <= {*LOADS}), None)
    if pair is None or column is None:
        return
    along, rows = pair
    name, written = _RATES[column]
    down_word, across_word = (words(factor).format("").strip() for factor in (rows, along))
    tables: dict[str, dict[tuple[Any, Any], float]] = {}
    for load in loads:
        levels, rate = load.point.levels, middle(load.runs, column)
        if load.variant == loads[0].variant and rate is not None:
            kind = _name(experiment, load.point, (along, rows))
            tables.setdefault(kind, {})[levels[rows], levels[along]] = rate
    for kind, rates in tables.items():
        most = max(rates.values())
        factors = experiment.entry["factors"]
        down, across = ([level for level in factors[factor] if any(place[at] == level for place in rates)]
                        for at, factor in enumerate((rows, along)))  # fmt: skip
        columns = [Column(down_word, [said(rows, level, _written(rows, level)) for level in down])]
        for level in across:
            of_column = [rates.get((row, level)) for row in down]
            kinds = ["number beyond" if rate is not None and rate >= most / SAME else NUMBER for rate in of_column]
            columns.append(Column(_written(along, level), [written(rate) for rate in of_column], NUMBER, kinds))
        yield heading(kind, 3)
        of = f"{kind}, {loads[0].variant['label']}" if _several(experiment) else kind
        caption = f"{of}: medians of {name}, by {down_word} (down) and {across_word} (across)"
        yield table(columns, f"{caption}; in bold, within 10 % of the most")


def _name(experiment: MeasuredExperiment, point: Point, without: Sequence[str | None]) -> str:
    """Return the kind of a point's operations, and its levels of factors that vary, without some of them."""
    kind = point.kind
    told_by_kind = {*KIND_FACTORS, *(() if kind.endswith("reads and writes") else ("rw_mix_read",)), *without}
    fixed = [
        said(factor, level, _written(factor, level))
        for factor, level in point.levels.items()
        if factor not in told_by_kind and len(experiment.entry["factors"][factor]) > 1
    ]
    return ", ".join([f"{kind[0].upper()}{kind[1:]}", *fixed])


def _group(experiment: MeasuredExperiment, loads: Sequence[_Load], axis: str | None, title: str) -> Iterator[str]:
    """Yield the chart and the table of loads that differ along the axis and in their variant."""
    levels = loads[0].point.levels
    names = [_written(axis, load.point.levels[axis]) if axis else load.point.label for load in loads]
    ends = list(dict.fromkeys([names[0], names[-1]]))
    along = [said(axis, levels[axis] if len(ends) == 1 else None, " to ".join(ends))] if axis else []
    name = ", ".join([_name(experiment, loads[0].point, (axis,)), *along])
    labels = [
        said(axis, load.point.levels[axis], text) if axis else text for load, text in zip(loads, names, strict=True)
    ]
    sides = [f", {load.variant['label']}" if _several(experiment) else "" for load in loads]
    yield heading(name, 3)
    if column := _rate(loads):
        rows = [label + side for label, side in zip(labels, sides, strict=True)]
        yield _chart(loads, rows, column, f"{title}: {name}")
    yield _table(experiment, loads, labels, f"{title}: {name}. A range is that of the runs")


def _written(factor: str, level: Any) -> str:
    return size_text(level) if factor in SIZES and isinstance(level, int) else str(level)


def _several(experiment: MeasuredExperiment) -> bool:
    return len(experiment.entry["variants"]) > 1


def _chart(loads: Sequence[_Load], labels: Sequence[str], column: str, title: str) -> str:
    name, written = _RATES[column]
    rows = []
    for load, label in zip(loads, labels, strict=True):
        known = values(load.runs, column)
        if known:
            marks = [*((value, STROKE) for value in known), (median(known), DOT)]
            rows.append(Marks(label, written(median(known)), marks))
    every = [value for row in rows for value, _ in row.marks]
    is_wide = max(every) > 10 * min(every) > 0
    return strip(rows, f"{title}, {name}", f"● median of {name}, ❘ a run", written, logarithmic=is_wide)


def _table(experiment: MeasuredExperiment, loads: Sequence[_Load], labels: Sequence[str], caption: str) -> str:
    tables = [load.runs for load in loads]
    rates = []
    for name, (title, written) in _RATES.items():
        rates.append(Column(title, [written(middle(runs, name)) for runs in tables], NUMBER))
        rates.append(Column("range", [between(values(runs, name), written) for runs in tables], NUMBER))
    for which in ("read", "write"):
        apart = [per_second(middle(runs, f"{which}_operations_per_second")) for runs in tables]
        rates.append(Column(f"{which}s a second", apart, NUMBER))
    columns = [
        Column("load", labels),
        *([Column("variant", [str(load.variant["label"]) for load in loads])] if _several(experiment) else []),
        *rates,
        *(Column(title, [middle_seconds(runs, name) for runs in tables], NUMBER) for name, title in _LATENCIES.items()),
        Column("slowest of all", [seconds(largest(runs, "latency_max_seconds")) for runs in tables], NUMBER),
        Column("n", [str(len(runs)) for runs in tables], NUMBER),
    ]
    return table(told(columns), caption)


def _over_time(experiments: Sequence[MeasuredExperiment]) -> list[str]:
    """Return the charts of what fio's logs and the rows of `rados bench` and `rbd bench` tell of runs."""
    written = {
        "seconds": seconds,
        "bytes_per_second": bytes_per_second,
        "operations_per_second": lambda value: f"{per_second(value)}/s",
    }
    charts = []
    for experiment in experiments:
        for name, lines in experiment.lines.items():
            chart = experiment.entry["charts"][name]
            if not lines.empty:
                charts.append(over_time(chart["title"], lines, written[chart["y"]["unit"]]))
    return [heading("Over time"), paragraph(_OVER_TIME, "muted"), *charts] if charts else []
