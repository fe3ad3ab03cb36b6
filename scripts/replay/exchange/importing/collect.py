"""Reads every file below the folders that were named, and records the outcome for each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay.evidence.durable import sha256
from replay.exchange.importing.files import LeftOut, SourceFile, files_below
from replay.exchange.importing.fio_reports import common
from replay.exchange.importing.recognise import FIO_LOG, read_outputs, recognise
from replay.exchange.importing.runs import FoundRun, Level, TextPart
from replay.tools import OutputError, Result
from replay.tools.base import UNSTATED

#: fio's logs over time by the option that asks for them: the endings of their names, the first that there is.
_LOG_ENDINGS = {"iops": ("iops",), "bw": ("bw",), "lat": ("clat", "lat")}
_LOG_NAME = re.compile(r"(?P<begin>.+)_(?P<ending>iops|bw|clat|lat)(?:\.(?P<number>\d{1,6}))?\.log", re.ASCII)
_SNIFFED = 200
_SAME_RUN = "it contains the same run as "


@dataclass
class Collected:
    """All runs and all files that were found: `sources` by (folder, path), and what was left out, with the reason.

    `folders` are the whole paths of the folders, by their numbers.
    """

    folders: Sequence[str]
    runs: list[FoundRun] = field(default_factory=list)
    sources: dict[tuple[int, str], SourceFile] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    def content(self, file: tuple[int, str]) -> bytes:
        return self.sources[file].location.read_bytes()

    def whole_path(self, folder: int, path: str) -> str:
        return f"{self.folders[folder]}/{path}"


def collect(folders: list[Path], unpacked: Path) -> Collected:
    """Return the content of the folders. `unpacked` is an empty folder for archives.

    Raises ConfigurationError for a wrong folder.
    """
    found = [*files_below(folders, unpacked)]
    collected = Collected([str(folder.resolve()) for folder in folders])
    runs: list[FoundRun] = []
    texts: dict[tuple[int, str, str], str] = {}
    logs: list[TextPart] = []
    # The first of several copies counts.
    for file in sorted(found, key=lambda file: _rank(collected.whole_path(file.folder, file.path))):
        if isinstance(file, LeftOut):
            collected.left_out.append(file)
            continue
        collected.sources[file.folder, file.path] = file
        try:
            content = file.location.read_bytes()
        except OSError as error:
            collected.left_out.append(LeftOut(file.folder, file.path, f"it cannot be read: {error.strerror}"))
            continue
        if FIO_LOG.match(content[:_SNIFFED].decode("ascii", "replace")):
            logs.append(TextPart(file.folder, file.path, sha256(content), len(content), ((0, len(content)),)))
        here, reasons = recognise(file.folder, file.path, content)
        collected.left_out += [LeftOut(file.folder, file.path, why) for why in reasons]
        for run in here:
            # A tool prints its rates and its time: two runs do not print the same text, however it is indented.
            text = b"".join(run.parts[0].cut(content).split())
            key = (file.folder, run.tool, sha256(text))
            if first := texts.get(key):
                why = "it contains a run twice" if first == file.path else f"{_SAME_RUN}{first}"
                collected.left_out.append(LeftOut(file.folder, file.path, why))
            else:
                texts[key] = file.path
                runs.append(_named_levels(run, collected.whole_path(run.folder, run.path)))
    collected.runs = _with_logs(_combined(runs, collected), logs, collected)
    return collected


def _failed(collected: Collected) -> Mapping[Folder, Mapping[Output, str]]:
    """Return by folder which outputs of a run hold none, and why; copies and CBT's own files do not count."""
    failed: dict[Folder, dict[Output, str]] = {}
    for left in collected.left_out:
        output, above = _output_of(collected, left.folder, left.path), left.path.rpartition("/")[0]
        copied = left.why.removeprefix(_SAME_RUN) if left.why.startswith(_SAME_RUN) else ""
        # Two outputs of one run cannot be the same: then one of them is lost.
        beside = copied and copied.rpartition("/")[0] == above
        twice = beside and _output_of(collected, left.folder, copied) != output
        if output and (twice or not (copied or left.why.startswith("CBT's own"))):
            failed.setdefault((left.folder, above), {})[output] = left.why
    return failed


