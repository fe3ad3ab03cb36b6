"""Output of `rbd bench` and `rados bench` (its JSON, too), also several runs in one log or note.

`rados bench` does not print whether it read sequentially, nor how many operations were in flight while it read. The
command line above it may say so, or a folder's name. CBT writes its own summary beside the text, which is left out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from replay.exchange.importing.runs import (
    Found,
    Level,
    Ranges,
    TextView,
    commands,
    json_in,
    lines,
    option,
    view_of,
    whole_number,
    whole_text,
    with_command,
)
from replay.tools import rados_bench, rbd_bench
from replay.tools.base import bytes_of, number

CUT_OFF = "a run without a summary: it was cut off"
_MODES = ("write", "seq", "rand")
_RBD_ANCHOR = re.compile(r"bench(?:-write)? +(?:type \w+ +)?(?:read:write=\S+ +)?io_size \d")
_RADOS_ANCHOR = re.compile(r"Maintaining \d+ concurrent (?:write|read)s of|sec +Cur ops +started|Total time run:? +\d")
_RADOS_JSON = re.compile(r'"total_(?:write|read)s_made"')
#: The beginning of a document in several lines.
_RADOS_DOCUMENT = re.compile(r'\{[ \t\r]*\n[^\n{}]{0,200}?"(?:concurrent_ios|datas|total_time_run)"')
_OF_CBT = re.compile(r'^\s*\{\s*"[^"\n]+": "', re.ASCII)
_JSON_START = re.compile(r"(?=\{)")
#: Where a text may have more documents of JSON than this, it has none of a tool.
MOST_DOCUMENTS = 10_000


@dataclass
class _Lines:
    """The lines of one run: where each is, its kind and its parts; and what stands before the first."""

    before: str
    lines: list[tuple[tuple[int, int], str, re.Match[str]]] = field(default_factory=list)

    def all(self, kind: str) -> list[re.Match[str]]:
        return [match for _, line_kind, match in self.lines if line_kind == kind]

    def ranges(self, view: TextView) -> Ranges:
        """Return where the lines are in the whole text."""
        return view.ranges_of(span for span, _, _ in self.lines)


# rbd bench -----------------------------------------------------------------------------------------------------------


def knows_rbd_bench(text: str) -> bool:
    """Return whether a text contains the header of `rbd bench`."""
    return _RBD_ANCHOR.search(text) is not None


def read_rbd_bench(text: str) -> list[Found | str]:
    """Return the runs of a text, each from its header to the last line of its summary."""
    view = view_of(text, _RBD_ANCHOR)
    return [_rbd_run(run, view) for run in _rbd_runs(view.text)]


def _rbd_runs(text: str) -> list[_Lines]:
    runs: list[_Lines] = []
    last = 0
    for start, end in lines(text):
        kind, match = rbd_bench.kind_of(text[start:end].rstrip("\n"))
        if kind == rbd_bench.HEADER:
            runs.append(_Lines(text[last:start]))
        if runs and kind and not (kind == rbd_bench.ROW and runs[-1].all(rbd_bench.SUMMARY)):
            runs[-1].lines.append(((start, end), kind, match))
            last = end
    return runs


def _rbd_run(run: _Lines, view: TextView) -> Found | str:
    if not run.all(rbd_bench.SUMMARY):
        return CUT_OFF
    header = run.all(rbd_bench.HEADER)[0]
    stated = {name: level for name, level in rbd_bench.levels_of(header).items() if level is not None}
    words = next(commands(run.before, "rbd", "bench", "bench-write"), [])
    kind = option(words, "--io-type")
    levels = with_command(stated, {
        "io_type": rbd_bench.TYPES.get(kind, kind),
        "io_pattern": option(words, "--io-pattern"),
        "io_size_bytes": bytes_of(option(words, "--io-size")),
        "io_threads": whole_number(option(words, "--io-threads")),
    })  # fmt: skip
    if isinstance(levels, str):
        return levels
    return Found("rbd_bench_output", run.ranges(view), levels, {"io_total_bytes": header["bytes"]})


# rados bench ---------------------------------------------------------------------------------------------------------


def knows_rados_bench(text: str) -> bool:
    """Return whether a text is output of `rados bench`, or CBT's summary of one."""
    return bool(_RADOS_ANCHOR.search(text) or _RADOS_JSON.search(text) or _is_summary_of_cbt(text))


