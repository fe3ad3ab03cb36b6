"""Lets only one program at a time change a sandbox or a release. The lock leaves no file behind."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from replay.cluster.sandbox_record import SandboxError


@contextlib.contextmanager
def locked(
    directory: Path,
    *,
    what: str = "this sandbox",
    timeout_seconds: float = 180.0,
    on_wait: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Hold the lock of `what`, which is in `directory`; wait for another holder, and call `on_wait` once when waiting.

    The lock file is beside the directory, and its holder removes it before letting go. A waiter that gets the lock of a
    removed file takes it again on the new one, so there are never two holders. Children do not inherit the descriptor,
    so a daemon never holds the lock.
    """
    path = directory.with_name(f".{directory.name}.lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + timeout_seconds
    waited = False
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_named(descriptor, path):
                break
        except BlockingIOError:
            if not waited:
                on_wait()
                waited = True
            if time.monotonic() > deadline:
                os.close(descriptor)
                raise SandboxError(
                    f"another program has been changing {what} for {timeout_seconds:g} s",
                    where=directory,
                    next_step="wait for it, or end it, then run this again",
                ) from None
            time.sleep(0.1)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _is_named(descriptor: int, path: Path) -> bool:
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    held = os.fstat(descriptor)
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)
