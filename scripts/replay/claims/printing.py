"""Prints the verdicts on a terminal: the same words as in a pipe, in columns that fit its width."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from replay.base.terminal import print_columns
from replay.claims.brief import times
from replay.claims.documents import (
    NO_CLAIM,
    SETUP_CHECKS,
    VERDICT_WIDTH,
    altered_line,
    heading_of,
    summary_lines,
)
from replay.claims.model import Assessment, Judgement

_STYLES = {"held": "green", "refuted": "bold red", "inconclusive": "yellow"}


def print_assessment(assessment: Assessment, console: Console) -> None:
    """Print each claim: its verdict, its sentence, and the reason below it."""
    for line in altered_line(assessment):
        console.print(Text(line, "bold red"), soft_wrap=True)
    if not assessment.judgements:
        console.print(NO_CLAIM)
    for part, several in enumerate((assessment.claims, assessment.setup_checks)):
        if part and several:
            console.print(f"\n{SETUP_CHECKS}", soft_wrap=True)
        _print(several, console)
    for line in summary_lines(assessment):
        console.print(Text(line, "dim"))


def _print(judgements: Sequence[Judgement], console: Console) -> None:
    rows = [
        (
            Text(one.verdict.upper(), _STYLES.get(one.verdict, "dim")),
            Text.assemble(heading_of(one), "\n", (one.reason, "dim")),
        )
        for one in judgements
    ]
    if rows:
        print_columns(console, rows, widths=(VERDICT_WIDTH,))


_LEAD = "ratio-throughput-"
_UNITS = ("", "K", "M", "G")
_BETWEEN = "   "
NO_INTERVAL = "  (no interval: it needs at least two blocks)"


def ratio_lines(data_set: Path) -> list[str]:
    """Return the lines of the table; an empty list if the data set has no ratios yet."""
    entries = _entries(data_set)
    return [
        line
        for folder in sorted(data_set.glob("*/aggregate"))
        for line in _experiment(folder, entries.get(folder.parent.name, {}))
    ]


def _experiment(folder: Path, entry: dict[str, Any]) -> Iterator[str]:
    charts = sorted(path for path in folder.glob(f"{_LEAD}*.csv") if path.name.count(".") == 1)
    if not charts:
        return
    labels = [one["label"] for one in entry.get("variants", ()) if one.get("reference")]
    reference = labels[0][:1].lower() + labels[0][1:] if labels else "the reference"
    yield f"{entry.get('title', folder.parent.name)}: throughput of {reference} ÷ throughput of …"
    lacks_interval = False
    for path in charts:
        rows = _rows(path)
        low, high = ({row[0]: row for row in _rows(path.with_suffix(f".{end}.csv"))} for end in ("low", "high"))
        title = f"  {path.stem.removeprefix(_LEAD).replace('-', ' ')}"
        table = [[title, *map(size_text, rows[0][1:])]]
        for series, *values in rows[1:]:
            ends = [_padded(side.get(series, ())[1:], len(values)) for side in (low, high)]
            cells = [_cell(*one) for one in zip(values, *ends, strict=True)]
            lacks_interval |= any(value and not (a and b) for value, a, b in zip(values, *ends, strict=True))
            table.append([f"    {series}", *cells])
        yield from _aligned(table)
    if lacks_interval:
        yield NO_INTERVAL


def size_text(text: str) -> str:
    """Return bytes as an I/O size (4096 becomes 4K), and anything else unchanged."""
    if not text.isdecimal():
        return text
    value, unit = int(text), 0
    while value >= 1024 and value % 1024 == 0 and unit < len(_UNITS) - 1:
        value, unit = value // 1024, unit + 1
    return f"{value}{_UNITS[unit]}"


def _cell(value: str, low: str, high: str) -> str:
    if not value:
        return "-"
    shown = times(float(value), digits=3)
    return f"{shown} [{times(float(low), digits=3)}, {times(float(high), digits=3)}]" if low and high else shown


def _padded(values: Sequence[str], length: int) -> list[str]:
    return [*values, *[""] * (length - len(values))][:length]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [_BETWEEN.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _rows(path: Path) -> list[list[str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))
    except FileNotFoundError:
        return []


def _entries(data_set: Path) -> dict[str, Any]:
    """Return the experiments of the manifest; empty if the data set has not been described yet."""
    try:
        return json.loads((data_set / "manifest.json").read_text(encoding="utf-8"))["experiments"]
    except FileNotFoundError:
        return {}
