"""The text that `rados bench` prints in old releases (`Max latency:`) and in new ones (`Max latency(s):`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from replay.tools.base import OutputError, number
from replay.tools.output.rados_rows import Row, Series, rates
from replay.tools.output.rados_totals import Totals

_MAINTAINING = re.compile(
    r" *Maintaining (?P<threads>\d{1,9}) concurrent (?P<kind>write|read)s of (?P<size>\d{1,15}) bytes"
    r"(?: to objects of size (?P<object>\d{1,15}))? for up to \d+ seconds or \d+ objects",
    re.ASCII,
)
_TITLES = re.compile(r" *sec +Cur ops +started +finished +avg MB/s +cur MB/s +last lat(?:\(s\))? +avg lat(?:\(s\))?")
_ROW = re.compile(
    r" *(?P<sec>\d{1,9}) +(?P<in_flight>\d{1,9}) +(?P<started>\d{1,15}) +(?P<finished>\d{1,15})"
    r" +[0-9.eE+-]+ +(?P<rate>[0-9.eE+-]+) +(?P<last>[0-9.eE+-]+) +(?P<mean>[0-9.eE+-]+)",
    re.ASCII,
)
_SUMMARY = re.compile(r" *(?P<label>[A-Z][A-Za-z ]+?)(?: ?\((?:s|MB/sec)\))?: +(?P<value>\S+)")
_CHATTER = re.compile(
    r"hints = 1| *Object prefix: \S+|.* min lat: \S+ max lat: \S+ avg lat: \S+"
    r"|Cleaning up.*|Clean up completed.*| *Removed \d+ objects?.*"
)
_LABELS = {
    "Total time run", "Total writes made", "Total reads made", "Write size", "Read size", "Object size", "Bandwidth",
    "Stddev Bandwidth", "Max bandwidth", "Min bandwidth", "Average IOPS", "Stddev IOPS", "Max IOPS", "Min IOPS",
    "Average Latency", "Stddev Latency", "Max latency", "Min latency",
}  # fmt: skip

#: The key of the run's announcement among the lines of its statements.
_ANNOUNCED = "Maintaining"

RefuseLine = Callable[[str, int], NoReturn]


def read_text(text: str, file: str) -> tuple[Totals | None, Series]:
    """Return the summary (None if the text was cut off before its last line) and the rates over time.

    Raises OutputError, naming file and line, if the text is not the output of one run.
    """
    lines = text.split("\n")
    lines.pop()  # What follows the last newline: a line without its newline was cut off.
    started, titled = None, False
    points: list[Row] = []
    summary: dict[str, float] = {}
    # The line of each statement, and of each row.
    where: dict[str, int] = {}
    rows: list[int] = []

    def refuse(what: str, line: int) -> NoReturn:
        raise OutputError(what, file=file, line=line)

    def refuse_row(what: str, index: int) -> NoReturn:
        refuse(what, rows[index])

    for position, raw in enumerate(lines, 1):
        line = raw.rstrip("\r ")
        if not line or _CHATTER.fullmatch(line) or (_TITLES.fullmatch(line) and not summary):
            titled = titled or bool(_TITLES.fullmatch(line))
        elif match := _MAINTAINING.fullmatch(line):
            if started or titled:
                refuse("a second run begins: output of two runs is mixed", position)
            started, where[_ANNOUNCED] = match, position
        elif (match := _ROW.fullmatch(line)) and titled and not summary:
            points.append(_row(match))
            rows.append(position)
        elif (match := _SUMMARY.fullmatch(line)) and match["label"] in _LABELS:
            if match["label"] in summary:
                refuse(f"{match['label']!r} occurs twice: output of two runs is mixed", position)
            if not summary and match["label"] != "Total time run":
                refuse("the summary begins with 'Total time run'", position)
            summary[match["label"]] = _value(match["label"], match["value"], refuse, position)
            where[match["label"]] = position
        else:
            refuse(f"not a line of rados bench: {line[:120]!r}", position)
    if not titled:
        refuse("not output of rados bench", max(1, len(lines)))
    if "Min latency" not in summary:
        size = float(started["size"]) if started else None
        return None, rates(points, size, refuse_row) if size else ()
    totals = _totals(summary, started, where, refuse)
    return totals, totals.series(points, refuse_row)


def _row(match: re.Match[str]) -> Row:
    """Return a row's values. `-` stands for a missing rate or latency."""
    whole = (float(match[name]) for name in ("sec", "finished", "started", "in_flight"))
    return Row(*whole, *(number(match[name]) for name in ("rate", "last", "mean")))


def _value(label: str, text: str, refuse: RefuseLine, position: int) -> float:
    value = number(text)
    if value is None or value < 0:
        if label.startswith("Stddev"):
            return 0.0  # Not used: some releases print garbage there.
        refuse(f"{label}: not a number: {text[:40]!r}", position)
    return value


def _totals(
    summary: dict[str, float], started: re.Match[str] | None, where: dict[str, int], refuse: RefuseLine
) -> Totals:
    last = max(where.values())
    kinds = [kind for kind in ("write", "read") if f"Total {kind}s made" in summary]
    if len(kinds) != 1:
        refuse("no total of reads or writes made", last)
    kind = kinds[0]
    missing = {f"{kind.title()} size", "Bandwidth", "Average Latency", "Max latency"} - set(summary)
    if missing:
        refuse(f"the summary lacks {', '.join(sorted(missing))}", last)
    size = summary[f"{kind.title()} size"]
    labels = {
        "operations": f"Total {kind}s made", "seconds": "Total time run", "operation size": f"{kind.title()} size",
        "object size": "Object size", "bandwidth": "Bandwidth", "iops": "Average IOPS", "latency": "Average Latency",
        "threads": _ANNOUNCED,
    }  # fmt: skip
    if started and (started["kind"] != kind or float(started["size"]) != size):
        refuse("the summary is not that of the run that was announced", where[_ANNOUNCED])
    return Totals(
        kind=kind,
        seconds=summary["Total time run"],
        operations=summary[f"Total {kind}s made"],
        operation_bytes=size,
        object_bytes=summary.get("Object size", size),
        mib_per_second=summary["Bandwidth"],
        iops=summary.get("Average IOPS"),
        threads=float(started["threads"]) if started else None,
        latency={
            "average": summary["Average Latency"],
            "max": summary["Max latency"],
            "min": summary["Min latency"],
        },
        refuse=lambda what, statement: refuse(what, where.get(labels[statement], last)),
    )
