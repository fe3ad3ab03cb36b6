"""Simulated measurements of two variants, and claims about them, for tests of claims."""

from __future__ import annotations

import csv
import io
import math
import random
from pathlib import Path

from replay.claims.command import print_parts
from replay.claims.evaluate import judge
from replay.claims.model import Claim, Condition, Presupposition, Region, Selector
from replay.claims.tables import Table
from replay.derive.facts import parse_predicate

FACTORS = ["io_type", "io_size_bytes"]
EQUAL = Region(0.9, 1.1, equivalence=True)


def rows(ratio, blocks=10, noise=0.05, drift=0.0, seed=1, limiter="none", sizes=(4096, 4194304)):
    """Paired measurements whose true ratio plain ÷ journal is `ratio` (a number, or one per size).

    `limiter` is one word, or one per variant.
    """
    chance = random.Random(seed)
    made = []
    for block in range(1, blocks + 1):
        for size in sizes:
            level = math.exp(chance.gauss(0, 0.2) + drift * block)
            true = ratio[size] if isinstance(ratio, dict) else ratio
            for variant, factor in (("plain", 1.0), ("journal", 1 / true)):
                made.append(
                    {
                        "used": "1",
                        "block": str(block),
                        "attempt": "1",
                        "point": f"write-{size}",
                        "cell": f"{variant}-{size}",
                        "variant": variant,
                        "io_type": "write",
                        "io_size_bytes": str(size),
                        "rate": str(1e6 * level * factor * math.exp(chance.gauss(0, noise))),
                        "limiter": limiter[variant] if isinstance(limiter, dict) else limiter,
                    }
                )
    return made


def select(variant, sizes=(4096,)):
    return Selector(variant, {"io_type": ("write",), "io_size_bytes": tuple(sizes)})


def condition(region, sizes=(4096,), name="ratio", says="plain ÷ journal", better="higher"):
    terms = ((1, select("plain", sizes)), (-1, select("journal", sizes)))
    return Condition(name, says, "rate", terms, region, better)


def presuppose(that, **more):
    return Presupposition(parse_predicate(that, "here"), "a reason", **more)


def claim(region, *presupposes, sizes=(4096,), **more):
    return Claim("c", "A sentence.", "S0", "e", (condition(region, sizes, **more),), presupposes)


def claim_of(*conditions):
    return Claim("c", "A sentence.", "S0", "e", conditions)


def printed(parts):
    """Return what these parts of a table look like in a pipe."""
    stream = io.StringIO()
    print_parts(parts, stream)
    return stream.getvalue()


def judged(one, data):
    return judge(one, Table(data, FACTORS))


def verdict(one, data):
    return judged(one, data).verdict


def write_tidy(folder: Path, ratio, **more) -> Path:
    """Write a data set with one point of rbd-journaling, sequential 4 KiB writes, as derive writes it."""
    path = folder / "rbd-journaling" / "tidy.csv"
    path.parent.mkdir(parents=True)
    names = {"plain": "without-journal", "journal": "with-journal"}
    data = [
        {**row, "variant": names[row["variant"]], "io_pattern": "seq", "bytes_per_second": row["rate"]}
        for row in rows(ratio, sizes=(4096,), **more)
    ]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(data[0]))
        writer.writeheader()
        writer.writerows(data)
    return folder
