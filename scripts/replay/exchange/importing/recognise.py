"""From a file's bytes to the runs in it, each read by the Reader that will derive it. Pure.

A file is recognised by its content, never by its name. What reads a format gives the runs that it found, and as texts
the reasons why others are not imported. elbencho's CSV, in which every run appends its rows below one
header, is read here.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from replay.base.clock import utc_text
from replay.evidence.durable import sha256
from replay.exchange.importing import fio, fio_text, text_outputs
from replay.exchange.importing.runs import (
    Found,
    FoundRun,
    Level,
    Ranges,
    Text,
    TextPart,
    decoded,
    joined,
    lines,
    option,
    whole_number,
    with_command,
)
from replay.tools import OutputError, Result, reader
from replay.tools.base import bytes_of, role_of
from replay.tools.elbencho import fields_of, io_type_of

#: A line of fio's logs over time, as `fio_log` has it.
FIO_LOG = re.compile(r"\d+, *-?\d+, *[012], *\d+", re.ASCII)
#: Options that name an account, its password or a server: what reads them may be published.
_TELLING = re.compile(r"(s3|http|nfs).*(key|secret|token|pass|cred|user|grantee|host|endpoint|url)")
#: Without a rate there is nothing to draw.
_RATE = "operations_per_second"
#: Beginnings of files that elbencho writes beside its CSV of results, and what they are.
_BESIDE_ELBENCHO = (
    (re.compile(r"(?:ISO Date,)?Label,Phase,RuntimeMS,", re.IGNORECASE), "elbencho's statistics over time"),
    (re.compile(r"ISO DATE: "), "looks like elbencho's results as text"),
)


def recognise(folder: int, path: str, content: bytes) -> tuple[list[FoundRun], list[str]]:
    """Return the runs in a file, and the reasons why other output of known tools in it is not imported.

    An unknown file gives no run and one reason.
    """
    text = decoded(content)
    if isinstance(text, str):
        return [], [text]
    known = {name: read for name, knows, read in _FORMATS if knows(text.text)}
    if not known:
        return [], [_unknown(text.text)]
    digest = sha256(content)
    runs, reasons = [], []
    outputs: list[Found | str] = []
    for read in known.values():
        try:
            outputs += read(text.text)
        except (OverflowError, RecursionError):
            reasons.append("a number or a nesting in it is beyond what any tool prints")
    for output in outputs:
        if isinstance(output, str):
            reasons.append(output)
            continue
        part = TextPart(folder, path, digest, len(content), _in_bytes(text, len(content), output), text.encoding)
        try:
            result = read_outputs(output.tool, [part.cut(content)], output.levels, path)
        except OutputError as error:
            reasons.append(error.what)
        else:
            options = {name: text for name, text in output.options.items() if not _TELLING.search(name)}
            facts = {**vars(output), "parts": (part,), "options": options, "notes": (*output.notes, *result.notes)}
            series = frozenset(metric for _, metric, _ in result.series)
            runs.append(FoundRun(**facts, metrics=frozenset(result.metrics), series=series))
    if not runs and not reasons:
        reasons.append(f"output of {' and '.join(known)} without a run")
    return runs, list(dict.fromkeys(reasons))


def read_outputs(
    tool: str, texts: Sequence[bytes], levels: Mapping[str, Any], path: str, logs: Mapping[str, bytes] | None = None
) -> Result:
    """Return what the reader finds in the outputs of one run. Raises OutputError if it cannot accept them."""
    outputs = {role: text.decode("utf-8") for role, text in zip(roles(), texts, strict=False)}
    outputs |= {role: text.decode("utf-8", errors="replace") for role, text in (logs or {}).items()}
    result = reader(tool).parse(outputs, None, levels, names=dict.fromkeys(outputs, path))
    if not result.complete:
        raise OutputError("it was cut off", file=path, reason="incomplete")
    if not result.metrics.get(_RATE):
        raise OutputError("no operation was done", file=path, reason="failed")
    return result


def roles() -> Iterator[str]:
    """Return the roles of the outputs of fio processes or instances that ran at once."""
    return (role_of(number, 1) for number in itertools.count(1))


def _in_bytes(text: Text, size: int, run: Found) -> Ranges:
    """Return the characters of a run as bytes: all bytes, if there are only blanks around them."""
    (start, _), (_, end) = run.parts[0], run.parts[-1]
    around = text.text[:start].strip() or text.text[end:].strip()
    if len(run.parts) == 1 and not around and not text.mark:
        return ((0, size),)
    return text.in_bytes(run.parts)


def _unknown(text: str) -> str:
    """Return what is known of a text without a result."""
    first = text.lstrip().partition("\n")[0]
    if what := next((what for pattern, what in _BESIDE_ELBENCHO if pattern.match(first)), None):
        return f"{what}: its CSV of results counts"
    if FIO_LOG.match(first):
        return "looks like one of fio's logs over time, of no report beside it"
    return "contains none of fio's results, rbd bench, rados bench, elbencho's CSV"


# elbencho's CSV -------------------------------------------------------------------------------------------------------

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


def _knows_elbencho(text: str) -> bool:
    """Return whether a text begins with elbencho's header."""
    header = text.partition("\n")[0].rstrip("\r").split(",")
    return all(name in header for name in _NEEDED)


