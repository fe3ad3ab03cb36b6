"""`replay bundle`: shows what of a data set may leave, and writes it to one file."""

from __future__ import annotations

import argparse
import csv
import getpass
import gzip
import io
import json
import math
import re
import socket
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, visible
from replay.base.paths import benchmarks_directory, replay_command, version
from replay.base.tables import csv_text, json_text
from replay.base.terminal import waiting
from replay.claims.descriptions import DATAPACKAGE, differences
from replay.claims.load import load_book
from replay.design.configuration import claims_path
from replay.evidence import durable
from replay.evidence.durable import sha256
from replay.exchange.page import is_device
from replay.exchange.sides import read_side

FORMAT, FORMAT_VERSION = "replay-bundle", 1
#: What a deck takes at the most, in bytes: packed, and unpacked (deck/data/bundle.js).
LARGEST_PACKED, LARGEST = 16 * 2**20, 64 * 2**20
#: Names that say nothing about a machine.
_COMMON = {"root", "localhost", "runner", "user", "ceph", ""}


def run(options: argparse.Namespace) -> int:
    """Show what leaves, and write it if a file is named; return 0. Raises ReplayError if it must not leave."""
    redaction = Redaction(dict(options.replace), _names_here())
    with waiting(f"reading {options.data}"):
        content = bundle_of(benchmarks_directory() / options.data, redaction, options.label)
    _show(redaction, everything=options.list)
    if redaction.findings:
        lines = [f"    {text!r} looks like {what} ({where})" for text, (what, where) in redaction.findings.items()]
        raise ConfigurationError(
            "\n".join(["this must not leave:", *lines]),
            where=options.data,
            next_step="write something else in its place: --replace 'OLD=NEW'",
        )
    if options.out is None:
        command = replay_command("bundle", "--data", options.data, "--out", f"{options.data}.bundle")
        print(f"nothing was written; next: {command}")
        return 0
    _write(options.out, content)
    print(f"wrote {options.out}: drop it on a published talk, or put it beside one and open ?bundle={options.out.name}")
    return 0


def bundle_of(data_set: Path, redaction: Redaction, label: str | None) -> dict[str, Any]:
    """Return the bundle of a data set: its redacted files with digests, and the versions of the claims.

    Raises ReplayError if the data set is not as recorded or has no digests, and ConfigurationError if the claims are
    invalid, or if two files would have one name.
    """
    side = read_side(data_set.parent, data_set.name)
    if not (data_set / DATAPACKAGE).exists():
        differences(data_set)  # which says what is missing: nobody knows whether these data were altered
    manifest = {**side.manifest, **({"label": label} if label else {})}
    files = {"manifest.json": json_text(redaction.document(manifest, MANIFEST, "manifest"))}
    path = data_set / "claims.json"
    versions = {}
    if path.exists():
        claims = json.loads(path.read_bytes())
        files["claims.json"] = json_text(redaction.document(claims, CLAIMS, "claims"))
        book = load_book(data_set).claims if claims_path().exists() else ()
        versions = {redaction.text(claim.id, "claims"): claim.digest for claim in book if claim.id in claims["claims"]}
    for table in [*data_set.glob("answer.csv"), *sorted(data_set.glob("*/aggregate/*.csv"))]:
        name = table.relative_to(data_set).as_posix()
        if "/" in name:
            name = redaction.file(name, "files")
        if name in files:
            raise ConfigurationError(
                "two files would have this name",
                where=name,
                next_step="write something else in place of one of them: --replace 'OLD=NEW'",
            )
        rows = [*csv.reader(io.StringIO(table.read_text(encoding="utf-8"), newline=""))]
        files[name] = csv_text(redaction.table(rows, name))
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "made_by": f"replay {version()}",
        "data_set": redaction.data_set(data_set.name),
        "claims": versions,
        "files": {name: {"sha256": sha256(text.encode()), "text": text} for name, text in files.items()},
    }


