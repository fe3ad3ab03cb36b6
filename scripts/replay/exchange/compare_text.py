"""The results of comparing, and how programs and a terminal get them: CSV, JSON, lines, conditions. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.paths import suggestion
from replay.base.stats import CONFIDENCE, Estimate, median
from replay.base.tables import csv_text, level_text, number_text, rounded
from replay.exchange.sides import NOT_STATED, Metric, Side

#: How a ratio was estimated.
PAIRED, WELCH, SINGLE, NONE = "paired", "Welch", "one run", "none"
#: Where its interval lies. "No difference beyond noise" is not "no difference".
HIGHER, LOWER, WITHIN, UNKNOWN = "higher", "lower", "within noise", "no interval"
COLUMNS = (
    "first", "second", "experiment", "metric", "unit", "better", "variant_first", "variant_second", "point",
    "n_first", "n_second", "median_first", "median_second", "ratio", "low", "high", "method", "verdict", "why",
)  # fmt: skip
RUN_COLUMNS = ("data_set", "experiment", "metric", "unit", "variant", "point", "block", "value")
#: Points that are listed one by one in a terminal.
SHOWN = 20


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
    def place(self) -> str:
        """Where it is: experiment, metric, variant and point."""
        return f"{self.experiment} {self.metric.name}, {self.variant}, {self.point}"

    @property
    def point(self) -> str:
        return ", ".join(f"{factor} = {level}" for factor, level in self.levels) or "the only point"

    @property
    def variant(self) -> str:
        """The variant's name, or both names if they differ."""
        first, second = self.variants
        return first if first == second else f"{second} ÷ {first}"

    @property
    def verdict(self) -> str:
        """Where the interval lies: beside 1, or on it."""
        if self.estimate is None or self.estimate.low is None:
            return UNKNOWN
        return HIGHER if self.estimate.low > 1 else LOWER if self.estimate.high < 1 else WITHIN

    @property
    def judgement(self) -> str:
        """`better` or `worse` for a difference beyond noise of a metric that has a better direction, else empty."""
        if self.metric.better is None or self.verdict not in (HIGHER, LOWER):
            return ""
        return "better" if self.verdict == self.metric.better else "worse"

    @property
    def beyond(self) -> str:
        """What a difference beyond noise is called: `better`, `worse`, or `beyond` if neither is; else empty."""
        return (self.judgement or "beyond") if self.verdict in (HIGHER, LOWER) else ""


@dataclass(frozen=True)
class NotCompared:
    """Something that two sides do not share, and why that keeps it from being compared."""

    first: str
    second: str
    experiment: str
    why: str


@dataclass(frozen=True)
class StatedDifference:
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
    differences: tuple[StatedDifference, ...] = ()


