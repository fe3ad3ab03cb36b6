"""`python -m replay.claims.workflow.job STEP …`: runs one step for a rule of the Snakefile."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from replay.base.disk import explained
from replay.base.errors import ReplayError
from replay.base.paths import benchmarks_directory
from replay.claims.workflow import steps
from replay.claims.workflow.warm import run_warm
from replay.derive.part import Derived


def main(arguments: Sequence[str] | None = None, *, warm: bool = True) -> int:
    """Run the step, in a warm process if there is one; return its exit status.

    The step's output also goes to the rule's log.
    """
    parser = argparse.ArgumentParser(prog="python -m replay.claims.workflow.job", description=__doc__)
    parser.add_argument("step", choices=["derive", "judge", "answer", "describe"])
    parser.add_argument("--data", required=True, help="the data set")
    parser.add_argument("--experiment", help="the experiment to derive")
    parser.add_argument("--log", required=True, type=Path, help="the file for the step's output")
    options = parser.parse_args(arguments)
    if warm and (status := run_warm(sys.argv[1:] if arguments is None else arguments)) is not None:
        return status
    with options.log.open("w", encoding="utf-8") as log:
        try:
            said = _run(options)
        except ReplayError as error:
            log.write(f"{error}\n")
            print(error, file=sys.stderr)
            return error.exit_status
        except OSError as error:
            if (refused := explained(error)) is None:
                raise
            print(refused, file=sys.stderr)
            return refused.exit_status
        log.writelines(f"{line}\n" for line in said)
        for line in said:
            print(line, flush=True)
    return 0


def _run(options: argparse.Namespace) -> list[str]:
    data_set = benchmarks_directory() / options.data
    if options.step == "derive":
        derived = steps.derive_experiment(data_set / options.experiment)
        return [*notes_of(derived), result_of(derived)]
    {"judge": steps.judge_claims, "answer": steps.answer, "describe": steps.describe}[options.step](data_set)
    return []


def notes_of(derived: Derived) -> list[str]:
    """Return what a person should know about a derived experiment."""
    return [f"{derived.name}: void, its output cannot stand: {note}" for note in derived.notes]


def result_of(derived: Derived) -> str:
    """Return the result of deriving an experiment, in one line."""
    return f"{derived.name}: {derived.cells} cells, {len(derived.written)} files changed"


if __name__ == "__main__":
    sys.exit(main())
