"""Weights, affinity, classes, caps and configuration of a sandbox's daemons: in the ledger before, restored after.

Replay refuses all of it on a cluster that it did not start. The ledger holds each setting's value before the first
change, so a setting that was changed several times is restored to that value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from replay.base.clock import poll
from replay.base.errors import ReplayError
from replay.cluster.cluster import CephCommandError
from replay.cluster.mirroring import POLL_AGE, MirrorDaemon
from replay.cluster.session import MonitorSession
from replay.cluster.site import require
from replay.ownership.ledger import SETTINGS, Entry, unique_name
from replay.ownership.open_site import OpenSite, intend
from replay.ownership.removal import osd_commands, remove_all
from replay.sandbox.conf import MIRROR_CLIENT
from replay.sandbox.interventions import IoCap, device_of, find_hierarchy


@dataclass(frozen=True)
class Osd:
    """An OSD as the cluster places data on it."""

    number: int
    name: str
    weight: float
    primary_affinity: float
    device_class: str | None = None


class OsdSettings:
    """Changes settings of one bench's cluster. Every method reads the current value before it changes it."""

    def __init__(self, bench: OpenSite) -> None:
        self.bench = bench

    def osds(self) -> list[Osd]:
        """Return the OSDs that hold data, by number."""
        nodes = self.bench.session.command({"prefix": "osd tree"})["nodes"]
        osds = [
            Osd(
                int(osd["id"]),
                osd["name"],
                float(osd["crush_weight"]),
                float(osd["primary_affinity"]),
                osd.get("device_class") or None,
            )
            for osd in nodes
            if osd["type"] == "osd" and float(osd["crush_weight"]) > 0
        ]
        return sorted(osds, key=lambda osd: osd.number)

    def set_weight(self, osd: Osd, weight: float) -> bool:
        """Set an OSD's CRUSH weight; return whether it had to change. Raises RefusedError on a foreign cluster."""
        # Ceph keeps weights in 16.16 fixed point.
        is_set = math.isclose(osd.weight, weight, abs_tol=2**-16)
        return self._set(osd, "crush_weight", osd.weight, weight, is_set)

    def set_affinity(self, osd: Osd, affinity: float) -> bool:
        """Set an OSD's primary affinity, from 0 to 1; return whether it had to change."""
        is_set = math.isclose(osd.primary_affinity, affinity, abs_tol=2**-15)
        return self._set(osd, "primary_affinity", osd.primary_affinity, affinity, is_set)

    def set_config(self, who: str, name: str, value: str) -> bool:
        """Set an option of a daemon or a kind of daemons (`osd.2`, `osd`); return whether it had to change."""
        before = self._configured(who, name)
        if before == value:
            return False
        command = {"prefix": "config set", "who": who, "name": name, "value": value}
        self._change("osd_config", "config", name, {"who": who, "before": before}, command)
        return True

    def set_device_class(self, osd: Osd, name: str) -> bool:
        """Set an OSD's device class; return whether it had to change. Raises RefusedError on a foreign cluster."""
        return self._set(osd, "device_class", osd.device_class, name, osd.device_class == name)

    def cap_io(self, osd: Osd, pid: int, data: Path, iops: int) -> IoCap:
        """Cap the reads and the writes a second of an OSD's process on the disk that holds `data`.

        Raises RefusedError on a foreign cluster and without root, ReplayError if the kernel cannot do it.
        """
        bench, hierarchy, device = self.bench, find_hierarchy(), device_of(data)
        for word in ("crush", "host_root"):
            require(bench.site, word, bench.session.fsid())
        if hierarchy is None or device is None:
            raise ReplayError(f"the disk I/O of {osd.name} cannot be capped here", where=data)
        cap = IoCap(hierarchy, unique_name(osd.name.replace(".", "-")), device)
        details = {"root": str(hierarchy.root), "group": cap.group, "home": hierarchy.home_of(pid)}
        entry = intend(bench, "io_cap", osd.name, **details)
        cap.make(iops)
        cap.take(pid)
        bench.ledger.confirm(entry)
        return cap

    def lift_caps(self) -> int:
        """Free the OSDs' processes from their caps; return how many caps there were."""
        return self._restore(lambda setting: setting.kind == "io_cap")

    def restore_config(self, who: str, name: str) -> bool:
        """Set an option back to its value before this run; return whether there was anything to set back."""
        return (
            self._restore(
                lambda setting: setting.kind == "config" and setting.name == name and setting.details["who"] == who
            )
            > 0
        )

    def restore(self) -> int:
        """Set back every setting in this site's ledger, newest first; return how many there were.

        Raises ReplayError naming one that could not be restored: it stays in the ledger for `replay clean`.
        """
        return self._restore(lambda setting: True)

    def _configured(self, who: str, name: str) -> str | None:
        """Return the value for exactly `who` in the monitors' configuration, None if there is none."""
        rows = self.bench.session.command({"prefix": "config dump"})
        return next(
            (row["value"] for row in rows if (row["section"], row["name"], row["mask"]) == (who, name, "")), None
        )

    def _set(self, osd: Osd, kind: str, before: Any, value: Any, is_set: bool) -> bool:
        if not is_set:
            self._change("crush", kind, osd.name, {"before": before}, *osd_commands(kind, osd.name, value))
        return not is_set

    def _change(self, word: str, kind: str, name: str, details: dict[str, Any], *commands: dict[str, Any]) -> None:
        bench = self.bench
        require(bench.site, word, bench.session.fsid())
        mine = [setting for setting in self._owned() if setting.kind == kind and setting.name == name]
        known = any(setting.details.get("who") == details.get("who") for setting in mine)
        entry = None if known else intend(bench, kind, name, **details)
        for command in commands:
            bench.session.command(command)
        if entry is not None:
            bench.ledger.confirm(entry)

    def _owned(self) -> list[Entry]:
        owned = self.bench.ledger.owned()
        return [entry for entry in owned if entry.kind in SETTINGS and entry.site == self.bench.site.name]

    def _restore(self, chosen: Callable[[Entry], bool]) -> int:
        entries = [setting for setting in reversed(self._owned()) if chosen(setting)]
        return remove_all(self.bench, entries, "setting(s) could not be restored")


