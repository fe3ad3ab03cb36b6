"""Drills: a person or the machine ends a run, or two runs meet."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from drills.drill import FILLING, Drill, Ground, Run, completes, images_are_gone, measure, started_sandbox
from replay.sandbox import daemons, processes
from support.patience import patient

PILOT = r"pilot 1 of"
#: The steps of a fail-over trial, by the words of the process that does each.
STEPS = (
    ("the writers connect", ("trial_client.py write-once ",)),
    ("the writer writes", ("trial_client.py write {",)),
    ("the first side is demoted", ("mirror image demote ",)),
    ("the second side is promoted", ("mirror image promote ",)),
    ("an image is verified", (" export --no-progress ",)),
)


def interrupt(ground: Ground) -> None:
    """Do what Ctrl-C does to the running `measure`."""
    os.kill(ground.measuring.pid, signal.SIGINT)


def kill_block(ground: Ground) -> None:
    """Kill the process that measures a block."""
    os.kill(ground.campaign.runner(ground.experiment), signal.SIGKILL)


def ctrl_c(ground: Ground) -> str:
    """An interrupted run ends with 130 and has removed all that it made, even if Ctrl-C is pressed again."""
    took = [
        _interrupted(ground, FILLING, interrupt),
        _interrupted(ground, PILOT, interrupt),
        _interrupted(ground, PILOT, _twice),
    ]
    took.append(_interrupted_start(ground))
    seconds = ", ".join(f"{one:.0f}" for one in took)
    return f"130 after {seconds} s (filling, cell, twice, start of a sandbox); {completes(ground)}"


def _twice(ground: Ground) -> None:
    interrupt(ground)
    threading.Timer(1.0, interrupt, [ground]).start()


def _interrupted(ground: Ground, at: str | Callable[[], object], fault: Callable[[Ground], None]) -> float:
    """Interrupt a run; return after how many seconds it had ended."""
    done = measure(ground, at=at, fault=lambda: fault(ground))
    assert done.fault_at is not None, done.text
    assert done.status == 130, f"it ended with {done.status}:\n{done.text}"
    assert "Traceback" not in done.text, done.text
    images_are_gone(ground)
    assert not ground.campaign.processes("rbd"), "a tool still runs"
    return done.ended_at - done.fault_at


def _interrupted_start(ground: Ground) -> float:
    """Interrupt the start of another sandbox; return after how many seconds it had ended."""
    with tempfile.TemporaryDirectory(dir=ground.campaign.folder) as folder:
        directory = Path(folder) / "sandbox"
        start = started_sandbox(ground, directory)
        assert start.stdout is not None
        for line in start.stdout:
            if "left" in line:
                break
        began = time.monotonic()
        start.send_signal(signal.SIGINT)
        said, _ = start.communicate(timeout=patient(120))
        assert start.returncode == 130, said
        left = [name for name, _ in processes.of_sandbox(directory)] if directory.exists() else []
        assert not left, f"these still run: {left}"
        return time.monotonic() - began


def block_killed(ground: Ground) -> str:
    """What it had made stays in the ledger, and the next run removes it and completes."""
    done = measure(ground, at=FILLING, fault=lambda: kill_block(ground))
    assert done.fault_at is not None, done.text
    assert done.status != 0
    return f"{len(ground.owned())} entries stayed in the ledger; {completes(ground)}"


def snakemake_killed(ground: Ground) -> str:
    """The run says which signal ended Snakemake, and the block does not outlive it."""

    def kill() -> None:
        for pid in ground.campaign.processes("-m snakemake"):
            os.kill(pid, signal.SIGKILL)

    done = measure(ground, at=FILLING, fault=kill)
    assert done.fault_at is not None, done.text
    assert done.status == 128 + signal.SIGKILL, f"it ended with {done.status}:\n{done.text}"
    assert "Snakemake was ended by SIGKILL" in done.text, done.text
    ground.campaign.wait_for(lambda: not ground.campaign.processes("replay.measure.block"), "the end of the block")
    return f"it ended with {done.status}; {completes(ground)}"


def two_at_once(ground: Ground) -> str:
    """The second run says who uses the cluster, and waits or refuses; nothing is measured twice. Two starts agree."""
    second: list[Run] = []
    threads: list[threading.Thread] = []

    def start_another() -> None:
        threads.append(threading.Thread(target=lambda: second.append(measure(ground.another()))))
        threads[0].start()

    first = measure(ground, at=FILLING, fault=start_another)
    for thread in threads:
        thread.join()
    assert first.status == 0, first.text
    assert second, first.text
    assert "another measurement uses this cluster (process " in second[0].text, second[0].text
    assert second[0].status in (0, 4), second[0].text
    attempts = [one["attempt"] for one in ground.campaign.sidecars(ground.experiment)]
    assert set(attempts) == {1}, f"attempts {sorted(set(attempts))}: one run disturbed the other"
    starts = [started_sandbox(ground, ground.campaign.sandbox_directory) for _ in range(2)]
    said = [one.communicate(timeout=patient(120))[0] for one in starts]
    assert [one.returncode for one in starts] == [0, 0], "\n".join(said)
    return f"the second run named the first and ended with {second[0].status}; {completes(ground)}"


def failover_steps(ground: Ground) -> str:
    """Wherever a trial is interrupted or killed, no client goes on, all daemons run, and the next run completes."""
    met = []
    for number, (what, words) in enumerate(STEPS):

        def runs(words: tuple[str, ...] = words) -> object:
            return ground.campaign.processes(*words)

        if number % 2:
            done = measure(ground, at=runs, fault=lambda: kill_block(ground))
            assert done.fault_at is not None, f"never seen: {what}\n{done.text}"
            assert done.status != 0, done.text
        else:
            _interrupted(ground, runs, interrupt)
        ground.campaign.wait_for(lambda: not ground.campaign.processes("trial_client.py"), "the end of the clients")
        _all_daemons_go_on(ground)
        met.append(what)
    return f"{len(met)} steps, by Ctrl-C and kill -9 in turn; {completes(ground)}"


def _all_daemons_go_on(ground: Ground) -> None:
    sandbox = ground.sandbox
    for role in daemons.all_roles(sandbox):
        process = daemons.running(sandbox.layout, role)
        assert process is not None, f"{role.name} of {role.cluster} does not run"
        assert not processes.is_frozen(process), f"{role.name} of {role.cluster} is stopped"


DRILLS = (
    Drill("D1", "Ctrl-C while images are filled, in a cell, twice, and in the start of a sandbox", ctrl_c),
    Drill("D2", "kill -9 the block's process while images are filled", block_killed),
    Drill("D3", "kill -9 Snakemake while images are filled", snakemake_killed),
    Drill("D12", "two runs, and two starts of a sandbox, at once", two_at_once),
    Drill("D17", "a fail-over trial is interrupted at each of its steps", failover_steps, experiment="failover"),
)
