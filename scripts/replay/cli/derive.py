"""`replay derive`: checks the evidence, lets Snakemake derive what is due, and reports the result."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from replay.base.errors import INTERRUPTED, EvidenceError, ReplayError
from replay.base.invocation import replay_command
from replay.base.paths import JUDGING, benchmarks_directory, program_digest, shown
from replay.base.progress import Part, Progress
from replay.base.snakemake import cause_in, end_of, log_path, run_snakemake
from replay.base.terminal import waiting
from replay.claims.descriptions import differences
from replay.derive.outliers import flagged_in
from replay.derive.part import read_part
from replay.evidence.data_set import named_experiments
from replay.evidence.read import verify_all, verify_packs

_RESULT = re.compile(r"([a-z][a-z0-9-]*): (\d+ cells, (\d+) files changed)")


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
        from replay.derive.experiment import derive_experiment  # noqa: PLC0415 - it imports pandas

        for name in names:
            derive_experiment(data_set / name, entities=True)
    result = f"{sum(made.values())} files changed" if made else "nothing had changed"
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

    Experiments whose evidence is missing or altered stay as they are. Raises EvidenceError for one of them, and
    ReplayError if Snakemake itself failed; what a failed job said is printed.
    """
    intact, refused = [], []
    with waiting(f"comparing the raw output of {data_set.name} with its digests"):
        for name in names:
            try:
                _verify_evidence(data_set / name / "raw")
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
        settings = [f"data={data_set.name}"]
        settings += [f"experiment={json.dumps(intact)}"] if options.experiment or refused else []
        if intact:
            forced = ("--forceall",) if options.force or _is_outdated(data_set, intact) else ()
            status = run_snakemake(("--cores", "all", "--keep-going", *forced), settings, log, told)
    if status == INTERRUPTED:
        return status, made
    for text, _ in progress.failures:
        if text not in map(str, refused):
            print(text, file=sys.stderr)
    if refused:
        raise refused[0]
    if status and not progress.failures:
        raise ReplayError(f"Snakemake {end_of(status)}: {cause_in(log) or 'its log says why'}", where=shown(log))
    return progress.failures[0][1] if status else 0, made


def _verify_evidence(raw: Path) -> None:
    """Raise EvidenceError that names a file which is missing, altered or not listed."""
    if any(raw.glob("block-*.open")):
        verify_all(raw)
    else:
        verify_packs(raw)


def _is_outdated(data_set: Path, names: Sequence[str]) -> bool:
    """Return whether another version of the program derived an experiment. Snakemake knows only what it made itself."""
    parts = (read_part(data_set / name) for name in names)
    return any(part is not None and part.program != program_digest(*JUDGING) for part in parts)


def _verify(data_set: Path) -> int:
    lines = differences(data_set)
    summary = f"{len(lines)} derived files differ" if lines else "all derived files match"
    print("\n".join([*lines, f"{data_set.name}: {summary}"]))
    return 1 if lines else 0


def _list_outliers(data_set: Path, experiments: Sequence[str]) -> int:
    flagged = flagged_in(data_set, named_experiments(data_set, experiments))
    for outlier in flagged.outliers:
        print(outlier.sentence())
    print(f"{data_set.name}: {flagged.sentence()}")
    return 0
