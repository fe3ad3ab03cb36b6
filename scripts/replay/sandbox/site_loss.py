"""Loses a site of a sandbox: stops or kills all its daemons at one moment, and brings them back.

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
    """The loss of one site of a sandbox, from `lose` or `destroy` to `restore`. Leaving the context restores.

    The site is a whole cluster or, of a stretch cluster, the daemons that it has there.
    """

    def __init__(self, sandbox: Sandbox, site: str) -> None:
        """Find the site's daemons. Raises ReplayError if one of them does not run."""
        self.where = f"the sandbox's site {site}"
        self.sandbox = sandbox
        self.mirror_daemon_killed = False
        self._destroyed = False
        roles = [role for each in sandbox.clusters.values() for role in daemons.roles(each) if role.site == site]
        self._roles = sorted(roles, key=lambda role: _ORDER.index(role.type))
        by_role = [(role, daemons.running(sandbox.layout, role)) for role in self._roles]
        if dead := [role.name for role, process in by_role if process is None]:
            raise ReplayError(
                f"it cannot be lost, because it is not whole: {', '.join(dead)} not running", where=self.where
            )
        self.processes = [process for _, process in by_role if process is not None]
        self._guardian: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> SiteLoss:
        """Start the guardian, and wait until it stands by."""
        identities = json.dumps([asdict(process) for process in self.processes])
        self._guardian = subprocess.Popen(
            [sys.executable, "-m", "replay.sandbox.site_loss", identities],
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
        self._record()

    def lose(self) -> int:
        """Stop every daemon, and return how many there are. Raises ReplayError if one does not stand still."""
        if self._guardian is None or self._guardian.poll() is not None:
            raise ReplayError("nobody would let the daemons go on: the site is not lost", where=self.where)
        processes.freeze(self.processes)
        return len(self.processes)

    def destroy(self) -> int:
        """Kill every daemon at once, and return how many there were. `restore` starts them again, with their data."""
        self._destroyed = True
        processes.kill(self.processes)
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
        """Let the daemons go on, or start those that were killed and wait until they work. May be called again."""
        processes.thaw(self.processes)
        if not self._destroyed:
            return
        for role in sorted(self._roles, key=lambda role: role.type == "osd"):
            daemons.start(self.sandbox.layout, role)
        for role in self._roles:
            daemons.await_ready(self.sandbox.layout, role, Interrupt())
        self._destroyed = False
        self._record()

    def _record(self) -> None:
        """Write the daemons' new pids and sockets."""
        daemons.record(self.sandbox)
        self.sandbox.save()


def stand_by() -> int:
    """Say that it stands by, wait for the end of standard input, and let the processes go on.

    Signals that would end both are ignored.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    stopped = [processes.Process(**identity) for identity in json.loads(sys.argv[1])]
    print("ready", flush=True)
    sys.stdin.buffer.read()
    processes.thaw(stopped)
    return 0


if __name__ == "__main__":
    sys.exit(stand_by())
