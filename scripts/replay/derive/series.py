"""The CSVs of values over time: a line per variant, each bin the median over blocks with least and greatest.

A line is drawn only where all of its runs are known. Past the end of the shortest run, the median would only cover the
remaining runs: it would jump although nothing happened, usually towards the slow ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from replay.base import stats as statistics
from replay.derive.bins import middle_seconds
from replay.derive.cells import AttemptRecord, CellRow
from replay.derive.chart import Chart, Workload, chart_name, chart_title, long_csv, workloads_of
from replay.derive.designs import Design

#: (workload, level of the x factor or None, variant) to the used cells there, one a block.
_Cells = Mapping[tuple[Any, ...], list[CellRow]]


class _Run(NamedTuple):
    """A run of a line: its bins by number, and its value after the last one, None if unknown."""

    bins: Mapping[int, float]
    after_end: float | None

    def value(self, number: int) -> float | None:
        """Return the run's value in a bin, None if it has none."""
        return self.after_end if number > max(self.bins) else self.bins.get(number)


def series_charts(used: list[tuple[AttemptRecord, CellRow]], design: Design) -> list[Chart]:
    """Return a chart per metric with `series: true`, workload and, where the design has an x factor, its level.

    A chart without any sample is left out.
    """
    metrics = [metric for metric in design.public["metrics"] if metric.get("series")]
    if not metrics:
        return []
    cells: dict[tuple[Any, ...], list[CellRow]] = {}
    for _, row in used:
        cell = design.cells[row.cell_id]
        cells.setdefault((design.workload(cell.levels), design.x(cell.levels), cell.variant), []).append(row)
    blocks = sorted({record.block for record, _ in used})
    found = []
    for workload in workloads_of(design, blocks):
        levels = workload.xs if design.x_factor is not None else (None,)
        found += [_chart(metric, workload, level, cells) for level in levels for metric in metrics]
    return [chart for chart in found if chart is not None]


def _chart(metric: Mapping[str, Any], workload: Workload, level: Any, cells: _Cells) -> Chart | None:
    width = float(metric["bin_seconds"])
    rows, series, counts = [], [], []
    for variant, label in workload.variants:
        here = [
            _Run(bins, row.after_end.get(metric["metric"]))
            for row in cells.get((workload.levels, level, variant), ())
            if (bins := row.series.get((metric["metric"], width)))
        ]
        line = _line(here)
        if not line:
            continue
        series.append(label)
        counts.append(len(here))
        for number, values in line:
            rows.append(
                (label, middle_seconds(number, width), statistics.median(values), min(values), max(values), len(values))
            )
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
        x={"label": metric.get("x_label", "Time"), "unit": "seconds"},
        level=level,
    )


def _line(runs: list[_Run]) -> list[tuple[int, list[float]]]:
    """Return the bins in which all runs are known, each with the values there; empty if there is no such bin.

    That is from the last one's first sample until the first one's last sample. A run whose value after its end is known
    ends with the longest. If a run has no sample in a bin in between, the bin is drawn from the others.
    """
    if not runs:
        return []
    begin = max(min(run.bins) for run in runs)
    ends = [max(run.bins) for run in runs if run.after_end is None]
    end = min(ends) if ends else max(max(run.bins) for run in runs)
    numbers = sorted({number for run in runs for number in run.bins if begin <= number <= end})
    return [(number, [value for run in runs if (value := run.value(number)) is not None]) for number in numbers]