def row_of(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison by the names of COLUMNS; missing values are None."""
    ratio, low, high = (comparison.estimate[:3]) if comparison.estimate else (None, None, None)
    medians = [median(list(values.values())) for values in comparison.values]
    fields = (
        comparison.first, comparison.second, comparison.experiment,
        comparison.metric.name, comparison.metric.unit, comparison.metric.better, *comparison.variants,
        "; ".join(f"{factor}={level}" for factor, level in comparison.levels), *map(len, comparison.values), *medians,
        ratio, low, high, comparison.method, comparison.verdict, comparison.why,
    )  # fmt: skip
    return dict(zip(COLUMNS, fields, strict=True))


def comparisons_csv(comparisons: Sequence[Comparison]) -> str:
    return csv_text([COLUMNS, *([*map(level_text, row_of(comparison).values())] for comparison in comparisons)])


def runs_csv(comparisons: Sequence[Comparison]) -> str:
    """Return a CSV of the runs behind the ratios, each run once."""
    rows: dict[tuple[str, ...], None] = {}
    for comparison in comparisons:
        point = "; ".join(f"{factor}={level}" for factor, level in comparison.levels)
        sides = comparison.first, comparison.second
        for side, variant, values in zip(sides, comparison.variants, comparison.values, strict=True):
            for block, value in values.items():
                key = (side, comparison.experiment, comparison.metric.name, comparison.metric.unit, variant, point)
                rows[(*key, str(block), number_text(value))] = None
    return csv_text([RUN_COLUMNS, *rows])


def provenance(side: Side) -> dict[str, Any]:
    """Return where a side's figures come from: label, dates, machines, versions, and the digests of its tables."""
    manifest = side.manifest
    keys = ("data_set", "label", "site_label", "limitation", "altered", "measured_from", "measured_to", "machines")
    return {
        **{key: manifest.get(key) for key in keys},
        "setup": manifest.get("setup") or {},
        "git_commits": manifest.get("git_commits") or [],
        "imported": sorted(experiment.name for experiment in side.experiments.values() if experiment.imported),
        "exploratory_claims": side.exploratory,
        "tables": {f"{experiment.name}/tidy.csv": experiment.tidy_sha256 for experiment in side.experiments.values()},
    }


def exploratory_lines(outcome: Outcome) -> list[str]:
    """Return a line for each side and compared experiment with exploratory claims: its figures test none of them."""
    why = "was measured before they were registered"
    compared = {comparison.experiment for comparison in outcome.comparisons}
    return [
        f"exploratory in {side.name}, because {experiment.name} {why}: {', '.join(side.exploratory[experiment.name])}"
        for side in outcome.sides
        for name, experiment in side.experiments.items()
        if name in compared and experiment.name in side.exploratory
    ]


def difference_lines(outcome: Outcome, second: str) -> list[str]:
    """Return what differs between the first data set and `second` besides what is compared: a line for each option."""
    experiments: dict[str, list[str]] = {}
    for difference in outcome.differences:
        if difference.second == second:
            stated = [NOT_STATED if value is None else value for value in difference.values]
            text = f"{difference.option}: {stated[0]} in {difference.first}, {stated[1]} in {difference.second}"
            experiments.setdefault(text, []).append(difference.experiment)
    several = len({comparison.experiment for comparison in outcome.comparisons if comparison.second == second}) > 1
    return [f"{text} ({', '.join(names)})" if several and any(names) else text for text, names in experiments.items()]


def single_line(comparisons: Sequence[Comparison]) -> str:
    """Return that some ratios rest on a single run, empty if none does."""
    single = sum(comparison.method == SINGLE for comparison in comparisons)
    which = "each ratio rests" if single == len(comparisons) else f"{single} of {len(comparisons)} ratios rest"
    return f"n = 1: {which} on a single run, which cannot say whether a difference is more than noise" if single else ""


def document(outcome: Outcome, checked: Sequence[Checked]) -> dict[str, Any]:
    """Return everything as JSON: ratios are second ÷ first; numbers have the digits of the CSVs."""
    return {
        "schema_version": 1,
        "confidence": CONFIDENCE,
        "data_sets": {side.name: provenance(side) for side in outcome.sides},
        "comparisons": [
            {key: rounded(value) if isinstance(value, float) else value for key, value in row_of(comparison).items()}
            for comparison in outcome.comparisons
        ],
        "differences": [vars(difference) for difference in outcome.differences],
        "not_compared": [vars(gap) for gap in outcome.not_compared],
        "conditions": [
            {"condition": each.text, "decided": each.decided, "undecided": each.undecided, "met": len(each.met)}
            for each in checked
        ],
    }


def ratio_text(comparison: Comparison) -> str:
    """Return a ratio with its interval, in three digits: `0.982 (0.961 to 1.00)`; more if a bound would read as 1."""
    if comparison.estimate is None:
        return "none"
    value, low, high, _ = comparison.estimate
    if low is None:
        return f"{value:#.3g}"
    nearest = {HIGHER: low, LOWER: high}.get(comparison.verdict, 2.0)
    digits = next((number for number in range(3, 9) if float(f"{nearest:.{number}g}") != 1), 9)
    return f"{value:#.{digits}g} ({low:#.{digits}g} to {high:#.{digits}g})"


def counted(comparisons: Sequence[Comparison]) -> str:
    """Return how many ratios have which verdict, in one sentence without its full stop."""
    counts = Counter(comparison.verdict for comparison in comparisons)
    words = {HIGHER: "higher", LOWER: "lower", WITHIN: "no difference beyond noise", UNKNOWN: "without an interval"}
    parts = [f"{counts[verdict]} {text}" for verdict, text in words.items() if counts[verdict]]
    return f"{len(comparisons)} {'ratio' if len(comparisons) == 1 else 'ratios'}: {', '.join(parts)}"


def summary_lines(outcome: Outcome) -> list[str]:
    """Return what a terminal shows for each pair of data sets: what differs, the verdicts, and ratios beyond noise."""
    first, *others = outcome.sides
    lines: list[str] = []
    for second in others:
        here = [comparison for comparison in outcome.comparisons if comparison.second == second.name]
        lines += [f"differs: {line}" for line in difference_lines(outcome, second.name)]
        lines.append(f"{second.name} ÷ {first.name}: {counted(here) if here else 'no point is in both'}")
        lines += filter(None, [single_line(here)])
        beyond = [comparison for comparison in here if comparison.beyond]
        for comparison in beyond[:SHOWN]:
            judged = f"  ({comparison.judgement})" if comparison.judgement else ""
            lines.append(f"  {comparison.place}: {ratio_text(comparison)}{judged}")
        if len(beyond) > SHOWN:
            lines.append(f"  and {len(beyond) - SHOWN} more")
        missing = [gap for gap in outcome.not_compared if gap.second == second.name]
        lines += [f"  not compared: {gap.experiment}: {gap.why}" for gap in missing]
    if not any(first.experiments.keys() & second.experiments.keys() for second in others):
        lines.append("no experiment is in two of them; to compare two of different names: --experiment NAME=OTHER")
    return [*lines, *exploratory_lines(outcome)]


@dataclass(frozen=True)
class Checked:
    """A condition, the comparisons that meet it, and how many could be decided and could not."""

    text: str
    met: tuple[Comparison, ...]
    decided: int
    undecided: int


def check(condition: tuple[str, str, float], comparisons: Sequence[Comparison]) -> Checked:
    """Return which comparisons of a metric have an interval wholly beyond a ratio.

    Raises ConfigurationError if no point could ever meet the condition: the metric is not compared, or no point has an
    interval. A check that cannot fail says nothing.
    """
    metric, sign, limit = condition
    text = f"{metric}{sign}{limit:g}"
    here = [comparison for comparison in comparisons if metric in (comparison.metric.name, comparison.metric.column)]
    if not here:
        known = sorted({comparison.metric.name for comparison in comparisons})
        raise ConfigurationError(
            f"--fail-if '{text}': no point compares {metric}",
            next_step=suggestion(metric, known) if known else "compare data sets that share points",
        )
    decided = [comparison for comparison in here if comparison.verdict != UNKNOWN]
    if not decided:
        raise ConfigurationError(
            f"--fail-if '{text}': no ratio of {metric} has an interval, so this can be neither met nor ruled out",
            next_step="measure or import two runs or more of each point",
        )
    met = [each for each in decided if (each.estimate.high < limit if sign == "<" else each.estimate.low > limit)]
    return Checked(text, tuple(met), len(decided), len(here) - len(decided))
