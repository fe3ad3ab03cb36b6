"""Where fio's JSON is in a text: among other lines, in lists or other documents, behind the times of a log. Pure.

fio writes a report each `--status-interval`, and each counts from the start of the run, so only the last one counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay.exchange.importing.runs import NotTaken
from replay.exchange.importing.text import View, whole, without_prefix

_CANDIDATE = re.compile(r'^[ \t]*(?=[\[{])|(?=\{\s*"fio version")', re.MULTILINE)
_REPORT = re.compile(r'\{\s*"fio version"')
#: A report in a log or a quotation, which puts something before each line.
_PREFIXED = re.compile(r'\{[ \t\r]*(?:\n[^\n{}]{0,200}?)?"fio version"')
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
#: A run without times counts as the continuation of one before if it lasted longer by this share.
_LONGER = 1.05
#: How exact fio's times of printing are, in seconds, by their key.
_EXACT = {"timestamp_ms": 0.2, "timestamp": 0.9}


@dataclass(frozen=True)
class Report:
    """A report of fio: its value, where it is in a view of the text, and what stands before it."""

    value: Mapping[str, Any]
    view: View
    start: int
    end: int
    before: str

    @property
    def entries(self) -> list[Mapping[str, Any]]:
        """What it says of each job or client."""
        listed = self.value.get("jobs", self.value.get("client_stats"))
        return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def reports_in(text: str) -> Iterator[Report | NotTaken]:
    """Yield every report in a text, of one run the last, and what is not whole."""
    found = list(_reports(whole(text)))
    if not any(isinstance(one, Report) for one in found):
        match = _PREFIXED.search(text)
        view = without_prefix(text, match.start()) if match else None
        inside = list(_reports(view)) if view else []
        found = inside if any(isinstance(one, Report) for one in inside) else found
    reports = [one for one in found if isinstance(one, Report)]
    yield from (one for one in found if isinstance(one, NotTaken))
    for report, following in zip(reports, [*reports[1:], None], strict=False):
        if following is None or not _continues(report, following):
            yield report


def _reports(view: View) -> Iterator[Report | NotTaken]:
    text, at, last = view.text, 0, 0
    while match := _CANDIDATE.search(text, at):
        start = match.end()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            if _REPORT.match(text, start):
                yield NotTaken(f"not whole JSON: {error}"[:160])
            at = start + 1
            continue
        for begin, stop, inner in _within(text, start, end, value):
            yield Report(inner, view, begin, stop, text[last:begin])
            last = stop
        at = end


def _within(text: str, start: int, end: int, value: Any) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield (start, end, value) of the reports in a document: itself, or what it contains."""
    if isinstance(value, dict) and "fio version" in value:
        yield start, end, value
    elif isinstance(value, dict | list) and '"fio version"' in text[start:end]:
        for key, begin, stop in members(text, start):
            yield from _within(text, begin, stop, value[key])


def members(text: str, offset: int) -> Iterator[tuple[str | int, int, int]]:
    """Yield (key or index, start, end) of each member of the valid JSON object or list at `offset`; else nothing."""
    opening, index = text[offset], 0
    at = _SPACE.match(text, offset + 1).end()
    while opening in "{[" and text[at] not in "}]":
        key: str | int = index
        if opening == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _SPACE.match(text, _SPACE.match(text, at).end() + 1).end()
        end = _DECODER.raw_decode(text, at)[1]
        yield key, at, end
        at = _SPACE.match(text, end).end()
        at = _SPACE.match(text, at + 1).end() if text[at] == "," else at
        index += 1


# Reports of one run --------------------------------------------------------------------------------------------------


def _continues(report: Report, following: Report) -> bool:
    """Return whether the second report is a later one of the same run, or the same report again."""
    if [_identity(one) for one in report.entries] != [_identity(one) for one in following.entries]:
        return False
    earlier, later = (
        [float(value) for entry in one.entries for value in _counts(entry)] for one in (report, following)
    )
    if len(earlier) != len(later) or any(after < before for before, after in zip(earlier, later, strict=True)):
        return False
    started = [[entry.get("job_start") for entry in one.entries] for one in (report, following)]
    if all(isinstance(one, int) for one in [*started[0], *started[1]]):
        return started[0] == started[1]
    before, after = (_seconds(one.entries) for one in (report, following))
    for key, exact in _EXACT.items():
        unit = 1000 if key.endswith("ms") else 1
        moments = [one.value.get(key) for one in (report, following)]
        if all(isinstance(one, int) for one in moments):
            printed, again = (moment / unit for moment in moments)
            # It was running before the first report was printed.
            return again == printed or again - after <= printed - exact
    return after >= before * _LONGER or earlier == later


def _identity(entry: Mapping[str, Any]) -> tuple[str, ...]:
    keys = ("jobname", "groupid", "hostname", "port", "job options")
    return tuple(str(entry.get(key)) for key in keys)


def _counts(entry: Mapping[str, Any]) -> Iterator[float]:
    for stats in _directions(entry):
        for key in ("total_ios", "io_bytes", "runtime"):
            value = stats.get(key)
            yield value if isinstance(value, int | float) else 0


def _seconds(entries: Sequence[Mapping[str, Any]]) -> float:
    times = [stats.get("runtime") for entry in entries for stats in _directions(entry)]
    return max((time for time in times if isinstance(time, int | float)), default=0) / 1000


def _directions(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return (entry[which] for which in ("read", "write", "trim", "mixed") if isinstance(entry.get(which), dict))