def _read_elbencho(text: str) -> list[Found | str]:
    """Return the run of each row."""
    above, *rows = lines(text)
    header = text[slice(*above)]
    runs: list[Found | str] = []
    others: Counter[str] = Counter()
    for number, span in enumerate(rows, 2):
        row = text[slice(*span)]
        if not row.strip() or row == header:
            continue
        try:
            fields = fields_of(header + row, f"line {number}")
        except OutputError as error:
            runs.append(f"line {number}: {error.what}")
            continue
        kind = io_type_of(fields["operation"])
        if kind is None:
            others[fields["operation"][:40]] += 1
            continue
        levels = _levels(fields, kind)
        if isinstance(levels, str):
            runs.append(f"line {number}: {levels}")
            continue
        runs.append(
            Found(
                tool="elbencho_row",
                parts=joined([above, span]),
                levels=levels,
                options=_options(fields),
                job=fields.get("label", "")[:80],
                reported_at=_moment(fields.get("ISO date", "")),
                version=f"elbencho {fields['version'][:40]}" if fields.get("version") else None,
            )
        )
    for operation, count in sorted(others.items()):
        counted = f"{count} rows" if count > 1 else "1 row"
        runs.append(f"{counted} of {operation!r}: only READ, WRITE and RWMIX are imported")
    return runs


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
        value = whole_number(fields.get(column))
        if value is None:
            return f"{column!r} is not a number: {fields.get(column, '')[:40]!r}"
        levels[name] = value
    if kind[1] is not None:
        levels["rw_mix_read"] = kind[1]
    words = _WORD.findall(fields.get("command", ""))
    asked = {"threads": whole_number(option(words, "-t", "--threads")) or None}
    # A block is at most as large as a file.
    if fields.get("file size") != fields["block size"]:
        asked["io_size_bytes"] = bytes_of(option(words, "-b", "--block")) or None
    return with_command(levels, asked)


def _moment(text: str) -> str | None:
    """Return elbencho's date if it has a time zone; without one the moment is unknown."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return utc_text(moment) if moment.tzinfo else None


#: Each format: the tool's name for a person; whether a text has it; the runs of such a text, and what is left out.
_FORMATS: tuple[tuple[str, Callable[[str], bool], Callable[[str], list[Found | str]]], ...] = (
    ("fio", fio.knows, fio.read),
    ("fio", fio_text.knows, fio_text.read),
    ("rbd-bench", text_outputs.knows_rbd_bench, text_outputs.read_rbd_bench),
    ("rados-bench", text_outputs.knows_rados_bench, text_outputs.read_rados_bench),
    ("elbencho", _knows_elbencho, _read_elbencho),
)
