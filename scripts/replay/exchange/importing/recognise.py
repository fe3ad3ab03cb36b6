"""From a file's bytes to the runs in it, each read by the strict reader that will derive it. Pure.

A file is recognised by its content, never by its name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from replay.exchange.importing.formats import FORMATS
from replay.exchange.importing.found import Found, NotTaken, Part, Run
from replay.tools import OutputError, adapter
from replay.tools.base import Result

#: A tool's name for a person, by the reader of its results.
FAMILIES = {
    "fio_report": "fio", "rbd_bench_output": "rbd-bench", "rados_bench_output": "rados-bench",
    "elbencho_row": "elbencho",
}  # fmt: skip
#: Bytes that binary files have near their beginning.
_SNIFFED = 8192
_FIO_LOG = re.compile(r"\d+, *-?\d+, *\d+, *\d+", re.ASCII)
_JOB_FILE = re.compile(r"^\[[^\]\n]+\]\s*$", re.MULTILINE)
_JOB_OPTION = re.compile(r"^(?:rw|readwrite|ioengine|bs|iodepth|rbdname|filename) *=", re.MULTILINE)
#: Without a rate there is nothing to draw.
_RATE = "operations_per_second"
#: Beginnings of files that elbencho writes beside its CSV of results, and what they are.
_BESIDE_ELBENCHO = {
    "Label,Phase,RuntimeMS,": "elbencho's statistics over time: its CSV of results counts",
    "ISO DATE: ": "looks like elbencho's results as text: its CSV of results counts",
}


def recognise(folder: int, path: str, content: bytes) -> tuple[list[Run], list[str]]:
    """Return the runs in a file, and the reasons why other output of known tools in it is not imported.

    An unknown file gives no run and one reason.
    """
    if b"\0" in content[:_SNIFFED]:
        return [], ["not text"]
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return [], ["not UTF-8 text"]
    known = next((one for one in FORMATS if one.knows(text)), None)
    if known is None:
        return [], [_unknown(path, text)]
    digest = hashlib.sha256(content).hexdigest()
    runs, reasons = [], []
    for one in known.read(text):
        if isinstance(one, NotTaken):
            reasons.append(one.why)
            continue
        part = Part(folder, path, digest, len(content), _in_bytes(text, len(content), one))
        try:
            result = read_outputs(one.tool, [part.cut(content)], one.levels, path)
        except OutputError as error:
            reasons.append(error.what)
        else:
            runs.append(_run(one, (part,), result))
    if not runs and not reasons:
        reasons.append(f"output of {known.FAMILY} without a run")
    return runs, reasons


def read_outputs(tool: str, texts: Iterable[bytes], levels: Mapping[str, Any], path: str) -> Result:
    """Return what the reader finds in the outputs of one run. Raises OutputError if it cannot accept them."""
    outputs = dict(zip(roles(), (text.decode("utf-8") for text in texts), strict=False))
    result = adapter(tool).parse(outputs, None, levels, names=dict.fromkeys(outputs, path))
    if not result.complete:
        raise OutputError("it was cut off", file=path, reason="incomplete")
    if not result.metrics.get(_RATE):
        raise OutputError("no operation was done", file=path, reason="failed")
    return result


def roles() -> Iterable[str]:
    """Yield the roles of the outputs of fio processes or instances that ran at once."""
    yield "output"
    number = 1
    while number := number + 1:
        yield f"output-{number}-1"


def _run(found: Found, parts: tuple[Part, ...], result: Result) -> Run:
    return Run(
        tool=found.tool,
        parts=parts,
        levels=found.levels,
        options=found.options,
        job=found.job,
        reported_at=found.reported_at,
        version=found.version,
        metrics=frozenset(result.metrics),
    )


def _in_bytes(text: str, size: int, found: Found) -> tuple[tuple[int, int], ...]:
    """Return the characters of a run as bytes: all bytes, if there are only blanks around them."""
    (start, _), (_, end) = found.parts[0], found.parts[-1]
    if len(found.parts) == 1 and not text[:start].strip() and not text[end:].strip():
        return ((0, size),)
    if len(text) == size:
        return found.parts
    return tuple((len(text[:start].encode()), len(text[:end].encode())) for start, end in found.parts)


def _unknown(path: str, text: str) -> str:
    first = text.lstrip().partition("\n")[0]
    if of_elbencho := next((why for start, why in _BESIDE_ELBENCHO.items() if first.startswith(start)), None):
        return of_elbencho
    if _FIO_LOG.match(first):
        return "looks like one of fio's logs over time: the report beside it counts"
    if _JOB_FILE.search(text) and _JOB_OPTION.search(text):
        return "looks like a job file of fio, which says what to run"
    if path.endswith((".yaml", ".yml")):
        return "configuration, which says what to run"
    return "contains none of fio's JSON, rbd bench, rados bench, elbencho's CSV"
