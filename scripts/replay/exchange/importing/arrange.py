"""From runs to an experiment: finds out which options are factors, what is compared, and what is a repetition.

- A folder that was named is a variant; the others are compared with the first.
- The levels that every run of a tool has are factors. Any other option is a factor if it differs within a variant.
- Runs of one variant at one point are repetitions, unless their jobs or paths differ by more than digits: `ssd/4k.json`
  and `hdd/4k.json` are different points, `run-1/4k.json` and `run-2/4k.json` are one point, measured twice. Digits may
  mean something as well, so whoever imports is told which names were taken for repetitions.
- Jobs of one report that ran in a row are no repetitions: a later one finds what the earlier ones left.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay.design.design import digest_of
from replay.exchange.importing.files import in_order
from replay.exchange.importing.runs import FoundRun, Level, whole_number
from replay.tools.base import UNSTATED

#: If more options than this differ, they become one factor, so that the names of files do not grow too long.
MOST_OPTIONS = 3
_LONGEST_LEVEL = 24
_LONGEST_POINT = 120
OPTION = "option_"
CONFIGURATION, FOLDER, JOB, PLACE = "configuration", "folder", "job", "job_in_a_row"
#: Numeric factors that can be the axis, the likeliest first: label and unit.
AXES = {
    "io_size_bytes": ("I/O size", "bytes"),
    "object_size_bytes": ("Object size", "bytes"),
    "io_depth": ("Queue depth", "count"),
    "jobs": ("Jobs", "count"),
    "threads": ("Threads", "count"),
    "io_threads": ("Threads", "count"),
    "instances": ("Instances", "count"),
    "hosts": ("Hosts", "count"),
}
SIZES = ("io_size_bytes", "object_size_bytes")
#: Those of them that say what was in flight.
LOADS = ("io_depth", "jobs", "threads", "io_threads")
#: What is named beside the options that differ between folders: facts of runs, where folders have none in common.
VERSION, DATE = "version of the tool", "measured on"
_FACTS: Mapping[str, Callable[[FoundRun], str | None]] = {
    VERSION: lambda run: run.version,
    DATE: lambda run: run.reported_at and run.reported_at[:10],
}
#: What says whether operations read or write, and how they follow each other: the names of charts begin with it.
KIND_FACTORS = ("rw", "io_type", "mode", "io_pattern")
#: Factors that a chart's name omits if other factors imply their levels: how long a run was, and where.
_TOLD_BY_OTHERS = frozenset({
    "rw_mix_read", "option_io_total_bytes", "option_size", "option_io_size", "option_runtime", "option_time_based",
    "option_ramp_time", "option_number_ios", "option_loops", "option_file_size", "option_files", "option_filename",
    "option_directory", "option_rbdname", "option_nrfiles", "option_offset",
})  # fmt: skip
#: Numbers, and identifiers such as `id-1a2b3c4d`, with the signs before them, by which repetitions differ.
_MANY_DIGITS = re.compile(r"[-_. (]*(?:(?<![A-Za-z0-9])(?=[A-Fa-f]*\d)[0-9A-Fa-f]{6,}(?![A-Za-z0-9])|\d+)\)?", re.ASCII)
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9]+", re.ASCII)


@dataclass(frozen=True)
class ImportedCell:
    """A run at its place: block (the repetition, from 1), point, variant (a folder's number), levels of all factors."""

    cell_id: str
    block: int
    point: str
    variant: str
    levels: Mapping[str, Level]
    run: FoundRun


@dataclass(frozen=True)
class Arranged:
    """The runs of one tool as an experiment.

    `shared`: options that are the same in all runs. `of_variant`: by variant, options that are the same in all of its
    runs, but not in others, and the facts that differ. `words`: by factor and level, the meaning of a level that was
    shortened. `x_factor` is None if no number that all runs state can be the axis: then each run is a point of its own.
    """

    tool: str
    factors: Mapping[str, tuple[Level, ...]]
    x_factor: str | None
    workload_factors: tuple[str, ...]
    cells: tuple[ImportedCell, ...]
    shared: Mapping[str, str]
    of_variant: Mapping[str, Mapping[str, str]]
    words: Mapping[str, Mapping[str, str]]


def arrange(tool: str, runs: Sequence[FoundRun], variants: Mapping[int, str], *, pooled: bool = False) -> Arranged:
    """Return the runs of one tool as an experiment. `variants`: names by the folders' numbers.

    With `pooled`, runs are repetitions whatever their paths and jobs are called.
    """
    # The levels that every run of a tool has.
    names = dict.fromkeys(name for run in runs for name in run.levels)
    columns = {name: [_level(run, name) for run in runs] for name in names}
    stated = sorted({name for run in runs for name in run.options})
    options = {name: [run.options.get(name) for run in runs] for name in stated}
    folders = [(run.folder,) for run in runs]
    # Those that differ within a variant are factors.
    varied = {name: texts for name, texts in options.items() if not _follows(texts, folders)}
    words: dict[str, dict[str, str]] = {}
    columns |= _option_columns(varied, words)
    for name, texts_of in (
        (PLACE, lambda: [run.place for run in runs]),
        (FOLDER, lambda: _folders(runs, columns)),
        (JOB, lambda: _with_digits([run.job for run in runs])),
    ):
        if pooled and name != PLACE:
            continue
        # Runs with different texts would be repetitions of one another.
        if not _follows(texts := texts_of(), _places(runs, columns)):
            columns[name] = _plain_levels(texts, words.setdefault(name, {}))
    x_factor = _axis(columns)
    varying = [name for name, values in columns.items() if len(set(values)) > 1 and name != x_factor]
    named = [name for name in KIND_FACTORS if name in columns]
    workload = tuple(dict.fromkeys([*named, *varying]))
    for name in workload:
        others = tuple(other for other in workload if other != name)
        kept = [columns[other] for other in (*others, *([x_factor] if x_factor else []))]
        if name in _TOLD_BY_OTHERS and _follows(columns[name], zip(*kept, strict=True)):
            workload = others
    for joined in (workload, tuple(columns)):  # in the names of charts and of points
        _tell_apart(columns, joined, words)
    shared = {name: texts[0] for name, texts in options.items() if len({*texts}) == 1}
    return Arranged(
        tool=tool,
        factors={name: _in_rising_order(values) for name, values in columns.items()},
        x_factor=x_factor,
        workload_factors=workload,
        cells=tuple(_cells(tool, runs, columns, variants)),
        shared=shared,
        of_variant=_of_variants(runs, varied, shared, variants),
        words={name: texts_of_levels for name, texts_of_levels in words.items() if texts_of_levels},
    )


def repetitions(arranged: Arranged) -> list[tuple[tuple[str, ...], int]]:
    """Return the names by which runs that were taken for repetitions differ, and how many sets of names are like these.

    They are folders (with a slash) or files. Sets are alike if they differ in the same characters: `4k-run1`, `4k-run2`
    and `8k-run1`, `8k-run2`.
    """
    places: dict[tuple[str, str], list[str]] = {}
    for cell in arranged.cells:
        places.setdefault((cell.point, cell.variant), []).append(cell.run.path)
    alike: dict[tuple[bool, tuple[str, ...]], dict[tuple[str, ...], None]] = {}
    for paths in places.values():
        # The parts of the paths that differ; of paths of unequal depth the whole ones.
        parts = [re.findall("[^/]*/|[^/]+", path) for path in dict.fromkeys(paths)]
        columns = zip(*parts, strict=True) if len({*map(len, parts)}) == 1 else [["".join(path) for path in parts]]
        for names in (tuple(sorted(set(column), key=in_order)) for column in columns):
            if len(names) > 1:
                # With its end, a name is never the beginning of another one.
                apart = tuple(_apart([f"{name}\0" for name in names]))
                alike.setdefault((names[0].endswith("/"), apart), {})[names] = None
    return [(next(iter(sets)), len(sets)) for sets in alike.values()]


def _apart(several: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return what is between the beginning and the end that names, or lists of folders, have in common."""
    shortest = min(map(len, several))
    before = next((at for at in range(shortest) if len({names[at] for names in several}) > 1), 0)
    after = next((at for at in range(shortest - before) if len({names[-1 - at] for names in several}) > 1), 0)
    return [names[before : len(names) - after] for names in several]


def _in_rising_order(levels: Iterable[Level]) -> tuple[Level, ...]:
    """Return levels once each: numbers by size, then words as they came."""
    return tuple(sorted(dict.fromkeys(levels), key=lambda level: level if isinstance(level, int) else math.inf))


def _with_digits(texts: Sequence[str]) -> list[str]:
    """Return paths without the digits by which repetitions differ: a name that no other is like keeps its digits."""
    alike: dict[str, set[str]] = {}
    for text in texts:
        for name in text.split("/"):
            alike.setdefault(_MANY_DIGITS.sub("", name), set()).add(name)
    plain = {name: name if len(names) == 1 else without for without, names in alike.items() for name in names}
    return ["/".join(plain[name] for name in text.split("/")) for text in texts]


def _level(run: FoundRun, name: str) -> Level:
    """Return a run's level, or what follows from its other levels or from their lack."""
    if name in run.levels:
        return run.levels[name]
    if name == "rw_mix_read":
        kind = str(run.levels.get("rw", run.levels.get("io_type", UNSTATED))).removeprefix("rand")
        return {"read": 100, "write": 0}.get(kind, UNSTATED)
    if name == "io_size_bytes":
        # An operation of `rados bench` is a whole object unless the output says otherwise.
        return run.levels.get("object_size_bytes", UNSTATED)
    return 1 if name in ("instances", "workloads_at_once") else UNSTATED


def _option_columns(
    varied: Mapping[str, Sequence[str | None]], words: dict[str, dict[str, str]]
) -> dict[str, list[Level]]:
    if len(varied) <= MOST_OPTIONS:
        columns: dict[str, list[Level]] = {}
        for name, texts in varied.items():
            factor = OPTION + (_NOT_PLAIN.sub("_", name).strip("_").lower()[:40] or digest_of(name, 6))
            while factor in columns:
                factor += "_"
            columns[factor] = _levels_of(texts, words.setdefault(factor, {}))
        return columns
    stated = [
        "; ".join(f"{name}={text}" for name, text in zip(varied, texts, strict=True) if text is not None)
        for texts in zip(*varied.values(), strict=True)
    ]
    numbers = {text: f"{number:02d}" for number, text in enumerate(dict.fromkeys(stated), 1)}
    words[CONFIGURATION] = {number: text for text, number in numbers.items()}
    return {CONFIGURATION: [numbers[text] for text in stated]}


def _levels_of(texts: Sequence[str | None], words: dict[str, str]) -> list[Level]:
    """Return texts as levels: numbers if all are whole numbers, else words that can be part of a file's name."""
    numbers = [whole_number(text) for text in texts]
    if None not in numbers:
        return numbers
    return _plain_levels([UNSTATED if text is None else text for text in texts], words)


def _plain_levels(texts: Sequence[str], words: dict[str, str]) -> list[Level]:
    """Return texts as words of letters, digits and dashes, each a different one. `words` gets those that changed."""
    plain: dict[str, str] = {}
    for text in dict.fromkeys(texts):
        word = _NOT_PLAIN.sub("-", text).strip("-")[:_LONGEST_LEVEL].strip("-") or "none"
        if word in plain.values():
            word = f"{word[: _LONGEST_LEVEL - 7]}-{digest_of(text, 6)}"
        plain[text] = word
        if word != text:
            words[word] = text
    return [plain[text] for text in texts]


def _tell_apart(columns: dict[str, list[Level]], factors: Sequence[str], words: dict[str, dict[str, str]]) -> None:
    """Change levels of these factors until no two places have one name, which joins their levels with dashes.

    `ssd` and `fast-a` would have that of `ssd-fast` and `a`. `words` gets the levels that changed.
    """
    named: dict[str, tuple[Level, ...]] = {}
    for levels in zip(*(columns[name] for name in factors), strict=True):
        other = named.setdefault("-".join(map(str, levels)), levels)
        if other == levels:
            continue
        # Both have the same number of dashes, so that one is in a level by which they differ.
        pairs = zip(factors, levels, other, strict=True)
        name, level = next((name, str(here)) for name, here, there in pairs if here != there and "-" in str(here))
        word = f"{level[: _LONGEST_LEVEL - 7]}-{digest_of(level, 6)}"
        columns[name] = [word if value == level else value for value in columns[name]]
        of_factor = words.setdefault(name, {})
        of_factor[word] = of_factor.pop(level, level)
        _tell_apart(columns, factors, words)
        return


def _folders(runs: Sequence[FoundRun], columns: Mapping[str, Sequence[Level]]) -> list[str]:
    """Return how paths differ by more than digits: the folders, or the whole path if folders are not enough."""
    folders = _with_digits([run.path.rpartition("/")[0] for run in runs])
    paths = [_MANY_DIGITS.sub("", run.path) for run in runs]
    enough = _follows(paths, [(*place, folder) for place, folder in zip(_places(runs, columns), folders, strict=True)])
    telling = folders if enough else _with_digits([run.path for run in runs])
    return ["/".join(parts) for parts in _apart([path.split("/") for path in telling])]


def _places(runs: Sequence[FoundRun], columns: Mapping[str, Sequence[Level]]) -> list[tuple[Any, ...]]:
    return [(run.folder, *levels) for run, levels in zip(runs, zip(*columns.values(), strict=True), strict=True)]


def _follows(levels: Iterable[Level | None], places: Iterable[tuple[Any, ...]]) -> bool:
    """Return whether levels follow from places: they are the same wherever the place is the same."""
    seen: dict[tuple[Any, ...], Level | None] = {}
    return all(seen.setdefault(place, level) == level for place, level in zip(places, levels, strict=True))


def _axis(columns: Mapping[str, Sequence[Level]]) -> str | None:
    """Return the factor along the axis: the numeric one with the most levels; None if no run states all of its."""
    numeric = [name for name in AXES if name in columns and all(isinstance(level, int) for level in columns[name])]
    return max(numeric, key=lambda name: len(set(columns[name])), default=None)


def _cells(
    tool: str, runs: Sequence[FoundRun], columns: Mapping[str, Sequence[Level]], variants: Mapping[int, str]
) -> list[ImportedCell]:
    by_place: dict[tuple[Any, ...], list[FoundRun]] = {}
    for run, place in zip(runs, _places(runs, columns), strict=True):
        by_place.setdefault(place, []).append(run)
    cells = []
    for (folder, *values), several in by_place.items():
        levels: dict[str, Level] = dict(zip(columns, values, strict=True))
        point, variant = _point(levels), variants[folder]
        cell_id = digest_of({"tool": tool, "imported": True, "variant": variant, "levels": levels})
        for block, run in enumerate(_one_after_another(several), 1):
            cells.append(ImportedCell(cell_id, block, point, variant, levels, run))
    return cells


def _one_after_another(runs: Sequence[FoundRun]) -> list[FoundRun]:
    """Return repetitions in the order in which they were reported, or else in that of their paths."""
    dated = all(run.reported_at for run in runs)
    return sorted(runs, key=lambda run: (run.reported_at if dated else "", in_order(run.path)))


def _point(levels: Mapping[str, Level]) -> str:
    point = "-".join(str(level) for level in levels.values())
    return point if len(point) <= _LONGEST_POINT else f"{point[:_LONGEST_POINT]}-{digest_of(dict(levels), 8)}"


def _of_variants(
    runs: Sequence[FoundRun], varied: Iterable[str], shared: Mapping[str, str], variants: Mapping[int, str]
) -> dict[str, dict[str, str]]:
    by_variant: dict[str, dict[str, str]] = {}
    for run in runs:
        options = {name: text for name, text in run.options.items() if name not in shared and name not in varied}
        if options:
            by_variant[variants[run.folder]] = dict(sorted(options.items()))
    for name, fact in _FACTS.items():
        stated: dict[str, set[str]] = {}
        for run in runs:
            stated.setdefault(variants[run.folder], set()).add(fact(run) or "not stated")
        if not set.intersection(*stated.values()):
            for variant, texts in stated.items():
                by_variant.setdefault(variant, {})[name] = " or ".join(sorted(texts))
    return by_variant
