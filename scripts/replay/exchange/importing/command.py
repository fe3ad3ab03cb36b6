"""`replay import`: from folders of results to a data set whose tables are derived."""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.base.invocation import replay_command
from replay.base.paths import benchmarks_directory, shown
from replay.base.terminal import waiting
from replay.claims.data_set import derive_data_set
from replay.exchange.importing.arrange import Arranged, arrange
from replay.exchange.importing.collect import Collected, collect
from replay.exchange.importing.documents import Variant, experiment_name
from replay.exchange.importing.walk import LeftOut
from replay.exchange.importing.write import ACCOUNT, write_data_set

#: The number of reasons listed without `--left-out`, and of files named for each.
SHOWN_REASONS, SHOWN_FILES = 8, 3
_NOT_PLAIN = re.compile(r"[^a-z0-9]+", re.ASCII)


def run(options: argparse.Namespace) -> int:
    """Import; return the exit status. Raises ConfigurationError if nothing can be imported, or nothing written."""
    started = time.perf_counter()
    folders = [Path(one) for one in options.folders]
    data_set = benchmarks_directory() / options.data
    with waiting(f"reading {', '.join(map(str, folders))}"):
        collected = collect(folders)
    variants = variants_of(folders)
    if not collected.runs:
        say_left_out(collected.left_out, everything=options.left_out)
        raise ConfigurationError(
            f"none of the {_files(len(collected.sources))} contains a result that Replay can read",
            where=", ".join(map(str, folders)),
            next_step="docs/importing.md lists the results that Replay reads",
        )
    experiments = experiments_of(collected, variants)
    for one in experiments:
        say_arranged(one, len(variants))
    if not options.dry_run:
        with waiting(f"writing {options.data}"):
            write_data_set(data_set, options.label or options.data, variants, experiments, collected)
    say_left_out(collected.left_out, everything=options.left_out)
    if options.dry_run:
        print("nothing was written: --dry-run")
        return 0
    with waiting(f"deriving {options.data}"):
        derive_data_set(data_set)
    print(
        f"imported {_runs(len(collected.runs))} into {shown(data_set)} in {time.perf_counter() - started:.1f} s; "
        f"{ACCOUNT} there says what became of every file"
    )
    print(f"next: npm run present -- --data {options.data}, or {replay_command('raw', 'ls', '--data', options.data)}")
    return 0


def variants_of(folders: Sequence[Path]) -> list[Variant]:
    """Return a variant for each folder: its name, made unique."""
    found: list[Variant] = []
    for folder in folders:
        base = folder.resolve().name or "results"
        label, number = base, 1
        slug = _NOT_PLAIN.sub("-", base.lower()).strip("-")[:40] or "results"
        name = slug
        while name in {one.name for one in found}:
            number += 1
            label, name = f"{base} ({number})", f"{slug}-{number}"
        found.append(Variant(name, label))
    return found


def experiments_of(collected: Collected, variants: Sequence[Variant]) -> list[Arranged]:
    """Return the runs of each tool as an experiment, in the order in which tools were found."""
    names = {number: one.name for number, one in enumerate(variants)}
    tools = dict.fromkeys(run.tool for run in collected.runs)
    return [arrange(tool, [run for run in collected.runs if run.tool == tool], names) for tool in tools]


def say_arranged(arranged: Arranged, variants: int) -> None:
    """Print how a tool's runs were understood: factors, axis, repetitions, and points that can be compared."""
    points: dict[str, set[str]] = {}
    for cell in arranged.cells:
        points.setdefault(cell.point, set()).add(cell.variant)
    repetitions = Counter((cell.point, cell.variant) for cell in arranged.cells)
    least, most = min(repetitions.values()), max(repetitions.values())
    times = f"{least}" if least == most else f"{least} to {most}"
    at = "1 point" if len(points) == 1 else f"{len(points)} points"
    print(f"{experiment_name(arranged.tool)}: {_runs(len(arranged.cells))} at {at}, n = {times}")
    for name, levels in arranged.factors.items():
        if len(levels) > 1 or name == arranged.x_factor:
            place = " (the axis)" if name == arranged.x_factor else ""
            more = f" and {len(levels) - 8} more" if len(levels) > 8 else ""
            print(f"  {name}{place}: {', '.join(map(str, levels[:8]))}{more}")
    if variants > 1:
        shared = sum(len(there) == variants for there in points.values())
        of = "1 point is" if len(points) == 1 else f"{len(points)} points are"
        where = "both folders" if variants == 2 else f"all {variants} folders"
        print(f"  {shared} of {of} in {where}, and can be compared")


def say_left_out(left_out: Sequence[LeftOut], *, everything: bool) -> None:
    """Print which files were left out, and why: by reason, or one by one."""
    if not left_out:
        return
    files = len({(one.folder, one.path) for one in left_out})
    print(f"left out, in whole or in part: {_files(files)}")
    if everything:
        for one in left_out:
            print(f"  {one.path}: {one.why}")
        return
    by_reason: dict[str, list[str]] = {}
    for one in left_out:
        by_reason.setdefault(one.why, []).append(one.path)
    ranked = sorted(by_reason.items(), key=lambda pair: -len(pair[1]))
    for why, paths in ranked[:SHOWN_REASONS]:
        more = f" and {len(paths) - SHOWN_FILES} more" if len(paths) > SHOWN_FILES else ""
        print(f"  {', '.join(paths[:SHOWN_FILES])}{more}: {why}")
    if len(ranked) > SHOWN_REASONS:
        print(f"  and {len(ranked) - SHOWN_REASONS} more reasons: --left-out lists every file")


def _files(count: int) -> str:
    return f"{count} files" if count != 1 else "1 file"


def _runs(count: int) -> str:
    return f"{count} runs" if count != 1 else "1 run"
