"""What is compared, and the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from replay.base.stats import Estimate

#: How a ratio was estimated.
PAIRED, WELCH, SINGLE, NONE = "paired", "Welch", "one run", "none"
#: Where its interval lies. "No difference beyond noise" is not "no difference".
HIGHER, LOWER, WITHIN, UNKNOWN = "higher", "lower", "within noise", "no interval"
VERDICTS = (HIGHER, LOWER, WITHIN, UNKNOWN)


@dataclass(frozen=True)
class Metric:
    """A metric as charts draw it; `column` is that of tidy.csv, `better` is `higher`, `lower` or None."""

    name: str
    column: str
    title: str
    unit: str
    better: str | None


@dataclass(frozen=True)
class Run:
    """A row of tidy.csv that aggregates use. `values` has its metrics by column; moments may be empty."""

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
    person should know about imported figures.
    """

    name: str
    title: str
    imported: bool
    machines: Mapping[str, Sequence[str]]
    factors: Mapping[str, tuple[str, ...]]
    metrics: Mapping[str, Metric]
    runs: tuple[Run, ...]
    tidy_sha256: str
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants that have runs, in their order."""
        return tuple(dict.fromkeys(run.variant for run in self.runs))

    def levels(self, factor: str) -> tuple[str, ...]:
        """Return the levels of a factor that have runs, in their order."""
        return tuple(dict.fromkeys(run.levels[factor] for run in self.runs))


@dataclass(frozen=True)
class Side:
    """A data set, or one variant of it, under the name by which it was asked for; `manifest` is the data set's.

    `exploratory` has, by experiment, the claims that were not registered before it was measured.
    """

    name: str
    manifest: Mapping[str, Any]
    experiments: Mapping[str, Experiment]
    exploratory: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """A metric at a point that two sides share: `estimate` is the ratio second ÷ first.

    `estimate` is None if there is no ratio (`method` is NONE), its bounds are None without an interval. `why` says why
    the method is not the stronger one. `values` are those of the runs of both sides, by block.
    """

    first: str
    second: str
    experiment: str
    metric: Metric
    variants: tuple[str, str]
    levels: tuple[tuple[str, str], ...]
    values: tuple[Mapping[int, float], Mapping[int, float]]
    estimate: Estimate | None
    method: str
    why: str = ""

    @property
    def point(self) -> str:
        """The point in words."""
        return ", ".join(f"{factor} = {level}" for factor, level in self.levels) or "the only point"

    @property
    def variant(self) -> str:
        """The variant's name, or both names if they differ."""
        first, second = self.variants
        return first if first == second else f"{second} ÷ {first}"

    @property
    def verdict(self) -> str:
        """Where the interval lies: beside 1, or on it."""
        if self.estimate is None or self.estimate.low is None or self.estimate.high is None:
            return UNKNOWN
        return HIGHER if self.estimate.low > 1 else LOWER if self.estimate.high < 1 else WITHIN

    @property
    def judgement(self) -> str:
        """`better` or `worse` for a difference beyond noise of a metric that has a better direction, else empty."""
        if self.metric.better is None or self.verdict not in (HIGHER, LOWER):
            return ""
        return "better" if self.verdict == self.metric.better else "worse"


@dataclass(frozen=True)
class NotCompared:
    """Something that two sides do not share, and why that keeps it from being compared."""

    first: str
    second: str
    experiment: str
    why: str


@dataclass(frozen=True)
class Difference:
    """An option, or a fact of the set-up, that differs between two sides; None where a side does not state it.

    `experiment` is empty for the set-up, which is that of the whole data set.
    """

    first: str
    second: str
    experiment: str
    option: str
    values: tuple[str | None, str | None]


@dataclass(frozen=True)
class Outcome:
    """All results of comparing."""

    sides: tuple[Side, ...]
    comparisons: tuple[Comparison, ...]
    not_compared: tuple[NotCompared, ...] = ()
    differences: tuple[Difference, ...] = ()
