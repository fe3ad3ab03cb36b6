"""From a file's bytes to the runs in it, each read by the Reader that will derive it. Pure.

A file is recognised by its content, never by its name. A format has `family` (the tool's name for a person, a slug),
`knows(text)` and `read(text)`, which returns the runs that it found and what it left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from replay.evidence.durable import sha256
from replay.exchange.importing.ceph import RadosBench, RbdBench
from replay.exchange.importing.elbencho import Elbencho
from replay.exchange.importing.fio import Fio
from replay.exchange.importing.fio_text import FioText
from replay.exchange.importing.runs import Found, NotTaken, Part, Run, Text, decoded
from replay.tools import OutputError, Result, reader
from replay.tools.base import role_of

FORMATS = (Fio, FioText, RbdBench, RadosBench, Elbencho)
#: A tool's name for a person, by the reader of its results.
FAMILIES = {
    "fio_report": "fio", "fio_text": "fio-text", "rbd_bench_output": "rbd-bench",
    "rados_bench_output": "rados-bench", "elbencho_row": "elbencho",
}  # fmt: skip
#: A line of fio's logs over time, as `fio_log` has it.
FIO_LOG = re.compile(r"\d+, *-?\d+, *[012], *\d+", re.ASCII)
_JOB_FILE = re.compile(r"^\[[^\]\n]+\]\s*$", re.MULTILINE)
_JOB_OPTION = re.compile(r"^(?:rw|readwrite|ioengine|bs|iodepth|rbdname|filename) *=", re.MULTILINE)
#: Without a rate there is nothing to draw.
_RATE = "operations_per_second"
#: Beginnings of files that elbencho writes beside its CSV of results, and what they are.
_BESIDE_ELBENCHO = (
    (re.compile(r"(?:ISO Date,)?Label,Phase,RuntimeMS,", re.IGNORECASE), "elbencho's statistics over time"),
    (re.compile(r"ISO DATE: "), "looks like elbencho's results as text"),
)


def recognise(folder: int, path: str, content: bytes) -> tuple[list[Run], list[str]]:
    """Return the runs in a file, and the reasons why other output of known tools in it is not imported.

    An unknown file gives no run and one reason.
    """
    text = decoded(content)
    if isinstance(text, str):
        return [], [text]
    known = [one for one in FORMATS if one.knows(text.text)]
    if not known:
        return [], [_unknown(path, text.text)]
    digest = sha256(content)
    runs, reasons = [], []
    for one in (one for known_format in known for one in known_format.read(text.text)):
        if isinstance(one, NotTaken):
            reasons.append(one.why)
            continue
        part = Part(folder, path, digest, len(content), _in_bytes(text, len(content), one), text.encoding)
        try:
            result = read_outputs(one.tool, [part.cut(content)], one.levels, path)
        except OutputError as error:
            reasons.append(error.what)
        else:
            runs.append(_run(one, (part,), result))
    if not runs and not reasons:
        reasons.append(f"output of {' and '.join(one.family for one in known)} without a run")
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


def roles() -> Iterable[str]:
    """Yield the roles of the outputs of fio processes or instances that ran at once."""
    number = 0
    while number := number + 1:
        yield role_of(number, 1)


def _run(found: Found, parts: tuple[Part, ...], result: Result) -> Run:
    return Run(
        tool=found.tool,
        parts=parts,
        levels=found.levels,
        options=found.options,
        job=found.job,
        place=found.place,
        reported_at=found.reported_at,
        version=found.version,
        metrics=frozenset(result.metrics),
        series=frozenset(metric for _, metric, _ in result.series),
        notes=(*found.notes, *result.notes),
        logs=found.logs,
    )


def _in_bytes(text: Text, size: int, found: Found) -> tuple[tuple[int, int], ...]:
    """Return the characters of a run as bytes: all bytes, if there are only blanks around them."""
    (start, _), (_, end) = found.parts[0], found.parts[-1]
    around = text.text[:start].strip() or text.text[end:].strip()
    if len(found.parts) == 1 and not around and not text.mark:
        return ((0, size),)
    return text.in_bytes(found.parts)


def _unknown(path: str, text: str) -> str:
    first = text.lstrip().partition("\n")[0]
    if what := next((what for pattern, what in _BESIDE_ELBENCHO if pattern.match(first)), None):
        return f"{what}: its CSV of results counts"
    if FIO_LOG.match(first):
        return "looks like one of fio's logs over time, of no report beside it"
    if _JOB_FILE.search(text) and _JOB_OPTION.search(text):
        return "looks like a job file of fio, which says what to run"
    if path.endswith((".yaml", ".yml")):
        return "configuration, which says what to run"
    return "contains none of fio's results, rbd bench, rados bench, elbencho's CSV"