def _names_here() -> set[str]:
    """Return the names of this machine and of the person at it, which must not leave."""
    host = socket.gethostname()
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = ""
    return {host, host.partition(".")[0], user} - _COMMON


def _show(redaction: Redaction, *, everything: bool) -> None:
    """Print every text that leaves, once, and the figures outside tables: all of them, or how many."""
    print(f"{len(redaction.texts)} different texts would leave:")
    for text, places in redaction.texts.items():
        print(visible(f"  {text}    ({places[0]}{f' and {len(places) - 1} more' if len(places) > 1 else ''})"))
    shown = ":" if everything else "; --list shows them"
    print(f"and {len(redaction.figures)} figures beside those of the tables{shown}")
    if everything:
        for where, value in redaction.figures:
            print(visible(f"  {where}: {value}"))


def _write(path: Path, content: Mapping[str, Any]) -> None:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    packed = gzip.compress(text, mtime=0)
    if len(text) > LARGEST or len(packed) > LARGEST_PACKED:
        raise ConfigurationError(
            f"the bundle would have {len(packed) / 2**20:.1f} MiB, and no talk takes more than "
            f"{LARGEST_PACKED // 2**20} MiB ({LARGEST // 2**20} MiB unpacked)",
            where=path,
            next_step="bundle a smaller data set",
        )
    try:
        if is_device(path):
            path.write_bytes(packed)
        else:
            durable.replace(path, packed)
    except OSError as error:
        raise ConfigurationError(
            f"cannot be written: {error.strerror or error}", where=path, next_step="name a file that you may write"
        ) from error


# What may leave: an allow-list of keys with the form of their values, and a screen for texts that name things. Pure.
# A key that is not listed does not leave. A listed text that looks like a host, an address, a user, a path, a serial
# number or an identifier is reported, and nothing leaves until somebody has replaced it.

#: The most characters of a text.
LONGEST = 600
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?")
_FILE = re.compile(r"[a-z0-9][a-z0-9.-]*/aggregate/[A-Za-z0-9][A-Za-z0-9._-]*\.csv")
_NOT_OF_FILES = re.compile(r"[^a-z0-9]+")

_SUSPECTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a path", re.compile(r"(?<![\w.)])(?:~|\.{1,2})?/[\w.-]|\b[A-Za-z]:\\|\\\\\w")),
    (
        "an address",
        re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|(?:[0-9a-fA-F]{1,4}:){3,}[0-9a-fA-F]{0,4}|::\w"),
    ),
    ("an identifier", re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b[0-9a-f]{32,}\b")),
    ("a user or an address", re.compile(r"[\w.+-]@[\w-]|\bclient\.\w")),
    ("a host", re.compile(r"\b[A-Za-z][\w-]*(?:\.[A-Za-z0-9][\w-]*)*\.[A-Za-z]{2,}\b")),
    ("a serial number", re.compile(r"\b(?=(?:\w*\d){3})(?=\w*[A-Z])[A-Z0-9]{8,}\b")),
    ("a web address", re.compile(r"\b[a-z]+://")),
)


#: The form of a value that may leave. A list of one form is a list, or a mapping whose keys are names, of such values.
NUMBER, TEXT, DATE, FILE = "number", "text", "date", "file"

