"""The files that describe a data set beside its manifest: recording.json and datapackage.json.

recording.json is the course of a measurement over time, so that a deck can show charts filling as they did. It holds
only moments. The values that arrived at them are in the file of runs, so that no figure is stored twice.

datapackage.json is a Frictionless description of the derived files (https://datapackage.org). It holds the digest of
each file but itself, so that a file that was altered after deriving can be named.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from replay.base import stats as statistics
from replay.base.clock import utc_text
from replay.base.errors import ReplayError
from replay.base.paths import replay_command
from replay.base.programs import COMPARED_RELEASES
from replay.base.tables import json_text, level_text, number_text, rows_in, write_if_changed
from replay.derive.part import KEYS, LONG_HEADER, REGISTERED_FILE, RUNS_FILE, SPREAD_HEADER
from replay.evidence.data_set import MANIFEST
from replay.evidence.durable import sha256

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


def write_recording(data_set: Path) -> None:
    """Write recording.json from the current manifest.json and tidy tables if it changes."""
    manifest = json.loads((data_set / MANIFEST).read_text(encoding="utf-8"))
    tables = {name: rows_in(data_set / name / "tidy.csv") for name in manifest["experiments"]}
    write_if_changed(data_set / RECORDING, json_text(recording(manifest, tables)))


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
        timed = [row for row in several if row.get("started_at") and row.get("ended_at")]
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
    moments = ((at, x, block) for (x, block), at in arrivals.items())
    return tuple(sorted(moments, key=lambda moment: (moment[0], moment[1] or 0, moment[2] or 0)))


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _group(names: Sequence[str], arrives: str, moments: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    columns = zip(("seconds", "x", "block"), zip(*moments, strict=True), strict=True)
    stated = {column: list(values) for column, values in columns if values[0] is not None}
    return {"arrives": arrives, "charts": list(names), **stated}


# datapackage.json ----------------------------------------------------------------------------------------------------

DATAPACKAGE = "datapackage.json"
#: The derived files that are not tables.
JSON_DOCUMENTS = ("claims.json", "manifest.json", "recording.json", COMPARED_RELEASES)
_WORDS = {*KEYS, "invalid_reason", "limiter", "host", "registration", "started_at", "ended_at"} - {"block", "attempt"}
_NUMBER = re.compile(r"(?:-?\d+(?:\.\d+)?)?", re.ASCII)
_INTEGERS = {"block", "attempt", "used", "valid"}
#: For each file, the types of its columns that hold no texts.
_TYPES: Mapping[str, Mapping[str, str]] = {
    "claims.csv": {
        **dict.fromkeys(("estimate", "low", "high", "p_value", "q_value"), "number"),
        "n": "integer",
        "exploratory": "boolean",
    },
    RUNS_FILE: {"x": "number", "y": "number", "block": "integer", "attempt": "integer"},
}


def write_datapackage(data_set: Path) -> None:
    """Write datapackage.json if it changes: for each file a resource with its size and digest, for a CSV its fields."""
    package = {
        "profile": "data-package",
        "name": _slug(data_set.name),
        "resources": [_resource(path, name) for name, path in described_files(data_set).items()],
    }
    write_if_changed(data_set / DATAPACKAGE, json_text(package))


def described_files(data_set: Path) -> dict[str, Path]:
    """Return the existing derived files that datapackage.json describes, by their path in the data set."""
    wanted = ("claims.csv", "answer.csv", "*/tidy.csv", f"*/{REGISTERED_FILE}", "*/aggregate/*.csv")
    tables = sorted(path for pattern in wanted for path in data_set.glob(pattern))
    documents = [path for name in JSON_DOCUMENTS if (path := data_set / name).exists()]
    return {path.relative_to(data_set).as_posix(): path for path in [*tables, *documents]}


def _resource(path: Path, relative: str) -> dict[str, Any]:
    content, is_table = path.read_bytes(), path.suffix == ".csv"
    return {
        "name": _slug(relative.removesuffix(".csv")),
        "path": relative,
        "profile": "tabular-data-resource" if is_table else "data-resource",
        "scheme": "file",
        "format": "csv" if is_table else "json",
        "mediatype": "text/csv" if is_table else "application/json",
        "encoding": "utf-8",
        "bytes": len(content),
        "hash": f"sha256:{sha256(content)}",
        **({"schema": _schema(path.name, csv.reader(content.decode().splitlines()))} if is_table else {}),
    }


def _schema(name: str, rows: Iterator[list[str]]) -> dict[str, Any]:
    header, key = next(rows), ()
    if name == "tidy.csv":
        columns = [set(column) for column in zip(*rows, strict=True)] or [set()] * len(header)
        words = {name for name, texts in zip(header, columns, strict=True) if not all(map(_NUMBER.fullmatch, texts))}
        types, key = [_tidy_type(column, words) for column in header], ("block", "cell", "attempt")
    elif name == "answer.csv":
        types, key = [_answer_type(column) for column in header], ("name",)
    elif name in _TYPES:
        types = [_TYPES[name].get(column, "string") for column in header]
    else:
        first = "series" if tuple(header) in (LONG_HEADER, SPREAD_HEADER) else header[0]
        types = ["string" if column == first else "number" for column in header]
    fields = [{"name": column, "type": kind} for column, kind in zip(header, types, strict=True)]
    return {"fields": fields, **({"primaryKey": list(key)} if key else {}), "missingValues": [""]}


def _answer_type(column: str) -> str:
    if column in ("name", "label", "mode") or column.endswith("_source"):
        return "string"
    return "integer" if column.endswith("_n") else "number"


def _tidy_type(column: str, words: set[str]) -> str:
    if column in _INTEGERS:
        return "integer"
    return "string" if column in _WORDS or column in words else "number"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower())


def differences(data_set: Path) -> list[str]:
    """Return a line for each derived file that does not match datapackage.json: altered, missing or not described.

    Raises ReplayError if there is no usable datapackage.json.
    """
    path = data_set / DATAPACKAGE
    try:
        recorded = {each["path"]: each["hash"] for each in json.loads(path.read_bytes())["resources"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReplayError(
            f"this file does not list the derived files: {error}",
            where=path,
            next_step=f"derive the data set: {replay_command('derive', '--data', data_set.name, '--force')}",
        ) from None
    present = described_files(data_set)
    lines = [f"missing: {data_set / name}" for name in recorded.keys() - present.keys()]
    for name, path in present.items():
        if name not in recorded:
            lines.append(f"not described: {path}")
        elif recorded[name] != f"sha256:{sha256(path.read_bytes())}":
            lines.append(f"altered: {path}")
    return sorted(lines)
