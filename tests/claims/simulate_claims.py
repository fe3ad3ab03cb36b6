"""Simulates experiments with drift and noise, and prints how often intervals and verdicts are right.

.venv/bin/python tests/claims/simulate_claims.py [--runs N] [--seed S]

`replay.base.stats` and `replay.claims.evaluate` themselves make every interval and verdict. The exit status is 1 if a
share is outside its bounds.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from replay.base.stats import CONFIDENCE, paired_log_ratio, welch_difference
from replay.claims.evaluate import EQUIVALENCE_BLOCKS, EQUIVALENCE_CONFIDENCE, judge
from replay.claims.model import HELD, REFUTED, Claim, Condition, Region, Selector
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
#: The order in which the cells of an experiment with two variants run. "random" draws a new one in each block.
ORDERS = ("AAABBB", "ABAB", "random")

Runs = tuple[list[float], list[float]]


@dataclass(frozen=True)
class Share:
    """One line of the table: a share of experiments, or a bias, and its bounds.

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


def paired_runs(
    rng: random.Random,
    blocks: int,
    ratio: float,
    *,
    noise: float = CELL_NOISE,
    drift: float = DRIFT,
    block_noise: float = BLOCK_NOISE,
    order: str = "random",
) -> Runs:
    """Return the rates of the reference and of a variant, one of each per block, on a machine that drifts and is noisy.

    `drift` is the share of its speed that the machine loses over the whole experiment; noise is log-normal. The true
    ratio reference ÷ variant is `ratio`.
    """
    reference: list[float] = []
    variant: list[float] = []
    speeds = [1000 * math.exp(rng.gauss(0, block_noise)) for _ in range(blocks)]
    for position, runs in enumerate(_sequence(rng, blocks, order, reference, variant)):
        slower = 1 - drift * position / (2 * blocks - 1)
        effect = 1 / ratio if runs is variant else 1
        runs.append(speeds[len(runs)] * slower * effect * math.exp(rng.gauss(0, noise)))
    return reference, variant


def _sequence(
    rng: random.Random, blocks: int, order: str, reference: list[float], variant: list[float]
) -> Iterator[list[float]]:
    if order == "AAABBB":
        yield from [reference] * blocks
        yield from [variant] * blocks
        return
    for _ in range(blocks):
        pair = [reference, variant]
        if order == "random":
            rng.shuffle(pair)
        yield from pair


def coverage(runs: int, seed: int, blocks: int, confidence: float = CONFIDENCE) -> float:
    """Return the share of intervals that contain the true ratio."""
    rng, hits = random.Random(seed), 0
    for _ in range(runs):
        estimate = paired_log_ratio(*paired_runs(rng, blocks, RATIO), confidence)
        hits += estimate.low <= RATIO <= estimate.high
    return hits / runs


def runs_of_sets(rng: random.Random, blocks: int, ratio: float, pairs: str, *, shuffled: bool = True) -> Runs:
    """Return the rates of the reference and of a variant, one of each per block of SETS sets that drifts and is noisy.

    `pairs` is NEIGHBOURS or STRANGERS. Sets run in a new random order in each block, or all in one order if not
    `shuffled`; the reference is then in the first set, and a stranger in the last.
    """
    reference: list[float] = []
    variant: list[float] = []
    for _ in range(blocks):
        order = list(range(SETS))
        if shuffled:
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


def coverage_of_sets(
    runs: int, seed: int | str, blocks: int, pairs: str, *, shuffled: bool = True
) -> tuple[float, float]:
    """Return the share of intervals that contain the true ratio, and their geometric mean width, high ÷ low."""
    rng, hits, widths = random.Random(seed), 0, 0.0
    for _ in range(runs):
        estimate = paired_log_ratio(*runs_of_sets(rng, blocks, RATIO, pairs, shuffled=shuffled))
        hits += estimate.low <= RATIO <= estimate.high
        widths += math.log(estimate.high / estimate.low)
    return hits / runs, math.exp(widths / runs)


def bias(runs: int, seed: int, order: str, blocks: int = 6) -> float:
    """Return the bias of the ratio variant ÷ reference, as a share, if both are equally fast and run in this order."""
    rng, logs = random.Random(seed), []
    for _ in range(runs):
        reference, variant = paired_runs(rng, blocks, 1.0, noise=0.01, block_noise=0.0, order=order)
        logs.append(math.log(paired_log_ratio(variant, reference).value))
    return math.exp(math.fsum(logs) / runs) - 1


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
    return Claim("simulated", "A sentence.", "S0", "simulated", tuple(conditions))


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
    """Yield every line of the table."""
    for blocks in (6, EQUIVALENCE_BLOCKS):
        yield Share(f"95 % interval, n = {blocks}: holds the true ratio", coverage(runs, seed, blocks), 0.93, 0.97)
    narrow = coverage(runs, seed, EQUIVALENCE_BLOCKS, EQUIVALENCE_CONFIDENCE)
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
    bounds = {"AAABBB": (-0.07, -0.03), "ABAB": (-0.02, -0.005), "random": (-0.003, 0.003)}
    for order in ORDERS:
        yield Share(f"{DRIFT:.0%} drift, order {order}: bias of a ratio", bias(runs, seed, order), *bounds[order])


def _set_shares(runs: int, seed: int) -> Iterator[Share]:
    """Yield how often intervals contain the true ratio if the cells of a pair ran in one set, and in two."""
    for blocks in (6, EQUIVALENCE_BLOCKS):
        for pairs in (NEIGHBOURS, STRANGERS):
            held, width = coverage_of_sets(runs, f"{seed} {pairs} {blocks}", blocks, pairs)
            name = f"95 % interval, n = {blocks}, cells {pairs}, high ÷ low {width:.2f}: holds the true ratio"
            yield Share(name, held, 0.93, 0.97)
    held, width = coverage_of_sets(runs, f"{seed} one order", 6, STRANGERS, shuffled=False)
    name = f"the same, n = 6, cells {STRANGERS}, high ÷ low {width:.2f}, all blocks in one order"
    yield Share(f"{name}: holds the true ratio", held, 0.3, 0.8)


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


def table(found: Sequence[Share], write: Callable[[str], None] = print) -> None:
    """Write the table."""
    width = max(len(one.name) for one in found)
    write(f"{'':{width}}  {'found':>8}  bounds")
    for one in found:
        said = "" if one.kept else "  OUT OF BOUNDS"
        chance = f" (and {one.chance:.1%} of chance)" if one.chance else ""
        write(f"{one.name:{width}}  {one.value:8.2%}  {one.low:.1%} to {one.high:.1%}{chance}{said}")


def main(arguments: list[str] | None = None) -> int:
    """Print the table; return 1 if a bound is not kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--runs", type=int, default=5000, help="experiments a line (default: 5000); below 2000 chance may break bounds"
    )
    parser.add_argument(
        "--seed", type=int, default=20260101, help="the same seed prints the same table (default: 20260101)"
    )
    options = parser.parse_args(arguments)
    found = list(shares(options.runs, options.seed))
    table(found)
    return 0 if all(one.kept for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
