"""Writing what is derived: numbers, CSV, JSON. The same bytes on every machine, and no write where nothing changed."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

SIGNIFICANT_DIGITS = 9


def number_text(value: Any) -> str:
    """Return a number as the CSVs hold it: whole numbers exactly, others with nine significant digits, no exponent.

    None and NaN, a missing measurement, are an empty field.
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
    """Return a level as the CSVs and the manifest write it."""
    return number_text(value) if isinstance(value, int | float) else str("" if value is None else value)


def rounded(value: float) -> float | int:
    """Return a number with the digits that the CSVs have, so that a sentence and its chart agree."""
    text = number_text(value)
    return float(text) if "." in text else int(text)


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return RFC 4180 text with line feeds."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def json_text(value: Any) -> str:
    """Return JSON for people and for diffs: keys in the order given, two spaces, a final newline."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_if_changed(path: Path, text: str) -> bool:
    """Write a file whole or not at all, and only when its content changes: what watches it stays quiet otherwise."""
    content = text.encode()
    try:
        if path.read_bytes() == content:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    # A name of this process's own: two derivations at once write the same bytes and must not trip over each other.
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return True
