"""Drills on clusters that Replay did not start, with the restricted user that preflight asks for.

Their administrator breaks something, or a person makes a mistake. After each drill, all that others have is as it was.
"""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from drills.clients import CLIENT_LOST
from drills.disks import quota
from drills.drill import FILLING, Drill, Ground, bring_back, cause_comes_first, completes, images_are_gone, measure
from drills.interruptions import PILOT, kill_block
from replay.sandbox import processes
from support.administrator import make_user
from support.cluster_snapshot import difference, snapshot
from support.foreign import NAME, measure_as_foreign
from support.patience import patient

#: What a person may get wrong in a site's file, with what is said of it.
MISTAKES = (
    ("limitation:", "limitaton:", "did you mean 'limitation'"),
    ("pools: {data:", "pools: {date:", "did you mean 'data'"),
    ("allows: [second_site,", "allows: [second_sight,", "did you mean 'second_site'"),
    ("rate_bytes_per_second: ", "rate_bytes_per_second: about ", "rate_bytes_per_second"),
    (f"name: {NAME}\n", "name: another\n", "another"),
    ("\nallows:", "\n\tallows:", "tab"),
    ("cluster: {conf:", "cluster: {config:", "did you mean 'conf'"),
    ("client_hosts: [localhost]", "client_hosts: localhost", "client_hosts"),
)
#: How long data take to recover after an OSD was away.
FIT_WITHIN_SECONDS = 90.0
#: An inspection that no monitor answers ends within this time.
UNREACHABLE_WITHIN_SECONDS = 30.0


def mistakes(ground: Ground) -> str:
    """Each is named with its file and line before anything is asked of a cluster."""
    path = _site_file(ground)
    right = path.read_text()
    slowest = 0.0
    try:
        for old, new, named in MISTAKES:
            assert old in right, f"the site's file has no {old!r}"
            path.write_text(right.replace(old, new))
            began = time.monotonic()
            done = ground.run("preflight", "--site", NAME)
            slowest = max(slowest, time.monotonic() - began)
            said = done.stdout + done.stderr
            assert done.returncode == 2, f"{new!r}: it ended with {done.returncode}\n{said}"
            assert re.search(rf"{NAME}\.yaml:\d+", said), f"{new!r}: no file and line\n{said}"
            assert named in said, f"{new!r}: nothing said {named!r}\n{said}"
            assert "Traceback" not in said, said
    finally:
        path.write_text(right)
    return f"{len(MISTAKES)} mistakes, each with file and line, within {slowest:.1f} s"


def unreachable(ground: Ground) -> str:
    """Preflight, measure and clean each say that no monitor answers."""
    path = _site_file(ground)
    right = path.read_text()
    nowhere = ground.campaign.folder / "nowhere.conf"
    nowhere.write_text("[global]\nmon_host = 127.0.0.1:1\n")
    took = []
    try:
        path.write_text(right.replace(ground.sandbox.clusters["left"].conf, str(nowhere)))
        for command in (
            ("preflight", "--site", NAME),
            ("measure", *ground.campaign.measure_arguments(ground.experiment)),
            ("clean", "--site", NAME, "--yes"),
        ):
            began = time.monotonic()
            done = ground.run(*command)
            seconds = time.monotonic() - began
            said = done.stdout + done.stderr
            assert done.returncode != 0, said
            assert re.search("no monitor|did not answer|no answer|timed out|cannot be reached", said), said
            assert "Traceback" not in said, said
            assert seconds <= UNREACHABLE_WITHIN_SECONDS, f"{command[0]} took {seconds:.0f} s"
            took.append(f"{command[0]} {seconds:.0f} s")
    finally:
        path.write_text(right)
    return f"said by each: {', '.join(took)}"


def may_only_read(ground: Ground) -> str:
    """A user without the right to write is found out by preflight, before anything is measured."""
    caps = ("mon", "profile rbd-read-only", "osd", "profile rbd-read-only pool=replay", "mgr", "allow r")
    keyring = ground.campaign.folder / "reader"
    keyring.write_text(make_user(ground.campaign.cluster("left"), "client.drill-reader", *caps))
    path = _site_file(ground)
    right = path.read_text()
    line = next(one for one in right.splitlines() if one.startswith("cluster:"))
    reader = re.sub(r"client: [^,]+, keyring: [^}]+", f"client: client.drill-reader, keyring: {keyring}", line)
    try:
        path.write_text(right.replace(line, reader))
        done = ground.run("preflight", "--site", NAME, "--write-probe")
        said = done.stdout + done.stderr
        assert done.returncode == 4, f"it ended with {done.returncode}\n{said}"
        assert "Traceback" not in said, said
        images_are_gone(ground)
    finally:
        path.write_text(right)
        ground.campaign.ask("left", "auth rm", entity="client.drill-reader")
    return "preflight --write-probe refuses, and leaves nothing"


def reads_only(ground: Ground) -> str:
    """Preflight changes nothing; `undisturbed` compares."""
    done = ground.run("preflight", "--site", NAME)
    assert done.returncode == 0, done.stdout + done.stderr
    return "users, pools, images, configuration and keys of both clusters are as they were"


