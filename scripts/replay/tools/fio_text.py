"""Results of fio that Replay did not start: its JSON, and the headline figures of its normal and terse text. Pure.

Normal text has a line for each job before the run, which says what it is to do, and a section for each job or group of
jobs after it (fio's stat.c, `show_thread_status_normal`). Terse text is one line for each (`show_thread_status_terse`);
its versions 3 to 5 begin with the same fields, times in microseconds, and amounts in KiB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from replay.tools.base import OutputError, Place, Reader, Result, Run, agrees, number, roles_by_instance, rounding_of
from replay.tools.cell_logs import series_of_logs
from replay.tools.fio import check_done, metrics, notes
from replay.tools.fio_report import LAST_BIN, OLD_LAST_BIN, OLD_LAST_MIDDLE, Client, Direction, Latency, read_clients

_HEADER = re.compile(
    r"(?P<name>\S.*?): \(g=(?P<group>\d+)\): rw=(?P<rw>\w+), bs=(?P<bs>\S.*?), ioengine=(?P<ioengine>[^,\s]+),"
    r" iodepth=(?P<iodepth>\d{1,9})[ \t\r]*$",
    re.ASCII | re.MULTILINE,
)
_SECTION = re.compile(
    r"(?P<name>\S.*?): \(groupid=(?P<group>\d{1,9}), jobs=(?P<jobs>\d{1,9})\): err= *(?P<error>\d{1,9})[^\n]*\n",
    re.ASCII,
)
_END = re.compile(r"^.*(?:Run status group|Disk stats|\(g=\d+\): rw=|\(groupid=\d+, jobs=)|^\W*```|^\{", re.MULTILINE)
_NUMBER = r"\d{1,19}(?:\.\d{0,19})?"
_AMOUNT = rf"{_NUMBER}(?:[KMGTP]i?)?B"
_RATE = re.compile(
    r"(?P<which>read|write|mixed) *: (?:"
    rf"IOPS=(?P<iops>{_NUMBER}[kKMG]?), BW=\S+ \([^)]*\)\((?P<moved>{_AMOUNT})/(?P<msec>\d{{1,15}})msec\)"
    rf"|io=(?P<old_moved>{_AMOUNT}), bw=\S+, iops=(?P<old_iops>{_NUMBER}[kKMG]?),"
    rf" runt= *(?P<old_msec>\d{{1,15}})msec)",
    re.ASCII,
)
_VALUE = rf"= *({_NUMBER}[kKMG]?)"
_LATENCY = re.compile(rf"\b(clat|lat) \(([num]sec)\) *: min{_VALUE}, max{_VALUE}, avg{_VALUE}", re.ASCII)
_PERCENTILES = re.compile(r"\b(clat|lat) percentiles \(([num]sec)\):([\s|.,=\[\]\d>th]*)", re.ASCII)
_PERCENTILE = re.compile(rf"({_NUMBER})th=\[ *(?:>= *)?(\d+)\]", re.ASCII)
_ISSUED = re.compile(r"\bissued *(?:rwts?)? *: total=(?:r=)?(\d+)[,/](?:w=)?(\d+)", re.ASCII)
_FIRST_DEPTH = re.compile(rf"\bIO depths +: 1=({_NUMBER})%", re.ASCII)
_SIZE = r"(\d+(?:\.0+)?[KMGT]?)(?:i?B)?"
_SIZES = re.compile(rf"(?:\(R\) )?{_SIZE}-{_SIZE}(?:, \(W\) |/){_SIZE}-{_SIZE}", re.ASCII)
_TERSE = re.compile(
    r"(?P<version>[345]);(?P<fio>fio-\d[^;\s]*);(?P<name>[^;\n]*);"
    r"(?P<group>\d{1,9});(?P<error>\d{1,9});(?P<rest>[^\n]*)",
    re.ASCII,
)
#: The fields of one direction of terse text.
_FIELDS = {"3": 41, "4": 41, "5": 47}
_UNITS = {"nsec": 1e-9, "usec": 1e-6, "msec": 1e-3}
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}


@dataclass(frozen=True)
class JobSection:
    """What one job or group of jobs printed: where, its name, group, jobs and error, and its options as printed.

    `spans` are its characters in the text: the line that says what it is to do, if there is one, and the section.
    """

    spans: tuple[tuple[int, int], ...]
    name: str
    group: int
    jobs: int
    error: int
    version: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


def sections(text: str) -> Iterator[JobSection]:
    """Yield the sections of normal and terse text, in order."""
    headers = list(_HEADER.finditer(text))
    printed = []
    for match in _SECTION.finditer(text):
        following = _END.search(text, match.end())
        end = following.start() if following else len(text)
        before = [header for header in headers if header.end() <= match.start() and header["name"] == match["name"]]
        header = before[-1] if before else None
        options = {name: header[name] for name in ("rw", "ioengine", "iodepth")} if header else {}
        if header and (size := _size_of(header["bs"])):
            options["bs"] = str(size)
        first_depth = _FIRST_DEPTH.search(text, match.end(), end)
        if first_depth and float(first_depth[1]) >= 99.5:
            options["reached_depth"] = "1"
        spans = [(header.start(), header.end() + 1)] if header else []
        printed.append(JobSection(
            (*spans, (match.start(), end)), match["name"], int(match["group"]), int(match["jobs"]),
            int(match["error"]), options=options,
        ))  # fmt: skip
    for match in _TERSE.finditer(text):
        span = match.start(), min(match.end() + 1, len(text))
        printed.append(JobSection((span,), match["name"], int(match["group"]), 0, int(match["error"]), match["fio"]))
    yield from sorted(printed, key=lambda section: section.spans[-1])


class FioReport(Reader):
    """Reads fio's reports of runs that Replay did not start. Each role (`output`, `output-2-1`, …) is one fio's.

    All ran at once. Further roles are fio's logs over time: see `series_of_logs`.
    """

    name = "fio_report"

    def read(self, run: Run) -> Result:
        """Read the reports. Levels: `instances` (the number of reports), `rw`, `io_size_bytes`, `io_depth`, `jobs`."""
        file = run.file("output")
        instances = roles_by_instance(run.texts, int(run.levels.get("instances", 1)), file)
        clients = [client for roles in instances for role in roles
                   for client in read_clients(run.text(role), run.file(role), 0)]  # fmt: skip
        idle = sorted({client.name for client in clients if not client.directions})
        if idle or not clients:
            what = f"no I/O was done by {', '.join(idle)}" if idle else "no job reported"
            raise OutputError(what, file=file, reason="failed")
        for client in clients:
            check_done(client, run.levels)
        return Result(metrics=metrics(clients), series=series_of_logs(run), notes=notes(clients))


class FioText(Reader):
    """Reads the text of the jobs of one run, in the role `output`."""

    name = "fio_text"

    def read(self, run: Run) -> Result:
        """Read the sections. Levels: `rw`, `io_size_bytes`, `rw_mix_read`."""
        text, file = run.text("output"), run.file("output")
        clients = []
        for section in sections(text):
            if section.error:
                what = f"{section.name}: error {section.error}: its figures do not count"
                raise OutputError(what, file=file, reason="failed")
            printed = text[slice(*section.spans[-1])]
            directions = terse_directions(printed, file) if section.version else _normal(printed, section, file)
            client = Client(section.name, section.options, directions, Place(file, None))
            check_done(client, run.levels)
            clients.append(client)
        if not clients or not all(client.directions for client in clients):
            raise OutputError("it states no operations", file=file, reason="incomplete")
        rounded = "only headline figures, as fio rounded them in its text"
        return Result(metrics=metrics(clients), notes=(*notes(clients), rounded))


REPORT, TEXT = FioReport(), FioText()


def _normal(text: str, section: JobSection, file: str) -> dict[str, Direction]:
    issued = _ISSUED.search(text)
    matches = list(_RATE.finditer(text))
    ends = [*(match.start() for match in matches[1:]), len(text)]
    size = float(section.options.get("bs", 0))
    directions = {}
    for match, end in zip(matches, ends, strict=False):
        iops, moved, msec = (match[name] or match[f"old_{name}"] for name in ("iops", "moved", "msec"))
        seconds, rate = int(msec) / 1000, _scaled(iops)
        if not seconds:
            raise OutputError("a run of 0 ms", file=file, reason="too_short")
        operations = rate * seconds
        if issued and match["which"] != "mixed":
            operations = float(issued[1 if match["which"] == "read" else 2])
        elif size and _share(moved) < _share(iops):
            operations = _bytes(moved) / size
        # Rounded, or cut off.
        if not agrees(operations / seconds, rate, relative=2 * _share(iops) + 1e-3, absolute=1.0):
            raise OutputError(f"{iops} operations/s are not {operations:.0f} in {seconds:g} s", file=file)
        if operations:
            latency = _latency(text[match.end() : end], operations)
            directions[match["which"]] = Direction(operations, operations * size or _bytes(moved), seconds, latency)
    return directions


def _latency(text: str, operations: float) -> Latency:
    summaries = {match[1]: match.groups()[1:] for match in _LATENCY.finditer(text)}
    what = "clat" if "clat" in summaries else "lat"
    if what not in summaries:
        return Latency(0.0, 0.0, 0.0, 0.0)
    unit, *values = summaries[what]
    low, high, mean = (_scaled(value) * _UNITS[unit] for value in values)
    percentiles = {
        float(percent): float(value) * _UNITS[match[2]]
        for match in _PERCENTILES.finditer(text)
        if match[1] == what
        for percent, value in _PERCENTILE.findall(match[3])
    }
    total = "" if what == "clat" else "values"
    return Latency(operations, mean, low, high, percentiles, total=total, last_bin=_last_bin(percentiles))


def _last_bin(percentiles: Mapping[float, float]) -> float:
    """Return where the last bin begins: that of fio 2 if one is its middle, which text rounds to 16712 ms."""
    old = any(round(percentile, 3) == round(OLD_LAST_MIDDLE, 3) for percentile in percentiles.values())
    return OLD_LAST_BIN if old else LAST_BIN


def terse_directions(line: str, file: str) -> dict[str, Direction]:
    """Return what a line of terse text says that was done. Raises OutputError if it is none."""
    match = _TERSE.match(line)
    fields, width = match["rest"].split(";"), _FIELDS[match["version"]]
    directions = {}
    for place, which in enumerate(("read", "write")):
        values = fields[place * width : (place + 1) * width]
        try:
            amount, _, rate, milliseconds = map(_plain, values[:4])
            clat = [_plain(value) / 1e6 for value in values[8:11]]
            percents = dict(value.split("%=") for value in values[12:32] if "%=" in value)
            percentiles = {_plain(percent): _plain(value) / 1e6 for percent, value in percents.items()}
        except ValueError:
            if values and place == 0:
                raise OutputError(f"not terse text of fio: {line[:80]!r}", file=file) from None
            continue
        if not rate or not milliseconds:
            continue
        operations = rate * milliseconds / 1000
        known = len(clat) == 3 and clat[1] > 0
        low, high, mean = clat if known else (0.0, 0.0, 0.0)
        if not known:
            percentiles = {}
        latency = Latency(operations if known else 0.0, mean, low, high, percentiles, last_bin=_last_bin(percentiles))
        directions[which] = Direction(operations, amount * 1024, milliseconds / 1000, latency)
    return directions


def _plain(text: str) -> float:
    """Return a number. Raises ValueError for anything that no fio prints, such as `nan`."""
    value = number(text)
    if value is None:
        raise ValueError(text)
    return value


def _size_of(text: str) -> int | None:
    """Return the one block size that a job's line names; None if reads and writes differ, or sizes vary."""
    match = _SIZES.match(text)
    sizes = {_bytes(f"{size}B") for size in match.groups()} if match else set()
    return int(sizes.pop()) if len(sizes) == 1 else None


def _bytes(text: str) -> float:
    """Return an amount in bytes: for fio `KiB`, and `KB` in its old releases, are 1024."""
    return _scaled(text, 1024.0)


def _scaled(text: str, kilo: float = 1000.0) -> float:
    digits = re.match(_NUMBER, text)[0]
    return float(digits) * kilo ** _POWERS[text[len(digits) :].rstrip("iB").upper()]


def _share(text: str) -> float:
    """Return how far an amount or a rate may be rounded, as a share of it."""
    digits = re.match(_NUMBER, text)[0]
    return rounding_of(digits) / float(digits) if float(digits) else 1.0
