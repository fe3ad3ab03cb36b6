"""What a drill is, what it finds, and a run of `replay measure` that a fault meets on its way."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from replay.ownership.ledger import Ledger
from replay.sandbox import Sandbox, daemons, load, processes, up
from support.campaign import Campaign

EXPERIMENT = "rbd-journaling"
#: Said before the first image of a block is made.
FILLING = r"creating and filling an image"
#: Matches no line.
NEVER = r"(?!)"
LOOK_EVERY_SECONDS = 0.05
#: Within this time Replay says what makes a wait hopeless. A drill is no test: it needs an idle machine.
NOTICED_WITHIN_SECONDS = 15.0


@dataclass
class Ground:
    """Where a drill takes place: a sandbox that all drills share, and a campaign of the drill's own."""

    campaign: Campaign
    experiment: str = EXPERIMENT
    _measuring: subprocess.Popen[str] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the drill's commands."""
        return self.campaign.environment

    @property
    def measuring(self) -> subprocess.Popen[str]:
        """The running `measure`."""
        assert self._measuring is not None, "nothing was started"
        return self._measuring

    def start(self) -> subprocess.Popen[str]:
        """Start measuring the drill's experiment."""
        self._measuring = self.campaign.start(self.experiment)
        return self._measuring

    def another(self) -> Ground:
        """Return the same ground for a second run at the same time."""
        return replace(self, _measuring=None)

    def run(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end."""
        return self.campaign.run(name, *words)

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox, from its current state file."""
        return load(self.campaign.sandbox_directory)

    def process(self, cluster: str, name: str) -> processes.Process:
        """Return the process of one of the sandbox's daemons, such as `osd.0` of `left`."""
        sandbox = self.sandbox
        role = next(one for one in daemons.all_roles(sandbox) if (one.cluster, one.name) == (cluster, name))
        found = daemons.running(sandbox.layout, role)
        assert found is not None, f"{name} of {cluster} does not run"
        return found

    def owned(self) -> list[str]:
        """Return what the ledgers of both clusters name."""
        state = self.campaign.folder / "state" / "ledger"
        return [entry.spec for fsid in self.sandbox.fsids for entry in Ledger(fsid, directory=state).owned()]


@dataclass(frozen=True)
class Drill:
    """One drill. `run` causes the fault and asserts what is promised; it returns what to write into the table."""

    name: str
    title: str
    run: Callable[[Ground], str]
    experiment: str = EXPERIMENT
    #: Changes of the experiment's smallest scale.
    smoke: Mapping[str, Any] = field(default_factory=dict)
    needs_sandbox: bool = True
    #: Whether Replay is to know its clusters only by a site's file and a restricted user.
    foreign: bool = False


@dataclass
class Run:
    """A run that has ended: its lines with the second of each, when the fault came, and its exit status.

    `then_at` is when something came about after the fault that the drill was waiting for, such as the end of a cell.
    """

    lines: list[tuple[float, str]]
    fault_at: float | None
    ended_at: float
    status: int
    then_at: float | None = None

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(line for _, line in self.lines)

    def noticed(self, pattern: str, *, since: float = 0.0, within: float = NOTICED_WITHIN_SECONDS) -> float:
        """Return how many seconds after the fault a line matched, or after `since`, if that is later.

        Raises AssertionError if none did in time.
        """
        assert self.fault_at is not None, f"the fault was never caused; the run said:\n{self.text}"
        found = [at for at, line in self.lines if at >= self.fault_at and re.search(pattern, line)]
        assert found, f"nothing said {pattern!r}; the run said:\n{self.text}"
        seconds = max(0.0, found[0] - max(self.fault_at, since))
        assert seconds <= within, f"{pattern!r} was said only after {seconds:.0f} s"
        return seconds


def measure(
    ground: Ground,
    *,
    at: str | Callable[[], object] = NEVER,
    fault: Callable[[], object] = print,
    then: str | Callable[[], object] = NEVER,
    second_fault: Callable[[], object] = lambda: None,
) -> Run:
    """Measure the drill's experiment; cause the fault when a line matches `at`, or when `at` returns something.

    After the fault, note likewise when `then` comes about, and cause the second one.
    """
    process, began = ground.start(), time.monotonic()
    lines: list[tuple[float, str]] = []
    reader = threading.Thread(target=_read, args=(process, began, lines))
    reader.start()
    fault_at = then_at = None
    try:
        while process.poll() is None:
            if fault_at is None:
                if _is_time(at, lines):
                    fault()
                    fault_at = time.monotonic() - began
            elif then_at is None and _is_time(then, lines):
                second_fault()
                then_at = time.monotonic() - began
            time.sleep(LOOK_EVERY_SECONDS)
        status = process.wait()
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
        ended_at = time.monotonic() - began
        reader.join()
    return Run(lines, fault_at, ended_at, status, then_at)


def _read(process: subprocess.Popen[str], began: float, lines: list[tuple[float, str]]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.append((time.monotonic() - began, line.rstrip("\n")))


def _is_time(at: str | Callable[[], object], lines: Sequence[tuple[float, str]]) -> bool:
    if isinstance(at, str):
        return any(re.search(at, line) for _, line in list(lines))
    return bool(at())


def bring_back(ground: Ground) -> None:
    """Do what the run said should be done next: start what does not run."""
    up(ground.campaign.sandbox_directory)


def started_sandbox(ground: Ground, directory: Path, *options: str) -> subprocess.Popen[str]:
    """Start a sandbox in a folder as a person does."""
    release = ground.sandbox.options.release
    return subprocess.Popen(
        ground.campaign.command("sandbox", "up", "--directory", str(directory), "--release", str(release), *options),
        env=ground.environment,
        cwd=ground.campaign.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def cause_comes_first(run: Run, cause: str) -> None:
    """Assert that the run failed, and that what cleaning up met comes after the cause, if it is said at all."""
    assert run.status != 0, "a run that failed must not end with 0"
    assert "Traceback" not in run.text, run.text
    cleaning = [number for number, (_, line) in enumerate(run.lines) if "cleaning up then met" in line]
    causes = [number for number, (_, line) in enumerate(run.lines) if re.search(cause, line)]
    assert causes, f"nothing said {cause!r}:\n{run.text}"
    assert not cleaning or causes[0] < cleaning[0], run.text


def completes(ground: Ground) -> str:
    """Assert that the next run completes, leaves nothing on either cluster, and that what it drew verifies."""
    began = time.monotonic()
    done = ground.campaign.measure(ground.experiment)
    assert done.returncode == 0, done.stdout + done.stderr
    images_are_gone(ground)
    verified = ground.campaign.run("derive", "--data", "trial", "--verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    return f"the next run completed in {time.monotonic() - began:.0f} s, nothing left"


def images_are_gone(ground: Ground) -> None:
    """Assert that nothing is left on any cluster, and that the ledger knows it."""
    assert not any(ground.campaign.images().values()), "an image is left"
    assert ground.owned() == [], "the ledger still names something"


def ceph(ground: Ground, cluster: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the `ceph` program as the administrator of one of the sandbox's clusters."""
    return ground.campaign.cluster(cluster).run("ceph", *words)
