"""Runs several tools at once. Each has the limits of `run_tool`, and none outlives an interruption."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from replay.base.programs import HOST_PROGRAMS, Programs
from replay.cluster.running.process import Inherited, ToolRun, run_tool


class _StoppedError(Exception):
    """The others ended in an error, or the person pressed Ctrl-C."""


def run_together(
    commands: Sequence[Sequence[str]],
    *,
    timeout_seconds: float,
    programs: Programs = HOST_PROGRAMS,
    slot: Inherited | None = None,
    while_running: Callable[[float], None] | None = None,
) -> list[ToolRun]:
    """Start all commands within milliseconds of each other; return what each did, in the order of the commands.

    A tool that fails or exceeds its time limit does not end the others, whose output is evidence too. An exception,
    including Ctrl-C, ends all of them before it propagates. While the first command runs, `while_running` is called as
    by `run_tool`. Raises MissingProgramError if a program is not installed.
    """
    how = {"timeout_seconds": timeout_seconds, "programs": programs, "slot": slot}
    if len(commands) == 1:
        return [run_tool(commands[0], **how, while_running=while_running)]
    stop = threading.Event()

    def run(number: int) -> ToolRun:
        def watch(elapsed: float) -> None:
            if stop.is_set():
                raise _StoppedError
            if number == 0 and while_running is not None:
                while_running(elapsed)

        return run_tool(commands[number], **how, while_running=watch)

    # Leaving the pool waits for its threads, and so for every tool to be reaped.
    with ThreadPoolExecutor(max_workers=len(commands)) as pool:
        running = [pool.submit(run, number) for number, _ in enumerate(commands)]
        try:
            return [one.result() for one in running]
        except BaseException:
            stop.set()
            raise
