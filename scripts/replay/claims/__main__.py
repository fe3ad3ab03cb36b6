"""`npm run claims`: what a data set says of every claim of the talk, alone or beside another data set."""

from __future__ import annotations

import argparse
import json
import sys

from replay.base.errors import ConfigurationError, ReplayError
from replay.base.paths import benchmarks_directory
from replay.claims.compare import compare
from replay.claims.compare_output import comparison_document, comparison_table
from replay.claims.files import judge_data_set
from replay.claims.model import VERDICTS, Assessment
from replay.claims.output import as_document, as_table
from replay.config.experiments import experiment_names


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    made = argparse.ArgumentParser(prog="npm run claims --", description=__doc__)
    made.add_argument("--data", required=True, metavar="NAME", help="the data set, a folder of benchmarks/")
    made.add_argument("--against", metavar="NAME", help="another data set: what differs, and is it more than noise?")
    made.add_argument(
        "--experiment", action="append", metavar="NAME", help="only the claims of this experiment (may be repeated)"
    )
    made.add_argument("--json", action="store_true", help="print JSON")
    made.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="VERDICT:ID",
        help="end with status 1 unless --data gives the claim that verdict, for example held:journal-4m-write-half",
    )
    return made


def main(arguments: list[str] | None = None) -> int:
    """Print the verdicts. Returns 0, 1 where an expected verdict is another, or an error's exit status."""
    options = parser().parse_args(arguments)
    try:
        assessment = judge_data_set(benchmarks_directory() / options.data)
        unmet = [said for text in options.expect if (said := _unmet(text, assessment))]
        other = _other(options)
        assessment = _chosen(assessment, options.experiment)
    except ReplayError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    print(_text(assessment, other, options.json))
    for text in unmet:
        print(text, file=sys.stderr)
    return 1 if unmet else 0


def _other(options: argparse.Namespace) -> Assessment | None:
    if options.against is None:
        return None
    if options.against == options.data:
        raise ConfigurationError(
            f"--against {options.against}: that is the same data set",
            next_step="name another folder of benchmarks/: one data set is no two independent samples",
        )
    return judge_data_set(benchmarks_directory() / options.against)


def _chosen(assessment: Assessment, experiments: list[str] | None) -> Assessment:
    """Keep the claims of these experiments; an experiment may have none, but it must exist."""
    if not experiments:
        return assessment
    known = dict.fromkeys([*experiment_names(), *(one.claim.experiment for one in assessment.judgements)])
    for name in experiments:
        if name not in known:
            raise ConfigurationError(
                f"--experiment {name}: there is no such experiment", next_step=f"there are: {', '.join(known)}"
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


if __name__ == "__main__":
    sys.exit(main())