def killed_anywhere(ground: Ground) -> str:
    """Wherever a block is killed, the ledger names what is left, and `clean` removes it, even if it is killed, too."""
    points: tuple[tuple[str, str | Callable[[], object]], ...] = (
        ("images are filled", FILLING),
        ("a pilot", PILOT),
        ("a mirrored cell", lambda: _benches(ground, "journal-mirrored")),
    )
    for what, at in points:
        done = measure(ground, at=at, fault=lambda: kill_block(ground))
        assert done.fault_at is not None, f"never seen: {what}\n{done.text}"
        left = ground.owned()
        assert left, f"killed at {what}, nothing is in the ledger:\n{done.text}"
        _kill_clean(ground, len(left))
        cleaned = ground.run("clean", "--site", NAME, "--yes")
        assert cleaned.returncode == 0, cleaned.stdout + cleaned.stderr
        images_are_gone(ground)
    return f"at {', '.join(what for what, _ in points)}, and in clean; {completes(ground)}"


def _kill_clean(ground: Ground, entries: int) -> None:
    """Kill `clean` when the first of these entries is gone, unless it is faster."""
    clean = subprocess.Popen(
        ground.campaign.command("clean", "--site", NAME, "--yes"),
        env=ground.environment,
        cwd=ground.campaign.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while clean.poll() is None and len(ground.owned()) == entries:
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        clean.send_signal(signal.SIGKILL)
    clean.wait()


def osd_killed(ground: Ground) -> str:
    """The cell is void and the run ends, with what the cluster says."""
    osd = ground.process("left", "osd.0")
    done = measure(ground, at=lambda: _benches(ground), fault=lambda: processes.kill([osd]))
    cause = r"OSD_DOWN|osd.* down"
    seconds = done.noticed(cause)
    cause_comes_first(done, cause)
    repair(ground)
    return f"said after {seconds:.0f} s; {completes(ground)}"


def osd_stopped(ground: Ground) -> str:
    """An OSD that hangs is noticed by what its clients and its peers see of it."""
    osd = ground.process("left", "osd.0")
    try:
        done = measure(ground, at=lambda: _benches(ground), fault=lambda: processes.freeze([osd]))
    finally:
        processes.thaw([osd])
    cause = r"OSD_DOWN|SLOW_OPS|osd.* down|invalid|timed out"
    seconds = done.noticed(cause, within=30.0)
    assert "Traceback" not in done.text, done.text
    repair(ground)
    return f"said after {seconds:.0f} s, ended with {done.status}; {completes(ground)}"


def mirror_killed(ground: Ground) -> str:
    """A wait for a copy ends when the mirror daemon's admin socket stays silent."""
    daemon = ground.process("right", "rbd-mirror.right")
    done = measure(
        ground, at=r"creating and filling an image for journal-mirrored", fault=lambda: processes.kill([daemon])
    )
    cause = r"the mirror daemon does not answer"
    # Images are filled without the daemon; then their first copies are waited for.
    filled = max(at for at, line in done.lines if re.search(FILLING, line))
    seconds = done.noticed(cause, since=filled)
    cause_comes_first(done, cause)
    repair(ground)
    return f"said {seconds:.0f} s after the last image was begun; {completes(ground)}"


def _benches(ground: Ground, *words: str) -> list[int]:
    """Return the benchmark tools that measure now; filling an image is a bench, too."""
    filling = set(ground.campaign.processes("rbd ", " bench ", "full-seq"))
    return [pid for pid in ground.campaign.processes("rbd ", " bench ", *words) if pid not in filling]


def _site_file(ground: Ground) -> Path:
    return ground.campaign.folder / "config" / "sites" / f"{NAME}.yaml"


def repair(ground: Ground) -> None:
    """Do as the cluster's administrator does: start what does not run, and wait until preflight finds nothing amiss.

    The site's file gets the admin socket of a mirror daemon that was started again.
    """
    bring_back(ground)
    measure_as_foreign(ground.campaign, _site_file(ground).read_text())
    await_fit(ground)


def await_fit(ground: Ground) -> None:
    """Wait until preflight says that measuring may start: on clusters of others Replay refuses while data recover."""
    deadline = time.monotonic() + patient(FIT_WITHIN_SECONDS)
    while (done := ground.run("preflight", "--site", NAME)).returncode != 0:
        assert time.monotonic() < deadline, f"the clusters do not recover:\n{done.stdout}{done.stderr}"
        time.sleep(1.0)


def undisturbed(run: Callable[[Ground], str]) -> Callable[[Ground], str]:
    """Return a drill that also asserts that all others have on both clusters is as it was."""

    def watched(ground: Ground) -> str:
        def both() -> dict[str, dict[str, object]]:
            return {name: snapshot(ground.campaign.cluster(name)) for name in ("left", "right")}

        await_fit(ground)
        before = both()
        found = run(ground)
        lines = [line for name, one in both().items() for line in difference(before[name], one)]
        # Soon after its start a manager says by itself what its pool is for.
        changed = [line for line in lines if not line.startswith("/pools/.mgr:")]
        assert changed == [], f"others find changes: {changed}"
        return found

    return watched


def _drill(name: str, title: str, run: Callable[[Ground], str]) -> Drill:
    return Drill(name, title, undisturbed(run), foreign=True)


DRILLS = (
    _drill("T1", "eight mistakes in a site's file", mistakes),
    _drill("T2", "no monitor can be reached", unreachable),
    _drill("T3", "a user who may only read", may_only_read),
    _drill("T4", "preflight, with all that others have compared", reads_only),
    _drill("T5", "kill -9 at any moment, also of clean", killed_anywhere),
    _drill("T6", "the pool reaches its quota while images are filled", quota),
    _drill("T7", "kill -9 an OSD in a cell", osd_killed),
    _drill("T8", "an OSD is stopped in a cell", osd_stopped),
    _drill("T9", "kill -9 rbd-mirror before the first copies", mirror_killed),
    replace(CLIENT_LOST, name="T10", run=undisturbed(CLIENT_LOST.run), foreign=True),
)
