"""Damages tools' outputs in the ways in which files are damaged, seeded, and judges what a parser makes of them.

A mutated output must give an error or the right values: a value that differs by more than 1 % without a word is a
number that nobody measured. Three things cannot be told from the text alone, and are counted apart, by name:

- `within what is rounded`: a rate and its time are stated once in full and once in two or three digits or in whole
  seconds, a percentile by a bin. A change within the last printed digit, or to the next bin, agrees with all else that
  the output says.
- `said once`: rados bench states the least and the greatest latency once, and so does fio without bins (`json`; Replay
  asks for `json+`) with percentiles. Any other value between its neighbours is as good. The mean latency of a run of
  rados bench that ended before its first row is bounded by its threads, within what one idle thread leaves open.
- `within a row's second`: a row states its time in whole seconds and, by its rate, when it was printed. Operations of
  less than a second more or less make it a row that was printed earlier or later within that second.

SHA256SUMS of raw/ covers all three from the moment at which a file was stored.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from replay.tools import OutputError, Result, adapter
from replay.tools.base import rounding_of
from support.releases import RECORDED
from support.samples import fixtures

#: A difference that a talk would notice.
NOTICED = 0.01
ERROR, RIGHT, ROUNDED, ONCE, ROW, WRONG = (
    "error", "right", "within what is rounded", "said once", "within a row's second", "silently different",
)  # fmt: skip
OUTCOMES = (ERROR, RIGHT, ROUNDED, ONCE, ROW, WRONG)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_UNIT = re.compile(r"\b(?:[KMGTP]i?B|bytes|[mun]?s|sec|ns|us|ms|MB|bits?)\b|(?<=_)(?:ns|us|ms|kb|bytes)\b")
_UNITS = ("B", "KiB", "MiB", "GiB", "KB", "MB", "bytes", "ns", "us", "ms", "s", "sec", "bits", "kb")


def _at_a_number(change: Callable[[str, random.Random], str]) -> Callable[[str, random.Random], str | None]:
    def mutate(text: str, chance: random.Random) -> str | None:
        found = _some(_NUMBER, text, chance)
        return None if found is None else _replaced(text, found, change(found[0], chance))

    return mutate


def _some(pattern: re.Pattern[str], text: str, chance: random.Random) -> re.Match[str] | None:
    """Return a match at a random place, the next one after it, or None where there is none."""
    return pattern.search(text, chance.randrange(len(text))) or pattern.search(text)


def _replaced(text: str, match: re.Match[str], by: str) -> str:
    return text[: match.start()] + by + text[match.end() :]


def _digit_changed(number: str, chance: random.Random) -> str:
    at = chance.choice([place for place, one in enumerate(number) if one.isdigit()])
    return number[:at] + chance.choice([one for one in "0123456789" if one != number[at]]) + number[at + 1 :]


def _digit_dropped(number: str, chance: random.Random) -> str:
    at = chance.choice([place for place, one in enumerate(number) if one.isdigit()])
    return number[:at] + number[at + 1 :]


def _sign(number: str, _chance: random.Random) -> str:
    return number[1:] if number.startswith("-") else f"-{number}"


def _exponent(number: str, chance: random.Random) -> str:
    mantissa = re.split("[eE]", number)[0]
    return f"{mantissa}e{chance.choice(['+', '-', ''])}{chance.choice(['0', '1', '2', '3', '05', '9'])}"


def _line(change: Callable[[list[str], int, random.Random], None]) -> Callable[[str, random.Random], str]:
    def mutate(text: str, chance: random.Random) -> str:
        lines = text.splitlines(keepends=True)
        change(lines, chance.randrange(len(lines)), chance)
        return "".join(lines)

    return mutate


def _dropped(lines: list[str], at: int, _chance: random.Random) -> None:
    del lines[at]


def _doubled(lines: list[str], at: int, chance: random.Random) -> None:
    lines.insert(chance.choice([at, chance.randrange(len(lines))]), lines[at])


def _truncated(lines: list[str], at: int, chance: random.Random) -> None:
    """Cut a line short, or the file within that line."""
    lines[at] = lines[at][: chance.randrange(max(1, len(lines[at])))]
    if chance.random() < 0.5:
        del lines[at + 1 :]
    elif not lines[at].endswith("\n"):
        lines[at] += "\n"


def _unit_changed(text: str, chance: random.Random) -> str | None:
    found = _some(_UNIT, text, chance)
    return None if found is None else _replaced(text, found, chance.choice([one for one in _UNITS if one != found[0]]))


def _swapped(text: str, chance: random.Random) -> str | None:
    """Swap two numbers of a line, or of neighbouring ones, as JSON has one a line."""
    first = _some(_NUMBER, text, chance)
    if first is None:
        return None
    following = [match for match, _ in zip(_NUMBER.finditer(text, first.end()), range(6), strict=False)]
    if not following:
        return None
    second = chance.choice(following)
    return text[: first.start()] + second[0] + text[first.end() : second.start()] + first[0] + text[second.end() :]


KINDS: Mapping[str, Callable[[str, random.Random], str | None]] = {
    "digit changed": _at_a_number(_digit_changed),
    "digit dropped": _at_a_number(_digit_dropped),
    "sign": _at_a_number(_sign),
    "exponent": _at_a_number(_exponent),
    "line dropped": _line(_dropped),
    "line doubled": _line(_doubled),
    "line truncated": _line(_truncated),
    "unit changed": _unit_changed,
    "fields swapped": _swapped,
}


@dataclass(frozen=True)
class Output:
    """An output of a tool that ended well: where it is from, what was asked for, and what it says."""

    tool: str
    name: str
    text: str
    levels: Mapping[str, Any]
    truth: Result


def outputs() -> Iterator[Output]:
    """Yield every recorded output of a tool that gives a result."""
    for collection in ("rbd-bench", "rados-bench", "fio", "iperf3", *(f"release-{one}" for one in RECORDED)):
        for name, content in fixtures(collection).items():
            tool = next((one for one in ("rbd-bench", "rados-bench", "fio", "iperf3") if name.startswith(one)), None)
            if tool is None:
                continue
            lines = content.decode().splitlines(keepends=True)
            text = "".join(line for line in lines if not line.startswith(("$ ", "# rc=")))
            levels = _levels(tool, content.decode())
            try:
                truth = adapter(tool).parse({"stdout": text}, 0, levels)
            except OutputError:
                continue
            if truth.complete:
                yield Output(tool, f"{collection}/{name}", text, levels, truth)


def _levels(tool: str, text: str) -> dict[str, Any]:
    """Return what a sidecar says was asked for, which derive compares an output with."""

    def said(pattern: str) -> str | None:
        match = re.search(pattern, text, re.ASCII)
        return match and next((one for one in match.groups() if one is not None), None)

    if tool == "rbd-bench":
        given = {"io_type": said(r"type (\w+)"), "io_size_bytes": said(r"io_size (\d+)")}
        given["io_threads"] = said(r"threads (\d+)")
    elif tool == "rados-bench":
        kind = said(r"total_(write|read)s_made|Total (write|read)s made")
        given = {"object_size_bytes": said(r'"object_size":\s*"?(\d+)|(?:Object|Read|Write) size: +(\d+)')}
        given["mode"] = {"write": "write", "read": "rand"}.get(kind or "")
        given["threads"] = said(r'"concurrent_ios":\s*"?(\d+)|Maintaining (\d+)') or said(r"\$ .* -t (\d+)")
    elif tool == "fio":
        given = {"io_size_bytes": {"4k": 4096, "4096": 4096, "64k": 65536}.get(said(r'"bs" : "(\w+)"') or "")}
        given |= {
            "rw": said(r'"rw" : "(\w+)"'),
            "clients": len(set(re.findall(r'"jobname" : "(?!All clients)(\S+)"', text))),
        }
    else:
        given = {"io_size_bytes": said(r'"blksize":\s*(\d+)'), "io_depth": said(r'"num_streams":\s*(\d+)')}
    whole = ("io_size_bytes", "io_threads", "object_size_bytes", "io_depth", "threads")
    return {level: int(value) if level in whole else value for level, value in given.items() if value is not None}


def mutations(output: Output, count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yield (kind, mutated text), `count` in all, the same for a seed. A text that stayed as it was is left out."""
    chance = random.Random(f"{seed} {output.name}")
    kinds, made = list(KINDS), 0
    while made < count:
        kind = kinds[made % len(kinds)]
        made += 1
        mutated = KINDS[kind](output.text, chance)
        if mutated is not None and mutated != output.text:
            yield kind, mutated


