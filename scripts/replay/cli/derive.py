"""`replay derive`, and what follows `replay measure`: its tables and its verdicts.

Deriving checks the evidence, lets Snakemake derive what is due, and reports the result. It needs no cluster. Measuring
knows nothing of it.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from replay.base.errors import INTERRUPTED, EvidenceError, ReplayError
from replay.base.paths import JUDGING, benchmarks_directory, deck_command, program_digest, replay_command, shown
from replay.base.progress import Part, Progress
from replay.base.snakemake import cause_in, end_of, log_path, run_snakemake, setting
from replay.base.terminal import waiting
from replay.claims.descriptions import differences
from replay.claims.load import load_book
from replay.claims.tables import read_manifest
from replay.cli.data_commands import CLAIMS, DERIVE
from replay.cli.grammar import Command
from replay.derive.outliers import flagged_in
from replay.derive.part import read_part
from replay.design.configuration import claims_path
from replay.evidence.attempts import History
from replay.evidence.data_set import named_experiments
from replay.evidence.read import verify_packs

if TYPE_CHECKING:
    from replay.measure.job import Failure

_RESULT = re.compile(r"([a-z][a-z0-9-]*): (\d+ cells, (\d+) tables changed)")


def run(options: argparse.Namespace) -> int:
    """Derive according to the options; return the exit status. Raises ReplayError, e.g. for altered raw output."""
    data_set = benchmarks_directory() / options.data
    if options.verify:
        return _verify(data_set)
    if options.outliers:
        return _list_outliers(data_set, options.experiment)
    if options.watch:
        from replay.claims.data_set import watch  # noqa: PLC0415 - it holds in memory what deriving needs

        watch(data_set, tuple(options.experiment))
        return 0
    started = time.perf_counter()
    names = named_experiments(data_set, options.experiment)
    status, made = _derive(data_set, names, options)
    if status:
        return status
    if options.entities:
        from replay.derive.experiment import write_entities  # noqa: PLC0415 - it imports pandas

        for name in names:
            write_entities(data_set / name)
    result = f"{sum(made.values())} tables of experiments changed" if made else "nothing had changed"
    print(f"derived {data_set} in {time.perf_counter() - started:.1f} s: {result}")
    if lines := differences(data_set):
        again = replay_command("derive", "--data", data_set.name, "--force")
        print("\n".join([*lines, f"these derived files are not as they were derived; {again} makes them again"]))
        return 1
    with waiting("looking for runs that lie far from the others"):
        flagged = flagged_in(data_set, names)
    if flagged.outliers:
        print(f"{flagged.sentence()}: {replay_command('derive', '--data', data_set.name, '--outliers')} lists them")
    return 0


def _derive(data_set: Path, names: Sequence[str], options: argparse.Namespace) -> tuple[int, dict[str, int]]:
    """Have Snakemake derive what is due; return its exit status, and how many files of each experiment changed.

    Experiments whose evidence is missing or altered stay as they are. Raises EvidenceError for the last of them, and
    ReplayError if Snakemake itself failed; what is wrong with the others and what a failed job said is printed.
    """
    intact, refused = [], []
    with waiting(f"comparing the raw output of {data_set.name} with its digests"):
        for name in names:
            try:
                verify_packs(data_set / name / "raw")
            except EvidenceError as error:
                refused.append(error)
            else:
                intact.append(name)
    title, log, status = f"derive {data_set.name}", log_path("derive", data_set.name), 0
    made: dict[str, int] = {}
    with Progress(unit="experiments", verb="derive") as progress:
        progress.plan({title: Part(len(intact))})
        progress.title = title

        def told(line: str) -> None:
            if result := _RESULT.fullmatch(line.rstrip()):
                made[result[1]] = int(result[3])
                progress.begin(result[1])
                progress.end(result[2])
            else:
                progress.tell(line)

        progress.doing("starting Snakemake")
        settings = [setting("data", data_set.name)]
        settings += [setting("experiment", intact)] if options.experiment or refused else []
        if intact:
            forced = ("--forceall",) if options.force or _is_outdated(data_set, intact) else ()
            status = run_snakemake(("--cores", "all", "--keep-going", *forced), settings, log, told)
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    for text, _ in progress.failures:
        if text not in map(str, refused):
            print(text, file=sys.stderr)
    for error in refused[:-1]:
        print(error, file=sys.stderr)
    if refused:
        raise refused[-1]
    if status and not progress.failures:
        raise ReplayError(f"Snakemake {end_of(status)}: {cause_in(log) or 'its log says why'}", where=shown(log))
    return progress.failures[0][1] if status else 0, made


def _is_outdated(data_set: Path, names: Sequence[str]) -> bool:
    """Return whether another version of the program derived an experiment, or the data set had another name then.

    Snakemake knows only what it made itself, under the present name.
    """
    with contextlib.suppress(EvidenceError):  # deriving itself says what is wrong with it
        if read_manifest(data_set).get("data_set", data_set.name) != data_set.name:
            return True
    parts = (read_part(data_set / name) for name in names)
    return any(part is not None and part.program != program_digest(*JUDGING) for part in parts)


def _verify(data_set: Path) -> int:
    lines = differences(data_set)
    summary = f"{len(lines)} derived files differ" if lines else "all derived files match"
    print("\n".join([*lines, f"{data_set.name}: {summary}"]))
    return 1 if lines else 0


def _list_outliers(data_set: Path, experiments: Sequence[str]) -> int:
    flagged = flagged_in(data_set, named_experiments(data_set, experiments))
    print("\n".join([*flagged.outliers, f"{data_set.name}: {flagged.sentence()}"]))
    return 0


# After measuring ------------------------------------------------------------------------------------------------------


def measure(options: argparse.Namespace) -> int:
    """Run a campaign and report on it; return the exit status of the first part that failed. Raises ReplayError."""
    from replay.measure import command  # noqa: PLC0415 - deriving needs nothing that asks a cluster

    return command.run(options, beforehand=refuse_odd_claims, afterwards=derive_and_judge)


def interleave(options: argparse.Namespace) -> int:
    """Measure releases in turns; return the exit status of the turn that failed. Raises ReplayError."""
    from replay.measure import interleave  # noqa: PLC0415 - as above

    return interleave.run(options, beforehand=refuse_odd_claims)


def refuse_odd_claims(data_set: str) -> None:
    """Raise ConfigurationError if a claim is wrong: its blocks register it, and once mended it would be exploratory."""
    if claims_path().exists():
        load_book(benchmarks_directory() / data_set)


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
            if failure is not None:
                _say_failure(failure)
            return status or failed
    if not any(seal["valid"] for name in measured for seal in History(folder / name / "raw").seals()):
        print("\nno cell of it counts, so there is nothing to present; what is said above tells why")
        if failure is not None:
            _say_failure(failure)
        else:
            print("next: remove the cause, then run the same command again: it measures what is missing")
        return status
    _say_first(data_set)
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
    report = replay_command("report", "--data", data_set, "--out", f"{data_set}.html")
    print(f"      to hand what it says to others, as one page: {report}")
    return status


def _say_first(data_set: str) -> None:
    """Print what the report of a data set says first. Where there can be no report yet, `report` itself says why."""
    try:
        from replay.exchange.report.data_set import read_data_set  # noqa: PLC0415 - it imports pandas
        from replay.exchange.report.page import parts_of, say_first  # noqa: PLC0415

        with waiting(f"reading what {data_set} says"):
            parts = parts_of(read_data_set(benchmarks_directory(), data_set))
    except ReplayError:
        return
    except Exception:  # like a bug in deriving, it does not end measuring
        traceback.print_exc()
        return
    if any(part.headline for part in parts):
        print("\nin short:")
        say_first(parts)


def _say_failure(failure: Failure) -> None:
    print(f"\nmeasuring ended early: {failure.what}\nnext: {failure.next_step or 'run measure again'}")


def _status_of(step: Command, words: list[str]) -> int:
    """Run a command, which reports its own errors; return its exit status. A bug in it does not end measuring."""
    try:
        return step.main(words)
    except Exception:
        traceback.print_exc()
        return 1
