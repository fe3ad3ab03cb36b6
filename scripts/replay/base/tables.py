"""Derived files: numbers, CSV, JSON. The same bytes on every machine, and no write if nothing changed."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

SIGNIFICANT_DIGITS = 9
#: The first line of a cell's table of samples.
SAMPLES_HEADER = "elapsed_seconds,entity,metric,value"
#: Entity and metric of its last row, which counts the rows before it, so that a table that was cut off is recognised.
SAMPLES_FOOTER = ("sampler", "rows")
_SIZE_UNITS = ("", "K", "M", "G")


def number_text(value: Any) -> str:
    """Return a number for a CSV: whole numbers exactly, others with nine significant digits and no exponent.

    None and NaN mean a missing measurement and become an empty field.
    """
    if value is None:
        return ""
    if isinstance(value, int):
        return str(int(value))
    value = float(value)
    if math.isnan(value):
        return ""
    if value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    text = f"{value:.{SIGNIFICANT_DIGITS}g}"
    return format(Decimal(text), "f") if "e" in text else text


def level_text(value: Any) -> str:
    """Return a level in the format of the CSVs and the manifest."""
    return number_text(value) if isinstance(value, int | float) else str("" if value is None else value)


def short_size_text(text: str) -> str:
    """Return bytes as axes of charts write sizes (4096 becomes 4K), and anything else unchanged."""
    if not text.isdecimal():
        return text
    value, unit = int(text), 0
    while value >= 1024 and value % 1024 == 0 and unit < len(_SIZE_UNITS) - 1:
        value, unit = value // 1024, unit + 1
    return f"{value}{_SIZE_UNITS[unit]}"


def rounded(value: float) -> float | int:
    """Round a number to the digits in the CSVs, so that a sentence and its chart agree."""
    text = number_text(value)
    return float(text) if "." in text else int(text)


def rows_in(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV, none if there is no such file."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        return []


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return RFC 4180 text with line feeds."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def json_text(value: Any) -> str:
    """Return JSON for people and diffs: keys in the given order, two spaces, a final newline."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_if_changed(path: Path, text: str) -> bool:
    """Write a file atomically, and only if its content changes, so that watchers are not triggered for nothing.

    Return whether it was written.
    """
    content = text.encode()
    try:
        if path.read_bytes() == content:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return True