_X = {"label": TEXT, "unit": TEXT, "factor": TEXT, "better": TEXT}
_CHART = {
    "title": TEXT, "path": FILE, "companions": [FILE], "runs": TEXT, "kind": TEXT, "metric": TEXT, "column": TEXT,
    "workload": [TEXT], "x": _X, "y": _X, "series": [TEXT], "rows": TEXT, "sparse": [TEXT], "n": [NUMBER],
    "zero_pairs": NUMBER, "attempts": [NUMBER], "limiter": TEXT, "measured_to": DATE, "summary": [[NUMBER]],
    "margin": {"low": NUMBER, "high": NUMBER, "series": [TEXT], "claims": [TEXT]},
}  # fmt: skip
_EXPERIMENT = {
    "title": TEXT, "sources": [TEXT], "scale": TEXT, "protocol": TEXT, "tool": TEXT, "blocks": NUMBER,
    "cells": NUMBER, "cells_measured": NUMBER, "attempts": NUMBER, "invalid": [NUMBER], "abandoned_cells": NUMBER,
    "factors": [[TEXT]], "ratio_direction": TEXT, "parameters": [NUMBER], "limiters": [NUMBER],
    "variants": [{"name": TEXT, "label": TEXT, "reference": NUMBER, "control": NUMBER}], "control": [NUMBER],
    "charts": [_CHART],
    "provenance": {
        "measured_from": DATE, "measured_to": DATE, "ceph_versions": [TEXT], "librbd_versions": [TEXT],
        # Hosts are told apart by their CPUs, without the pseudonyms: so a talk says that several measured.
        "processors": [TEXT],
    },
}  # fmt: skip
_SETUP = {
    "ceph_version": TEXT, "ceph_release": TEXT, "librbd_version": TEXT, "client_release": TEXT, "fio_version": TEXT,
    "tool_versions": TEXT, "object_store": TEXT, "cpu": TEXT, "cores": NUMBER, "memory_bytes": NUMBER, "osds": NUMBER,
    "replicas": NUMBER, "clusters": NUMBER, "round_trip_seconds": NUMBER, "sites": TEXT,
}  # fmt: skip
_CEILING = {
    "experiment": TEXT, "n": NUMBER, "unit": TEXT, "point": TEXT, "variant": TEXT, "limiter": TEXT,
    **{f"{end}_{unit}_per_second": NUMBER for end in ("median", "low", "high") for unit in ("bytes", "operations")},
}  # fmt: skip
#: What of manifest.json may leave.
MANIFEST = {
    "schema_version": NUMBER, "data_set": TEXT, "label": TEXT, "limitation": TEXT, "altered": NUMBER, "setup": _SETUP,
    "ceilings": [_CEILING], "measured_from": DATE, "measured_to": DATE, "experiments": [_EXPERIMENT],
}  # fmt: skip
#: A campaign without its host, as a manifest without its machines.
_CAMPAIGN = {
    "name": TEXT, "bottleneck": TEXT, "estimate": NUMBER, "low": NUMBER, "high": NUMBER, "n": NUMBER,
    "standard_error": NUMBER, "verdict": TEXT, "testable": NUMBER,
}  # fmt: skip
_CONDITION = {
    "kind": TEXT, "says": TEXT, "metric": TEXT, "estimate": NUMBER, "low": NUMBER, "high": NUMBER, "n": NUMBER,
    "region": [NUMBER], "verdict": TEXT, "reason": TEXT, "neighbours": NUMBER,
    "campaigns": [_CAMPAIGN], "mean": [NUMBER], "prediction": [NUMBER], "over_campaigns": TEXT,
}  # fmt: skip
_CLAIM = {
    "kind": TEXT, "sentence": TEXT, "source": TEXT, "experiment": TEXT, "chart": TEXT, "verdict": TEXT, "reason": TEXT,
    "exploratory": NUMBER, "exploratory_reason": TEXT, "conditions": [_CONDITION], "over_campaigns": TEXT,
}  # fmt: skip
#: What of claims.json may leave.
CLAIMS = {
    "schema_version": NUMBER, "data_set": TEXT, "altered": NUMBER, "method": [NUMBER],
    "sources": [{"title": TEXT}], "claims": [_CLAIM],
}  # fmt: skip


