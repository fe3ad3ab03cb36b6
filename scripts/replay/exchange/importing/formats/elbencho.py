"""elbencho's CSV of results, in which every run appends its rows below one header."""

from __future__ import annotations

import io
import re
from datetime import datetime

from replay.base.clock import utc_text
from replay.exchange.importing.found import Found, Level, NotTaken, joined
from replay.tools.base import OutputError
from replay.tools.elbencho import fields_of, io_type_of

FAMILY = "elbencho"
_NEEDED = ("operation", "block size", "time ms [last]", "IOPS [last]", "MiB/s [last]")
_COUNTS = {"block size": "io_size_bytes", "threads": "threads", "hosts": "hosts", "IO depth": "io_depth"}
#: Columns for options that are not levels of every run.
_OPTIONS = (
    "path type", "paths", "dirs", "files", "file size", "direct IO", "random aligned", "shared paths", "truncate",
)  # fmt: skip
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)", re.ASCII)


def knows(text: str) -> bool:
    """Return whether a text begins with elbencho's header."""
    header = text.partition("\n")[0].rstrip("\r").split(",")
    return all(name in header for name in _NEEDED)


def read(text: str) -> list[Found | NotTaken]:
    """Return the run of each row."""
    lines = io.StringIO(text, newline="\n").readlines()
    header, at = lines[0], len(lines[0])
    found: list[Found | NotTaken] = []
    others: dict[str, int] = {}
    for number, line in enumerate(lines[1:], 2):
        span, at = (at, at + len(line)), at + len(line)
        if not line.strip() or line == header:
            continue
        try:
            fields = fields_of(header + line, f"line {number}")
        except OutputError as error:
            found.append(NotTaken(f"line {number}: {error.what}"))
            continue
        kind = io_type_of(fields["operation"])
        if kind is None:
            others[fields["operation"][:40]] = others.get(fields["operation"][:40], 0) + 1
            continue
        levels = _levels(fields, kind)
        if isinstance(levels, str):
            found.append(NotTaken(f"line {number}: {levels}"))
            continue
        found.append(
            Found(
                tool="elbencho_row",
                parts=joined([(0, len(header)), span]),
                levels=levels,
                options={name: fields[name] for name in _OPTIONS if fields.get(name)},
                job=fields.get("label", "")[:80],
                reported_at=_moment(fields.get("ISO date", "")),
                version=f"elbencho {fields['version'][:40]}" if fields.get("version") else None,
            )
        )
    for operation, count in sorted(others.items()):
        rows = f"{count} rows" if count > 1 else "1 row"
        found.append(NotTaken(f"{rows} of {operation!r}: only READ, WRITE and RWMIX are imported"))
    return found


def _levels(fields: dict[str, str], kind: tuple[str, int | None]) -> dict[str, Level] | str:
    if fields.get("random", "") not in ("0", "1"):
        return "it does not say whether the I/O was random"
    levels: dict[str, Level] = {"io_type": kind[0], "io_pattern": "rand" if fields["random"] == "1" else "seq"}
    for column, name in _COUNTS.items():
        text = fields.get(column, "")
        if not (text.isascii() and text.isdigit() and len(text) <= 15):
            return f"{column!r} is not a number: {text[:40]!r}"
        levels[name] = int(text)
    if kind[1] is not None:
        levels["rw_mix_read"] = kind[1]
    return levels


def _moment(text: str) -> str | None:
    """Return elbencho's date if it has a time zone; without one the moment is unknown."""
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return utc_text(datetime.fromisoformat(text))
    except ValueError:
        return None
