"""Stops all daemons of one cluster of a sandbox at one moment, as if its site were lost, and lets them go on.

A stopped daemon answers nobody and closes no connection: whoever talks to it waits, as for a site without power. A
guardian process lets the daemons go on when the measuring process ends without having done so.

The mirror daemon of the other cluster waits as well, without end. If it was copying at that moment, it does not let the
image go, so that nobody can promote it: killing the daemon helps, and its lock then expires.

The guardian is `python -m replay.sandbox.site_loss PROCESSES`, a JSON list of `replay.sandbox.processes.Process`. The
starter holds its standard input open: it closes with the starter, however that ends.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from dataclasses import asdict

from replay.base.errors import ReplayError
from replay.cluster.sandbox_record import Sandbox
from replay.sandbox import daemons, processes
from replay.sandbox.tools import Interrupt

#: The OSDs first: no write is acknowledged once they stand still.
_ORDER = ("osd", "mon", "mgr")
_READY = b"ready\n"
MIRROR_DAEMON_WITHIN_SECONDS = 180.0


class SiteLoss:
    """The loss of one cluster of a sandbox, from `lose` to `restore`. Use it as a context: leaving it restores."""

    def __init__(self, sandbox: Sandbox, cluster: str) -> None:
        """Find the cluster's daemons. Raises ReplayError if one of them does not run."""
        self.where = f"the sandbox's cluster {cluster}"
        self.sandbox = sandbox
        self.mirror_daemon_killed = False
        roles = sorted(daemons.roles(sandbox.clusters[cluster]), key=lambda role: _ORDER.index(role.type))
        found = [(role, daemons.running(sandbox.layout, role)) for role in roles]
        if dead := [role.name for role, process in found if process is None]:
            raise ReplayError(
                f"it cannot be lost, because it is not whole: {', '.join(dead)} not running", where=self.where
            )
        self.processes = [process for _, process in found if process is not None]
        self._guardian: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> SiteLoss:
        """Start the guardian, and wait until it stands by."""
        told = json.dumps([asdict(process) for process in self.processes])
        self._guardian = subprocess.Popen(
            [sys.executable, "-m", "replay.sandbox.site_loss", told],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._guardian.stdout is not None
        if self._guardian.stdout.readline() != _READY:
            raise ReplayError("the process that would let the daemons go on did not start", where=self.where)
        return self

    def __exit__(self, *_: object) -> None:
        """Let the daemons go on, start a mirror daemon that was killed again, and end the guardian."""
        self.restore()
        if self.mirror_daemon_killed:
            self._start_mirror_daemon()
        if self._guardian is not None:
            with contextlib.suppress(OSError):
                self._guardian.stdin.close()
            self._guardian.wait()
            self._guardian.stdout.close()
            self._guardian = None

    def _start_mirror_daemon(self) -> None:
        """Start it, wait until it replays, and record its new pid and sockets. Raises SandboxError if it does not."""
        layout = self.sandbox.layout
        daemons.start(layout, daemons.MIRROR)
        # It waits until the lock of the one before it has expired.
        daemons.await_ready(layout, daemons.MIRROR, Interrupt(), timeout_seconds=MIRROR_DAEMON_WITHIN_SECONDS)
        daemons.record(self.sandbox)
        self.sandbox.save()

    def lose(self) -> int:
        """Stop every daemon, and return how many there are. Raises ReplayError if one does not stand still."""
        if self._guardian is None or self._guardian.poll() is not None:
            raise ReplayError("nobody would let the daemons go on: the site is not lost", where=self.where)
        processes.freeze(self.processes)
        return len(self.processes)

    def kill_mirror_daemon(self) -> None:
        """Kill the mirror daemon of the other cluster. Raises ReplayError if there is none."""
        process = daemons.running(self.sandbox.layout, daemons.MIRROR)
        if process is None:
            raise ReplayError("the mirror daemon has ended by itself", where=self.where)
        self.mirror_daemon_killed = True
        processes.kill([process])

    def check_lost(self) -> None:
        """Raise ReplayError unless every daemon still stands still."""
        if moving := [process.pid for process in self.processes if not processes.is_frozen(process)]:
            raise ReplayError(f"processes {moving} went on, so that the site was not lost", where=self.where)

    def restore(self) -> None:
        """Let the daemons go on. May be called again."""
        processes.thaw(self.processes)


def stand_by() -> int:
    """Say that it stands by, wait for the end of standard input, and let the processes go on.

    Signals that would end both are ignored.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    stopped = [processes.Process(**one) for one in json.loads(sys.argv[1])]
    print("ready", flush=True)
    sys.stdin.buffer.read()
    processes.thaw(stopped)
    return 0


if __name__ == "__main__":
    sys.exit(stand_by())
