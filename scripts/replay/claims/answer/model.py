"""The model of answer.csv: its modes, its figures, and where each figure comes from. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from replay.claims.predicate import Predicate


class Kind(Enum):
    """How a figure is estimated from runs. `estimates` has a function for each kind."""

    TRIALS = "every trial by itself: the worst, the median, and a bound of the 95th percentile"
    MEAN = "the mean over blocks"
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
        *(Figure(f"{name}_{size}", kind, unit) for size in ("4k", "4m") for name, kind, unit in _OF_A_WRITE),
    )
}


@dataclass(frozen=True)
class Mode:
    """A row of the table: a way to protect an image, and how often its copy is brought up to date.

    `kind` is none, journal (not mirrored), journal-mirrored or snapshot-mirrored.
    """

    name: str
    label: str
    kind: str
    is_reference: bool = False
    snapshot_interval_seconds: float | None = None
    journal_poll_age_seconds: float | None = None

    def stated(self) -> dict[str, float]:
        """Return what a run of this mode must state, by name, if it states anything under that name; in seconds."""
        found = {
            "snapshot_interval_seconds": self.snapshot_interval_seconds,
            "journal_poll_age_seconds": self.journal_poll_age_seconds,
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class Presupposed:
    """What must have been true of the runs of some modes for a figure to mean anything."""

    predicate: Predicate
    modes: frozenset[str]


@dataclass(frozen=True)
class Source:
    """Where a figure may come from: the sum of `metrics` in the cells of an experiment at these levels.

    `variants` maps each mode to the variant that measures it.
    """

    experiment: str
    metrics: tuple[str, ...]
    levels: Mapping[str, Any]
    variants: Mapping[str, str]
    presupposes: tuple[Presupposed, ...] = ()

    def text(self) -> str:
        """Return the source as the table names it."""
        return f"{self.experiment}: {' + '.join(self.metrics)}"


@dataclass(frozen=True)
class Question:
    """The table's rows, and each figure's sources. The first source that a data set has measured counts."""

    modes: tuple[Mode, ...]
    sources: Mapping[str, tuple[Source, ...]]

    @property
    def reference(self) -> Mode:
        """The mode with which the others are compared."""
        return next(mode for mode in self.modes if mode.is_reference)
