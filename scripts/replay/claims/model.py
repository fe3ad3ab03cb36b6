"""The types of claims; no I/O."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

HELD, REFUTED, INCONCLUSIVE = "held", "refuted", "inconclusive"
NOT_TESTABLE, NOT_MEASURED = "not testable here", "not measured"
VERDICTS = (HELD, REFUTED, INCONCLUSIVE, NOT_TESTABLE, NOT_MEASURED)

#: A verdict needs this many blocks: an interval needs two, and what one block alone counted is not repeated yet.
BLOCKS_FOR_VERDICT = 2

#: What a limiter that a claim names decides: any verdict, or a refutation alone (it can only make things slower).
DECIDES_ANY, DECIDES_REFUTATION = "any", "refutation"


@dataclass(frozen=True)
class Selector:
    """A variant's cells at some levels; all combinations of the levels are averaged on the logarithm."""

    variant: str
    levels: Mapping[str, tuple[Any, ...]]

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield each combination of levels."""
        for combination in itertools.product(*self.levels.values()):
            yield dict(zip(self.levels, combination, strict=True))


@dataclass(frozen=True)
class Region:
    """The region that a ratio must be in. `equivalence` marks a claim of no difference, which has its own test."""

    low: float | None
    high: float | None
    equivalence: bool = False

    def contains(self, low: float, high: float) -> bool:
        """Return whether the whole interval is inside."""
        return (self.low is None or low > self.low) and (self.high is None or high < self.high)

    def excludes(self, low: float, high: float) -> bool:
        """Return whether the whole interval is outside."""
        return (self.low is not None and high < self.low) or (self.high is not None and low > self.high)

    def text(self) -> str:
        """Return the region as text."""
        if self.low is not None and self.low == self.high:
            return f"exactly {self.low:g}"
        if self.low is None:
            return f"below {self.high:g}"
        if self.high is None:
            return f"above {self.low:g}"
        return f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Condition:
    """A log-linear contrast of cells with a region: the sum of `weight` times the mean logarithm of a selector.

    `says` may name columns of tidy.csv in braces; a finding replaces them with the data set's values. `better` belongs
    to the metric: "higher" or "lower".
    """

    name: str
    says: str
    metric: str
    terms: tuple[tuple[int, Selector], ...]
    region: Region
    better: str = "higher"


@dataclass(frozen=True)
class Count:
    """Cells that must all have exactly the count `equals`, in every block.

    A count is not noisy: it is compared directly, without an interval. A count of 0 has no logarithm, so a ratio could
    not express it.
    """

    name: str
    says: str
    metric: str
    cells: Selector
    equals: int

    @property
    def region(self) -> Region:
        """The only allowed number."""
        return Region(self.equals, self.equals)


@dataclass(frozen=True)
class Plain:
    """A claim in plain words: what was found, and what follows from each verdict.

    The figures are those of one condition. `shown` is how to write them: `times` or `percent`.
    """

    condition: str
    shown: str
    finding: str
    follows: Mapping[str, str]


@dataclass(frozen=True)
class Control:
    """What to say of an experiment's A/A control: every interval includes 1, some exclude it, or there is none yet."""

    passed: str
    strayed: str
    no_interval: str


@dataclass(frozen=True)
class Wording:
    """What is said the same way of every claim, and of each experiment's control."""

    against: str
    not_in_other: str
    not_testable: str
    controls: Mapping[str, Control]


@dataclass(frozen=True)
class Claim:
    """A sentence with its conditions; all of them must be held.

    `chart` is `<experiment>/<aggregate>`, the chart that draws it, or None. `plain` says it in plain words, or is None.
    """

    id: str
    sentence: str
    source: str
    experiment: str
    limiter: tuple[str, ...]
    conditions: tuple[Condition | Count, ...]
    limiter_decides: str = DECIDES_ANY
    chart: str | None = None
    plain: Plain | None = None


@dataclass(frozen=True)
class Book:
    """All of config/claims.yaml: the claims, the title of each source by its id, and what is said of every claim."""

    sources: Mapping[str, str]
    claims: tuple[Claim, ...]
    wording: Wording | None = None


@dataclass(frozen=True)
class Finding:
    """A data set's finding for one condition.

    `low` and `high` bound the 95 % interval; None if there is none. `blocks` holds each block's own estimate, by block
    number; `estimate` is their geometric mean. For a count, `low` and `high` are the smallest and largest count;
    `estimate`, and each block's own, is the count that differs most from the claimed one.
    """

    condition: Condition | Count
    verdict: str
    reason: str
    says: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    cells: tuple[str, ...] = ()
    blocks: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Judgement:
    """A data set's verdict on a claim."""

    claim: Claim
    verdict: str
    reason: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Assessment:
    """A data set's verdict on every claim.

    `altered` says that it is a copy whose raw output was changed; "" if it is unchanged. `measured_with` says which
    Ceph and which client measured it, where a comparison asks; "" if that is not known.
    """

    data_set: str
    altered: str
    sources: Mapping[str, str]
    judgements: tuple[Judgement, ...]
    measured_with: str = ""

    def of(self, experiments: Collection[str]) -> Assessment:
        """Return the same with only the claims of these experiments."""
        return replace(self, judgements=tuple(one for one in self.judgements if one.claim.experiment in experiments))

    def measured(self) -> tuple[Assessment, tuple[Judgement, ...]]:
        """Return the same without the claims that are not measured, and those."""
        absent = tuple(one for one in self.judgements if one.verdict == NOT_MEASURED)
        return replace(self, judgements=tuple(one for one in self.judgements if one not in absent)), absent
