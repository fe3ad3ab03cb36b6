"""`--fail-if`: conditions on ratios, met only by a difference beyond noise. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from replay.base.errors import ConfigurationError
from replay.base.invocation import suggestion
from replay.exchange.compare.model import Comparison


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
    here = [one for one in comparisons if metric in (one.metric.name, one.metric.column)]
    if not here:
        known = sorted({one.metric.name for one in comparisons})
        raise ConfigurationError(
            f"--fail-if '{text}': no point compares {metric}",
            next_step=suggestion(metric, known) if known else "compare data sets that share points",
        )
    decided = [one for one in here if _has_interval(one)]
    if not decided:
        raise ConfigurationError(
            f"--fail-if '{text}': no ratio of {metric} has an interval, so this can be neither met nor ruled out",
            next_step="measure or import two runs or more of each point",
        )
    return Checked(
        text, tuple(one for one in decided if _beyond(one, sign, limit)), len(decided), len(here) - len(decided)
    )


def _has_interval(one: Comparison) -> bool:
    return one.estimate is not None and one.estimate.low is not None


def _beyond(one: Comparison, sign: str, limit: float) -> bool:
    return one.estimate.high < limit if sign == "<" else one.estimate.low > limit