def suspect(text: str, names: Collection[str] = ()) -> str | None:
    """Return what a text seems to name that must not leave, or None. `names` are words that must not leave either."""
    for what, pattern in _SUSPECTS:
        if pattern.search(text):
            return what
    here = any(re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", text, re.IGNORECASE) for name in names)
    return "a name of this machine" if here else None


class Redaction:
    """Redacts the documents of one data set; notes each value that leaves, and each text that must not.

    `texts` are those that leave, with their places, and `figures` places with values. `findings` has what a text that
    must not leave looks like, and its first place.
    """

    def __init__(self, replace: Mapping[str, str] | None = None, names: Collection[str] = ()) -> None:
        self._replace = dict(replace or {})
        self._names = names
        self.texts: dict[str, list[str]] = {}
        self.figures: list[tuple[str, float]] = []
        self.findings: dict[str, tuple[str, str]] = {}

    def document(self, value: Any, allowed: Any, where: str) -> Any:
        """Return what of a value may leave; what has another form than the allowed one is left out."""
        if isinstance(allowed, str):
            return self._leaf(value, allowed, where)
        if isinstance(allowed, list) and isinstance(value, list):
            return [self.document(item, allowed[0], f"{where}[{at}]") for at, item in enumerate(value)]
        if not isinstance(value, dict):
            return None
        # The keys of a mapping with one form are names, which leave as texts.
        names_leave = isinstance(allowed, list)
        forms = dict.fromkeys(value, allowed[0]) if names_leave else allowed
        return {
            self.text(key, where) if names_leave else key: self.document(value[key], form, f"{where}.{key}")
            for key, form in forms.items()
            if key in value and _fits(value[key], form)
        }

    def table(self, rows: Sequence[Sequence[str]], where: str) -> list[list[str]]:
        """Return a table whose cells are numbers, empty, or texts that may leave."""
        return [[cell if _is_number(cell) else self.text(cell, where) for cell in row] for row in rows]

    def file(self, path: str, where: str) -> str:
        """Return the path of a chart's table as it may leave."""
        folder, name = map(self._plain, path.removesuffix(".csv").split("/aggregate/"))
        path = f"{folder}/aggregate/{name}.csv"
        return self._screened(path, where, re.sub(r"[/.]", " ", path))

    def data_set(self, name: str) -> str:
        """Return the data set's name as it may leave; a talk takes no bundle without one."""
        name = self._plain(name) or "bundle"
        return self._screened(name, "data_set", name)

    def _plain(self, name: str) -> str:
        """Return a name with its replacements, which have only what a name may have."""
        for old, new in self._replace.items():
            name = name.replace(old, _NOT_OF_FILES.sub("-", new.lower()).strip("-")).strip("-")
        return name

    def _leaf(self, value: Any, form: str, where: str) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            self.figures.append((where, value))
            return value if math.isfinite(value) else None
        if not isinstance(value, str) or form == NUMBER:
            return None
        if form == DATE:
            return self._noted(value, where) if _DATE.fullmatch(value) else None
        if form == FILE:
            return self.file(value, where) if _FILE.fullmatch(value) else None
        return self.text(value, where)

    def text(self, text: str, where: str) -> str:
        """Return a text with its replacements, and note it."""
        for old, new in self._replace.items():
            text = text.replace(old, new)
        return self._screened(text, where, text)

    def _screened(self, text: str, where: str, seen: str) -> str:
        """Note a text, and what it seems to name: `seen` is what of it is looked at."""
        if len(text) > LONGEST:
            self.findings.setdefault(f"{text[:60]}…", ("longer than any text of a talk", where))
        elif text and (looks_like := suspect(seen, self._names)):
            self.findings.setdefault(text, (looks_like, where))
        return self._noted(text, where)

    def _noted(self, text: str, where: str) -> str:
        if text:
            self.texts.setdefault(text, []).append(where)
        return text


def _fits(value: Any, form: Any) -> bool:
    """Return whether a value has the form of a figure where only figures are allowed."""
    return form != NUMBER or value is None or isinstance(value, int | float)


def _is_number(cell: str) -> bool:
    try:
        return not cell or math.isfinite(float(cell))
    except ValueError:
        return False
