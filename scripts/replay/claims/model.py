"""What a claim is: typed values, no I/O."""

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
    """A variant's cells at some levels; the product of the levels is averaged on the logarithm."""

    variant: str
    levels: Mapping[str, tuple[Any, ...]]

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield each combination of levels."""
        for combination in itertools.product(*self.levels.values()):
            yield dict(zip(self.levels, combination, strict=True))


@dataclass(frozen=True)
class Region:
    """Where a ratio has to lie. `equivalence` marks a claim of no difference, which needs its own test."""

    low: float | None
    high: float | None
    equivalence: bool = False

    def contains(self, low: float, high: float) -> bool:
        """Tell whether the whole interval lies inside."""
        return (self.low is None or low > self.low) and (self.high is None or high < self.high)

    def excludes(self, low: float, high: float) -> bool:
        """Tell whether the whole interval lies outside."""
        return (self.low is not None and high < self.low) or (self.high is not None and low > self.high)

    def text(self) -> str:
        """Return the region as a person writes it."""
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

    `says` may name columns of tidy.csv in braces; what the data set states stands there in a finding. `better` is the
    metric's: "higher" or "lower".
    """

    name: str
    says: str
    metric: str
    terms: tuple[tuple[int, Selector], ...]
    region: Region
    better: str = "higher"


@dataclass(frozen=True)
class Count:
    """Cells of which each has to count exactly `equals`, in every block.

    A count is no sample of noise: it is compared as it is, without an interval. And one of 0 has no logarithm, so that
    no ratio could say it.
    """

    name: str
    says: str
    metric: str
    cells: Selector
    equals: int

    @property
    def region(self) -> Region:
        """The one number that it may be."""
        return Region(self.equals, self.equals)


@dataclass(frozen=True)
class Claim:
    """A sentence with its conditions; all of them have to be held.

    `chart` is `<experiment>/<aggregate>`, the chart that draws it, or None.
    """

    id: str
    sentence: str
    source: str
    experiment: str
    limiter: tuple[str, ...]
    conditions: tuple[Condition | Count, ...]
    limiter_decides: str = DECIDES_ANY
    chart: str | None = None


@dataclass(frozen=True)
class Book:
    """All of config/claims.yaml: the claims, and the title of each source by its id."""

    sources: Mapping[str, str]
    claims: tuple[Claim, ...]


@dataclass(frozen=True)
class Finding:
    """What a data set says of one condition.

    `low` and `high` bound the 95 % interval; None where there is none. `blocks` holds each block's own estimate, by the
    block's number; `estimate` is their geometric mean. Of a count, `low` and `high` are the least and the greatest that
    was counted; `estimate`, and each block's own, is the count that is furthest from the one that is claimed.
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
    """What a data set says of a claim."""

    claim: Claim
    verdict: str
    reason: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Assessment:
    """What a data set says of every claim.

    `altered` says that it is a copy whose raw output is not as measured; "" where it is as measured.
    """

    data_set: str
    altered: str
    sources: Mapping[str, str]
    judgements: tuple[Judgement, ...]

    def of(self, experiments: Collection[str]) -> Assessment:
        """Return the same with the claims of these experiments only."""
        return replace(self, judgements=tuple(one for one in self.judgements if one.claim.experiment in experiments))