def read_rados_bench(text: str) -> list[Found | str]:
    """Return the runs of a text."""
    if _is_summary_of_cbt(text):
        return ["CBT's own summary of an output of rados bench: the output beside it counts"]
    runs: list[Found | str] = []
    if _RADOS_ANCHOR.search(text):
        view = view_of(text, _RADOS_ANCHOR)
        runs += [_rados_run(run, view) for run in _rados_runs(view.text)]
    return [*runs, *_rados_reports(text)]


def _is_summary_of_cbt(text: str) -> bool:
    return '"Total time run' in text and _OF_CBT.match(text) is not None


def _rados_runs(text: str) -> list[_Lines]:
    """Return the lines of each run. A summary that stands alone is a run, too."""
    runs: list[_Lines] = []
    run, last = None, 0
    for start, end in lines(text):
        kind, match = rados_bench.kind_of(text[start:end].rstrip("\n"))
        if kind == rados_bench.CHATTER and "hints" in text[start:end]:
            # The first line of a run, which a read does not announce.
            run = None
        if not kind or kind == rados_bench.CHATTER:
            continue
        labels = {match["label"] for match in run.all(rados_bench.STATEMENT)} if run else set()
        begins = kind == rados_bench.ANNOUNCEMENT or (kind == rados_bench.TITLES and (not run or labels))
        if kind == rados_bench.STATEMENT and match["label"] == "Total time run":
            begins = not run or match["label"] in labels
        if begins:
            run = _Lines(text[last:start])
            runs.append(run)
        titled = run and run.all(rados_bench.TITLES)
        if run and not (kind == rados_bench.ROW and (labels or not titled)):
            run.lines.append(((start, end), kind, match))
            last = end
    return runs


def _rados_run(run: _Lines, view: TextView) -> Found | str:
    summary = {match["label"]: match["value"] for match in run.all(rados_bench.STATEMENT)}
    if rados_bench.LAST not in summary:
        return CUT_OFF
    announced = run.all(rados_bench.ANNOUNCEMENT)
    report = rados_bench.in_words_of_json(summary, announced[0] if announced else None)
    return _rados_found(run.before, report, run.ranges(view)) or CUT_OFF


def _rados_reports(text: str) -> list[Found | str]:
    """Return the runs of every JSON document of `rados bench` in a text, also behind what a log puts before lines."""
    if not _RADOS_JSON.search(text):
        return []
    documents = list(_documents(whole_text(text)))
    if any(isinstance(run, Found) for run in documents):
        return documents
    return list(_documents(view_of(text, _RADOS_DOCUMENT)))


def _documents(view: TextView) -> Iterator[Found | str]:
    last, why = 0, ""
    for start, end, report in itertools.islice(json_in(view.text, _JSON_START), MOST_DOCUMENTS):
        if isinstance(report, Exception):
            why = why or f"not whole JSON: {report}"[:160]
            continue
        if found := _rados_found(view.text[last:start], report, view.ranges_of([(start, end)])):
            yield found
        last = end
    if not last and why:
        yield why


def _rados_found(before: str, report: Mapping[str, Any], ranges: Ranges) -> Found | str | None:
    """Return the run of a report, why there is none, or None if that is no report of reads or of writes."""
    kinds = [kind for kind in ("write", "read") if f"total_{kind}s_made" in report]
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    object_size, operation, threads = (
        _number(report.get(key)) for key in ("object_size", f"{kind}_size", "concurrent_ios")
    )
    size = object_size or operation
    if not size or not operation:
        return "it does not say how large the objects are"
    words = next(commands(before, "rados", "bench"), [])
    # After the seconds: a pool may have the name of a mode.
    mode = next((word for time, word in itertools.pairwise(words) if whole_number(time) and word in _MODES), None)
    if mode and kind != ("write" if mode == "write" else "read"):
        return f"its command line asks for {mode}, its output is of {kind}s"
    stated: dict[str, Level] = {"mode": mode or kind, "object_size_bytes": size}
    if threads:
        stated["threads"] = threads
    levels = with_command(stated, {"threads": whole_number(option(words, "-t", "--concurrent-ios"))})
    if isinstance(levels, str):
        return levels
    if operation != size:
        levels["io_size_bytes"] = operation
    return Found("rados_bench_output", ranges, levels)


def _number(value: object) -> int | None:
    """Return a whole number, which `rados bench` writes as text."""
    parsed = number(value)
    return int(parsed) if parsed is not None and parsed == int(parsed) and parsed > 0 else None
