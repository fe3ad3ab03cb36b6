"""`replay import`: from folders of results to a data set whose tables are derived."""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from replay.base.errors import ConfigurationError, ReplayError
from replay.base.invocation import deck_command, replay_command
from replay.base.paths import benchmarks_directory, shown
from replay.base.terminal import waiting
from replay.claims.data_set import derive_data_set
from replay.evidence import durable
from replay.exchange.importing.arrange import Arranged, arrange, repetitions
from replay.exchange.importing.collect import Collected, collect
from replay.exchange.importing.data_set import ACCOUNT, write_data_set
from replay.exchange.importing.documents import Variant, differences, experiment_name, notes_of
from replay.exchange.importing.files import LeftOut, in_order, name_of
from replay.exchange.importing.runs import Level

#: The number of reasons listed without `--left-out`, of files named for each, and of sets of names of repetitions.
SHOWN_REASONS, SHOWN_FILES, SHOWN_NAMES = 8, 3, 6
_NOT_PLAIN = re.compile(r"[^a-z0-9]+", re.ASCII)
_SIZES = ("io_size_bytes", "object_size_bytes")


def run(options: argparse.Namespace) -> int:
    """Import; return the exit status. Raises ConfigurationError if nothing can be imported, or nothing written."""
    started = time.perf_counter()
    folders = _folders(options)
    data_set = benchmarks_directory() / options.data
    with tempfile.TemporaryDirectory(prefix="replay-import-") as unpacked:
        with waiting(f"reading {', '.join(map(str, folders))}"):
            collected = collect(folders, Path(unpacked))
        variants = variants_of(folders)
        if not collected.runs:
            say_left_out(collected.left_out, everything=options.left_out)
            raise ConfigurationError(
                f"none of the {_files(len(collected.sources))} contains a result that Replay can read",
                where=", ".join(map(str, folders)),
                next_step="docs/importing.md lists the results that Replay reads",
            )
        experiments = experiments_of(collected, variants, pooled=options.repetitions)
        for one in experiments:
            say_arranged(one, variants)
        if not options.dry_run:
            with waiting(f"writing {options.data}"):
                write_data_set(data_set, options.label or options.data, variants, experiments, collected)
    say_left_out(collected.left_out, everything=options.left_out)
    if options.dry_run:
        print("nothing was written: --dry-run")
        return 0
    with waiting(f"deriving {options.data}"):
        try:
            derive_data_set(data_set)
        except ReplayError:
            durable.remove_tree(data_set)
            raise
    print(
        f"imported {_runs(len(collected.runs))} into {shown(data_set)} in {time.perf_counter() - started:.1f} s; "
        f"{ACCOUNT} there says what became of every file"
    )
    raw = replay_command("raw", "ls", "--data", options.data)
    print(f"next: {deck_command('present', '--data', options.data) or raw}")
    print(f"      {replay_command('talk', options.data, '--out', 'DIR')} starts a talk from it")
    return 0


def _folders(options: argparse.Namespace) -> list[Path]:
    """Return the folders that are variants: those that were named, or with `--variants` the ones in the only one."""
    folders = [Path(one) for one in options.folders]
    if not options.variants:
        return folders
    if len(folders) != 1 or not folders[0].is_dir():
        raise ConfigurationError(
            "--variants takes the folders in one folder for variants",
            next_step="name one folder, or each variant's own",
        )
    inside = sorted((one for one in folders[0].iterdir() if one.is_dir()), key=lambda one: in_order(one.name))
    if not inside:
        raise ConfigurationError(
            "--variants: there is no folder in it", where=folders[0], next_step="leave out --variants"
        )
    return inside


def variants_of(folders: Sequence[Path]) -> list[Variant]:
    """Return a variant for each folder: its name, made unique."""
    found: list[Variant] = []
    for folder in folders:
        base = name_of(folder.resolve()) or "results"
        label, number = base, 1
        slug = _NOT_PLAIN.sub("-", base.lower()).strip("-")[:40] or "results"
        name = slug
        while name in {one.name for one in found}:
            number += 1
            label, name = f"{base} ({number})", f"{slug}-{number}"
        found.append(Variant(name, label))
    return found


def experiments_of(collected: Collected, variants: Sequence[Variant], *, pooled: bool = False) -> list[Arranged]:
    """Return the runs of each tool as an experiment, in the order in which tools were found."""
    names = {number: one.name for number, one in enumerate(variants)}
    tools = dict.fromkeys(run.tool for run in collected.runs)
    return [arrange(tool, [run for run in collected.runs if run.tool == tool], names, pooled=pooled) for tool in tools]


def say_arranged(arranged: Arranged, variants: Sequence[Variant]) -> None:
    """Print how a tool's runs were understood: what differs, factors, axis, repetitions, what can be compared."""
    points: dict[str, set[str]] = {}
    for cell in arranged.cells:
        points.setdefault(cell.point, set()).add(cell.variant)
    counts = Counter((cell.point, cell.variant) for cell in arranged.cells)
    least, most = min(counts.values()), max(counts.values())
    times = f"{least}" if least == most else f"{least} to {most}"
    at = "1 point" if len(points) == 1 else f"{len(points)} points"
    print(f"{experiment_name(arranged.tool)}: {_runs(len(arranged.cells))} at {at}, n = {times}")
    for option, values in differences(arranged, variants).items():
        print(f"  {option} differs: {', '.join(f'{value} in {name}' for name, value in values.items())}")
    for name, levels in arranged.factors.items():
        if len(levels) > 1 or name == arranged.x_factor:
            place = " (the axis)" if name == arranged.x_factor else ""
            more = f" and {len(levels) - 8} more" if len(levels) > 8 else ""
            print(f"  {name}{place}: {', '.join(_level(name, level) for level in levels[:8])}{more}")
    if len(variants) > 1:
        shared = sum(len(present) == len(variants) for present in points.values())
        of = "1 point is" if len(points) == 1 else f"{len(points)} points are"
        where = "both folders" if len(variants) == 2 else f"all {len(variants)} folders"
        print(f"  {shared} of {of} in {where}, and can be compared")
    taken = repetitions(arranged)
    for names, alike in taken[:SHOWN_NAMES]:
        more = f" and {len(names) - 8} more" if len(names) > 8 else ""
        others = f" (and {alike - 1} more like this)" if alike > 1 else ""
        print(f"  taken for repetitions: {', '.join(names[:8])}{more}{others}")
    if any(name.endswith("/") for names, _ in taken for name in names):
        print("  if they are not: name each of these folders, or their folder with --variants, and they are compared")
    for note in notes_of(arranged):
        where = f"{note['points'][0]}{' and others' if len(note['points']) > 1 else ''}"
        print(f"  {_runs(note['runs'])} ({where}): {note['note']}")
    if least == 1:
        which = "each point has" if most == 1 else f"{sum(count == 1 for count in counts.values())} points have"
        print(f"  n = 1: {which} a single run, which cannot say whether a difference is more than noise")


def _level(factor: str, level: Level) -> str:
    """Return a level for a person: sizes in the largest unit in which they are whole numbers."""
    if factor not in _SIZES or not isinstance(level, int):
        return str(level)
    size, units = level, ["", "K", "M", "G"]
    while size and size % 1024 == 0 and len(units) > 1:
        size, units = size // 1024, units[1:]
    return f"{size}{units[0]}"


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
