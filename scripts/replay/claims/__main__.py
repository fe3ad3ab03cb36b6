"""`npm run claims`: what a data set says of every claim of the talk."""

from __future__ import annotations

import argparse
import json
import sys

from replay.claims.files import judge_data_set
from replay.claims.model import VERDICTS, Judgement
from replay.claims.output import as_document, as_table
from replay.errors import ConfigurationError, ReplayError
from replay.paths import benchmarks_directory


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    made = argparse.ArgumentParser(prog="npm run claims --", description=__doc__)
    made.add_argument("--data", required=True, metavar="NAME", help="the data set, a folder of benchmarks/")
    made.add_argument("--json", action="store_true", help="print JSON")
    made.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="VERDICT:ID",
        help="end with status 1 unless the claim has that verdict, for example held:journal-4m-write-half",
    )
    return made


def main(arguments: list[str] | None = None) -> int:
    """Print the verdicts. Returns 0, 1 where an expected verdict is another, or an error's exit status."""
    options = parser().parse_args(arguments)
    try:
        judgements = judge_data_set(benchmarks_directory() / options.data)
        unmet = [said for text in options.expect if (said := _unmet(text, judgements))]
    except ReplayError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    if options.json:
        print(json.dumps(as_document(judgements, options.data), indent=2, ensure_ascii=False))
    else:
        print(as_table(judgements))
    for text in unmet:
        print(text, file=sys.stderr)
    return 1 if unmet else 0


def _unmet(expected: str, judgements: list[Judgement]) -> str:
    verdict, _, name = expected.partition(":")
    verdict = verdict.replace("-", " ")
    found = {one.claim.id: one for one in judgements}
    if verdict not in VERDICTS or name not in found:
        raise ConfigurationError(
            f"--expect {expected}: write VERDICT:ID",
            next_step=f"verdicts: {', '.join(VERDICTS)}; ids: {', '.join(found)}",
        )
    one = found[name]
    return "" if one.verdict == verdict else f"{name}: expected {verdict}, found {one.verdict}: {one.reason}"


if __name__ == "__main__":
    sys.exit(main())