def _read(run: FoundRun, logs: Iterable[TextPart], collected: Collected) -> Result:
    """Return what the outputs of a run state together, and its logs. Raises OutputError, and OSError."""
    texts = [part.cut(collected.content(part.file)) for part in run.parts]
    contents = {part.role: collected.content(part.file) for part in logs}
    return read_outputs(run.tool, texts, run.levels, run.path, contents)


def _with_logs(runs: list[FoundRun], logs: Iterable[TextPart], collected: Collected) -> list[FoundRun]:
    """Return the runs with fio's logs over time beside their reports, if it is clear whose they are.

    A log that belongs to a run is no longer left out.
    """
    by_name: dict[tuple[int, str, str, str], list[TextPart]] = {}
    for part in logs:
        above, _, name = part.path.rpartition("/")
        if match := _LOG_NAME.fullmatch(name):
            by_name.setdefault((part.folder, above, match["begin"], match["ending"]), []).append(part)
    claimed = Counter(
        (run.folder, run.path.rpartition("/")[0], begin) for run in runs for begin in set(run.logs.values())
    )
    result = []
    for run in runs:
        above = run.path.rpartition("/")[0]
        parts: list[TextPart] = []
        for kind, begin in run.logs.items():
            key = (run.folder, above, begin)
            ending = next((ending for ending in _LOG_ENDINGS[kind] if (*key, ending) in by_name), "")
            several = by_name.get((*key, ending), [])
            # A sum over only some of the jobs would be wrong.
            if claimed[key] == 1 and len(several) == run.levels.get("jobs"):
                parts += [replace(part, role=f"log-{ending}-{place}") for place, part in enumerate(several, 1)]
        result.append(_with_series(run, parts, collected) if parts else run)
    return result


def _with_series(run: FoundRun, parts: list[TextPart], collected: Collected) -> FoundRun:
    """Return a run with logs, or as it was if they cannot be read."""
    try:
        read = _read(run, parts, collected)
    except (OutputError, OSError):
        return run
    taken = {part.file for part in parts}
    collected.left_out = [left for left in collected.left_out if (left.folder, left.path) not in taken]
    series = frozenset(metric for _, metric, _ in read.series)
    return replace(run, parts=(*run.parts, *parts), series=series)


# Outputs of CBT, which writes one for each client: those in one folder ran at once and are one run.
#
# CBT (the Ceph Benchmarking Tool) names them `output.<number>` or `output.<number>.<host>`, in folders that say what
# the run was asked to do: `op_size-00004096/concurrent_ops-00000128/write`. It also extracts fio's JSON into
# `json_output.<number>`. It copies what a client wrote below `00000000/LibrbdFio/` into its results, below
# `results/00000000/id-<digest>/`; whoever keeps both has each output twice.
#
# A sum without one of its outputs would be wrong, so a run of which one is cut off, failed or missing is not imported.
#
# The folders that say so may be above the one that was named, so the whole path counts.

_OUTPUT = re.compile(r"(?:json_)?output\.(?P<number>\d{1,6})(?:\.(?P<host>[^/]+))?", re.ASCII)
_OF_CBT = re.compile(
    r"(?:op_size|concurrent_ops|concurrent_procs|iodepth|total_iodepth|osd_ra|numjobs)-\d+|id-[0-9a-f]{6,}", re.ASCII
)
_OF_RESULTS = re.compile(r"id-[0-9a-f]{6,}", re.ASCII)
_CONCURRENT_OPS = re.compile(r"(?:^|/)concurrent_ops-(\d{1,9})(?:/|$)", re.ASCII)
RADOS = "rados_bench_output"

#: An output of a run: its number, and the client's host.
Output = tuple[int, str]
#: The folder of a run: the number of the folder that was named, and the path below it.
Folder = tuple[int, str]


def _output_of(collected: Collected, folder: int, path: str) -> Output | None:
    """Return which output of a run a file is, None if it is none in a folder of CBT's results."""
    *folders, name = collected.whole_path(folder, path).split("/")
    match = _OUTPUT.fullmatch(name)
    if match is None or not any(map(_OF_CBT.fullmatch, folders)):
        return None
    return int(match["number"]), match["host"] or ""


def _rank(whole_path: str) -> int:
    """Return which of several copies of an output counts: that of the lowest rank.

    CBT's results are whole, and a client's folder beside them may not be. JSON that CBT extracted comes last.
    """
    *folders, name = whole_path.split("/")
    if name.startswith("json_output."):
        return 2
    return 0 if any(_OF_RESULTS.fullmatch(folder) for folder in folders) else 1


