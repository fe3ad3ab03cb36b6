"""Reads data sets for comparing, giving away and telling: their experiments, metrics and runs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, EvidenceError
from replay.base.paths import after_missing, replay_command, suggestion
from replay.base.tables import level_text, rows_in
from replay.claims.descriptions import DATAPACKAGE
from replay.claims.descriptions import differences as derived_differences
from replay.claims.tables import read_manifest
from replay.derive.facts import lower_bound_of
from replay.evidence.data_set import MANIFEST, experiments_in
from replay.evidence.durable import sha256
from replay.evidence.read import verify_packs

#: The protocol of everything that Replay did not measure itself; receipts and sidecars name it as their `origin`.
IMPORTED = "imported"
#: How what a side does not state is written.
NOT_STATED = "not stated"
RATE, MEAN_LATENCY = "operations_per_second", "latency_mean_seconds"
#: Columns of tidy.csv that a run has besides those that charts draw.
FURTHER_COLUMNS = ("operations", "duration_seconds", RATE, MEAN_LATENCY)


@dataclass(frozen=True)
class Metric:
    """A metric as charts draw it; `column` is that of tidy.csv, `better` is `higher`, `lower` or None."""

    name: str
    column: str
    title: str
    unit: str
    better: str | None


@dataclass(frozen=True)
class TidyRun:
    """A row of tidy.csv that aggregates use. `values` has its figures by column; moments may be empty."""

    variant: str
    levels: Mapping[str, str]
    block: int
    started_at: str
    ended_at: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class Experiment:
    """One experiment of a data set.

    `machines` are pseudonyms of hosts by block, `factors` the levels of each factor in their order, `tidy_sha256` is
    the digest of its table. `options` are those of each variant that are not factors, as text. `notes` say what a
    person should know about imported figures. `words` has, by factor and level, the text that an imported level stands
    for, if that is another one.
    """

    name: str
    title: str
    imported: bool
    machines: Mapping[str, Sequence[str]]
    factors: Mapping[str, tuple[str, ...]]
    metrics: Mapping[str, Metric]
    runs: tuple[TidyRun, ...]
    tidy_sha256: str
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants that have runs, in their order."""
        return tuple(dict.fromkeys(run.variant for run in self.runs))

    def levels(self, factor: str) -> tuple[str, ...]:
        """Return the levels of a factor that have runs, in their order."""
        return tuple(dict.fromkeys(run.levels[factor] for run in self.runs))