def judged(output: Output, mutated: str) -> tuple[str, str]:
    """Return the outcome, and what differs. Any exception but a typed error is passed on: it is a bug."""
    try:
        result = adapter(output.tool).parse({"stdout": mutated}, 0, output.levels)
    except OutputError:
        return ERROR, ""
    if not result.complete:
        return ERROR, ""
    different = {
        metric: value
        for metric, value in result.metrics.items()
        if not _same(value, output.truth.metrics.get(metric)) and metric != "retransmits"
    }
    if different:
        worst = ", ".join(
            f"{metric} {output.truth.metrics.get(metric)} → {value}" for metric, value in different.items()
        )
        return _excuse(output, different) or WRONG, worst
    if not _same_course(result, output.truth):
        return (ROW if _within_rows(output, result) else WRONG), "the course over time"
    return RIGHT, ""


def _same(value: float, truth: float | None) -> bool:
    return truth is not None and abs(value - truth) <= NOTICED * abs(truth)


def _excuse(output: Output, different: Mapping[str, float]) -> str | None:
    """Return why these figures cannot be told from the text alone, or None: they must be."""
    if set(different) <= _ROUNDED_IN_RBD_BENCH and output.tool == "rbd-bench":
        farthest = max(abs(value / output.truth.metrics[name] - 1) for name, value in different.items())
        return ROUNDED if farthest <= _rounding(output.text) * 2.05 else None
    if output.truth.histogram() and all(_PERCENTILE.fullmatch(name) for name in different):
        farthest = max(abs(value / output.truth.metrics[name] - 1) for name, value in different.items())
        return ROUNDED if farthest <= 1.05 / 64 else None
    if all(_ONCE[output.tool].fullmatch(name) for name in different) and not output.truth.histogram():
        mean = "latency_mean_seconds"
        off = abs(different.get(mean, output.truth.metrics[mean]) / output.truth.metrics[mean] - 1)
        return ONCE if output.tool != "rados-bench" or off <= _leeway_of_mean(output) * 1.05 else None
    return None