def _named_levels(run: FoundRun, whole_path: str) -> FoundRun:
    """Return a run with the levels that only the folders around its file state.

    A folder `seq` or `rand` says how `rados bench` read, and CBT's `concurrent_ops-16` how many threads it had.
    """
    if run.tool != RADOS:
        return run
    levels: dict[str, Level] = dict(run.levels)
    above = whole_path.rpartition("/")[0]
    last = above.rpartition("/")[2]
    if levels["mode"] == "read" and last in ("seq", "rand"):
        levels["mode"] = last
    if "threads" not in levels and (match := _CONCURRENT_OPS.search(above)):
        levels["threads"] = int(match[1])
    return replace(run, levels=levels)


def _combined(runs: Sequence[FoundRun], collected: Collected) -> list[FoundRun]:
    """Return the runs, with those that ran at once as one in the place of the first of them.

    The files of those that cannot be combined are left out.
    """
    failed = _failed(collected)
    groups: dict[Folder | int, list[FoundRun]] = {}
    for place, run in enumerate(runs):
        of_client = _output_of(collected, run.folder, run.path) is not None
        groups.setdefault((run.folder, run.path.rpartition("/")[0]) if of_client else place, []).append(run)
    outputs = {
        folder: {_output_of(collected, run.folder, run.path) for run in several}
        for folder, several in groups.items()
        if isinstance(folder, tuple)
    }
    together: list[FoundRun] = []
    for folder, several in groups.items():
        missing = _missing(folder, outputs, failed) if folder in outputs else ""
        run_or_why = missing or (several[0] if len(several) == 1 else _one_of(several, collected))
        if isinstance(run_or_why, str):
            collected.left_out += [LeftOut(run.folder, run.path, run_or_why) for run in several]
        else:
            together.append(run_or_why)
    return together


def _missing(
    folder: Folder, outputs: Mapping[Folder, set[Output]], all_failed: Mapping[Folder, Mapping[Output, str]]
) -> str:
    """Return which output of a run is missing, so that there is no sum, or nothing."""
    here, failed = outputs[folder], all_failed.get(folder, {})
    if lost := [(output, why) for output, why in sorted(failed.items()) if output not in here]:
        return f"it ran at once with {_name(lost[0][0])}, which cannot be read: {lost[0][1]}"
    numbers, hosts = [number for number, _ in here], {host for _, host in here}
    if len(set(numbers)) < len(numbers):
        expected = {(number, host) for number in range(max(numbers) + 1) for host in hosts}
    else:
        expected = here | {(number, "") for number in range(max(numbers)) if number not in numbers}
    # Reads and writes of one workload are beside each other, and have as many clients.
    for other, known in [*outputs.items(), *all_failed.items()]:
        if other[0] == folder[0] and other[1].rpartition("/")[0] == folder[1].rpartition("/")[0]:
            expected = expected | {*known}
    if absent := sorted(expected - here):
        return f"it ran at once with {_name(absent[0])}, which is not there"
    return ""


def _name(output: Output) -> str:
    number, host = output
    return f"output.{number}.{host}" if host else f"output.{number}"


def _one_of(several: list[FoundRun], collected: Collected) -> FoundRun | str:
    """Return runs at once as one, or why they are none."""
    first = several[0]
    if len({run.tool for run in several}) > 1:
        return "it ran at once with outputs of another tool in its folder"
    if len({tuple(sorted((k, v) for k, v in run.levels.items() if k != "jobs")) for run in several}) > 1:
        return "it ran at once with others in its folder that were asked to do something else"
    levels: dict[str, Level] = {**first.levels, "instances": len(several)}
    if "jobs" in first.levels:
        jobs = [run.levels["jobs"] for run in several]
        levels["jobs"] = UNSTATED if UNSTATED in jobs else sum(map(int, jobs))
    moments = [run.reported_at for run in several]
    whole = replace(
        first,
        parts=tuple(part for run in several for part in run.parts),
        levels=levels,
        options=common([run.options for run in several]),
        reported_at=max(moments) if all(moments) else None,
        metrics=frozenset.intersection(*(run.metrics for run in several)),
        series=frozenset(),
        notes=tuple(dict.fromkeys(note for run in several for note in run.notes)),
        logs={},
    )
    try:
        _read(whole, (), collected)
    except OutputError as error:
        return f"together with the others in its folder: {error.what}"
    except OSError as error:
        return f"it cannot be read again: {error.strerror}"
    return whole
