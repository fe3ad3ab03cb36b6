"""Outputs of CBT, which writes one for each client: those in one folder ran at once and are one run. Pure.

CBT (the Ceph Benchmarking Tool) names them `output.<number>` or `output.<number>.<host>`, in folders that say what the
run was asked to do: `op_size-00004096/concurrent_ops-00000128/write`. It also extracts fio's JSON into
`json_output.<number>`. It copies what a client wrote below `00000000/LibrbdFio/` into its results, below
`results/00000000/id-<digest>/`; whoever keeps both has each output twice.

A sum without one of its outputs would be wrong, so a run of which one is cut off, failed or missing is not imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from replay.exchange.importing.files import LeftOut
from replay.exchange.importing.formats.fio_options import SEVERAL
from replay.exchange.importing.runs import Level, Run
from replay.tools.base import UNSTATED

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


def output_of(path: str) -> Output | None:
    """Return which output of a run a file is, None if it is none in a folder of CBT's results."""
    *folders, name = path.split("/")
    match = _OUTPUT.fullmatch(name)
    if match is None or not any(_OF_CBT.fullmatch(one) for one in folders):
        return None
    return int(match["number"]), match["host"] or ""


def rank(path: str) -> int:
    """Return which of several copies of an output counts: that of the lowest rank.

    CBT's results are whole, and a client's folder beside them may not be. JSON that CBT extracted comes last.
    """
    *folders, name = path.split("/")
    if name.startswith("json_output."):
        return 2
    return 0 if any(_OF_RESULTS.fullmatch(one) for one in folders) else 1


def named_levels(run: Run) -> Run:
    """Return a run with the levels that only the folders around its file state.

    A folder `seq` or `rand` says how `rados bench` read, and CBT's `concurrent_ops-16` how many threads it had.
    """
    if run.tool != RADOS:
        return run
    levels: dict[str, Level] = dict(run.levels)
    above = run.path.rpartition("/")[0]
    last = above.rpartition("/")[2]
    if levels["mode"] == "read" and last in ("seq", "rand"):
        levels["mode"] = last
    if "threads" not in levels and (match := _CONCURRENT_OPS.search(above)):
        levels["threads"] = int(match[1])
    return replace(run, levels=levels)


def combined(
    runs: Iterable[Run], failed: Mapping[Folder, Mapping[Output, str]], check: Callable[[Run], str]
) -> tuple[list[Run], list[LeftOut]]:
    """Return the runs, with those that ran at once as one, and the files of those that cannot be combined.

    `failed` says of each folder which outputs hold no run, and why. `check` returns why the outputs of a combined run
    cannot be read together, or nothing.
    """
    alone: list[Run] = []
    folders: dict[Folder, list[Run]] = {}
    for run in runs:
        if output_of(run.path) is None:
            alone.append(run)
        else:
            folders.setdefault((run.folder, run.path.rpartition("/")[0]), []).append(run)
    outputs = {folder: {output_of(run.path) for run in several} for folder, several in folders.items()}
    left: list[LeftOut] = []
    for folder, several in folders.items():
        why = _missing(folder, outputs, failed)
        one = several[0] if len(several) == 1 else _one_of(several)
        if not why:
            why = one if isinstance(one, str) else check(one) if len(several) > 1 else ""
        if why:
            left += [LeftOut(run.folder, run.path, why) for run in several]
        else:
            alone.append(one)
    return alone, left


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


def _one_of(several: list[Run]) -> Run | str:
    first = several[0]
    if len({run.tool for run in several}) > 1:
        return "it ran at once with outputs of another tool in its folder"
    if len({tuple(sorted((k, v) for k, v in run.levels.items() if k != "jobs")) for run in several}) > 1:
        return "it ran at once with others in its folder that were asked to do something else"
    levels: dict[str, Level] = {**first.levels, "instances": len(several)}
    if "jobs" in first.levels:
        jobs = [run.levels["jobs"] for run in several]
        levels["jobs"] = UNSTATED if UNSTATED in jobs else sum(map(int, jobs))
    names = {name for run in several for name in run.options}
    options = {}
    for name in sorted(names):
        values = {run.options.get(name, "") for run in several}
        options[name] = values.pop() if len(values) == 1 else SEVERAL
    moments = [run.reported_at for run in several]
    return replace(
        first,
        parts=tuple(part for run in several for part in run.parts),
        levels=levels,
        options={name: value for name, value in options.items() if value},
        reported_at=max(moments) if all(moments) else None,
        metrics=frozenset.intersection(*(run.metrics for run in several)),
        series=frozenset(),
        notes=tuple(dict.fromkeys(note for run in several for note in run.notes)),
        logs={},
    )
