"""The CSVs of values over time: one line per variant, with the median, smallest and largest value of blocks per bin.

The lines of the single runs behind it are in `runs.csv`. A line is drawn only where all of its runs have values. Past
the end of the shortest run, the median would cover only the remaining runs, and would jump although nothing happened,
usually towards the slow ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from replay.base import stats as statistics
from replay.derive.bins import middle_seconds
from replay.derive.cells import AttemptRecord, CellRow
from replay.derive.chart import Chart, Workload, chart_name, chart_title, long_csv, workloads_of
from replay.derive.designs import Design
from replay.derive.runs import Run

#: The used cells, one per block, with their attempts, by (workload, level of the x factor or None, variant).
_Cells = Mapping[tuple[Any, ...], list[tuple[AttemptRecord, CellRow]]]


class _Run(NamedTuple):
    """A run of a line: its block and attempt, its bins by number, and its value after the last one, None if unknown."""

    block: int
    attempt: int
    bins: Mapping[int, float]
    after_end: float | None

    def value(self, number: int) -> float | None:
        """Return the run's value in a bin; None if it has none."""
        return self.after_end if number > max(self.bins) else self.bins.get(number)


def series_charts(used: list[tuple[AttemptRecord, CellRow]], design: Design) -> list[Chart]:
    """Return a chart for each metric with `series: true`, each workload and, with an x factor, each of its levels.

    A chart without samples is left out.
    """
    metrics = [metric for metric in design.public["metrics"] if metric.get("series")]
    if not metrics:
        return []
    cells: dict[tuple[Any, ...], list[tuple[AttemptRecord, CellRow]]] = {}
    for record, row in used:
        cell = design.cells[row.cell_id]
        cells.setdefault((design.workload(cell.levels), design.x(cell.levels), cell.variant), []).append((record, row))
    blocks = sorted({record.block for record, _ in used})
    found = []
    for workload in workloads_of(design, blocks):
        levels = workload.xs if design.x_factor is not None else (None,)
        found += [_chart(metric, workload, level, cells) for level in levels for metric in metrics]
    return [chart for chart in found if chart is not None]


def _chart(metric: Mapping[str, Any], workload: Workload, level: Any, cells: _Cells) -> Chart | None:
    width = float(metric["bin_seconds"])
    rows, series, counts, runs = [], [], [], []
    for variant, label in workload.variants:
        here = [
            _Run(record.block, record.number, bins, row.after_end.get(metric["metric"]))
            for record, row in cells.get((workload.levels, level, variant), ())
            if (bins := row.series.get((metric["metric"], width)))
        ]
        numbers = _numbers(here)
        if not numbers:
            continue
        series.append(label)
        counts.append(len(here))
        for number in numbers:
            values = [value for run in here if (value := run.value(number)) is not None]
            rows.append(
                (label, middle_seconds(number, width), statistics.median(values), min(values), max(values), len(values))
            )
        runs += _lines(label, here, numbers, width)
    if not rows:
        return None
    names = (*workload.levels, *(() if level is None else (level,)))
    name = chart_name(metric, names)
    return Chart(
        name=name,
        metric=metric["name"],
        title=chart_title(metric, names),
        y_label=metric["title"],
        kind="long",
        unit=metric["unit"],
        better=metric.get("better"),
        workload=workload.levels,
        series=tuple(series),
        n=(min(counts), max(counts)),
        files={f"{name}.csv": long_csv(rows)},
        runs=runs,
        runs_are_lines=True,
        x={"label": metric.get("x_label", "Time"), "unit": "seconds"},
        level=level,
    )


def _numbers(runs: list[_Run]) -> list[int]:
    """Return the numbers of the bins in which all runs have values; empty if there is no such bin.

    They reach from the latest of the runs' first samples to the earliest of their last samples. A run whose value after
    its end is known does not end the line. A bin in between is drawn from the runs that have a sample in it.
    """
    if not runs:
        return []
    begin = max(min(run.bins) for run in runs)
    ends = [max(run.bins) for run in runs if run.after_end is None]
    end = min(ends) if ends else max(max(run.bins) for run in runs)
    return sorted({number for run in runs for number in run.bins if begin <= number <= end})


def _lines(label: str, runs: list[_Run], numbers: list[int], width: float) -> list[Run]:
    """Return the values behind a line, run by run, so that each run is a line itself."""
    return [
        Run(label, middle_seconds(number, width), value, run.block, run.attempt)
        for run in sorted(runs, key=lambda one: (one.block, one.attempt))
        for number in numbers
        if (value := run.value(number)) is not None
    ]
