"""Looks around during a wait: what both clusters, their pools and the mirror daemon say, and whether to wait on.

It only reads, through connections that are open already.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from replay.base.errors import ReplayError
from replay.base.waiting import LOOK_EVERY_SECONDS, Waiting
from replay.cluster import health
from replay.cluster.cluster import CephCommandError
from replay.cluster.mirroring import MirrorDaemon
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.ownership.ledger import NAME_PREFIX
from replay.sandbox.daemons import absent_daemons, up_command

#: A monitor that needs longer is lost. The session adds two seconds, a wait looks every three: within fifteen in all.
ANSWER_WITHIN_SECONDS = 8.0
#: Keys of a pool's quotas, with their units.
_QUOTAS = (("quota_max_bytes", "bytes"), ("quota_max_objects", "objects"))


class Lookout:
    """Looks at a site through its sessions. What a cluster's health said when it was made is not news."""

    def __init__(self, session: MonitorSession, secondary: MonitorSession | None = None) -> None:
        self._sides = [("the cluster", session)] + ([("the second cluster", secondary)] if secondary else [])
        self._at_start = {name: set(_codes(one.status())) for name, one in self._sides}
        self._silent = 0

    def waiting(
        self,
        site: Callable[[], Site],
        what: str,
        at_most_seconds: float | None,
        *,
        say: Callable[[str], None],
        mirrored: bool = False,
        writing: bool = True,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Waiting:
        """Return a wait that looks around: see `look`. `site` returns the site as it is then."""

        def look() -> str:
            return self.look(site(), mirrored=mirrored, writing=writing)

        return Waiting(what, at_most_seconds, say=say, look=look, sleep=sleep)

    def look(self, site: Site, *, mirrored: bool = False, writing: bool = True) -> str:
        """Return what is seen, in a few words. Raises ReplayError with the cause if waiting has become hopeless.

        `mirrored`: the wait is for mirroring, so the second cluster and the mirror daemon matter. `writing`: clients
        have to be able to write, so full pools and OSDs matter. The site is the one of this moment: a mirror daemon
        that was started again has another socket.
        """
        if absent := absent_daemons(site, clusters=("left", "right") if mirrored else ("left",)):
            raise _hopeless(site, ", ".join(absent), f"run {up_command(site)}, then this again")
        seen = []
        for name, session in self._sides if mirrored else self._sides[:1]:
            codes = _codes(_status(site, name, session))
            if writing:
                _refuse_full(site, name, session, codes)
            new = {code: text for code, text in codes.items() if code not in self._at_start[name]}
            if "OSD_DOWN" in new:
                raise _hopeless(site, f"{name}: OSD_DOWN: {new['OSD_DOWN']}", "bring the OSD back, then run this again")
            if new:
                seen.append(f"new on {name}: {', '.join(f'{code} ({text})' for code, text in new.items())}")
        if mirrored:
            seen.insert(0, self._look_at_mirror(site))
        return "; ".join(filter(None, seen)) or "no new health code"

    def _look_at_mirror(self, site: Site) -> str:
        """Return whether the mirror daemon answers on its admin socket; empty if the site names none."""
        if (daemon := MirrorDaemon.named_by(site)) is None:
            return ""
        try:
            daemon.alive()
        except ReplayError as error:
            self._silent += 1
            if self._silent > 1:  # once may be a restart
                raise _hopeless(site, error.what, error.next_step) from error
            return "the mirror daemon does not answer"
        self._silent = 0
        return "the mirror daemon answers"


def _status(site: Site, name: str, session: MonitorSession) -> Mapping[str, Any]:
    try:
        # In a block the sentry asks every two seconds; its answer is good enough.
        return session.status(timeout_seconds=ANSWER_WITHIN_SECONDS, at_most_seconds_old=LOOK_EVERY_SECONDS)
    except CephCommandError as error:
        check = f"check that the monitors named in {session.cluster.conf} run, then run this again"
        raise _hopeless(site, f"no monitor of {name} answers: {error.what}", check) from error


def _refuse_full(site: Site, name: str, session: MonitorSession, codes: Mapping[str, str]) -> None:
    """Raise ReplayError if clients cannot write because an OSD, or a pool that this site uses, is full."""
    if "OSD_FULL" in codes:
        raise _hopeless(site, f"{name}: OSD_FULL: {codes['OSD_FULL']}", "free space, then run this again")
    if "POOL_FULL" not in codes:
        return
    pools = session.command({"prefix": "osd pool ls", "detail": "detail"}, timeout_seconds=ANSWER_WITHIN_SECONDS)
    if full := [_full_sentence(pool) for pool in pools if _is_full(pool) and _is_used(site, pool["pool_name"])]:
        raise _hopeless(site, f"{name}: {', '.join(full)}", "raise the quota or free space, then run this again")


def _is_full(pool: Mapping[str, Any]) -> bool:
    return "full" in str(pool.get("flags_names", "")).split(",")


def _is_used(site: Site, name: str) -> bool:
    names = {pool.name for pool in site.pools.all()}
    if site.second_site is not None:
        names.add(site.second_site.pool.partition("/")[0])
    return name in names or name.startswith(NAME_PREFIX)


def _full_sentence(pool: Mapping[str, Any]) -> str:
    quota = [f"{pool[key]} {unit}" for key, unit in _QUOTAS if pool.get(key)]
    return f"pool {pool['pool_name']} is full" + (f": its quota is {' and '.join(quota)}" if quota else "")


def _hopeless(site: Site, what: str, next_step: str) -> ReplayError:
    return ReplayError(what, where=f"site {site.name}", next_step=f"{next_step}; finished sets are kept")


def _codes(status: Mapping[str, Any]) -> dict[str, str]:
    """Return the health codes of a status that somebody should know of, with their messages."""
    checks = status.get("health", {}).get("checks", {})
    return {
        code: check.get("summary", {}).get("message", "")
        for code, check in checks.items()
        if code not in health.HARMLESS_CODES
    }
