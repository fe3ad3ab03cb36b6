"""Stops a sandbox's daemons and removes its files: all of them, and nothing else."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

from replay.base.paths import find_project
from replay.cluster import sandbox_record as state
from replay.cluster.sandbox_record import STATE_FILE, SandboxError, is_scratch
from replay.sandbox import processes

# rbd-mirror first, so that it does not report a lost cluster; monitors last, so that all others can sign off.
_STOP_ORDER = (("rbd-mirror", 10.0), ("ceph-osd", 20.0), ("ceph-mgr", 5.0), ("ceph-mon", 10.0))


def stop_all(folder: Path, keep: set[processes.Process] | None = None) -> None:
    """Stop every daemon whose configuration is in `folder`, in order, except those in `keep`."""
    living = [(name, process) for name, process in processes.of_sandbox(folder) if process not in (keep or set())]
    for program, timeout_seconds in _STOP_ORDER:
        processes.stop([process for name, process in living if name == program], timeout_seconds=timeout_seconds)


def remove(folder: Path, run: Path | None = None) -> None:
    """Remove a stopped sandbox's files, its folder of sockets (`run`, by default the recorded one) and its folder."""
    if run is None:
        run = recorded_run_directory(folder)
    if run is not None and is_scratch(run):
        shutil.rmtree(run, ignore_errors=True)
    # The state file goes last, so that an interrupted removal can be repeated.
    for entry in folder.iterdir():
        if entry.name == STATE_FILE:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    shutil.rmtree(folder)


def remove_run_files(folder: Path) -> None:
    """Remove the pid files and sockets of a stopped sandbox, but not its data."""
    if run := recorded_run_directory(folder):
        for leftover in list(run.iterdir()):
            leftover.unlink()


def recorded_run_directory(folder: Path) -> Path | None:
    """Return the folder of sockets from the state file or, if that is damaged, from `ceph.conf`."""
    try:
        return Path(state.load(folder).run_dir)
    except SandboxError:
        with contextlib.suppress(OSError):
            text = (folder / "left" / "ceph.conf").read_text(encoding="utf-8")
            if found := re.search(r"^run_dir = (.+)$", text, re.MULTILINE):
                return Path(found[1])
        return None


def prune(folder: Path) -> None:
    """Remove the folders `.replay/sandbox` and `.replay` of the project if they are empty."""
    project = find_project()
    for each in (folder, *folder.parents):
        if project not in each.parents or ".replay" not in each.parts:
            return
        try:
            each.rmdir()
        except OSError:
            return


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let clean-up finish: a second Ctrl-C would leave daemons behind. Only the main thread handles signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
