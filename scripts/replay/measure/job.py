"""The process that measures one planned block: what it is asked for, and how it says why it ended.

A block is two processes away from the run that asked for it. Its exit status does not come through Snakemake, so a file
beside the run's plan has it, with the cause, and whether the whole run has to end.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from replay.base.disk import explained
from replay.base.errors import INTERRUPTED, RefusedError, ReplayError, cleaning_up, take_notes
from replay.base.paths import shown
from replay.base.progress import Progress
from replay.cluster.site import Site, Stop
from replay.evidence import durable
from replay.ownership.locks import go_command
from replay.sandbox.daemons import up_command


class RunStoppedError(RefusedError):
    """The whole run ends, not just this block, because the next block would meet the same cluster."""


class Halted(KeyboardInterrupt):
    """Raised in the main thread, wherever that is. `reason` is a reason of invalidity; `error` is for people."""

    def __init__(self, reason: str, error: RunStoppedError) -> None:
        super().__init__(error.what)
        self.reason = reason
        self.error = error


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
    # A full disk may be the reason, and then has no room for this; Snakemake says at least that the block failed.
    with contextlib.suppress(OSError):
        leave_failure(job.plan_file, reason)
    return reason.exit_status


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


@dataclass(frozen=True)
class Failure:
    """Why a block failed, in a line; what to do next; its exit status; and whether the whole run has to end."""

    what: str
    next_step: str
    exit_status: int
    ends_run: bool = False


def leave_failure(plan_file: Path, error: ReplayError) -> None:
    """Leave word beside a plan of why one of its blocks failed."""
    what = f"{error.where}: {error.what}" if error.where else error.what
    failure = Failure(what, error.next_step, error.exit_status, isinstance(error, RunStoppedError))
    durable.replace(_place_of_failure(plan_file), json.dumps(asdict(failure)).encode())


def take_failure(plan_file: Path) -> Failure | None:
    """Return what a block of the plan has left, and remove it."""
    place = _place_of_failure(plan_file)
    if not place.exists():
        return None
    failure = Failure(**json.loads(place.read_text(encoding="utf-8")))
    place.unlink()
    return failure


def _place_of_failure(plan_file: Path) -> Path:
    return plan_file.with_suffix(".failed")


def stopped(site: Site, stop: Stop) -> RunStoppedError:
    """Return the error that ends a run."""
    then = {
        "stopped": f"when it may run again: {go_command(site)}; then run measure again",
        "lock_lost": "when the other run has ended, run measure again",
        "line_lost": f"run {up_command(site)}, then measure again",
        "second_silent": "when its monitors answer again, run measure again",
    }.get(stop.reason, "run measure again at a quieter hour, or lower rate_bytes_per_second")
    return RunStoppedError(
        stop.detail, where=f"site {site.name}, {stop.reason}", next_step=f"finished sets are kept; {then}"
    )


@contextlib.contextmanager
def without_interruption(*steps: Callable[[], None]) -> Iterator[None]:
    """Run `steps` after the work inside, even if Ctrl-C is pressed again, because they remove what it created."""
    previous: dict[int, Any] = {}

    def ignore() -> None:
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
        previous.update({number: signal.signal(number, signal.SIG_IGN) for number in numbers})

    def heed() -> None:
        for number, handler in previous.items():
            signal.signal(number, handler)

    with cleaning_up(ignore, *steps, heed):
        yield
