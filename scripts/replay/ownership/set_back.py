"""Sets OSDs and options back to what they were before Replay changed them, as the ledger recorded it.

Each function returns whether the OSD still exists. Each raises RefusedError on a cluster that Replay did not start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from replay.cluster.session import MonitorSession
from replay.cluster.site import Site, require
from replay.ownership.ledger import Entry


def _config(site: Site, session: MonitorSession, entry: Entry) -> bool:
    require(site, "osd_config", session.fsid())
    command, before = {"who": entry.details["who"], "name": entry.name}, entry.details.get("before")
    if before is None:
        session.command({"prefix": "config rm", **command})
    else:
        session.command({"prefix": "config set", **command, "value": str(before)})
    return True


def _weight(site: Site, session: MonitorSession, entry: Entry) -> bool:
    if there := _is_there(site, session, entry):
        before = float(entry.details["before"])
        session.command({"prefix": "osd crush reweight", "name": entry.name, "weight": before})
    return there


def _affinity(site: Site, session: MonitorSession, entry: Entry) -> bool:
    if there := _is_there(site, session, entry):
        number, before = int(entry.name.removeprefix("osd.")), float(entry.details["before"])
        session.command({"prefix": "osd primary-affinity", "id": number, "weight": before})
    return there


def _device_class(site: Site, session: MonitorSession, entry: Entry) -> bool:
    if there := _is_there(site, session, entry):
        session.command({"prefix": "osd crush rm-device-class", "ids": [entry.name]})
        if before := entry.details.get("before"):
            session.command({"prefix": "osd crush set-device-class", "class": before, "ids": [entry.name]})
    return there


def _is_there(site: Site, session: MonitorSession, entry: Entry) -> bool:
    require(site, "crush", session.fsid())
    nodes = session.command({"prefix": "osd tree"})["nodes"]
    return entry.name in {node["name"] for node in nodes if node["type"] == "osd"}


#: The functions by the ledger's kind of entry.
SET_BACK: Mapping[str, Callable[[Site, MonitorSession, Entry], bool]] = {
    "config": _config,
    "crush_weight": _weight,
    "primary_affinity": _affinity,
    "device_class": _device_class,
}
