"""`replay measure`: a campaign, then its tables and its verdicts, as `replay derive` and `replay claims` make them.

Measuring knows neither of the two: they come afterwards, need no cluster, and only read raw output.
"""

from __future__ import annotations

import argparse
import traceback

from replay.base.invocation import deck_command, replay_command
from replay.base.paths import benchmarks_directory, shown
from replay.cli.data_commands import CLAIMS, DERIVE
from replay.cli.grammar import Command
from replay.design.configuration import claims_path
from replay.evidence.attempts import History
from replay.measure import command
from replay.measure.job import Failure


def run(options: argparse.Namespace) -> int:
    """Run a campaign and report on it; return the exit status of the first part that failed. Raises ReplayError."""
    return command.run(options, afterwards=derive_and_judge)


def derive_and_judge(data_set: str, experiments: list[str], status: int, failure: Failure | None = None) -> int:
    """Derive the tables and print the verdicts on the claims. Returns `status`, or if that is 0, the failing part's.

    Nothing is derived from a run that ended before its first set was finished. Why measuring failed comes last, before
    what to do next.
    """
    folder = benchmarks_directory() / data_set
    measured = [name for name in experiments if any((folder / name / "raw").glob("design-*"))]
    if not measured or (status and not any(History(folder / name / "raw").seals() for name in measured)):
        if failure is not None:
            _say_failure(failure)
        return status
    print(f"\nraw output: {shown(folder)}")
    steps = [(DERIVE, "deriving", ())]
    if claims_path().exists():
        steps.append((CLAIMS, "judging the claims", ("--measured",)))
    chosen = [word for name in measured for word in ("--experiment", name)]
    for step, doing, more in steps:
        print(f"{doing} …", flush=True)  # the command takes a moment to import what it needs
        if failed := _status_of(step, ["--data", data_set, *chosen, *more]):
            print(f"{doing} ended with status {failed}; the raw output is unaffected")
            print(f"next: fix the problem, then run {replay_command(step.name, '--data', data_set)}")
            return status or failed
    present = deck_command("present", "--data", data_set)
    elsewhere = f"to present it, copy {folder} into benchmarks/ of a Replay checkout, which contains the deck"
    if failure is not None:
        _say_failure(failure)
        print(f"      to present what there is: {present or elsewhere}")
    else:
        print(f"\nnext: {present or elsewhere}")
    if claims_path().exists():
        against = replay_command("claims", "--data", data_set, "--against", "NAME")
        print(f"      to compare it with another data set: {against}")
    return status


def _say_failure(failure: Failure) -> None:
    print(f"\nmeasuring ended early: {failure.what}\nnext: {failure.next_step or 'run measure again'}")


def _status_of(step: Command, words: list[str]) -> int:
    """Run a command, which reports its own errors; return its exit status. A bug in it does not end measuring."""
    try:
        return step.main(words)
    except Exception:
        traceback.print_exc()
        return 1
