"""`replay import`: from folders of results to a data set whose tables are derived. It appears whole or not at all."""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path

from replay.base.errors import ConfigurationError, EvidenceError, visible
from replay.base.paths import benchmarks_directory, deck_command, replay_command, shown
from replay.base.tables import csv_text, short_size_text
from replay.base.terminal import waiting
from replay.claims.data_set import derive_data_set
from replay.design.design import digest_of
from replay.evidence import durable
from replay.evidence.data_set import CAMPAIGN, MANIFEST, design_file, pack_name, pretty_json, write_pack
from replay.evidence.durable import SUMS, sha256, sums_text
from replay.evidence.read import SEAL
from replay.exchange.importing.arrange import CONFIGURATION, SIZES, Arranged, arrange, repetitions
from replay.exchange.importing.collect import Collected, collect
from replay.exchange.importing.documents import (
    Content,
    campaign_of,
    design_of,
    experiment_name,
    members_of,
    notes_of,
    options_by_label,
    plan_of,
)
from replay.exchange.importing.files import LeftOut, in_order, is_archive, name_of, text_of
from replay.exchange.sides import IMPORTED, differences

#: A table, not JSON: the deck publishes the JSON files of a data set, and names of files may reveal too much.
ACCOUNT = "imported.csv"
ACCOUNT_HEADER = ("folder", "path", "sha256", "bytes", "experiment", "runs", "left_out", "notes")
#: The number of reasons listed without `--left-out`, of files named for each, of sets of names of repetitions, and of
#: levels.
SHOWN_REASONS, SHOWN_FILES, SHOWN_NAMES, SHOWN_LEVELS = 8, 3, 6, 8
_NOT_PLAIN = re.compile(r"[^a-z0-9]+", re.ASCII)


def run(options: argparse.Namespace) -> int:
    """Import; return the exit status. Raises ConfigurationError if nothing can be imported, or nothing written."""
    started = time.perf_counter()
    folders = _folders(options)
    data_set = benchmarks_directory() / options.data
    with tempfile.TemporaryDirectory(prefix="replay-import-") as unpacked:
        with waiting(f"reading {', '.join(map(str, folders))}"):
            collected = collect(folders, Path(unpacked))
        variants = _variants_of(folders)
        experiments = experiments_of(collected, variants, pooled=options.repetitions)
        for arranged in experiments:
            _say_arranged(arranged, variants)
        _say_left_out(collected.left_out, everything=options.left_out)
        if not experiments:
            raise ConfigurationError(
                f"none of the {_counted(len(collected.sources), 'file')} contains a result that Replay can read",
                where=", ".join(map(str, folders)),
                next_step="docs/importing.md lists the results that Replay reads",
            )
        if options.dry_run:
            print("nothing was written: --dry-run")
            return 0
        with waiting(f"writing {options.data}"):
            _write_data_set(data_set, options.label or options.data, variants, experiments, collected)
    try:
        with waiting(f"deriving {options.data}"):
            derive_data_set(data_set)
    except Exception:
        # Whatever failed, nothing is left. An interruption leaves the evidence, and `derive` goes on from there.
        durable.remove_tree(data_set)
        raise
    seconds = time.perf_counter() - started
    print(
        f"imported {_counted(len(collected.runs), 'run')} into {shown(data_set)} in {seconds:.1f} s; "
        f"{ACCOUNT} there says what became of every file"
    )
    raw = replay_command("raw", "ls", "--data", options.data)
    print(f"next: {deck_command('present', '--data', options.data) or raw}")
    print(f"      {replay_command('talk', options.data, '--out', 'DIR')} starts a talk from it")
    return 0


def _folders(options: argparse.Namespace) -> list[Path]:
    """Return the folders that are variants: those that were named, or with `--variants` the ones in the only one.

    If there is none in it, they are its archives.
    """
    folders = [Path(folder) for folder in options.folders]
    if not options.variants:
        return folders
    if len(folders) != 1 or not folders[0].is_dir():
        raise ConfigurationError(
            "--variants takes the folders in one folder for variants",
            next_step="name one folder, or each variant's own",
        )
    try:
        everything = sorted(folders[0].iterdir(), key=lambda path: in_order(path.name))
        # An archive beside a folder may be what it was unpacked from.
        inside = [path for path in everything if path.is_dir()] or [path for path in everything if is_archive(path)]
    except OSError as error:
        raise ConfigurationError(
            f"cannot be read: {error.strerror}", where=error.filename, next_step="see who may read it"
        ) from error
    if not inside:
        raise ConfigurationError(
            "--variants: there is no folder in it", where=folders[0], next_step="leave out --variants"
        )
    if beside := [text_of(path.name) for path in everything if path not in inside]:
        print(f"beside the variants, and not read: {_some(beside, SHOWN_FILES)}")
    return inside