_ROUNDED_IN_RBD_BENCH = {"operations_per_second", "bytes_per_second", "duration_seconds"}
#: Of reads and writes together, which fio does not print: from bins, each 1/64 of its latency wide.
_PERCENTILE = re.compile(r"latency_p\d+(_\d)?_seconds")
_NONE = re.compile(r"(?!)")
#: What a tool states once. fio's bins state percentiles and extremes too, and Replay asks for them.
_ONCE = {
    "rbd-bench": _NONE, "rados-bench": re.compile("latency_(min|mean|max)_seconds"),
    "fio": re.compile(r"(read_|write_)?latency_(min|max|p\d+(_\d)?)_seconds"), "iperf3": _NONE,
}  # fmt: skip


def _rounding(text: str) -> float:
    """Return by how much of itself the summary's bytes/s of rbd bench is rounded up or down."""
    printed = re.search(r"bytes/sec: +([0-9.eE+]+)", text)[1]
    return rounding_of(printed) / float(printed)


def _leeway_of_mean(output: Output) -> float:
    """Return by how much of itself the mean latency of rados bench may be another one, by all else that is said."""
    found = output.truth.metrics
    least, mean, most = (found[f"latency_{name}_seconds"] for name in ("min", "mean", "max"))
    last = re.findall(r'"finished":\s*"?(\d+)|^ *\d+ +\d+ +\d+ +(\d+) ', output.text, re.MULTILINE)
    finished = float(next(filter(None, last[-1]))) if last else 0.0
    threads = output.levels.get("threads")
    # A run is at least as long as its longest operation, and one thread may be idle.
    idle = 1 / threads + most / found["duration_seconds"] + 0.03 if threads else math.inf
    return min((found["operations"] - finished) / found["operations"] * (most - least) / mean, idle)


