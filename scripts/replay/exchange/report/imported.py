"""What imported results say, for a report: each load with its runs, percentiles and notes, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from replay.base.stats import median
from replay.exchange.importing.arrange import CONFIGURATION, KIND_FACTORS, LOADS, SIZES
from replay.exchange.page import DOT, NUMBER, STROKE, Column, Row, bullets, over_time, paragraph, section, strip, table
from replay.exchange.report.data_set import (
    NOTHING,
    DataSet,
    MeasuredExperiment,
    MeasuredMode,
    ReportPart,
    between,
    bytes_per_second,
    n_of,
    number_of,
    per_second,
    seconds,
    told,
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


def imported(data: DataSet) -> ReportPart:
    """Return what imported results say: of each tool a chart and a table of every load, and the notes of the import."""
    loaded = [(experiment, _loads(experiment)) for experiment in data.of(IMPORTED)]
    if not loaded:
        return ReportPart()
    body = [*(_tool(*each, data.side.name) for each in loaded), _over_time(data)]
    return ReportPart(
        " ".join(_most(*each) for each in loaded),
        " ".join(_basis(loads) for _, loads in loaded),
        "\n".join(filter(None, body)),
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


#: The runs of a variant at a point.
_Load = tuple[Point, MeasuredMode]


def _loads(experiment: MeasuredExperiment) -> list[_Load]:
    points = points_of(experiment.entry["factors"], experiment.experiment.runs)
    return [(point, mode) for point in points for mode in experiment.at(point.levels).modes]


# Sentences -----------------------------------------------------------------------------------------------------------


def _rate(loads: Sequence[_Load]) -> str | None:
    return next((name for name in _RATES if any(mode.values(name) for _, mode in loads)), None)


def _most(experiment: MeasuredExperiment, loads: Sequence[_Load]) -> str:
    """Return the highest median rate of each kind of operation, where it was, and its slowest of a hundred."""
    if (column := _rate(loads)) is None:
        return ""
    name, written = _RATES[column]
    by_kind: dict[str, list[_Load]] = {}
    for point, mode in loads:
        if mode.values(column):
            by_kind.setdefault(point.kind, []).append((point, mode))
    sentences = []
    for several in by_kind.values():
        point, mode = max(several, key=lambda load: load[1].middle(column) or 0.0)
        label = f" with {mode.label}" if _several(experiment) else ""
        tail = mode.middle_seconds(_P99)
        beyond = "" if tail == NOTHING else f", the slowest of a hundred in {tail}"
        sentences.append(f"{point.label}{label}: {written(mode.middle(column))}{beyond}")
    return f"The most {name}: {'; '.join(sentences)}."


def _basis(loads: Sequence[_Load]) -> str:
    points = number_of(len({point.name for point, _ in loads}), "load")
    return f"{points}, {n_of(mode for _, mode in loads)}. Imported: nobody watched the machines."


# Charts and tables ---------------------------------------------------------------------------------------------------


def _tool(experiment: MeasuredExperiment, loads: Sequence[_Load], data_set: str) -> str:
    told_of = experiment.experiment
    configurations = told_of.words.get(CONFIGURATION, {})
    notes = [*told_of.notes, *(f"{CONFIGURATION} {level}: {text}" for level, text in configurations.items())]
    parts = [bullets(notes)]
    if _several(experiment):
        sides = " ".join(f"{data_set}:{name}" for name in dict.fromkeys(mode.name for _, mode in loads))
        parts.append(paragraph(f"Whether they differ by more than noise: replay compare {sides}", "muted"))
    parts += _overviews(experiment, loads)
    axis = axis_of(experiment.entry)
    groups: dict[tuple[Any, ...], list[_Load]] = {}
    for point, mode in loads:
        key = tuple(level for factor, level in point.levels.items() if factor != axis)
        groups.setdefault(key, []).append((point, mode))
    parts += [_group(experiment, several, axis) for several in groups.values()]
    return section(told_of.title, *filter(None, parts))


def _overviews(experiment: MeasuredExperiment, loads: Sequence[_Load]) -> Iterator[str]:
    """Yield a table of rates for each kind of operation, if a sweep varied what was in flight and how many sent it."""
    factors, charts = experiment.entry["factors"], experiment.entry["charts"].values()
    pairs = [(chart["rows"], chart["x"]["factor"]) for chart in charts if "rows" in chart]
    pair = next((pair for pair in pairs if {*pair} <= {*LOADS}), None)
    column = _rate(loads)
    if pair is None or column is None:
        return
    down, across = pair
    down_word, across_word = (words(factor).format("").strip() for factor in pair)
    name, written = _RATES[column]
    first = loads[0][1]
    tables: dict[str, dict[tuple[Any, Any], float]] = {}
    for point, mode in loads:
        rate = mode.middle(column)
        if mode.name == first.name and rate is not None:
            kind = _name(experiment, point, pair)
            tables.setdefault(kind, {})[point.levels[down], point.levels[across]] = rate
    for kind, rates in tables.items():
        most = max(rates.values())
        rows = [level for level in factors[down] if any(level == row for row, _ in rates)]
        columns = [Column(down_word, [_words(down, row) for row in rows])]
        for level in factors[across]:
            of_column = [rates.get((row, level)) for row in rows]
            if any(rate is not None for rate in of_column):
                kinds = ["number beyond" if rate is not None and rate >= most / SAME else NUMBER for rate in of_column]
                columns.append(Column(_written(across, level), [*map(written, of_column)], NUMBER, kinds))
        of = f"{kind}, {first.label}" if _several(experiment) else kind
        caption = f"{of}: medians of {name}, by {down_word} (down) and {across_word} (across)"
        yield section(kind, table(columns, f"{caption}; in bold, within 10 % of the most"), level=3)


def _name(experiment: MeasuredExperiment, point: Point, without: Sequence[str | None]) -> str:
    """Return the kind of a point's operations, and its levels of factors that vary, without some of them."""
    kind = point.kind
    told_by_kind = {*KIND_FACTORS, *(() if kind.endswith("reads and writes") else ("rw_mix_read",)), *without}
    fixed = [
        _words(factor, level)
        for factor, level in point.levels.items()
        if factor not in told_by_kind and len(experiment.entry["factors"][factor]) > 1
    ]
    return ", ".join([f"{kind[0].upper()}{kind[1:]}", *fixed])