def _variants_of(folders: Sequence[Path]) -> dict[str, str]:
    """Return a variant for each folder: its name, made unique, and its label."""
    variants: dict[str, str] = {}
    for folder in folders:
        base = name_of(folder.resolve()) or "results"
        label, number = base, 1
        slug = _NOT_PLAIN.sub("-", base.lower()).strip("-")[:40].rstrip("-") or "results"
        name = slug
        # The seal of an attempt lies beside the sidecars of its variants.
        while name in variants or f"{name}.json" == SEAL:
            number += 1
            label, name = f"{base} ({number})", f"{slug}-{number}"
        variants[name] = label
    return variants


def experiments_of(collected: Collected, variants: Iterable[str], *, pooled: bool) -> list[Arranged]:
    """Return the runs of each tool as an experiment, in the order in which tools were found."""
    names = dict(enumerate(variants))
    tools = dict.fromkeys(run.tool for run in collected.runs)
    return [arrange(tool, [run for run in collected.runs if run.tool == tool], names, pooled=pooled) for tool in tools]


# The data set ---------------------------------------------------------------------------------------------------------


def _write_data_set(
    data_set: Path,
    label: str,
    variants: Mapping[str, str],
    experiments: Sequence[Arranged],
    collected: Collected,
) -> None:
    """Write the data set. Raises ConfigurationError if there is already one of this name.

    Raises EvidenceError naming a file that changed while it was imported.
    """
    working = data_set.with_name(f".{data_set.name}.{IMPORTED}")
    try:
        data_set.parent.mkdir(parents=True, exist_ok=True)
        # Imports into one folder write one after the other.
        with durable.locked(data_set.parent):
            _require_new(data_set)
            # What an import left that was killed.
            durable.remove_tree(working)
            working.mkdir()
            try:
                for experiment in experiments:
                    _write_experiment(working / experiment_name(experiment.tool), experiment, variants, collected)
                durable.write_synced(working / ACCOUNT, _account([*variants.values()], experiments, collected).encode())
                durable.write_synced(working / CAMPAIGN, pretty_json(campaign_of(data_set.name, label, experiments)))
                durable.put_in_place(working, data_set)
            except Exception:
                if not working.exists():
                    # It has its name already.
                    durable.remove_tree(data_set)
                raise
            finally:
                durable.remove_tree(working)
    except OSError as error:
        raise ConfigurationError(
            f"cannot be written: {error.strerror}", where=data_set, next_step="check the space and the permissions"
        ) from error


def _require_new(data_set: Path) -> None:
    """Refuse a name that is taken. An import that was interrupted after its evidence was whole lacks only tables."""
    if not data_set.exists():
        return
    if (data_set / ACCOUNT).exists() and not (data_set / MANIFEST).exists():
        raise ConfigurationError(
            "this was imported, but its tables were not made",
            where=data_set,
            next_step=f"make them: {replay_command('derive', '--data', data_set.name)}",
        )
    raise ConfigurationError(
        "there is already a data set of this name, and evidence is never overwritten",
        where=data_set,
        next_step="choose another name with --data, or move that folder away",
    )


def _write_experiment(directory: Path, arranged: Arranged, variants: Mapping[str, str], collected: Collected) -> None:
    raw = directory / "raw"
    raw.mkdir(parents=True)
    public = design_of(arranged, variants)
    digest = digest_of(public)
    name, content = design_file(public, digest)
    durable.write_synced(raw / name, content)
    sums = {name: sha256(content)}
    packed: set[str] = set()
    cells = sorted(arranged.cells, key=lambda cell: (cell.block, cell.point))
    for block, here in groupby(cells, key=lambda cell: cell.block):
        of_block = list(here)
        plan = plan_of(block, of_block)
        files = members_of(of_block, digest, plan, variants, packed)
        pack = pack_name(block, plan)
        sums[pack] = _pack(raw / pack, files, collected)
    durable.write_synced(raw / SUMS, sums_text(sums))


def _pack(path: Path, files: Mapping[str, Content], collected: Collected) -> str:
    """Write a pack and return its digest. Each original is read again and compared with the first reading."""

    @lru_cache(maxsize=1)  # the parts of one file are requested one after another
    def original(file: tuple[int, str], digest: str) -> bytes:
        try:
            content = collected.content(file)
        except OSError as error:
            raise EvidenceError(
                f"it cannot be read again: {error.strerror}", where=file[1], next_step="import once more"
            ) from error
        if sha256(content) != digest:
            raise EvidenceError("it changed while it was imported", where=file[1], next_step="import once more")
        return content

    def content_of(name: str) -> bytes:
        source = files[name]
        return source if isinstance(source, bytes) else source.cut(original(source.file, source.sha256))

    sums = {name: sha256(content_of(name)) for name in files}
    return write_pack(path, sums, content_of, f"{path}:")


