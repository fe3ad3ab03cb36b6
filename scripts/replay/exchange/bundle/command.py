"""`replay bundle`: shows what of a data set may leave, and writes it to one file."""

from __future__ import annotations

import argparse
import csv
import getpass
import gzip
import hashlib
import io
import json
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, EvidenceError
from replay.base.invocation import after_missing, replay_command
from replay.base.paths import benchmarks_directory
from replay.base.tables import csv_text, json_text
from replay.base.terminal import waiting
from replay.base.version import version
from replay.claims.datapackage import differences
from replay.claims.load import load_book
from replay.design.configuration import claims_path
from replay.exchange.bundle.redact import CLAIMS, MANIFEST, Finding, Redaction, distinct
from replay.exchange.compare.read import read_side

FORMAT, FORMAT_VERSION = "replay-bundle", 1
#: What a deck takes at the most, in bytes: packed, and unpacked (deck/data/bundle.js).
LARGEST_PACKED, LARGEST = 16 * 2**20, 64 * 2**20
#: Names that say nothing about a machine.
_COMMON = {"root", "localhost", "runner", "user", ""}


def run(options: argparse.Namespace) -> int:
    """Show what leaves, and write it if a file is named; return 0. Raises ReplayError if it must not leave."""
    data_set = benchmarks_directory() / options.data
    if not data_set.is_dir():
        raise EvidenceError("there is no such data set", where=data_set, next_step=after_missing(data_set))
    redaction = Redaction(dict(options.replace), _names_here())
    with waiting(f"reading {options.data}"):
        content = bundle_of(data_set, redaction, options.label)
    _show(redaction, everything=options.list)
    if redaction.findings:
        raise ConfigurationError(
            "this must not leave:\n"
            + "\n".join(f"    {one.text!r} looks like {one.looks_like} ({one.where})" for one in _once(redaction)),
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


def bundle_of(data_set: Path, redaction: Redaction, label: str | None = None) -> dict[str, Any]:
    """Return the bundle of a data set: its redacted files with digests, and the versions of the claims.

    Raises EvidenceError if the data set is not as recorded, and ConfigurationError if the claims are invalid.
    """
    side = read_side(data_set.parent, data_set.name)
    if altered := differences(data_set):
        raise EvidenceError(
            altered[0], where=data_set, next_step=f"derive it: {replay_command('derive', '--data', data_set.name)}"
        )
    manifest = {**side.manifest, **({"label": label} if label else {})}
    files = {"manifest.json": json_text(redaction.document(manifest, MANIFEST, "manifest"))}
    path = data_set / "claims.json"
    versions = {}
    if path.exists():
        claims = json.loads(path.read_bytes())
        files["claims.json"] = json_text(redaction.document(claims, CLAIMS, "claims"))
        book = load_book(data_set).claims if claims_path().exists() else ()
        versions = {one.id: one.digest for one in book if one.id in claims["claims"]}
    for table in [*data_set.glob("answer.csv"), *sorted(data_set.glob("*/aggregate/*.csv"))]:
        name = table.relative_to(data_set).as_posix()
        rows = [*csv.reader(io.StringIO(table.read_text(encoding="utf-8"), newline=""))]
        files[name] = csv_text(redaction.table(rows, name))
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "made_by": f"replay {version()}",
        "data_set": data_set.name,
        "claims": versions,
        "files": {
            name: {"sha256": hashlib.sha256(text.encode()).hexdigest(), "text": text} for name, text in files.items()
        },
    }


def _names_here() -> set[str]:
    """Return the names of this machine and of the person at it, which must not leave."""
    host = socket.gethostname()
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = ""
    return {host, host.partition(".")[0], user} - _COMMON


def _once(redaction: Redaction) -> list[Finding]:
    """Return each text that must not leave, with the first place where it stands."""
    first: dict[str, Finding] = {}
    for one in redaction.findings:
        first.setdefault(one.text, one)
    return [*first.values()]


def _show(redaction: Redaction, *, everything: bool) -> None:
    """Print every text that leaves, once, and the figures outside tables: all of them, or how many."""
    texts = [*distinct(redaction.leaving, lambda value: isinstance(value, str))]
    print(f"{len(texts)} different texts would leave:")
    for value, where, count in texts:
        print(f"  {value}    ({where}{f' and {count - 1} more' if count > 1 else ''})")
    figures = [one for one in redaction.leaving if not isinstance(one[1], str)]
    print(f"and {len(figures)} figures beside those of the tables{':' if everything else '; --list shows them'}")
    if everything:
        for where, value in figures:
            print(f"  {where}: {value}")


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
        path.write_bytes(packed)
    except OSError as error:
        raise ConfigurationError(
            f"cannot be written: {error.strerror or error}", where=path, next_step="name a file that you may write"
        ) from error
