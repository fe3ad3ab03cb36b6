"""elbencho's CSV of results, in which every run appends its rows below one header."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from datetime import datetime

from replay.base.clock import utc_text
from replay.exchange.importing.runs import Found, Level, NotTaken, bytes_of, joined, option, whole_number
from replay.tools.base import OutputError
from replay.tools.elbencho import fields_of, io_type_of

_NEEDED = ("operation", "block size", "time ms [last]", "IOPS [last]", "MiB/s [last]")
_COUNTS = {"block size": "io_size_bytes", "threads": "threads", "hosts": "hosts", "IO depth": "io_depth"}
#: Columns for options that are not levels of every run.
_OPTIONS = (
    "path type", "paths", "dirs", "files", "file size", "direct IO", "random aligned", "shared paths", "truncate",
)  # fmt: skip
#: Options in the command that columns state, or that do not affect what is measured.
_TOLD = frozenset({
    "a", "b", "block", "blockdevs", "csvfile", "d", "dirs", "deldirs", "delfiles", "direct", "dirsharing", "F",
    "filesharesize", "files", "help", "hosts", "hostsfile", "iodepth", "jsonfile", "label", "lat", "livecsv",
    "liveint", "log", "mkdirs", "N", "n", "nolive", "port", "quit", "r", "rand", "read", "resfile", "rwmixpct", "s",
    "size", "stat", "t", "threads", "timelimit", "treefile", "w", "write", "zones",
})  # fmt: skip
_WORD = re.compile(r'"([^"]*)"')
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)", re.ASCII)


class Elbencho:
    """The format of elbencho's CSV."""

    family = "elbencho"

    @staticmethod
    def knows(text: str) -> bool:
        """Return whether a text begins with elbencho's header."""
        header = text.partition("\n")[0].rstrip("\r").split(",")
        return all(name in header for name in _NEEDED)

    @staticmethod
    def read(text: str) -> list[Found | NotTaken]:
        """Return the run of each row."""
        rows = io.StringIO(text, newline="\n").readlines()
        header, at = rows[0], len(rows[0])
        found: list[Found | NotTaken] = []
        others: dict[str, int] = {}
        for number, row in enumerate(rows[1:], 2):
            span, at = (at, at + len(row)), at + len(row)
            if not row.strip() or row == header:
                continue
            try:
                fields = fields_of(header + row, f"line {number}")
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
                    options=_options(fields),
                    job=fields.get("label", "")[:80],
                    reported_at=_moment(fields.get("ISO date", "")),
                    version=f"elbencho {fields['version'][:40]}" if fields.get("version") else None,
                )
            )
        for operation, count in sorted(others.items()):
            counted = f"{count} rows" if count > 1 else "1 row"
            found.append(NotTaken(f"{counted} of {operation!r}: only READ, WRITE and RWMIX are imported"))
        return found


def _options(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the options that a row states in columns, and those that only its command states."""
    options = {name: fields[name] for name in _OPTIONS if fields.get(name)}
    words = _WORD.findall(fields.get("command", ""))[1:]
    targets = []
    for word, following in zip(words, [*words[1:], "--"], strict=False):
        name, sign, value = word.lstrip("-").partition("=")
        if not word.startswith("-"):
            targets += [word] if word.startswith("/") else []
        elif name not in _TOLD:
            takes = not sign and not following.startswith(("-", "/"))
            options[f"command {name}"] = value if sign else following.strip() if takes else "1"
    return options | ({"command target": " ".join(targets)} if targets else {})


def _levels(fields: Mapping[str, str], kind: tuple[str, int | None]) -> dict[str, Level] | str:
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
    words = _WORD.findall(fields.get("command", ""))
    block, threads = bytes_of(option(words, "-b", "--block")), whole_number(option(words, "-t", "--threads"))
    # A block is at most as large as a file.
    if block and block != levels["io_size_bytes"] and fields.get("file size") != fields["block size"]:
        return f"its command asks for blocks of {block} bytes, the row says {levels['io_size_bytes']}"
    if threads and threads != levels["threads"]:
        return f"its command asks for {threads} threads, the row says {levels['threads']}"
    return levels


def _moment(text: str) -> str | None:
    """Return elbencho's date if it has a time zone; without one the moment is unknown."""
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return utc_text(datetime.fromisoformat(text))
    except ValueError:
        return None
