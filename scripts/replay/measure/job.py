"""The process that measures one planned block: what it is asked for, and how it says why it ended.

A block is two processes away from the run that asked for it. Its exit status does not come through Snakemake, so a file
beside the run's plan says that the whole run has to end.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay.base.disk import explained
from replay.base.errors import INTERRUPTED, RefusedError, ReplayError, take_notes
from replay.base.paths import shown
from replay.base.progress import Progress
from replay.measure.sentry import Halted, RunStoppedError


@dataclass(frozen=True)
class Job:
    """One block of a plan. `plan` is the digest that names its evidence, `log` gets every line that stays."""

    plan_file: Path
    experiment: str
    block: int
    plan: str
    log: Path | None = None


Measure = Callable[[Job, Progress], Any]


def run_job(description: str, arguments: list[str] | None, measure: Measure) -> int:
    """Measure the block that the arguments name. Returns 0, 130 if interrupted, or the error's exit status."""
    parser = argparse.ArgumentParser(prog="python -m replay.measure.block", description=description)
    parser.add_argument("--plan-file", required=True, type=Path, help="the plan that contains this block")
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--block", required=True, type=int)
    parser.add_argument("--plan", required=True, help="the digest that names the block's evidence")
    parser.add_argument("--log", type=Path, help="also append every line that stays on the screen to this file")
    job = Job(**vars(parser.parse_args(arguments)))
    with contextlib.ExitStack() as stack:
        # A script that starts `measure` in the background leaves SIGINT ignored, and so do the processes in between.
        for number in (signal.SIGINT, signal.SIGTERM):
            stack.callback(signal.signal, number, signal.signal(number, _interrupt))
        log = stack.enter_context(job.log.open("a")) if job.log else None
        return exit_status_of(job, stack.enter_context(Progress(log=log)), measure)


def exit_status_of(job: Job, progress: Progress, measure: Measure) -> int:
    """Measure a block; say why it ended, unless it is whole. Return the exit status."""
    try:
        measure(job, progress)
    except Halted as halt:
        take_notes(halt.error, halt)
        return _failed(halt.error, job, progress)
    except KeyboardInterrupt as error:
        progress.line("\n".join(["stopped; every finished set is kept", *getattr(error, "__notes__", ())]))
        return INTERRUPTED
    except Exception as error:
        return _failed(error, job, progress)
    return 0


def _failed(error: Exception, job: Job, progress: Progress) -> int:
    """Say why the block failed, and where its log is, which also gets the traceback; return the exit status."""
    reason = explained(error) if isinstance(error, OSError) else error
    if not isinstance(reason, ReplayError):
        reason = ReplayError(
            f"{type(error).__name__}: {error}", next_step="this is a fault of Replay's; report it with the log"
        )
        take_notes(reason, error)
    reason.where = reason.where or f"{job.experiment}, block {job.block}"
    progress.line(f"{reason}\n  log: {shown(job.log)}" if job.log else str(reason))
    progress.record("".join(traceback.format_exception(error)).rstrip())
    if isinstance(reason, RunStoppedError):
        mark_stopped(job.plan_file, reason)
    return reason.exit_status


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def mark_stopped(plan_file: Path, error: RefusedError) -> None:
    """Mark that the whole run has to end, for the reason that `error` states."""
    _mark(plan_file).write_text(f"{error.what}\n", encoding="utf-8")


def take_mark(plan_file: Path) -> bool:
    """Return whether a block has left the mark, and remove it."""
    mark = _mark(plan_file)
    stopped = mark.exists()
    mark.unlink(missing_ok=True)
    return stopped


def _mark(plan_file: Path) -> Path:
    return plan_file.with_suffix(".stopped")
