"""The types that describe claims and verdicts on them. No I/O."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from replay.derive.facts import Predicate

HELD, REFUTED, INCONCLUSIVE = "held", "refuted", "inconclusive"
NOT_TESTABLE, NOT_MEASURED = "not testable here", "not measured"
VERDICTS = (HELD, REFUTED, INCONCLUSIVE, NOT_TESTABLE, NOT_MEASURED)
#: Over several campaigns, a claim is held, refuted, or settled at most in each campaign by itself.
IN_THIS_CAMPAIGN = "in this campaign"

#: A verdict needs this many blocks: an interval takes two, and a count in a single block has not been repeated.
BLOCKS_FOR_VERDICT = 2

#: Which verdicts stand only if a presupposition is met: all, or just the one that its absence could bring about.
DECIDES_ANY, DECIDES_REFUTATION, DECIDES_CONFIRMATION = "any", "refutation", "confirmation"

#: A sentence about storage, or one about the set-up that measured it, such as its caps, loopback or virtual disk.
CLAIM, SETUP_CHECK = "claim", "setup_check"


@dataclass(frozen=True)
class Selector:
    """A variant's cells at some levels; all combinations of the levels are averaged on the logarithm."""

    variant: str
    levels: Mapping[str, tuple[Any, ...]]

    def points(self) -> Iterator[dict[str, Any]]:
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
        """Return the region in words."""
        if self.low is not None and self.low == self.high:
            return f"exactly {self.low:g}"
        if self.low is None:
            return f"below {self.high:g}"
        if self.high is None:
            return f"above {self.low:g}"
        return f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class Condition:
    """A log-linear contrast of cells with a region: the sum of `weight` times the mean logarithm of a selector.

    `says` may name columns of tidy.csv in braces; a result replaces them with the data set's values. `better` belongs
    to the metric: "higher" or "lower". `simultaneous` is the number of conditions whose intervals hold together. If
    `independent`, the runs of both sides are no pairs: the interval is Welch's.
    """

    name: str
    says: str
    metric: str
    terms: tuple[tuple[int, Selector], ...]
    region: Region
    better: str = "higher"
    simultaneous: int = 1
    independent: bool = False

    @property
    def selectors(self) -> list[Selector]:
        """Its cells."""
        return [selector for _, selector in self.terms]


@dataclass(frozen=True)
class Count:
    """Cells that must all have exactly the count `equals`, in every block.

    A count has no noise, so it is compared directly, without an interval. A count of 0 has no logarithm, so no ratio
    could express it.
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

    @property
    def selectors(self) -> list[Selector]:
        """Its cells."""
        return [self.cells]


@dataclass(frozen=True)
class Presupposition:
    """What must have been true of a claim's cells for it to be testable at all.

    This concerns the claim's own cells: all of them if `variants` and `levels` are empty, else those that match; with
    `slower`, only the slower side of each ratio. `decides` is one of the DECIDES_… words.
    """

    predicate: Predicate
    because: str
    variants: tuple[str, ...] = ()
    levels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    slower: bool = False
    decides: str = DECIDES_ANY


@dataclass(frozen=True)
class Plain:
    """A claim in plain words: what was found, and what follows from each verdict.

    The figures are those of one condition. `shown` says how to write them: `times` or `percent`.
    """

    condition: str
    shown: str
    finding: str
    follows: Mapping[str, str]


@dataclass(frozen=True)
class Claim:
    """A sentence with its conditions, all of which must hold.

    `chart` is `<experiment>/<aggregate>`, the chart that draws it, or None. A claim without a presupposition says why
    in `presupposes_nothing`. `digest` is what a block's receipt registers. `kind` is CLAIM or SETUP_CHECK. `plain` puts
    it in plain words, or is None.

    `says` holds the words of sources, each with its `place` and `source`, and `differs` says why the sentence is not
    the same. If no source says anything of the kind, `ours` says what prompted the question.
    """

    id: str
    sentence: str
    source: str
    experiment: str
    conditions: tuple[Condition | Count, ...]
    presupposes: tuple[Presupposition, ...] = ()
    presupposes_nothing: str = ""
    chart: str | None = None
    digest: str = ""
    kind: str = CLAIM
    says: tuple[Mapping[str, str], ...] = ()
    differs: str = ""
    ours: str = ""
    plain: Plain | None = None


@dataclass(frozen=True)
class Book:
    """The claims of config/claims.yaml, the title of each source by its id, and the wording that claims share."""

    sources: Mapping[str, str]
    claims: tuple[Claim, ...]
    wording: Mapping[str, Any] | None = None


class Origin(NamedTuple):
    """Where a block's estimate comes from: the host that measured its cells, and their bottleneck."""

    host: str
    bottleneck: str