def _group(experiment: MeasuredExperiment, loads: Sequence[_Load], axis: str | None) -> str:
    """Return the chart and the table of loads that differ along the axis and in their variant."""
    points, modes = zip(*loads, strict=True)
    name = _name(experiment, points[0], (axis,))
    labels = [_words(axis, point.levels[axis]) if axis else point.label for point in points]
    if axis:
        first, last = (point.levels[axis] for point in (points[0], points[-1]))
        is_one = first == last
        ends = _written(axis, first) if is_one else f"{_written(axis, first)} to {_written(axis, last)}"
        name += f", {said(axis, first if is_one else None, ends)}"
    title = f"{experiment.experiment.title}: {name}"
    figures = _table(experiment, modes, labels, f"{title}. A range is that of the runs")
    if (column := _rate(loads)) is None:
        return section(name, figures, level=3)
    if _several(experiment):
        labels = [f"{label}, {mode.label}" for label, mode in zip(labels, modes, strict=True)]
    return section(name, _chart(modes, labels, column, title), figures, level=3)


def _written(factor: str, level: Any) -> str:
    return size_text(level) if factor in SIZES and isinstance(level, int) else str(level)


def _words(factor: str, level: Any) -> str:
    return said(factor, level, _written(factor, level))


def _several(experiment: MeasuredExperiment) -> bool:
    return len(experiment.entry["variants"]) > 1


def _chart(modes: Sequence[MeasuredMode], labels: Sequence[str], column: str, title: str) -> str:
    name, written = _RATES[column]
    rows = []
    for mode, label in zip(modes, labels, strict=True):
        known = mode.values(column)
        if known:
            marks = [*((value, STROKE) for value in known), (median(known), DOT)]
            rows.append(Row(label, written(median(known)), marks))
    every = [value for row in rows for value, _ in row.marks]
    axis = "logarithmic" if max(every) > 10 * min(every) > 0 else "linear"
    return strip(rows, f"{title}, {name}", f"● median of {name}, ❘ a run", written, axis)


def _table(experiment: MeasuredExperiment, modes: Sequence[MeasuredMode], labels: Sequence[str], caption: str) -> str:
    rates = []
    for name, (title, written) in _RATES.items():
        rates.append(Column(title, [written(mode.middle(name)) for mode in modes], NUMBER))
        rates.append(Column("range", [between(mode.values(name), written) for mode in modes], NUMBER))
    for which in ("read", "write"):
        apart = [per_second(mode.middle(f"{which}_operations_per_second")) for mode in modes]
        rates.append(Column(f"{which}s a second", apart, NUMBER))
    columns = [
        Column("load", labels),
        *([Column("variant", [mode.label for mode in modes])] if _several(experiment) else []),
        *rates,
        *(Column(title, [mode.middle_seconds(name) for mode in modes], NUMBER) for name, title in _LATENCIES.items()),
        Column("slowest of all", [seconds(mode.largest("latency_max_seconds")) for mode in modes], NUMBER),
        Column("n", [str(len(mode)) for mode in modes], NUMBER),
    ]
    return table(told(columns), caption)


def _over_time(data: DataSet) -> str:
    """Return the charts of what fio's logs and the rows of `rados bench` and `rbd bench` tell of runs."""
    written = {
        "seconds": seconds,
        "bytes_per_second": bytes_per_second,
        "operations_per_second": lambda value: f"{per_second(value)}/s",
    }
    charts = [
        over_time(chart["title"], lines, written[chart["y"]["unit"]])
        for experiment in data.of(IMPORTED)
        for chart, lines in experiment.lines
        if not lines.empty
    ]
    return section("Over time", paragraph(_OVER_TIME, "muted"), *charts) if charts else ""
