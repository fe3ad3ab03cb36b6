"""What config/answer.yaml says: the rows and figures of answer.csv, and where each figure comes from.

Refuses unknown modes, experiments, metrics, levels and variants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.paths import suggestion
from replay.claims.load import levels_of
from replay.derive.facts import Predicate, parse_predicate
from replay.design.configuration import Document, experiment_names, load_answer_document, load_experiment


class Kind(Enum):
    """How a figure is estimated from runs."""

    TRIALS = "every trial by itself: the worst, the median, and a bound of the 95th percentile"
    MEAN = "the mean over blocks"
    MEDIAN = "the median over blocks, with the lowest and the highest block"
    ADDED = "the mean of the difference to the reference in each block"
    RATIO = "the mean of the reference divided by the mode in each block, on the logarithm"


#: The kinds that compare a mode with the reference, block by block.
COMPARED = (Kind.ADDED, Kind.RATIO)


@dataclass(frozen=True)
class Figure:
    """A figure of the table. `unit` ends the names of its columns; it is empty for a ratio."""

    name: str
    kind: Kind
    unit: str = ""

    def column(self, part: str = "") -> str:
        """Return the name of a column: the figure, the part of it, and the unit."""
        return "_".join(filter(None, (self.name, part, self.unit)))


_OF_A_WRITE = (
    ("latency_added", Kind.ADDED, "seconds"),
    ("cpu_time", Kind.MEAN, "seconds"),
    ("media_bytes_per_byte", Kind.MEAN, ""),
    ("peak_ratio", Kind.RATIO, ""),
)
#: By name, in the order of the columns.
FIGURES: Mapping[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure("recovery_point", Kind.TRIALS, "seconds"),
        Figure("recovery_time", Kind.TRIALS, "seconds"),
        Figure("lag_below_replay", Kind.TRIALS, "seconds"),
        Figure("lag_beyond_replay", Kind.TRIALS, "seconds"),
        Figure("latency_p50_4k", Kind.MEDIAN, "seconds"),
        Figure("latency_p99_4k", Kind.MEDIAN, "seconds"),
        *(Figure(f"{name}_{size}", kind, unit) for size in ("4k", "4m") for name, kind, unit in _OF_A_WRITE),
    )
}


#: What a mode may say of its runs: how often a copy is updated, and how long a message takes there and back.
STATED = ("snapshot_interval_seconds", "journal_poll_age_seconds", "link_rtt_seconds")


@dataclass(frozen=True)
class Mode:
    """A row of the table: a way to protect an image, and how often its copy is brought up to date.

    `kind` is none, journal (not mirrored), journal-mirrored, snapshot-mirrored or stretch. `stated` is what a run of
    this mode must state, by the names in STATED, if it states anything under that name; in seconds.
    """

    name: str
    label: str
    kind: str
    is_reference: bool = False
    stated: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ModePresupposition:
    """What must have been true of the runs of some modes for a figure to mean anything."""

    predicate: Predicate
    modes: frozenset[str]


@dataclass(frozen=True)
class FigureSource:
    """Where a figure may come from: the sum of `metrics` in the cells of an experiment at these levels.

    `variants` maps each mode to the variant that measures it. These modes state the factors that `levels` lacks. A
    `supplement` measures as the source before it does, and adds the modes which that one lacks.
    """

    experiment: str
    metrics: tuple[str, ...]
    levels: Mapping[str, Any]
    variants: Mapping[str, str]
    presupposes: tuple[ModePresupposition, ...] = ()
    supplement: bool = False

    def text(self) -> str:
        """Return the source as the table names it."""
        return f"{self.experiment}: {' + '.join(self.metrics)}"


@dataclass(frozen=True)
class AnswerPlan:
    """The table's rows, and each figure's sources. The first that was measured counts, with its supplements."""

    modes: tuple[Mode, ...]
    sources: Mapping[str, tuple[FigureSource, ...]]

    @property
    def reference(self) -> Mode:
        """The mode with which the others are compared."""
        return next(mode for mode in self.modes if mode.is_reference)


def load_answer_plan() -> AnswerPlan:
    """Return what config/answer.yaml says. Raises ConfigurationError that names the file, the line and the mistake."""
    document = load_answer_document()
    modes = tuple(_mode(raw) for raw in document.data["modes"])
    for number, mode in enumerate(modes):
        if mode.name in [other.name for other in modes[:number]]:
            raise ConfigurationError(
                f"two modes are called {mode.name!r}", where=document.where("modes", number), next_step="rename one"
            )
    if (count := sum(mode.is_reference for mode in modes)) != 1:
        raise ConfigurationError(
            f"{count} modes are the reference",
            where=document.where("modes"),
            next_step="give `reference: true` to exactly one mode, with which the others are compared",
        )
    sources = {}
    for name, raw_sources in document.data["figures"].items():
        if name not in FIGURES:
            raise ConfigurationError(
                f"there is no figure {name!r}",
                where=document.where("figures", name),
                next_step=suggestion(name, list(FIGURES)),
            )
        sources[name] = tuple(_source(raw, name, modes, document, number) for number, raw in enumerate(raw_sources))
    return AnswerPlan(modes, sources)


def _mode(raw: Mapping[str, Any]) -> Mode:
    stated = {name: raw[name] for name in STATED if name in raw}
    return Mode(raw["name"], raw["label"], raw["mode"], bool(raw.get("reference")), stated)


def _source(
    raw: Mapping[str, Any], figure: str, modes: tuple[Mode, ...], document: Document, number: int
) -> FigureSource:
    def refuse(what: str, known: list[str], wrong: str, *keys: str | int) -> None:
        where = document.where("figures", figure, number, *keys)
        raise ConfigurationError(what, where=where, next_step=suggestion(wrong, known))

    name, names = raw["experiment"], [mode.name for mode in modes]
    if name not in experiment_names():
        refuse(f"there is no experiment {name!r}", experiment_names(), name, "experiment")
    experiment = load_experiment(name)
    metrics = [each["metric"] for each in experiment["metrics"]]
    variants = [each["name"] for each in experiment["variants"]]
    for metric in raw["metrics"]:
        if metric not in metrics:
            refuse(f"{name} has no metric {metric!r}", metrics, metric, "metrics")
    for mode, variant in raw["variants"].items():
        if mode not in names:
            refuse(f"there is no mode {mode!r}", names, mode, "variants")
        if variant not in variants:
            refuse(f"{name} has no variant {variant!r}", variants, variant, "variants")
    of_modes = set.intersection(*(set(mode.stated) for mode in modes if mode.name in raw["variants"]))
    levels = _levels(raw.get("levels", {}), experiment, of_modes, document.where("figures", figure, number, "levels"))
    reference = next(mode.name for mode in modes if mode.is_reference)
    if FIGURES[figure].kind in COMPARED and reference not in raw["variants"]:
        refuse(f"nothing measures the reference {reference!r}", names, reference, "variants")
    presupposes = []
    for index, presupposed in enumerate(raw.get("presupposes", ())):
        where = document.where("figures", figure, number, "presupposes", index)
        for mode in presupposed["of"]:
            if mode not in raw["variants"]:
                refuse(f"of: {mode!r} is not measured here", list(raw["variants"]), mode, "presupposes", index)
        predicate = parse_predicate(presupposed["that"], where)
        presupposes.append(ModePresupposition(predicate, frozenset(presupposed["of"])))
    supplement = raw.get("supplement", False)
    return FigureSource(name, tuple(raw["metrics"]), levels, dict(raw["variants"]), tuple(presupposes), supplement)


def _levels(raw: Mapping[str, Any], experiment: Mapping[str, Any], of_modes: set[str], where: str) -> dict[str, Any]:
    """Return one level of each of the experiment's factors but those that every mode states.

    Raises ConfigurationError if one is missing or unknown.
    """
    factors = experiment["factors"]
    levels = {factor: several[0] for factor, several in factors.items() if len(several) == 1} | dict(raw)
    needed = {name: several for name, several in factors.items() if name in levels or name not in of_modes}
    return {factor: level for factor, (level,) in levels_of(levels, needed, where).items()}
