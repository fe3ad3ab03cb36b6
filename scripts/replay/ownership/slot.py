"""The slot of a cluster: one measurement at a time."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from replay.base.errors import RefusedError


class SlotLock:
    """The one place on a cluster where a benchmark may run. Tools inherit it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[str] | None = None

    def acquire(self, wait_seconds: float = 60.0, say: Callable[[str], None] | None = None) -> None:
        """Take the slot, waiting a little for a leftover to end. Raises RefusedError naming the holder."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = self.path.open("a+")
        deadline = time.monotonic() + wait_seconds
        told = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                file.seek(0)
                holder = file.read().strip() or "unknown"
                if say and not told:
                    say(f"another measurement uses this cluster (process {holder}); waiting up to {wait_seconds:g} s")
                    told = True
                if time.monotonic() > deadline:
                    file.close()
                    raise RefusedError(
                        f"another measurement is running on this cluster (process {holder})",
                        where=self.path,
                        next_step="wait for it to end, or end it, then start again: nothing is lost",
                    ) from None
                time.sleep(0.2)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._file = file

    def release(self) -> None:
        """Give the slot back."""
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors that a tool inherits."""
        return (self._file.fileno(),) if self._file is not None else ()
