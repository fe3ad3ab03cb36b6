"""Drills: a daemon of the sandbox dies, stops, or cannot be reached any more."""

from __future__ import annotations

from drills.drill import FILLING, Drill, Ground, bring_back, cause_comes_first, completes, measure
from replay.sandbox import daemons, processes


def osd_killed(ground: Ground) -> str:
    """The run says within seconds which OSD does not run and how to start it; after that, the next run completes."""
    osd = ground.process("left", "osd.0")
    done = measure(ground, at=FILLING, fault=lambda: processes.kill([osd]))
    cause = r"osd\.0 of left does not run"
    seconds = done.noticed(cause)
    cause_comes_first(done, cause)
    assert "sandbox up" in done.text
    bring_back(ground)
    return f"said after {seconds:.0f} s; {completes(ground)}"


def mirror_killed(ground: Ground) -> str:
    """The first wait for a copy ends with the daemon's name, and cleaning up does not hide it."""
    daemon = ground.process("right", "rbd-mirror.right")
    done = measure(ground, at=FILLING, fault=lambda: processes.kill([daemon]))
    cause = r"rbd-mirror\.right of right does not run"
    cause_comes_first(done, cause)
    assert "sandbox up" in done.text
    waited = done.ended_at - done.fault_at
    bring_back(ground)
    return f"ended {waited:.0f} s after the fault; {completes(ground)}"


def monitor_stopped(ground: Ground) -> str:
    """The run names the stopped monitor; started again, the next run completes and removes what was left."""
    monitor = ground.process("left", "mon.left")
    try:
        done = measure(ground, at=FILLING, fault=lambda: processes.freeze([monitor]))
    finally:
        processes.thaw([monitor])
    cause = r"mon\.left of left is stopped"
    seconds = done.noticed(cause)
    cause_comes_first(done, cause)
    return f"said after {seconds:.0f} s; {completes(ground)}"


def second_site_cut_off(ground: Ground) -> str:
    """All daemons of the second cluster stop while a mirrored cell runs; the wait for its copy says so and ends.

    A stopped daemon answers nobody and closes no connection, like one whose packets are dropped on the way.
    """
    sandbox = ground.sandbox
    names = [role.name for role in daemons.roles(sandbox.clusters["right"])]
    stopped = [ground.process("right", name) for name in names]

    def cell_runs() -> bool:
        # Filling an image is a bench, too.
        return bool(benches()) and not benches("full-seq")

    def benches(*words: str) -> list[int]:
        return ground.campaign.processes("rbd ", " bench ", "journal-mirrored", *words)

    try:
        done = measure(ground, at=cell_runs, fault=lambda: processes.freeze(stopped), then=lambda: not benches())
    finally:
        processes.thaw(stopped)
    cause = r"(mon|mgr|osd)\.\w+ of right is stopped|no monitor of the second cluster answers"
    cause_comes_first(done, cause)
    # The cell itself goes on to its end: it writes to the first site only. Then its copy is waited for.
    assert done.then_at is not None, f"the cell never ended:\n{done.text}"
    # An OSD of release 16 that was stopped for long may let operations wait for a lease for ever ("waiting for
    # readable"); an administrator starts it again.
    processes.kill([ground.process("right", "osd.0")])
    bring_back(ground)
    seconds = done.noticed(cause, since=done.then_at)
    return f"said {seconds:.0f} s after the cell in which {len(stopped)} daemons were stopped; {completes(ground)}"


DRILLS = (
    Drill("D4", "kill -9 an OSD while images are filled", osd_killed),
    Drill("D5", "kill -9 rbd-mirror before the first copies", mirror_killed),
    Drill("D8", "the monitor is stopped while images are filled", monitor_stopped),
    Drill("D16", "all daemons of the second site are stopped in a mirrored cell", second_site_cut_off),
)
