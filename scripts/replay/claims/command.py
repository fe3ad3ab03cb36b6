"""`replay claims`: a data set's verdict on every claim of the talk, alone or compared with another data set."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.invocation import suggestion
from replay.base.paths import benchmarks_directory
from replay.claims.brief import as_text, brief
from replay.claims.compare import compare, comparison_document
from replay.claims.documents import as_document
from replay.claims.judge import judge_data_set, read_controls, with_campaigns, with_versions
from replay.claims.load import load_book
from replay.claims.model import VERDICTS, Assessment, Book, Judgement
from replay.claims.printing import print_assessment, print_comparison, print_ratios
from replay.design.configuration import experiment_names


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
    left_out: tuple[Judgement, ...] = ()
    if options.measured:
        assessment, left_out = assessment.measured()
    if options.brief:
        if options.ratios:
            print_ratios(data_set, sys.stdout)
        print(_brief(book, assessment, other, data_set))
    elif options.json:
        print(json.dumps(_document(assessment, other), indent=2, ensure_ascii=False))
    elif other is None:
        print_assessment(assessment, sys.stdout)
    else:
        print_comparison(assessment, other, compare(assessment, other), sys.stdout)
    if left_out and not options.json and not options.brief:
        print(_absent(left_out))
    for text in unmet:
        print(text, file=sys.stderr)
    return 1 if unmet else 0


def _document(assessment: Assessment, other: Assessment | None) -> dict[str, Any]:
    if other is None:
        return as_document(assessment)
    return comparison_document(assessment, other, compare(assessment, other))


def _absent(left_out: Sequence[Judgement]) -> str:
    number = "1 more claim is" if len(left_out) == 1 else f"{len(left_out)} more claims are"
    return f"{number} not measured: {', '.join(judgement.claim.id for judgement in left_out)}"


def _brief(book: Book, assessment: Assessment, other: Assessment | None, data_set: Path) -> str:
    beside = None if other is None else as_document(other)
    return as_text(assessment.data_set, brief(book, as_document(assessment), read_controls(data_set), beside))


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
    return assessment.of(experiments)


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
