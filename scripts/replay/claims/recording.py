"""Writes recording.json, the course of a measurement over time, so that a deck can show charts filling as they did.

It holds only moments. The values that arrived at them are in the file of runs, so that no figure is stored twice.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from replay.base import stats as statistics
from replay.base.clock import utc_text
from replay.base.paths import json_text, level_text, number_text, write_if_changed
from replay.evidence.data_set import MANIFEST

RECORDING = "recording.json"
#: A longer pause of an experiment (a night, another experiment, a busy machine) counts as one of this length.
LONGEST_PAUSE_SECONDS = 60.0

#: What arrives at a moment: one run of a point, all of a block, a row of the chart's own file, or the whole file.
RUN, BLOCK, ROW, WHOLE = "run", "block", "row", "whole"

Row = Mapping[str, str]


@dataclass(frozen=True)
class TimedAttempt:
    """One attempt of a set, from the rows of tidy.csv. `used` says whether charts draw it."""

    block: int
    levels: Row
    used: bool
    started: datetime
    ended: datetime


def write_recording(data_set: Path) -> bool:
    """Write recording.json from the current manifest.json and tidy tables; return whether it changed."""
    manifest = json.loads((data_set / MANIFEST).read_text(encoding="utf-8"))
    tables = {
        name: rows for name in manifest["experiments"] if (rows := _read_rows(data_set / name / "tidy.csv")) is not None
    }
    return write_if_changed(data_set / RECORDING, json_text(recording(manifest, tables)))


def _read_rows(path: Path) -> list[dict[str, str]] | None:
    """Return the rows of a tidy table; None if there is none, or if it does not say when a cell ended."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            return list(reader) if "ended_at" in (reader.fieldnames or ()) else None
    except FileNotFoundError:
        return None


def recording(manifest: Mapping[str, Any], tables: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """Return the recording of a data set: each experiment's time, and when each part of each chart arrived. Pure.

    An experiment without a timed attempt is left out, and so is a chart without a used one.
    """
    experiments = {
        name: experiment
        for name, entry in manifest["experiments"].items()
        if (experiment := _experiment(entry, attempts_of(tables.get(name, ())))) is not None
    }
    pairs = max(
        (
            chart["n"]["max"]
            for name in experiments
            for chart in manifest["experiments"][name]["charts"].values()
            if chart["metric"].startswith("ratio-")
        ),
        default=0,
    )
    return {
        "schema_version": 1,
        "data_set": manifest["data_set"],
        "altered": bool(manifest.get("altered")),
        "longest_pause_seconds": LONGEST_PAUSE_SECONDS,
        "confidence": statistics.CONFIDENCE,
        "t_quantiles": {str(n): float(number_text(statistics.t_quantile(n))) for n in range(2, pairs + 1)},
        "experiments": experiments,
    }


def attempts_of(rows: Iterable[Row]) -> list[TimedAttempt]:
    """Return the attempts that rows of tidy.csv belong to, in the order in which they ended.

    An attempt lasts from the start of its first cell to the end of its last. Attempts without a cell are left out.
    """
    cells: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        cells.setdefault((row["block"], row["point"], row["attempt"]), []).append(row)
    attempts = []
    for (block, _, _), several in cells.items():
        timed = [row for row in several if row["started_at"] and row["ended_at"]]
        if timed:
            attempts.append(
                TimedAttempt(
                    block=int(block),
                    levels=several[0],
                    used=any(row["used"] == "1" for row in several),
                    started=min(datetime.fromisoformat(row["started_at"]) for row in timed),
                    ended=max(datetime.fromisoformat(row["ended_at"]) for row in timed),
                )
            )
    return sorted(attempts, key=lambda each: (each.ended, each.started, each.block, tuple(each.levels.values())))


def played_seconds(spans: Sequence[tuple[float, float]], longest_pause: float = LONGEST_PAUSE_SECONDS) -> list[float]:
    """Return when each span (start, end) ends, in seconds since the first start, with long pauses shortened. Pure.

    Time within any span counts in full; time between spans counts up to `longest_pause`.
    """
    result = [0.0] * len(spans)
    order = sorted(range(len(spans)), key=spans.__getitem__)
    clock = 0.0
    last = spans[order[0]][0] if order else 0.0
    for index in order:
        start, end = spans[index]
        clock += min(max(0.0, start - last), longest_pause)
        last = max(last, start)
        clock += max(0.0, end - last)
        last = max(last, end)
        result[index] = clock - (last - end)
    return result


def _experiment(entry: Mapping[str, Any], attempts: Sequence[TimedAttempt]) -> dict[str, Any] | None:
    if not attempts:
        return None
    first = min(attempt.started for attempt in attempts)
    spans = [
        ((attempt.started - first).total_seconds(), (attempt.ended - first).total_seconds()) for attempt in attempts
    ]
    seconds = [round(value, 1) for value in played_seconds(spans)]
    timed = [(at, attempt) for at, attempt in zip(seconds, attempts, strict=True) if attempt.used]
    return {
        "started_at": utc_text(first),
        "ended_at": utc_text(max(attempt.ended for attempt in attempts)),
        "seconds": max(seconds),
        "attempts": len(attempts),
        "groups": _groups(entry.get("charts", {}), timed),
    }


def _groups(
    charts: Mapping[str, Mapping[str, Any]], timed: Sequence[tuple[float, TimedAttempt]]
) -> list[dict[str, Any]]:
    """Group the charts by when their parts arrive. Charts of several metrics of the same runs form one group."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name, chart in charts.items():
        arrives = _arrives(chart)
        if moments := _moments(chart, arrives, timed):
            groups.setdefault((arrives, moments), []).append(name)
    return [_group(names, arrives, moments) for (arrives, moments), names in groups.items()]


def _arrives(chart: Mapping[str, Any]) -> str:
    factor = chart["x"].get("factor")
    if chart.get("runs"):
        return RUN if factor else BLOCK
    return ROW if factor == "block" else WHOLE


def _moments(
    chart: Mapping[str, Any], arrives: str, timed: Sequence[tuple[float, TimedAttempt]]
) -> tuple[tuple[float, int | float | None, int | None], ...]:
    """Return (seconds, x, block) of every arrival, in order. x and block are None if they distinguish nothing."""
    workload = {factor: level_text(level) for factor, level in chart["workload"].items()}
    arrivals: dict[tuple[int | float | None, int | None], float] = {}
    for at, attempt in timed:
        if any(attempt.levels.get(factor) != level for factor, level in workload.items()):
            continue
        x = _number(attempt.levels[chart["x"]["factor"]]) if arrives in (RUN, ROW) else None
        block = attempt.block if arrives in (RUN, BLOCK) else None
        arrivals[x, block] = max(at, arrivals.get((x, block), 0.0))
    return tuple(sorted(((at, x, block) for (x, block), at in arrivals.items()), key=_order))


def _order(moment: tuple[float, int | float | None, int | None]) -> tuple[float, float, int]:
    at, x, block = moment
    return at, x or 0, block or 0


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _group(names: Sequence[str], arrives: str, moments: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    columns = {"seconds": 0, "x": 1, "block": 2}
    states = {RUN: ("seconds", "x", "block"), BLOCK: ("seconds", "block"), ROW: ("seconds", "x"), WHOLE: ("seconds",)}
    return {
        "arrives": arrives,
        "charts": list(names),
        **{column: [moment[columns[column]] for moment in moments] for column in states[arrives]},
    }
