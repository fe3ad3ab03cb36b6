"""Drills: the line between the sites of a sandbox ends, and a start of such a sandbox is interrupted."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from drills.drill import Drill, Ground, bring_back, completes, measure, started_sandbox
from replay.cluster.sandbox_record import Layout
from replay.sandbox import down, load, processes
from support.campaign import Campaign
from support.patience import patient, wait_until

SMALL = ("--left-osds", "1", "--left-osd-size", "6GiB", "--right-osd-size", "6GiB", "--rtt", "5ms")
STRETCH = ("--stretch", "--left-osd-size", "6GiB", "--rtt", "5ms")
#: The program of the line runs, and nothing has been said yet: `up` sends echoes, then streams.
MEASURING = "the line is measured"
#: What `up` says of its steps, one after the other.
STEPS = (
    *((SMALL, step) for step in (MEASURING, "line between the sites", "OSD", "active+clean", "mirroring: connected")),
    *((STRETCH, step) for step in ("OSD", "stretch mode")),
)


@contextlib.contextmanager
def far_apart(ground: Ground, shape: Sequence[str], **smoke: Any) -> Iterator[Ground]:
    """Yield another sandbox, whose sites are 5 ms apart, with changes of the smallest scale, and take it down."""
    with tempfile.TemporaryDirectory(dir=ground.campaign.folder) as name:
        folder = Path(name)
        campaign = Campaign(folder, folder / "sandbox")
        campaign.configure(ground.experiment, **smoke)
        campaign.limit_rate(ground.campaign.rate_bytes_per_second)
        start = started_sandbox(ground, campaign.sandbox_directory, *shape)
        said, _ = start.communicate(timeout=patient(180))
        assert start.returncode == 0, said
        try:
            yield Ground(campaign, ground.experiment)
        finally:
            down(campaign.sandbox_directory)


def line_killed(ground: Ground) -> str:
    """The cell ends and is void, the run says why within ten seconds; with a line again, the next run completes."""
    pair = _line_killed(ground, SMALL, "snapshot-mirrored")
    stretch = _line_killed(ground, STRETCH, "with-journal", variants=["without-journal", "with-journal"])
    return f"a pair: {pair}; a stretch cluster: {stretch}"


def _line_killed(ground: Ground, shape: Sequence[str], variant: str, **smoke: Any) -> str:
    with far_apart(ground, shape, **smoke) as far:
        pid = load(far.campaign.sandbox_directory).link.pid

        def cell_runs() -> bool:
            # Filling an image is a bench, too.
            return bool(benches()) and not benches("full-seq")

        def benches(*words: str) -> list[int]:
            return far.campaign.processes("rbd ", " bench ", variant, *words)

        done = measure(far, at=cell_runs, fault=lambda: os.kill(pid, signal.SIGKILL))
        assert done.status != 0, done.text
        assert "Traceback" not in done.text, done.text
        seconds = done.noticed(r"line between the sites", within=10.0)
        assert "sandbox up" in done.text, done.text
        bring_back(far)
        return f"said after {seconds:.0f} s; {completes(far)}"


def starts_interrupted(ground: Ground) -> str:
    """Wherever its start is interrupted or killed, `down` leaves no process, no folder and no network of it."""
    names = {path.name for path in Path("/sys/class/net").iterdir()}
    mounts = Path("/proc/self/mounts").read_text()
    for shape, step in STEPS:
        for number in (signal.SIGINT, signal.SIGKILL):
            with tempfile.TemporaryDirectory(dir=ground.campaign.folder) as folder:
                directory = Path(folder) / "sandbox"
                start = started_sandbox(ground, directory, *shape)
                if step == MEASURING:
                    wait_until(Layout(directory, directory).link_file("log").exists, "the program of the line")
                else:
                    _await_line(start, step)
                start.send_signal(number)
                said, _ = start.communicate(timeout=patient(120))
                if number == signal.SIGKILL:
                    down(directory)
                elif start.returncode != 0:  # the last step may have been the end
                    assert start.returncode == 130, said
                down(directory)
                left = [name for name, _ in processes.of_sandbox(directory)]
                assert not left, f"after {step!r} these still run: {left}"
                assert not directory.exists(), f"after {step!r} its folder is left"
    assert {path.name for path in Path("/sys/class/net").iterdir()} == names, "the host's interfaces have changed"
    assert Path("/proc/self/mounts").read_text() == mounts, "something is still mounted"
    return f"{len(STEPS)} steps, by Ctrl-C and kill -9 each: nothing left"


def _await_line(start: subprocess.Popen[str], step: str) -> None:
    assert start.stdout is not None
    for line in start.stdout:
        if step in line:
            return
    raise AssertionError(f"it never said {step!r}")


DRILLS = (
    Drill("D18", "kill -9 the line between the sites in a cell, mirrored and in a stretch cluster", line_killed),
    Drill("D19", "the start of a sandbox with a line is interrupted at each of its steps", starts_interrupted),
)