def _same_course(result: Result, truth: Result) -> bool:
    return all(_noticed(*one) <= 0 for one in _spans(result, truth))


def _within_rows(output: Output, result: Result) -> bool:
    """Tell whether all that differs are rows of rbd bench, by no more operations than were done in a second."""
    if output.tool != "rbd-bench":
        return False
    fastest = max(float(rate) for rate in re.findall(r"^ +\d+ +\d+ +([0-9.eE+]+)", output.text, re.MULTILINE))
    spans = [one for one in _spans(result, output.truth) if _noticed(*one) > 0]
    rows = len(re.findall(r"^ +\d+ +\d+ ", output.text, re.MULTILINE))
    # The only row of a run may also be from any time since the start.
    most = fastest * (1.1 if rows > 1 else 2.1)
    return all(right is not None and abs(found - right) * seconds <= most for found, right, seconds in spans)


def _noticed(found: float, right: float | None, _seconds: float) -> float:
    """Return by how much a rate is farther from the right one than a talk would notice."""
    return math.inf if right is None else abs(found - right) - NOTICED * abs(right) - 1e-9


def _spans(result: Result, truth: Result) -> Iterator[tuple[float, float | None, float]]:
    """Yield of each point of the series (its rate, the right mean rate over its time or None, its seconds).

    A row that was lost makes the next one stand for a longer time, over which its rate is right.
    """
    # Bytes are operations times their size.
    stated = list(dict.fromkeys(metric for _, metric, _ in truth.series))
    for metric in stated[:1]:
        known = [(moment, value) for moment, one, value in truth.series if one == metric]
        points = [(moment, value) for moment, one, value in result.series if one == metric]
        if not points:
            continue
        if any(moment % 1 for moment, _ in known):  # the middles of spans that are stated
            by_moment = {round(moment, 3): value for moment, value in known}
            yield from ((value, by_moment.get(round(moment, 3)), 1.0) for moment, value in points)
            continue
        first = 2 * known[0][0] - known[1][0] if len(known) > 1 else 0.0
        counts = {max(first, 0.0): 0.0}
        for start, (moment, value) in zip([max(first, 0.0), *(one for one, _ in known)], known, strict=False):
            counts[moment] = counts[start] + value * (moment - start)
        # A series begins at the start of the run, or at its first row, which may be lost.
        before = [[one for one in counts if one < points[0][0]] or [math.nan], *([moment] for moment, _ in points)]
        for starts, (moment, value) in zip(before, points, strict=False):
            right = [
                (value, (counts[moment] - counts[start]) / (moment - start), moment - start)
                for start in starts
                if start in counts and moment in counts
            ]
            yield min(right, key=lambda one: abs(one[0] - one[1]), default=(value, None, 1.0))


def tally(output: Output, count: int, seed: int) -> tuple[Counter[tuple[str, str]], dict[str, str]]:
    """Return how many mutations had each (kind, outcome), and an example of each outcome other than error and right."""
    counts: Counter[tuple[str, str]] = Counter()
    examples: dict[str, str] = {}
    for kind, mutated in mutations(output, count, seed):
        outcome, what = judged(output, mutated)
        counts[kind, outcome] += 1
        if what:
            examples.setdefault(f"{outcome}: {kind}", what)
    return counts, examples
