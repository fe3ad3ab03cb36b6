"""Outputs of CBT, which writes one for each client: those in one folder ran at once and are one run. Pure.

CBT (the Ceph Benchmarking Tool) names them `output.<number>` or `output.<number>.<host>`, in folders that say what the
run was asked to do: `op_size-00004096/concurrent_ops-00000128/write`. It also extracts fio's JSON into
`json_output.<number>`. It copies what a client wrote below `00000000/LibrbdFio/` into its results, below
`results/00000000/id-<digest>/`; whoever keeps both has each output twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from replay.exchange.importing.files import LeftOut
from replay.exchange.importing.formats import fio
from replay.exchange.importing.found import Level, Run

_OUTPUT = re.compile(r"(?:json_)?output\.\d{1,6}(?:\.[^/]+)?", re.ASCII)
_OF_CBT = re.compile(
    r"(?:op_size|concurrent_ops|concurrent_procs|iodepth|total_iodepth|osd_ra|numjobs)-\d+|id-[0-9a-f]{6,}", re.ASCII
)
_OF_RESULTS = re.compile(r"id-[0-9a-f]{6,}", re.ASCII)
_CONCURRENT_OPS = re.compile(r"(?:^|/)concurrent_ops-(\d{1,9})(?:/|$)", re.ASCII)
_MODES = ("seq", "rand", "write")
RADOS = "rados_bench_output"


def is_of_cbt(path: str) -> bool:
    """Return whether a path is that of an output in a folder of CBT's results."""
    *folders, name = path.split("/")
    return _OUTPUT.fullmatch(name) is not None and any(_OF_CBT.fullmatch(one) for one in folders)


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


def combined(runs: Iterable[Run], check: Callable[[Run], str]) -> tuple[list[Run], list[LeftOut]]:
    """Return the runs, with those that ran at once as one, and the files of those that cannot be combined.

    `check` returns why the outputs of a combined run cannot be read together, or nothing.
    """
    alone: list[Run] = []
    at_once: dict[tuple[int, str, str], list[Run]] = {}
    for run in runs:
        if is_of_cbt(run.path):
            at_once.setdefault((run.folder, run.path.rpartition("/")[0], run.tool), []).append(run)
        else:
            alone.append(run)
    left: list[LeftOut] = []
    for several in at_once.values():
        if len(several) == 1:
            alone += several
            continue
        one = _one_of(several)
        why = one if isinstance(one, str) else check(one)
        if why:
            left += [LeftOut(run.folder, run.path, why) for run in several]
        else:
            alone.append(one)
    return alone, left


def _one_of(several: list[Run]) -> Run | str:
    first = several[0]
    summed = "jobs" in first.levels
    if len({tuple(sorted((k, v) for k, v in run.levels.items() if k != "jobs")) for run in several}) > 1:
        return "it ran at once with others in its folder that were asked to do something else"
    levels: dict[str, Level] = {**first.levels, "instances": len(several)}
    if summed:
        levels["jobs"] = sum(int(run.levels["jobs"]) for run in several)
    names = {name for run in several for name in run.options}
    options = {}
    for name in sorted(names):
        values = {run.options.get(name, "") for run in several}
        options[name] = values.pop() if len(values) == 1 else fio.SEVERAL
    metrics = frozenset.intersection(*(run.metrics for run in several))
    moments = [run.reported_at for run in several]
    return replace(
        first,
        parts=tuple(part for run in several for part in run.parts),
        levels=levels,
        options={name: value for name, value in options.items() if value},
        reported_at=max(moments) if all(moments) else None,
        metrics=metrics,
    )
