"""`replay claims`: a data set's verdict on every claim of the talk, alone or compared with another data set.

On a terminal it prints in colours and to its width, elsewhere plain text.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TextIO

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from replay.base import stats as statistics
from replay.base.errors import ConfigurationError
from replay.base.paths import benchmarks_directory, suggestion
from replay.base.terminal import console_of, is_terminal
from replay.claims.brief import aligned, as_text, brief, ratio_lines
from replay.claims.documents import as_document, comparison_document
from replay.claims.evaluate import ClaimComparison, ConditionComparison, compare, three_digits
from replay.claims.judge import (
    FALSE_DISCOVERY_RATE,
    judge_data_set,
    multiplicity,
    read_controls,
    with_campaigns,
    with_versions,
)
from replay.claims.load import load_book
from replay.claims.model import (
    CLAIM,
    IN_THIS_CAMPAIGN,
    NOT_MEASURED,
    SETUP_CHECK,
    VERDICTS,
    Assessment,
    Book,
    Claim,
    ClaimOverCampaigns,
    ConditionResult,
    Count,
    Judgement,
)
from replay.design.configuration import experiment_names

NO_CLAIM = "no claim is about these experiments"
EXPLORATORY = "Exploratory: not registered, as it stands, before all of its blocks were measured."
SETUP_CHECKS = "Checks of the set-up, which say nothing about storage:"
#: Columns of plain text, into a pipe or a file.
PLAIN_WIDTH = 120

_STYLES = {"held": "green", "refuted": "bold red", "inconclusive": "yellow"}
_VERDICT_WIDTH = 20


def run(options: argparse.Namespace) -> int:
    """Print the verdicts. Returns 0, or 1 if a verdict is not the expected one; raises ReplayError."""
    if options.ratios and not options.brief:
        raise ConfigurationError("--ratios goes with --brief", next_step="add --brief")
    data_set = benchmarks_directory() / options.data
    book = load_book(data_set)
    assessment = with_campaigns(judge_data_set(data_set, book), data_set, book)
    unmet = [complaint for text in options.expect if (complaint := _unmet(text, assessment))]
    other = _other(options, book)
    assessment = _chosen(with_versions(assessment, data_set), options.experiment)
    left_out = []
    if options.measured:
        left_out = [judgement.claim.id for judgement in assessment.judgements if judgement.verdict == NOT_MEASURED]
        assessment = replace(assessment, judgements=assessment.measured)
    if options.brief:
        beside = None if other is None else as_document(other)
        sentences = brief(book, as_document(assessment), read_controls(data_set), beside)
        ratios = ratio_lines(data_set) if options.ratios else ()
        print(*ratios, as_text(assessment.data_set, sentences), sep="\n")
    elif options.json:
        compared = None if other is None else comparison_document(assessment, other)
        print(json.dumps(compared or as_document(assessment), indent=2, ensure_ascii=False))
    elif other is None:
        print_parts(verdict_parts(assessment), sys.stdout)
    else:
        print_parts(comparison_parts(assessment, other), sys.stdout)
    if left_out and not options.json and not options.brief:
        number = "1 more claim is" if len(left_out) == 1 else f"{len(left_out)} more claims are"
        print(f"{number} not measured: {', '.join(left_out)}")
    for text in unmet:
        print(text, file=sys.stderr)
    return 1 if unmet else 0


def _other(options: argparse.Namespace, book: Book) -> Assessment | None:
    if options.against is None:
        return None
    if options.against == options.data:
        raise ConfigurationError(
            f"--against {options.against}: this is the same data set",
            next_step="compare two different data sets: name another folder in benchmarks/",
        )
    folder = benchmarks_directory() / options.against
    return with_versions(judge_data_set(folder, book), folder)


def _chosen(assessment: Assessment, experiments: list[str] | None) -> Assessment:
    """Keep only the claims of these experiments. An experiment may have none, but it must exist."""
    if not experiments:
        return assessment
    known = dict.fromkeys([*experiment_names(), *(judged.claim.experiment for judged in assessment.judgements)])
    for name in experiments:
        if name not in known:
            raise ConfigurationError(
                f"--experiment {name}: there is no such experiment", next_step=suggestion(name, list(known))
            )
    return replace(assessment, judgements=tuple(j for j in assessment.judgements if j.claim.experiment in experiments))


def _unmet(expected: str, assessment: Assessment) -> str:
    verdict, _, name = expected.partition(":")
    verdict = verdict.replace("-", " ")
    judgements = {judgement.claim.id: judgement for judgement in assessment.judgements}
    if verdict not in VERDICTS or name not in judgements:
        raise ConfigurationError(
            f"--expect {expected}: write VERDICT:ID",
            next_step=f"verdicts: {', '.join(VERDICTS)}; ids: {', '.join(judgements)}",
        )
    judgement = judgements[name]
    if judgement.verdict == verdict:
        return ""
    return f"{name}: expected {verdict}, found {judgement.verdict}: {judgement.reason}"


# Verdicts -------------------------------------------------------------------------------------------------------------


def print_parts(parts: Iterable[RenderableType], stream: TextIO) -> None:
    page = io.StringIO()
    console = console_of(stream) if is_terminal(stream) else Console(file=page, width=PLAIN_WIDTH, color_system=None)
    for part in parts:
        console.print(part, markup=False, emoji=False, highlight=False, soft_wrap=not isinstance(part, Table))
    # Without the spaces that fill each line of a table.
    stream.write("\n".join(line.rstrip() for line in page.getvalue().split("\n")))


def verdict_parts(assessment: Assessment) -> Iterator[RenderableType]:
    """Yield each claim: its verdict, its sentence, and the reason below it."""
    if not assessment.judgements:
        yield NO_CLAIM
    for kind in (CLAIM, SETUP_CHECK):
        judgements = [judgement for judgement in assessment.judgements if judgement.claim.kind == kind]
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
    if many.claims_tested:
        yield ""
        yield (
            f"{many.claims_decided} of {many.claims_tested} tested claims are decided. Chance alone would get at most "
            f"{many.wrong_by_chance_at_most:.1f} of them wrong, on average."
        )
        yield (
            f"{many.conditions_within_false_discovery_rate} of {many.conditions_tested} conditions have a q-value of "
            f"{FALSE_DISCOVERY_RATE:g} or less (Benjamini-Hochberg)."
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


def comparison_parts(first: Assessment, second: Assessment) -> Iterator[RenderableType]:
    """Yield the verdicts on each claim, both estimates of each condition, and their ratio.

    A claim whose verdicts differ begins with ≠. Checks of the set-up come last, under a line of their own.
    """
    compared = compare(first, second)
    for side in (first, second):
        yield f"{side.data_set}: {side.measured_with or 'its versions are not recorded'}"
    rows = [["", first.data_set, second.data_set, f"{first.data_set} ÷ {second.data_set}"]]
    for kind in (CLAIM, SETUP_CHECK):
        claims = [comparison for comparison in compared if comparison.claim.kind == kind]
        rows += [[""], [SETUP_CHECKS]] if claims and kind == SETUP_CHECK else []
        rows += [row for comparison in claims for row in _compared_rows(comparison)]
    yield from aligned(rows, "  ")
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
    sides = [_side(side) if side.n else side.verdict for side in comparison.results]
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
    names = {False: "Welch's t", True: "Student's t over pairs of blocks"}
    methods = " or ".join(names[paired] for paired in sorted({condition.paired for condition in tested} or {False}))
    return (
        f"{sum(comparison.verdicts_differ for comparison in compared)} of {len(compared)} verdicts differ (≠); "
        f"{sum(bool(condition.more_than_noise) for condition in tested)} of {len(tested)} ratios differ by more than "
        f"noise ({statistics.CONFIDENCE:.0%} intervals by {methods}; "
        "Holm's correction over all of them)"
    )
