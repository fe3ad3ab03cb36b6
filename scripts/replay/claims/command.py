"""`replay claims`: a data set's verdict on every claim of the talk, alone or compared with another data set."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.base.invocation import suggestion
from replay.base.paths import benchmarks_directory
from replay.base.terminal import console_of, is_terminal
from replay.claims.brief import as_text, brief
from replay.claims.compare import compare, comparison_document, comparison_table
from replay.claims.documents import altered_line, as_document, as_table, judge_data_set, read_controls, with_versions
from replay.claims.load import load_book
from replay.claims.model import VERDICTS, Assessment, Book, Judgement
from replay.claims.printing import print_assessment, ratio_lines
from replay.design.configuration import experiment_names


def run(options: argparse.Namespace) -> int:
    """Print the verdicts. Returns 0, or 1 if a verdict is not the expected one; raises ReplayError."""
    if options.ratios and not options.brief:
        raise ConfigurationError("--ratios goes with --brief", next_step="add --brief")
    data_set = benchmarks_directory() / options.data
    book = load_book(data_set)
    assessment = judge_data_set(data_set, book)
    unmet = [said for text in options.expect if (said := _unmet(text, assessment))]
    other = _other(options, book)
    assessment = _chosen(with_versions(assessment, data_set), options.experiment)
    left_out: tuple[Judgement, ...] = ()
    if options.measured:
        assessment, left_out = assessment.measured()
    if options.brief:
        if options.ratios and (lines := ratio_lines(data_set)):
            print("\n".join([*lines, ""]))
        print(_brief(book, assessment, other, data_set))
    elif other is None and not options.json and is_terminal(sys.stdout):
        print_assessment(assessment, console_of(sys.stdout))
    else:
        print(_text(assessment, other, options.json))
    if left_out and not options.json and not options.brief:
        print(_absent(left_out))
    for text in unmet:
        print(text, file=sys.stderr)
    return 1 if unmet else 0


def _absent(left_out: Sequence[Judgement]) -> str:
    number = "1 more claim is" if len(left_out) == 1 else f"{len(left_out)} more claims are"
    return f"{number} not measured: {', '.join(one.claim.id for one in left_out)}"


def _brief(book: Book, assessment: Assessment, other: Assessment | None, data_set: Path) -> str:
    beside, altered = (None, []) if other is None else (as_document(other), altered_line(other))
    sentences = brief(book, as_document(assessment), read_controls(data_set), beside)
    return "\n".join([*altered_line(assessment), *altered, as_text(assessment.data_set, sentences)])


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
    known = dict.fromkeys([*experiment_names(), *(one.claim.experiment for one in assessment.judgements)])
    for name in experiments:
        if name not in known:
            raise ConfigurationError(
                f"--experiment {name}: there is no such experiment", next_step=suggestion(name, list(known))
            )
    return assessment.of(experiments)


def _text(assessment: Assessment, other: Assessment | None, as_json: bool) -> str:
    if other is None:
        document, table = as_document, as_table
        things = (assessment,)
    else:
        document, table = comparison_document, comparison_table
        things = (assessment, other, compare(assessment, other))
    return json.dumps(document(*things), indent=2, ensure_ascii=False) if as_json else table(*things)


def _unmet(expected: str, assessment: Assessment) -> str:
    verdict, _, name = expected.partition(":")
    verdict = verdict.replace("-", " ")
    found = {one.claim.id: one for one in assessment.judgements}
    if verdict not in VERDICTS or name not in found:
        raise ConfigurationError(
            f"--expect {expected}: write VERDICT:ID",
            next_step=f"verdicts: {', '.join(VERDICTS)}; ids: {', '.join(found)}",
        )
    one = found[name]
    return "" if one.verdict == verdict else f"{name}: expected {verdict}, found {one.verdict}: {one.reason}"
