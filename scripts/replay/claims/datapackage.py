"""datapackage.json, a Frictionless description of a data set's derived files (https://datapackage.org).

It holds the digest of each file but itself, so that a file that was altered after deriving can be named.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from replay.base.errors import ReplayError
from replay.base.invocation import replay_command
from replay.base.paths import json_text, write_if_changed
from replay.base.programs import COMPARED_RELEASES
from replay.derive.part import KEYS, LONG_HEADER, REGISTERED_FILE, RUNS_FILE, SPREAD_HEADER
from replay.evidence.durable import sha256

DATAPACKAGE = "datapackage.json"
#: The derived files that are not tables.
JSON_DOCUMENTS = ("claims.json", "manifest.json", "recording.json", COMPARED_RELEASES)
_WORDS = {*KEYS, "invalid_reason", "limiter", "host", "started_at", "ended_at"} - {"block", "attempt"}
_NUMBER = re.compile(r"(?:-?\d+(?:\.\d+)?)?", re.ASCII)
_INTEGERS = {"block", "attempt", "used", "valid"}


def write_datapackage(data_set: Path) -> bool:
    """Write datapackage.json from the existing CSVs; return whether it changed."""
    return write_if_changed(data_set / DATAPACKAGE, json_text(datapackage(data_set)))


def datapackage(data_set: Path) -> dict[str, Any]:
    """Return the package: for each file a resource with its size and digest, and for a CSV file its fields."""
    return {
        "profile": "data-package",
        "name": _slug(data_set.name),
        "resources": [_resource(path, path.relative_to(data_set).as_posix()) for path in described_files(data_set)],
    }


def described_files(data_set: Path) -> list[Path]:
    """Return the existing derived files of a data set that datapackage.json describes."""
    wanted = ("claims.csv", "answer.csv", "*/tidy.csv", f"*/{REGISTERED_FILE}", "*/aggregate/*.csv")
    tables = sorted(path for pattern in wanted for path in data_set.glob(pattern))
    documents = [path for name in JSON_DOCUMENTS if (path := data_set / name).exists()]
    return [*tables, *documents]


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
    header = next(rows)
    if name == "tidy.csv":
        columns = [set(column) for column in zip(*rows, strict=True)] or [set()] * len(header)
        words = {name for name, texts in zip(header, columns, strict=True) if not all(map(_NUMBER.fullmatch, texts))}
        fields = [{"name": column, "type": _tidy_type(column, words)} for column in header]
        return {"fields": fields, "primaryKey": ["block", "cell", "attempt"], "missingValues": [""]}
    if name in _TYPES:
        type_of, key = _TYPES[name]
        fields = [{"name": column, "type": type_of(column)} for column in header]
        return {"fields": fields, **({"primaryKey": list(key)} if key else {}), "missingValues": [""]}
    first = "series" if tuple(header) in (LONG_HEADER, SPREAD_HEADER) else header[0]
    fields = [{"name": column, "type": "string" if column == first else "number"} for column in header]
    return {"fields": fields, "missingValues": [""]}


def _claim_type(column: str) -> str:
    types = dict.fromkeys(("estimate", "low", "high", "p_value", "q_value"), "number")
    return {**types, "n": "integer", "exploratory": "boolean"}.get(column, "string")


def _registered_type(column: str) -> str:
    return "integer" if column == "block" else "string"


def _run_type(column: str) -> str:
    return "string" if column in ("chart", "series") else "number" if column in ("x", "y") else "integer"


def _answer_type(column: str) -> str:
    if column in ("name", "label", "mode") or column.endswith("_source"):
        return "string"
    return "integer" if column.endswith("_n") else "number"


def _tidy_type(column: str, words: set[str]) -> str:
    if column in _INTEGERS:
        return "integer"
    return "string" if column in _WORDS or column in words else "number"


#: For each file, the function that tells a column's type, and the columns that tell its rows apart.
_TYPES: Mapping[str, tuple[Callable[[str], str], tuple[str, ...]]] = {
    "claims.csv": (_claim_type, ()),
    "answer.csv": (_answer_type, ("name",)),
    REGISTERED_FILE: (_registered_type, ()),
    RUNS_FILE: (_run_type, ()),
}


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower())


def differences(data_set: Path) -> list[str]:
    """Return a line for each derived file that does not match datapackage.json: altered, missing or not described.

    Raises ReplayError if there is no usable datapackage.json.
    """
    recorded = recorded_digests(data_set)
    present = {path.relative_to(data_set).as_posix(): path for path in described_files(data_set)}
    lines = [f"missing: {data_set / name}" for name in recorded.keys() - present.keys()]
    for name, path in present.items():
        if name not in recorded:
            lines.append(f"not described: {path}")
        elif recorded[name] != f"sha256:{sha256(path.read_bytes())}":
            lines.append(f"altered: {path}")
    return sorted(lines)


def recorded_digests(data_set: Path) -> dict[str, str]:
    """Return the digests in datapackage.json, `sha256:…`, by path in the data set. Raises ReplayError without them."""
    path = data_set / DATAPACKAGE
    try:
        return {each["path"]: each["hash"] for each in json.loads(path.read_bytes())["resources"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReplayError(
            f"this file does not list the derived files: {error}",
            where=path,
            next_step=f"derive the data set: {replay_command('derive', '--data', data_set.name)}",
        ) from None