def agreed(words: Iterable[str]) -> str:
    """Return the word on which all agree, else `mixed`."""
    different = {*words}
    return different.pop() if len(different) == 1 else "mixed"


@dataclass(frozen=True)
class ConditionResult:
    """What a data set says about one condition.

    `low` and `high` bound the 95 % interval, or are None if there is none. `blocks` holds each block's own estimate, by
    block number; `estimate` is their geometric mean, but of independent runs the ratio of both sides' geometric means.
    For a count, `low` and `high` are the smallest and the largest count, and the estimates are the counts that differ
    most from the claimed one. `multiplicity` gives `p_value` and `q_value`, which are None if nothing is tested.
    `neighbours` says whether the cells of each pair ran back to back in one set; it is None for a count. `freedom` are
    Welch's degrees of freedom, None for pairs. `times` has each block's first start and last end, as tidy.csv writes
    them, and `origins` the host and bottleneck of its cells.
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
    neighbours: bool | None = None
    freedom: float | None = None
    p_value: float | None = None
    q_value: float | None = None
    times: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    origins: Mapping[int, Origin] = field(default_factory=dict)

    @property
    def hosts(self) -> list[str]:
        return sorted({origin.host for origin in self.origins.values()})

    @property
    def used_blocks(self) -> list[int]:
        """The blocks whose cells count. Of independent runs, one with a single side counts, but has no estimate."""
        return [*self.origins]


@dataclass(frozen=True)
class Presupposed:
    """What a data set's cells say about one presupposition.

    `met` is None if a cell does not tell, or if there are no cells. `found` is the value that is furthest off, in the
    unit of the fact; it is None if no value is off, or none is known.
    """

    presupposition: Presupposition
    met: bool | None
    reason: str
    found: float | str | None = None


@dataclass(frozen=True)
class Judgement:
    """A data set's verdict on a claim.

    `exploratory` says why the claim was not registered, as it stands, before all of its cells; "" if it was.
    """

    claim: Claim
    verdict: str
    reason: str
    results: tuple[ConditionResult, ...]
    presupposed: tuple[Presupposed, ...] = ()
    exploratory: str = ""


@dataclass(frozen=True)
class Campaign:
    """What one campaign says about a condition: the blocks of a data set that one host measured, or independent runs.

    `low` and `high` bound the 95 % interval, or are the smallest and the largest count; `standard_error` is that of the
    estimate's logarithm. They are None for one block. `verdict` is that of the whole data set on the condition, and
    `testable` says whether its cells were as the claim presupposes.
    """

    name: str
    host: str
    bottleneck: str
    estimate: float
    low: float | None
    high: float | None
    n: int
    standard_error: float | None
    verdict: str
    testable: bool


class Interval(NamedTuple):
    """A mean with its interval and standard error; of a ratio, the error is that of its logarithm."""

    estimate: float
    low: float
    high: float
    standard_error: float


@dataclass(frozen=True)
class ConditionOverCampaigns:
    """What several campaigns say about a condition.

    `mean` and `tau`, the standard deviation of the campaigns' true log-ratios, are None for fewer than two campaigns
    with an interval, or if none has any noise, `prediction` for fewer than three. `verdict` is held, refuted or
    IN_THIS_CAMPAIGN.
    """

    campaigns: tuple[Campaign, ...] = ()
    mean: Interval | None = None
    tau: float | None = None
    prediction: tuple[float, float] | None = None
    verdict: str = IN_THIS_CAMPAIGN

    @property
    def tested(self) -> tuple[Campaign, ...]:
        """The campaigns in which the claim was testable, and that have an interval."""
        return tuple(each for each in self.campaigns if each.testable and each.standard_error is not None)


@dataclass(frozen=True)
class ClaimOverCampaigns:
    """What several campaigns say about a claim, and about each of its conditions by name."""

    verdict: str = IN_THIS_CAMPAIGN
    conditions: Mapping[str, ConditionOverCampaigns] = field(default_factory=dict)


@dataclass(frozen=True)
class Assessment:
    """A data set's verdict on every claim.

    `over_campaigns` has what several campaigns say, by the claim's id. The last two are filled in for comparisons:
    `measured_with` names the versions of Ceph and of the client, "" if they are not known; `machines` holds the
    pseudonyms of the hosts that measured each block of each experiment.
    """

    data_set: str
    sources: Mapping[str, str]
    judgements: tuple[Judgement, ...]
    over_campaigns: Mapping[str, ClaimOverCampaigns] = field(default_factory=dict)
    measured_with: str = ""
    machines: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    @property
    def measured(self) -> tuple[Judgement, ...]:
        return tuple(judgement for judgement in self.judgements if judgement.verdict != NOT_MEASURED)
