"""Simulates experiments with drift and noise, and counts how often intervals and verdicts are right.

`replay.base.stats` and `replay.claims.evaluate` themselves make every interval and verdict.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from replay.base.stats import CONFIDENCE, paired_log_ratio, welch_difference
from replay.claims.evaluate import EQUIVALENCE_BLOCKS, EQUIVALENCE_CONFIDENCE, judge
from replay.claims.model import HELD, REFUTED, SETUP_CHECK, Claim, Condition, Region, Selector
from replay.claims.tables import Table

#: The simulated machine: how much slower it gets over an experiment, and the spread (of the logarithm) of its blocks
#: and of its cells.
DRIFT, BLOCK_NOISE, CELL_NOISE = 0.10, 0.2, 0.09
RATIO = 2.15
#: The regions of config/claims.yaml, one of each kind.
REGIONS = {
    "above 1.5": Region(1.5, None),
    "below 1.25": Region(None, 1.25),
    "between 7.5 and 13.3": Region(7.5, 13.3),
    "no difference beyond a factor of 1.1": Region(1 / 1.1, 1.1, equivalence=True),
}
#: A block of many sets: how many, how much slower the machine gets within a block, and the spread (of the logarithm)
#: between sets that run minutes apart, because of a neighbour, a compaction, or a host that slows down.
SETS, DRIFT_IN_BLOCK, SET_NOISE = 8, 0.20, 0.10
#: Whether the two compared cells ran back to back, or in two sets of one block.
NEIGHBOURS, STRANGERS = "of one set", "of two sets"

Runs = tuple[list[float], list[float]]


@dataclass(frozen=True)
class Share:
    """A share of experiments, and its bounds.

    `chance` is added to the upper bound if the true share is the bound itself.
    """

    name: str
    value: float
    low: float
    high: float
    chance: float = 0.0

    @property
    def kept(self) -> bool:
        """Return whether the value is within its bounds."""
        return self.low <= self.value <= self.high + self.chance


def paired_runs(rng: random.Random, blocks: int, ratio: float) -> Runs:
    """Return the rates of the reference and of a variant, one of each per block, on a machine that drifts and is noisy.

    Both run in random order in each block. The machine loses the share DRIFT of its speed over the whole experiment;
    noise is log-normal. The true ratio reference ÷ variant is `ratio`.
    """
    reference: list[float] = []
    variant: list[float] = []
    speeds = [1000 * math.exp(rng.gauss(0, BLOCK_NOISE)) for _ in range(blocks)]
    for block, speed in enumerate(speeds):
        pair = [reference, variant]
        rng.shuffle(pair)
        for position, runs in enumerate(pair, start=2 * block):
            slower = 1 - DRIFT * position / (2 * blocks - 1)
            effect = 1 / ratio if runs is variant else 1
            runs.append(speed * slower * effect * math.exp(rng.gauss(0, CELL_NOISE)))
    return reference, variant


def coverage(runs: int, rng: random.Random, pairs: Callable[[random.Random], Runs], level: float = CONFIDENCE) -> float:
    """Return the share of intervals that contain the true ratio RATIO of the rates that `pairs` makes."""
    hits = 0
    for _ in range(runs):
        estimate = paired_log_ratio(*pairs(rng), level)
        hits += estimate.low <= RATIO <= estimate.high
    return hits / runs


def runs_of_sets(rng: random.Random, blocks: int, ratio: float, pairs: str) -> Runs:
    """Return the rates of the reference and of a variant, one of each per block of SETS sets that drifts and is noisy.

    `pairs` is NEIGHBOURS or STRANGERS. Sets run in a new random order in each block.
    """
    reference: list[float] = []
    variant: list[float] = []
    for _ in range(blocks):
        order = list(range(SETS))
        rng.shuffle(order)
        speed = 1000 * math.exp(rng.gauss(0, BLOCK_NOISE))
        sets = [
            speed * (1 - DRIFT_IN_BLOCK * order.index(one) / (SETS - 1)) * math.exp(rng.gauss(0, SET_NOISE))
            for one in range(SETS)
        ]
        reference.append(sets[0] * math.exp(rng.gauss(0, CELL_NOISE)))
        theirs = sets[0] if pairs == NEIGHBOURS else sets[-1]
        variant.append(theirs / ratio * math.exp(rng.gauss(0, CELL_NOISE)))
    return reference, variant


def false_differences(runs: int, seed: int, blocks: tuple[int, int] = (6, 10)) -> float:
    """Return how often two data sets with the same true ratio seem to differ, without any correction."""
    rng, found = random.Random(seed), 0
    for _ in range(runs):
        logs = [[math.log(a / b) for a, b in zip(*paired_runs(rng, count, RATIO), strict=True)] for count in blocks]
        found += welch_difference(*logs).p_value < 1 - CONFIDENCE
    return found / runs


def verdicts(runs: int, seed: int | str, regions: Sequence[Region], ratios: Sequence[float], blocks: int) -> list[str]:
    """Return the verdicts on a claim with one condition per region, whose true ratios are `ratios`."""
    rng = random.Random(seed)
    claim = _claim(regions)
    return [judge(claim, _table(rng, ratios, blocks)).verdict for _ in range(runs)]


def _claim(regions: Sequence[Region]) -> Claim:
    conditions = []
    for number, region in enumerate(regions):
        terms = tuple((sign, Selector(name, {"point": (number,)})) for sign, name in ((1, "plain"), (-1, "journal")))
        conditions.append(Condition(f"at-{number}", "plain ÷ journal", "rate", terms, region))
    # Nothing registers it, and nobody asks here whether it is exploratory.
    return Claim("simulated", "A sentence.", "S0", "simulated", tuple(conditions), kind=SETUP_CHECK)


def _table(rng: random.Random, ratios: Sequence[float], blocks: int) -> Table:
    rows = []
    for point, ratio in enumerate(ratios):
        for name, rates in zip(("plain", "journal"), paired_runs(rng, blocks, ratio), strict=True):
            rows += [
                {"used": "1", "block": block, "variant": name, "cell": f"{name}-{point}", "point": point, "rate": rate}
                for block, rate in enumerate(rates, start=1)
            ]
    return Table(rows, ["point"])


def edges(region: Region) -> list[float]:
    """Return the ratios at the edges of a region."""
    return [edge for edge in (region.low, region.high) if edge is not None]


def shares(runs: int, seed: int) -> Iterator[Share]:
    """Yield every share with its bounds."""
    for blocks in (6, EQUIVALENCE_BLOCKS):
        held = coverage(runs, random.Random(seed), partial(paired_runs, blocks=blocks, ratio=RATIO))
        yield Share(f"95 % interval, n = {blocks}: holds the true ratio", held, 0.93, 0.97)
    pairs = partial(paired_runs, blocks=EQUIVALENCE_BLOCKS, ratio=RATIO)
    narrow = coverage(runs, random.Random(seed), pairs, EQUIVALENCE_CONFIDENCE)
    yield Share(f"90 % interval, n = {EQUIVALENCE_BLOCKS}: holds the true ratio", narrow, 0.88, 0.92)
    yield from _set_shares(runs, seed)
    for name, region in REGIONS.items():
        yield from _edge_shares(runs, seed, name, region)
    several = [REGIONS["above 1.5"]] * 5
    found = verdicts(runs, seed, several, [1.5] * 5, 6)
    yield Share("five conditions, all on the edge: refuted (Holm)", found.count(REFUTED) / runs, 0, 0.05)
    found = verdicts(runs, seed, several, [1.5] + [3.0] * 4, 6)
    yield Share("five conditions, one on the edge: held", found.count(HELD) / runs, 0, 0.05)
    yield Share("two data sets, one true ratio: told apart", false_differences(runs, seed), 0.03, 0.07)


def _set_shares(runs: int, seed: int) -> Iterator[Share]:
    """Yield how often intervals contain the true ratio if the cells of a pair ran in one set, and in two."""
    for blocks in (6, EQUIVALENCE_BLOCKS):
        for pairs in (NEIGHBOURS, STRANGERS):
            of_sets = partial(runs_of_sets, blocks=blocks, ratio=RATIO, pairs=pairs)
            held = coverage(runs, random.Random(f"{seed} {pairs} {blocks}"), of_sets)
            yield Share(f"95 % interval, n = {blocks}, cells {pairs}: holds the true ratio", held, 0.93, 0.97)


def _edge_shares(runs: int, seed: int, name: str, region: Region) -> Iterator[Share]:
    """Yield the verdicts on the edges of a region, where a sentence is barely false, and barely true."""
    blocks = EQUIVALENCE_BLOCKS if region.equivalence else 6
    # Two one-sided tests hold 5 % on the edge by construction: three standard errors of so many runs are chance.
    chance = 3 * math.sqrt(0.05 * 0.95 / runs) if region.equivalence else 0.0
    for edge in edges(region):
        where = f"{name}, n = {blocks}, true ratio {edge:g} (the edge)"
        found = verdicts(runs, f"{seed} {where}", [region], [edge], blocks)
        yield Share(f"{where}: held", found.count(HELD) / runs, 0, 0.05, chance)
        yield Share(f"{where}: refuted", found.count(REFUTED) / runs, 0, 0.05)
    if region.equivalence:
        for outside in (region.low / 1.02, region.high * 1.02):
            where = f"{name}, n = {blocks}, true ratio {outside:.3g} (2 % outside)"
            found = verdicts(runs, f"{seed} {where}", [region], [outside], blocks)
            yield Share(f"{where}: held", found.count(HELD) / runs, 0, 0.05)