def settings_of_second(bench: OpenSite) -> OsdSettings | None:
    """Return the settings of the second cluster's daemons, in its own ledger; None without a second cluster."""
    if bench.secondary is None or bench.secondary_ledger is None:
        return None
    return OsdSettings(replace(bench, session=bench.secondary, ledger=bench.secondary_ledger))


#: A mirror daemon leaves this out of the name under which it registers.
MIRROR_CLIENT_PREFIX = "client.rbd-mirror."
WITHIN_SECONDS = 30.0
ANSWER_WITHIN_SECONDS = 5.0


def mirror_daemons(status: Mapping[str, Any]) -> list[str]:
    """Return the names of the mirror daemons that are registered with a cluster, such as `a`."""
    daemons = status.get("servicemap", {}).get("services", {}).get("rbd-mirror", {}).get("daemons", {})
    registered = [daemon["metadata"] for name, daemon in daemons.items() if name != "summary"]
    return sorted({str(metadata["id"]) for metadata in registered if "id" in metadata})


def configured_for(daemon: str, option: str) -> dict[str, Any]:
    """Return the monitors' command that reads which value their configuration gives a mirror daemon."""
    return {"prefix": "config get", "who": f"{MIRROR_CLIENT_PREFIX}{daemon}", "key": option}


def configured_poll_age(second: MonitorSession) -> float | None:
    """Return the poll age in seconds that the second cluster's configuration gives its mirror daemons.

    A daemon's own file may say otherwise. None if this user may not ask, no daemon is registered, or they differ:
    nobody says which one replays an image.
    """
    try:
        status = second.status(timeout_seconds=ANSWER_WITHIN_SECONDS)
        ages = {
            float(second.command(configured_for(daemon, POLL_AGE), timeout_seconds=ANSWER_WITHIN_SECONDS))
            for daemon in mirror_daemons(status)
        }
    except CephCommandError:
        return None
    return ages.pop() if len(ages) == 1 else None


class PollAge:
    """The poll age of the daemon of one site's second cluster, through that cluster's configuration."""

    def __init__(self, bench: OpenSite) -> None:
        self.bench = bench

    @property
    def daemon(self) -> MirrorDaemon:
        """The daemon, by the socket that the site names now: a daemon that was started again has another one.

        Raises ReplayError if the site names none.
        """
        return MirrorDaemon.of(self.bench.site)

    def set(self, seconds: float) -> None:
        """Set it, and wait until the daemon has it. Raises RefusedError on a foreign cluster."""
        if self.daemon.option(POLL_AGE) != seconds:
            self._settings().set_config(MIRROR_CLIENT, POLL_AGE, f"{seconds:g}")
            self._await(lambda now: now == seconds, f"{POLL_AGE} = {seconds:g}")

    def seconds(self) -> float:
        """Return what the daemon says that it is now."""
        return self.daemon.option(POLL_AGE)

    def restore(self) -> None:
        """Set back what `set` changed, and wait until the daemon knows."""
        before = self.daemon.option(POLL_AGE)
        if self._settings().restore_config(MIRROR_CLIENT, POLL_AGE):
            self._await(lambda now: now != before, f"another {POLL_AGE} than {before:g}")

    def _settings(self) -> OsdSettings:
        settings = settings_of_second(self.bench)
        if settings is None:
            raise ReplayError("there is no second cluster whose mirror daemon could be set", where=self.bench.site.name)
        return settings

    def _await(self, reached: Callable[[float], bool], what: str) -> None:
        what = f"the mirror daemon to take {what}"
        poll(
            lambda: True if reached(self.daemon.option(POLL_AGE)) else None,
            what=what,
            seconds=WITHIN_SECONDS,
            every=0.05,
            where=self.daemon.admin_socket,
            next_step="look at the daemon's log; finished sets are kept, and `measure` goes on with the others",
            pause=self.bench.waiting(what, WITHIN_SECONDS, mirrored=True, writing=False).pause,
        )
