"""`replay derive`: finds out what is due, lets Snakemake derive it, and reports the result."""

from __future__ import annotations

import argparse
import gc
import re
import time
from collections.abc import Sequence
from pathlib import Path

from replay.base.command_line import INTERRUPTED
from replay.base.errors import EvidenceError
from replay.base.invocation import replay_command
from replay.base.paths import benchmarks_directory, shown
from replay.base.progress import Progress
from replay.base.snakemake import end_of, log_path, run_snakemake
from replay.base.terminal import waiting
from replay.claims.workflow.dataset import derive_data_set, wanted
from replay.claims.workflow.job import notes_of
from replay.claims.workflow.warm import warm_jobs
from replay.derive.arguments import COMMAND
from replay.derive.outliers import flagged_in
from replay.derive.part import Derived, current_part
from replay.evidence.copies import read_stamp

#: Starting Snakemake and its jobs takes as much processor time as deriving this much evidence: with less of it, the
#: same steps run one after the other in this process.
WORTH_SCHEDULING_BYTES = 16 << 20
_RESULT = re.compile(r"([a-z][a-z0-9-]*): (\d+ cells, \d+ files changed)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status (3: raw output that is missing, altered or unreadable)."""
    return COMMAND.main(arguments)


def run(options: argparse.Namespace) -> int:
    """Derive according to the options; return the exit status. Raises ReplayError, e.g. for altered raw output."""
    data_set = benchmarks_directory() / options.data
    if stamp := read_stamp(data_set):
        print(f"ALTERED DATA: {data_set.name} is {stamp.sentence()}", flush=True)
    if options.verify:
        return _verify(data_set)
    if options.outliers:
        return _list_outliers(data_set, options.experiment)
    if options.watch:
        from replay.claims.workflow.watch import watch  # noqa: PLC0415 - it holds in memory what deriving needs

        watch(data_set, tuple(options.experiment))
        return 0
    started = time.perf_counter()
    status = _derive(data_set, options.experiment, entities=options.entities)
    if status == 0:
        print(f"derived {data_set} in {time.perf_counter() - started:.1f} s")
        with waiting("looking for runs that lie far from the others"):
            flagged = flagged_in(data_set, wanted(data_set, options.experiment))
        if flagged.outliers:
            print(f"{flagged.sentence()}: {replay_command('derive', '--data', data_set.name, '--outliers')} lists them")
    return status


def _derive(data_set: Path, experiments: Sequence[str], *, entities: bool) -> int:
    """Derive what is due: through Snakemake if there is enough of it to schedule, else in this process."""
    # What is read stays until its tables are written; looking for garbage in it finds none, and takes 1/10 of the time.
    gc.set_threshold(100_000, 50, 100)
    known, altered = {}, False
    with waiting(f"looking for what has changed in {data_set.name}"):
        names = wanted(data_set, experiments)
        for name in [] if entities else names:
            try:
                part = current_part(data_set / name)
            except EvidenceError:
                altered = True  # deriving it names the file
            else:
                known |= {name: part} if part else {}
    due = [name for name in names if name not in known]
    with Progress(unit="experiments", verb="derive") as progress:
        progress.start(f"derive {data_set.name}", len(due), len(names))
        if len(due) > 1 and not entities and _evidence_bytes(data_set, due) >= WORTH_SCHEDULING_BYTES:
            status = _through_snakemake(data_set, experiments, due, progress)
            if status == INTERRUPTED or (status == 0 and not altered):
                return status

        def ended(one: Derived) -> None:
            for note in notes_of(one):
                progress.line(note)
            if one.name in due:
                progress.begin(one.name)
                progress.end(f"{one.cells} cells, {len(one.written)} files changed")

        # This includes what Snakemake could not derive: here an error gets its proper message and exit status.
        derive_data_set(data_set, experiments, entities=entities, known=known, begins=progress.doing, ended=ended)
    return 0


def _evidence_bytes(data_set: Path, experiments: Sequence[str]) -> int:
    files = (path for name in experiments for path in (data_set / name / "raw").rglob("*"))
    return sum(path.stat().st_size for path in files if path.is_file())


def _through_snakemake(data_set: Path, experiments: Sequence[str], due: Sequence[str], progress: Progress) -> int:
    settings = [f"data={data_set.name}", *([f"experiment=[{','.join(experiments)}]"] if experiments else [])]
    log = log_path("derive", data_set.name)
    left = set(due)

    def told(line: str) -> None:
        result = _RESULT.fullmatch(line.rstrip())
        if result and result[1] in left:
            left.remove(result[1])
            progress.begin(result[1])
            progress.end(result[2])
        else:
            progress.tell(line)

    progress.begin("starting Snakemake")
    with warm_jobs():
        status = run_snakemake(("--cores", "all", "--keep-going"), settings, log, told)
    if status not in (0, INTERRUPTED):
        progress.line(f"Snakemake {end_of(status)}, see {shown(log)}; deriving the rest without it")
    return status


def _verify(data_set: Path) -> int:
    from replay.claims.datapackage import differences  # noqa: PLC0415 - no other use of this command needs it

    found = differences(data_set)
    for line in found:
        print(line)
    print(f"{data_set.name}: {f'{len(found)} derived files differ' if found else 'all derived files match'}")
    return 1 if found else 0


def _list_outliers(data_set: Path, experiments: Sequence[str]) -> int:
    flagged = flagged_in(data_set, wanted(data_set, experiments))
    for one in flagged.outliers:
        print(one.sentence())
    print(f"{data_set.name}: {flagged.sentence()}")
    return 0
