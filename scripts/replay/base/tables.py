"""Writes derived files: numbers, CSV, JSON. The same bytes on every machine, and no write if nothing changed."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO

SIGNIFICANT_DIGITS = 9
#: A long table that is larger than this is kept on disk until it is written.
_IN_MEMORY_BYTES = 1 << 20


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


def rounded(value: float) -> float | int:
    """Round a number to the digits in the CSVs, so that a sentence and its chart agree."""
    text = number_text(value)
    return float(text) if "." in text else int(text)


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
    _replace(path, lambda file: file.write(content))
    return True


class LongTable:
    """A table that is built row by row and written later. A large one is kept in an unnamed file beside its path.

    `digest` is the SHA-256 of its content.
    """

    def __init__(self, path: Path, rows: Iterable[Sequence[str]]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=path.parent)  # noqa: SIM115 - closed with the object
        text = io.TextIOWrapper(self._file, encoding="utf-8", newline="")
        csv.writer(text, lineterminator="\n").writerows(rows)
        text.detach()
        self.digest = self._digest()

    def write_if_changed(self) -> bool:
        """Write it to its path, as the function `write_if_changed` does."""
        try:
            with self.path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() == self.digest:
                    return False
        except FileNotFoundError:
            pass
        self._file.seek(0)
        _replace(self.path, lambda file: shutil.copyfileobj(self._file, file))
        return True

    def _digest(self) -> str:
        self._file.seek(0)
        return hashlib.file_digest(self._file, "sha256").hexdigest()


def _replace(path: Path, write: Callable[[BinaryIO], object]) -> None:
    # A name for this process only: two derivations at once write the same bytes and must not collide.
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    _remove_abandoned(path)
    try:
        with partial.open("wb") as file:
            write(file)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _remove_abandoned(path: Path) -> None:
    """Remove what earlier processes of this machine left because they were killed while they wrote the file."""
    begin, end = f".{path.name}.", ".partial"
    for one in path.parent.iterdir():
        name = one.name
        if name.startswith(begin) and name.endswith(end) and not _is_alive(name[len(begin) : -len(end)]):
            one.unlink(missing_ok=True)


def _is_alive(process: str) -> bool:
    """Return whether a process runs. What is no process id counts as one that does: it is not known to be dead."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OverflowError, PermissionError):
        return True
    return True
