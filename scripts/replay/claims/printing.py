"""Prints verdicts, comparisons and ratios: on a terminal in colours and to its width, elsewhere as plain text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from replay.base import stats as statistics
from replay.base.terminal import console_of, is_terminal
from replay.claims.brief import times
from replay.claims.compare import ClaimComparison, ConditionComparison
from replay.claims.evaluate import three_digits
from replay.claims.judge import FALSE_DISCOVERY_RATE, multiplicity
from replay.claims.model import (
    CLAIM,
    IN_THIS_CAMPAIGN,
    NOT_MEASURED,
    SETUP_CHECK,
    Assessment,
    Claim,
    ClaimOverCampaigns,
    ConditionResult,
    Count,
    Judgement,
)

NO_CLAIM = "no claim is about these experiments"
EXPLORATORY = "Exploratory: not registered, as it stands, before all of its blocks were measured."
SETUP_CHECKS = "Checks of the set-up, which say nothing about storage:"
NO_INTERVAL = "  (no interval: it needs at least two blocks)"
#: Columns of plain text, into a pipe or a file.
PLAIN_WIDTH = 120

_STYLES = {"held": "green", "refuted": "bold red", "inconclusive": "yellow"}
_VERDICT_WIDTH = 20
_RATIOS = "ratio-throughput-"
_UNITS = ("", "K", "M", "G")


def print_assessment(assessment: Assessment, stream: TextIO) -> None:
    """Print each claim: its verdict, its sentence, and the reason below it."""
    _print(_assessment(assessment), stream)


def print_comparison(
    first: Assessment, second: Assessment, compared: Sequence[ClaimComparison], stream: TextIO
) -> None:
    """Print the verdicts on each claim, both estimates of each condition, and their ratio.

    A claim whose verdicts differ begins with ≠. Checks of the set-up come last, under a line of their own.
    """
    _print(_comparison(first, second, compared), stream)


def print_ratios(data_set: Path, stream: TextIO) -> None:
    """Print a data set's ratios of throughput with their intervals, and an empty line; nothing if it has none.

    Nothing is computed: the figures are those that derive wrote, so the table and the charts always agree.
    """
    if ratios := [*_ratios(data_set)]:
        _print([*ratios, ""], stream)


def _print(parts: Iterable[RenderableType], stream: TextIO) -> None:
    page = io.StringIO()
    console = console_of(stream) if is_terminal(stream) else Console(file=page, width=PLAIN_WIDTH, color_system=None)
    for part in parts:
        console.print(part, markup=False, emoji=False, highlight=False, soft_wrap=not isinstance(part, Table))
    # Without the spaces that fill each line of a table.
    stream.write("\n".join(line.rstrip() for line in page.getvalue().split("\n")))


# Verdicts -------------------------------------------------------------------------------------------------------------


def _assessment(assessment: Assessment) -> Iterator[RenderableType]:
    if not assessment.judgements:
        yield NO_CLAIM
    for kind, judgements in ((CLAIM, assessment.claims), (SETUP_CHECK, assessment.setup_checks)):
        if not judgements:
            continue
        if kind == SETUP_CHECK:
            yield f"\n{SETUP_CHECKS}"
        table = Table.grid()
        table.add_column(width=_VERDICT_WIDTH, no_wrap=True)
        table.add_column(overflow="fold")
        for judgement in judgements:
            over = assessment.over_campaigns.get(judgement.claim.id)
            reasons = [judgement.reason, *(_over_campaigns(over) if over else ())]
            table.add_row(
                Text(judgement.verdict.upper(), _STYLES.get(judgement.verdict, "dim")),
                Text.assemble(_heading(judgement), "\n", ("\n".join(reasons), "dim")),
            )
        yield table
    for line in _summary(assessment):
        yield Text(line, "dim")


def _over_campaigns(over: ClaimOverCampaigns) -> Iterator[str]:
    """Yield a line for each condition that several campaigns tested: their mean, and what to expect of the next."""
    for name, condition in over.conditions.items():
        if condition.mean is None:
            continue
        which = f"{name}, " if len(over.conditions) > 1 else ""
        if condition.prediction is None:
            estimates = " and ".join(three_digits(campaign.estimate) for campaign in condition.tested)
            yield f"{which}over two campaigns: {estimates}, which do not tell what to expect of the next"
            continue
        low, high = map(three_digits, condition.prediction)
        verdict = "not settled" if condition.verdict == IN_THIS_CAMPAIGN else condition.verdict
        mean = _figure(*condition.mean[:3])
        yield f"{which}over {len(condition.tested)} campaigns: {mean}, the next one {low} to {high}: {verdict}"


def _heading(judgement: Judgement) -> str:
    """Return a claim for people: its sentence, who makes it, its id, and whether it is exploratory."""
    claim, exploratory = judgement.claim, ", exploratory" if judgement.exploratory else ""
    return f"{claim.sentence} ({_whose(claim)}, {claim.id}{exploratory})"


def _whose(claim: Claim) -> str:
    """Return who makes a claim: a source, or Replay, prompted by a source."""
    return f"ours, after {claim.source}" if claim.ours else claim.source


def _summary(assessment: Assessment) -> Iterator[str]:
    """Yield what ends a table of claims: what chance alone would produce, what exploratory means, which hosts."""
    many = multiplicity(assessment.judgements)
    if many.tested:
        yield ""
        yield (
            f"{many.decided} of {many.tested} tested claims are decided. Chance alone would get at most "
            f"{many.by_chance:.1f} of them wrong, on average."
        )
        yield (
            f"{many.discoveries} of {many.conditions} conditions have a q-value of {FALSE_DISCOVERY_RATE:g} or less "
            "(Benjamini-Hochberg)."
        )
    if any(judgement.exploratory for judgement in assessment.judgements):
        yield EXPLORATORY
    yield from _hosts(assessment)


def _hosts(assessment: Assessment) -> Iterator[str]:
    """Yield a line for each experiment with a tested claim whose blocks come from several hosts: which from which."""
    tested = {judged.claim.experiment for judged in assessment.judgements if judged.verdict != NOT_MEASURED}
    for name in sorted(tested & assessment.machines.keys()):
        blocks_of: dict[str, list[str]] = {}
        for block, hosts in assessment.machines[name].items():
            for host in hosts:
                blocks_of.setdefault(host, []).append(block)
        if len(blocks_of) > 1:
            shares = "; ".join(
                f"block{'s' if len(blocks) > 1 else ''} {', '.join(blocks)} on {host}"
                for host, blocks in blocks_of.items()
            )
            yield f"{name} was measured on {len(blocks_of)} hosts: {shares}."


# Two data sets --------------------------------------------------------------------------------------------------------


def _comparison(first: Assessment, second: Assessment, compared: Sequence[ClaimComparison]) -> Iterator[RenderableType]:
    for side in (first, second):
        yield f"{side.data_set}: {side.measured_with or 'its versions are not recorded'}"
    rows = [["", first.data_set, second.data_set, f"{first.data_set} ÷ {second.data_set}"]]
    for kind in (CLAIM, SETUP_CHECK):
        claims = [comparison for comparison in compared if comparison.claim.kind == kind]
        rows += [[""], [SETUP_CHECKS]] if claims and kind == SETUP_CHECK else []
        rows += [row for comparison in claims for row in _compared_rows(comparison)]
    yield from _aligned(rows, "  ")
    yield ""
    yield _compared_summary(compared)
    if any(judgement.exploratory for comparison in compared for judgement in comparison.judgements):
        yield EXPLORATORY


def _compared_rows(comparison: ClaimComparison) -> list[list[str]]:
    claim, mark = comparison.claim, "≠" if comparison.verdicts_differ else " "
    verdicts = [
        f"{judgement.verdict.upper()}{', exploratory' if judgement.exploratory else ''}"
        for judgement in comparison.judgements
    ]
    return [
        [f"{mark} {claim.sentence} ({_whose(claim)}, {claim.id})"],
        ["    verdict", *verdicts, ""],
        *map(_compared_row, comparison.conditions),
    ]


def _compared_row(comparison: ConditionComparison) -> list[str]:
    sides = ["not measured" if side is None or side.n == 0 else _side(side) for side in comparison.results]
    if comparison.more_than_noise is None:
        figure = "" if comparison.ratio is None else f"{_figure(comparison.ratio)}: "
        return [f"    {comparison.condition.name}", *sides, f"{figure}{comparison.missing}"]
    noise = "more than noise" if comparison.more_than_noise else "within noise"
    figure = _figure(comparison.ratio, comparison.low, comparison.high)
    return [f"    {comparison.condition.name}", *sides, f"{figure}: {noise}{', in pairs' if comparison.paired else ''}"]


def _side(result: ConditionResult) -> str:
    if isinstance(result.condition, Count):
        counted = f"{result.low:g}" if result.low == result.high else f"{result.low:g} to {result.high:g}"
        return f"{counted} n = {result.n} {result.verdict}"
    return f"{_figure(result.estimate, result.low, result.high)} n = {result.n} {result.verdict}"


def _figure(value: float, low: float | None = None, high: float | None = None) -> str:
    ends = "" if low is None or high is None else f" [{three_digits(low)}, {three_digits(high)}]"
    return f"{three_digits(value)}{ends}"


def _compared_summary(compared: Sequence[ClaimComparison]) -> str:
    conditions = [condition for comparison in compared for condition in comparison.conditions]
    tested = [condition for condition in conditions if condition.more_than_noise is not None]
    paired = {condition.paired for condition in tested} or {False}
    methods = " or ".join(
        name
        for name, is_used in (("Welch's t", False), ("Student's t over pairs of blocks", True))
        if is_used in paired
    )
    return (
        f"{sum(comparison.verdicts_differ for comparison in compared)} of {len(compared)} verdicts differ (≠); "
        f"{sum(bool(condition.more_than_noise) for condition in tested)} of {len(tested)} ratios differ by more than "
        f"noise ({statistics.CONFIDENCE:.0%} intervals by {methods}; "
        "Holm's correction over all of them)"
    )


def _aligned(rows: Sequence[Sequence[str]], between: str) -> Iterator[str]:
    """Yield rows with their columns aligned; a row of one field takes the whole line."""
    table = [row for row in rows if len(row) > 1]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in rows:
        yield between.join(text.ljust(width) for text, width in zip(row, widths, strict=False)).rstrip()


# Ratios of throughput -------------------------------------------------------------------------------------------------


def _ratios(data_set: Path) -> Iterator[RenderableType]:
    entries = _entries(data_set)
    for folder in sorted(data_set.glob("*/aggregate")):
        charts = sorted(path for path in folder.glob(f"{_RATIOS}*.csv") if path.name.count(".") == 1)
        if charts:
            yield from _of_experiment(folder.parent.name, entries.get(folder.parent.name, {}), charts)


def _of_experiment(name: str, entry: dict[str, Any], charts: Sequence[Path]) -> Iterator[RenderableType]:
    labels = [variant["label"] for variant in entry.get("variants", ()) if variant.get("reference")]
    reference = labels[0][:1].lower() + labels[0][1:] if labels else "the reference"
    yield f"{entry.get('title', name)}: throughput of {reference} ÷ throughput of …"
    lacks_interval = False
    for path in charts:
        (_, *xs), *rows = _fields(path)
        spread = {(row[0], row[1]): row[2:4] for row in _fields(path.with_suffix(".spread.csv"))}
        table = [[f"  {path.stem.removeprefix(_RATIOS).replace('-', ' ')}", *map(size_text, xs)]]
        for series, *values in rows:
            ends = [spread.get((series, x), ["", ""]) for x in xs]
            lacks_interval |= any(value and not all(end) for value, end in zip(values, ends, strict=True))
            table.append([f"    {series}", *map(_cell, values, ends)])
        yield from _aligned(table, "   ")
    if lacks_interval:
        yield NO_INTERVAL


def size_text(text: str) -> str:
    """Return bytes as an I/O size (4096 becomes 4K), and anything else unchanged."""
    if not text.isdecimal():
        return text
    value, unit = int(text), 0
    while value >= 1024 and value % 1024 == 0 and unit < len(_UNITS) - 1:
        value, unit = value // 1024, unit + 1
    return f"{value}{_UNITS[unit]}"


def _cell(value: str, ends: Sequence[str]) -> str:
    if not value:
        return "-"
    low, high = (times(float(end), digits=3) if end else "" for end in ends)
    return times(float(value), digits=3) + (f" [{low}, {high}]" if low and high else "")


def _fields(path: Path) -> list[list[str]]:
    """Return the rows of a CSV, the header included; none if there is no such file."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))
    except FileNotFoundError:
        return []


def _entries(data_set: Path) -> dict[str, Any]:
    """Return the experiments of the manifest; empty if the data set has not been described yet."""
    try:
        return json.loads((data_set / "manifest.json").read_text(encoding="utf-8"))["experiments"]
    except FileNotFoundError:
        return {}