def _account(labels: Sequence[str], experiments: Sequence[Arranged], collected: Collected) -> str:
    """Return the content of `imported.csv`: a row for every imported file, and for every reason to leave one out."""
    # A file may hold the outputs of several tools.
    taken: dict[tuple[int, str, str], tuple[str, str]] = {}
    notes: dict[tuple[int, str, str], dict[str, None]] = {}
    runs: Counter[tuple[int, str, str]] = Counter()
    for arranged in experiments:
        for cell in arranged.cells:
            for part in cell.run.parts:
                key = (*part.file, experiment_name(arranged.tool))
                runs[key] += 1
                taken[key] = (part.sha256, str(part.size))
                notes.setdefault(key, {}).update(dict.fromkeys(() if part.role else cell.run.notes))
    rows = [
        *(
            (folder, path, *facts, name, str(runs[folder, path, name]), "", "; ".join(notes[folder, path, name]))
            for (folder, path, name), facts in taken.items()
        ),
        *((left.folder, left.path, "", "", "", "0", left.why, "") for left in collected.left_out),
    ]
    rows.sort(key=lambda row: (row[0], in_order(row[1]), row[6], row[4]))
    return csv_text([ACCOUNT_HEADER, *([labels[row[0]], *row[1:]] for row in rows)])


# What is said of it ---------------------------------------------------------------------------------------------------


def _say_arranged(arranged: Arranged, variants: Mapping[str, str]) -> None:
    """Print how a tool's runs were understood: what differs, factors, axis, repetitions, what can be compared."""
    counts = Counter((cell.point, cell.variant) for cell in arranged.cells)
    folders_at = Counter(point for point, _ in counts)
    least, most = min(counts.values()), max(counts.values())
    times = f"{least}" if least == most else f"{least} to {most}"
    at = _counted(len(folders_at), "point")
    print(f"{experiment_name(arranged.tool)}: {_counted(len(arranged.cells), 'run')} at {at}, n = {times}")
    for option, sides in differences(options_by_label(arranged, variants)):
        print(visible(f"  {option} differs: {sides}"))
    for name, levels in arranged.factors.items():
        if len(levels) > 1 or name == arranged.x_factor:
            place = " (the axis)" if name == arranged.x_factor else ""
            texts = [short_size_text(str(level)) if name in SIZES else str(level) for level in levels]
            print(f"  {name}{place}: {_some(texts, SHOWN_LEVELS)}")
        for level in levels if name == CONFIGURATION else ():
            print(visible(f"    {level}: {arranged.words[name][str(level)]}"))
    folders = len({variant for _, variant in counts})
    if folders > 1:
        shared = sum(present == folders for present in folders_at.values())
        of = "1 point is" if len(folders_at) == 1 else f"{len(folders_at)} points are"
        where = "both folders" if folders == 2 else f"all {folders} folders"
        where += "" if folders == len(variants) else " that have such results"
        print(f"  {shared} of {of} in {where}, and can be compared")
    taken = repetitions(arranged)
    for names, alike in taken[:SHOWN_NAMES]:
        others = f" (and {alike - 1} more like this)" if alike > 1 else ""
        print(f"  taken for repetitions: {_some(names, 8)}{others}")
    if any(name.endswith("/") for names, _ in taken for name in names):
        print("  if they are not: name each of these folders, or their folder with --variants, and they are compared")
    for note in notes_of(arranged):
        where = f"{note['points'][0]}{' and others' if len(note['points']) > 1 else ''}"
        print(visible(f"  {_counted(note['runs'], 'run')} ({where}): {note['note']}"))
    if least == 1:
        single = sum(count == 1 for count in counts.values())
        which = "each point has" if most == 1 else "1 point has" if single == 1 else f"{single} points have"
        print(f"  n = 1: {which} a single run, which cannot say whether a difference is more than noise")


def _say_left_out(left_out: Sequence[LeftOut], *, everything: bool) -> None:
    """Print which files were left out, and why: by reason, or one by one."""
    if not left_out:
        return
    files = len({(left.folder, left.path) for left in left_out})
    print(f"left out, in whole or in part: {_counted(files, 'file')}")
    if everything:
        for left in left_out:
            print(visible(f"  {left.path}: {left.why}"))
        return
    by_reason: dict[str, list[str]] = {}
    for left in left_out:
        by_reason.setdefault(left.why, []).append(left.path)
    ranked = sorted(by_reason.items(), key=lambda pair: -len(pair[1]))
    for why, paths in ranked[:SHOWN_REASONS]:
        print(visible(f"  {_some(paths, SHOWN_FILES)}: {why}"))
    if len(ranked) > SHOWN_REASONS:
        print(f"  and {len(ranked) - SHOWN_REASONS} more reasons: --left-out lists every file")


def _some(texts: Sequence[str], most: int) -> str:
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return f"{', '.join(texts[:most])}{more}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