def what_differs(*stated: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    """Yield what is stated differently: its name, and the value of each as text, None where one does not state it."""
    for name in dict.fromkeys(name for facts in stated for name in facts):
        first, *others = (facts.get(name) for facts in stated)
        if any(value != first for value in others):
            yield name, tuple(None if value is None else level_text(value) for value in (first, *others))


def differences(stated: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield what labels state differently: its name, and what each states: `1 in before, 0 in after`."""
    for name, texts in what_differs(*stated.values()):
        sides = zip(texts, stated, strict=True)
        yield name, ", ".join(f"{NOT_STATED if text is None else text} in {label}" for text, label in sides)


@dataclass(frozen=True)
class Side:
    """A data set, or one variant of it, under the name by which it was asked for; `manifest` is the data set's.

    `claims` are those of claims.json by id; a talk without claims has none. `exploratory` has, by experiment, the ids
    of those that were not registered before it was measured.
    """

    name: str
    manifest: Mapping[str, Any]
    experiments: Mapping[str, Experiment]
    claims: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    exploratory: Mapping[str, Sequence[str]] = field(default_factory=dict)


def only_runs(experiments: Mapping[str, Experiment], wanted: Callable[[TidyRun], bool]) -> dict[str, Experiment]:
    """Return the experiments with the wanted runs alone, as far as they have any."""
    kept = {name: tuple(filter(wanted, experiment.runs)) for name, experiment in experiments.items()}
    return {name: replace(experiments[name], runs=runs) for name, runs in kept.items() if runs}


def read_side(benchmarks: Path, name: str, only: Collection[str] = ()) -> Side:
    """Return the data set `NAME`, or one variant of it with `NAME:VARIANT`; with `only`, only these experiments.

    Raises EvidenceError if the data set is missing, not derived, not readable or not as recorded, and
    ConfigurationError if it does not have the variant.
    """
    folder_name, _, variant = name.partition(":")
    folder = benchmarks / folder_name
    _verify_derived(folder)
    manifest = read_manifest(folder)
    experiments = {
        name: _experiment(folder, name, entry)
        for name, entry in manifest["experiments"].items()
        if not only or name in only
    }
    if variant:
        known = {name for experiment in experiments.values() for name in experiment.variants}
        if variant not in known:
            raise ConfigurationError(
                f"{folder_name} has no runs of a variant {variant!r}", next_step=suggestion(variant, sorted(known))
            )
    present = only_runs(experiments, lambda run: variant in ("", run.variant))
    for raw in (folder / name / "raw" for name in present):
        if raw.is_dir():
            verify_packs(raw)
    path = folder / "claims.json"
    with as_derived(path, folder, "cannot be read"):
        claims = json.loads(path.read_bytes())["claims"] if path.exists() else {}
        return Side(name, manifest, present, claims, _exploratory(claims, present))


def _verify_derived(folder: Path) -> None:
    """Compare all derived files with their digests; raise EvidenceError naming the first that is not as recorded.

    A data set without raw output and without digests, which somebody derived elsewhere, is taken as it is.
    """
    if not folder.is_dir():
        raise EvidenceError("no such data set", where=folder, next_step=after_missing(folder))
    if not (folder / MANIFEST).exists():
        step = f"derive it: {replay_command('derive', '--data', folder.name)}"
        raise EvidenceError("this data set has not been derived", where=folder, next_step=step)
    is_recorded = (folder / DATAPACKAGE).exists() or experiments_in(folder)
    if is_recorded and (altered := derived_differences(folder)):
        raise EvidenceError(f"{altered[0]}: it is not what {DATAPACKAGE} says", next_step=_derive_again(folder))


def _derive_again(folder: Path) -> str:
    return f"derive it again: {replay_command('derive', '--data', folder.name, '--force')}"


@contextmanager
def as_derived(path: Path, folder: Path, what: str) -> Iterator[None]:
    """Raise EvidenceError if what is read of a data set is not as this version derives it; `what` says what fails."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(
            f"{what}: {type(error).__name__}: {error}", where=path, next_step=_derive_again(folder)
        ) from error


def _experiment(folder: Path, name: str, entry: Mapping[str, Any]) -> Experiment:
    path = folder / name / "tidy.csv"
    with as_derived(path, folder, "cannot be compared"):
        metrics = _metrics(entry["charts"].values())
        drawn = [metric.column for metric in metrics.values()]
        columns = {*FURTHER_COLUMNS, *drawn, *map(lower_bound_of, drawn)}
        runs = _runs(path, entry["factors"], columns)
        designs = [json.loads(path.read_text()) for path in sorted((folder / name / "raw").glob("design-*.json"))]
        return Experiment(
            name,
            entry["title"],
            entry["protocol"] == IMPORTED,
            entry["provenance"].get("machines_by_block", {}),
            {name: tuple(map(level_text, levels)) for name, levels in entry["factors"].items()},
            metrics,
            runs,
            sha256(path.read_bytes()),
            _options(entry, dict.fromkeys(run.variant for run in runs), designs),
            tuple(dict.fromkeys(note["note"] for design in designs for note in design.get("notes", ()))),
            {factor: texts for design in designs for factor, texts in design.get("levels", {}).items()},
        )


def _options(
    entry: Mapping[str, Any], variants: Collection[str], designs: Collection[Mapping[str, Any]]
) -> dict[str, dict[str, str]]:
    """Return the options of each variant: those of the experiment, and its own as the designs state them."""
    levels = (*entry["factors"], "write_bytes_per_second")
    ranges = {f"{end}_{name}" for name in levels for end in ("smallest", "largest")}
    shared = {name: value for name, value in entry["parameters"].items() if name not in {"blocks", *ranges}}
    options = {variant: {name: {text} for name, text in _flat(shared)} for variant in variants}
    for design in designs:
        for variant in design["variants"]:
            for name, text in _flat(variant.get("options", {})):
                options.get(variant["name"], {}).setdefault(name, set()).add(text)
    return {
        variant: {name: " or ".join(sorted(texts)) for name, texts in options.items()}
        for variant, options in options.items()
    }


def _flat(options: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield options as text; those of an option that has options itself are `client_options.rbd_cache`."""
    for name, value in options.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value if isinstance(value, str) else json.dumps(value)


def _metrics(charts: Collection[Mapping[str, Any]]) -> dict[str, Metric]:
    """Return the metrics that charts draw from a column of tidy.csv, by name, in their order, without ratios."""
    metrics: dict[str, Metric] = {}
    for chart in charts:
        name, column, y = chart["metric"], chart.get("column"), chart["y"]
        if column and y["unit"] != "ratio" and not name.startswith("ratio-"):
            metrics.setdefault(name, Metric(name, column, y["label"], y["unit"], y.get("better")))
    return metrics


def _runs(path: Path, factors: Collection[str], columns: Collection[str]) -> tuple[TidyRun, ...]:
    """Return the rows of a tidy table that aggregates use. Raises KeyError or ValueError if it is not such a table."""
    return tuple(
        TidyRun(
            row["variant"],
            {factor: row[factor] for factor in factors},
            int(row["block"]),
            row["started_at"],
            row["ended_at"],
            {column: _finite(row[column]) for column in columns if row.get(column)},
        )
        for row in rows_in(path)
        if row["used"] == "1"
    )


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a measurement")
    return value


def _exploratory(claims: Mapping[str, Any], experiments: Collection[str]) -> dict[str, list[str]]:
    """Return the exploratory claims on each of these experiments, by its name."""
    by_experiment: dict[str, list[str]] = {}
    for name, claim in sorted(claims.items()):
        if claim["exploratory"] and claim["experiment"] in experiments:
            by_experiment.setdefault(claim["experiment"], []).append(name)
    return dict(sorted(by_experiment.items()))
