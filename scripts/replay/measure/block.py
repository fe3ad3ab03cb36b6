"""`python -m replay.measure.block`: measures one block of one experiment, from its plan to its pack."""

from __future__ import annotations

import sys
from pathlib import Path

from replay.base.errors import ReplayError
from replay.base.progress import Progress
from replay.design.design import plan_digest, read_plan_file
from replay.design.needs import protocol_for
from replay.evidence.attempts import BlockWriter, record_design
from replay.evidence.data_set import raw_directory, sealed_block
from replay.evidence.seal import recover, seal
from replay.measure.bench import open_bench
from replay.measure.guard import Guard
from replay.measure.job import Job, make_ready, planned, run_job, undo_leftovers
from replay.measure.protocol import Protocol
from replay.measure.sets import MOST_ATTEMPTS, SetRunner, Todo
from replay.ownership.locks import ClusterLock, stop_switch
from replay.sandbox.daemons import naming_absent_daemons


def main(arguments: list[str] | None = None) -> int:
    """Measure a planned block. Returns 0, 130 if interrupted, or the error's exit status."""
    return run_job(__doc__, arguments, measure)


def measure(job: Job, progress: Progress) -> Path:
    """Measure a planned block, on a cluster that nobody else measures meanwhile; return the path of its pack."""
    plan = read_plan_file(job.plan_file)
    design, site = planned(plan, job)
    raw = raw_directory(plan.data_set, design.name)
    progress.doing("looking for what an interrupted run left behind", design.title_of_block(job.block))
    with naming_absent_daemons(site), open_bench(site, plan.data_set, progress.line) as bench:
        make_ready(plan, design, bench, raw, progress)
        lock = ClusterLock(site, bench.session, bench.ledger, data_set=plan.data_set, say=progress.line)
        with lock, Guard(bench) as guard:
            guard.watch.also += [stop_switch(site, bench.session), lock.renew_when_due]
            # Behind the lock: an open attempt may be that of the run that holds it.
            for sentence in recover(raw):
                progress.line(sentence)
            undo_leftovers(bench, progress.line)
            return measure_sets(protocol_for(bench, design), job.block, raw, progress, guard)


def measure_sets(protocol: Protocol, block: int, raw: Path, progress: Progress, guard: Guard) -> Path:
    """Measure every set that has no valid attempt yet, write the block's receipt, and seal it; return its pack's path.

    Raises ReplayError if a set is still invalid after three attempts, if the cluster's health or a limit stops the run,
    or if mirroring does not catch up. Everything that was finished is kept.
    """
    design, writer = protocol.design, BlockWriter(raw, block)
    plan, sets = plan_digest(design, block), SetRunner(protocol, writer, progress, guard)
    if (pack := sealed_block(raw, block, plan)).exists():
        progress.line(f"{design.name} block {block} has been sealed already: {pack.name}")
        return pack
    record_design(raw, design.public(), design.digest)
    invalid, todo = [], sets.missing()
    progress.start(design.title_of_block(block), _cells(todo), sum(len(cell_set.cells) for cell_set in design.sets))
    if todo:
        with sets.opened(todo) as available:
            # The cluster may have refused variants.
            progress.repeat(_cells(available) - _cells(todo))
            invalid = [cell_set.point for index, cell_set in available if not sets.measure(index, cell_set)]
    if invalid:
        raise ReplayError(
            f"{len(invalid)} set(s) are still invalid after {MOST_ATTEMPTS} attempts: {', '.join(invalid)}",
            where=sets.name,
            next_step="each attempt.json gives the reasons; fix the cause, then run measure again",
        )
    writer.record_receipt(plan, sets.receipt(plan, measured_sets=len(todo)))
    return seal(raw, block, plan)


def _cells(todo: Todo) -> int:
    return sum(len(cell_set.cells) for _, cell_set in todo)


if __name__ == "__main__":
    sys.exit(main())
