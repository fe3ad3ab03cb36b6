"""The mirror daemon's pause between two looks at a journal that it found empty: set for a cell, and set back after it.

Each image's replay takes the value when it begins, so it is set before the image is there. Replay refuses to set it for
a daemon of a cluster that it did not start.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from replay.base.errors import ReplayError
from replay.cluster.mirroring import MirrorDaemon
from replay.ownership.open_site import OpenSite
from replay.ownership.osd_settings import OsdSettings, settings_of_second
from replay.sandbox.conf import MIRROR_CLIENT

POLL_AGE = "rbd_mirror_journal_poll_age"
WITHIN_SECONDS = 30.0


class PollAge:
    """The poll age of the daemon of one site's second cluster, through that cluster's configuration."""

    def __init__(self, bench: OpenSite) -> None:
        self.bench = bench

    @property
    def daemon(self) -> MirrorDaemon:
        """The daemon, by the socket that the site names now: a daemon that was started again has another one.

        Raises ReplayError if the site names none.
        """
        second = self.bench.site.second_site
        if second is None or second.mirror_daemon_admin_socket is None:
            raise ReplayError(
                "the mirror daemon's admin socket is not named, so its poll age cannot be known",
                where=f"config/sites/{self.bench.site.name}.yaml",
                next_step="name second_cluster.mirror_daemon_admin_socket",
            )
        return MirrorDaemon(second.mirror_daemon_admin_socket, second.pool)

    def set(self, seconds: float) -> None:
        """Set it, and wait until the daemon has it. Raises RefusedError on a foreign cluster."""
        if self.daemon.option(POLL_AGE) != seconds:
            self._settings().set_config(MIRROR_CLIENT, POLL_AGE, f"{seconds:g}")
            self._await(lambda found: found == seconds, f"{POLL_AGE} = {seconds:g}")

    def seconds(self) -> float:
        """Return what the daemon says that it is now."""
        return self.daemon.option(POLL_AGE)

    def restore(self) -> None:
        """Set back what `set` changed, and wait until the daemon knows."""
        before = self.daemon.option(POLL_AGE)
        if self._settings().restore_config(MIRROR_CLIENT, POLL_AGE):
            self._await(lambda found: found != before, f"another {POLL_AGE} than {before:g}")

    def _settings(self) -> OsdSettings:
        settings = settings_of_second(self.bench)
        if settings is None:
            raise ReplayError("there is no second cluster whose mirror daemon could be set", where=self.bench.site.name)
        return settings

    def _await(self, reached: Callable[[float], bool], what: str) -> None:
        deadline = time.monotonic() + WITHIN_SECONDS
        waiting = self.bench.waiting(f"the mirror daemon to take {what}", WITHIN_SECONDS, mirrored=True, writing=False)
        while not reached(self.daemon.option(POLL_AGE)):
            if time.monotonic() > deadline:
                raise ReplayError(
                    f"the mirror daemon did not take {what} within {WITHIN_SECONDS:g} s",
                    where=str(self.daemon.admin_socket),
                    next_step="look at the daemon's log; finished sets are kept, and `measure` goes on with the others",
                )
            waiting.pause(0.05)
