"""What all blocks of a data set share: a public description of the site. Written once, checked from then on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession, versions
from replay.cluster.site import Site
from replay.evidence import durable
from replay.evidence.data_set import pretty_json
from replay.evidence.record import host, program_version, short_version


def campaign_facts(
    site: Site, data_set: str, session: MonitorSession, secondary: MonitorSession | None = None
) -> dict[str, Any]:
    """Return the content of `campaign.json`: the site's label, limitation and set-up, without addresses or keys."""
    known = versions(session, "rbd", secondary)
    return {
        "schema_version": 1,
        "data_set": data_set,
        "label": site.label,
        "site": site.name,
        "site_label": site.label,
        "limitation": site.limitation,
        "setup": {
            "ceph_version": (known["mon"] or [None])[-1],
            "librbd_version": known["librbd"],
            "osds": _osds(session),
            "replicas": _pool_size(session, site),
            "object_store": _object_store(session),
            "clusters": 2 if site.second_site else 1,
            "cpu": host()["cpu"],
            "cores": host()["cores"],
            "memory_bytes": host()["memory_bytes"],
            "kernel": host()["kernel"],
            "fio_version": short_version(program_version("fio", session.cluster.programs)),
        },
        "versions": {key: value for key, value in known.items() if key != "tool"},
    }


def ensure_campaign(
    folder: Path, site: Site, data_set: str, session: MonitorSession, secondary: MonitorSession | None = None
) -> dict[str, Any]:
    """Return the content of the data set's `campaign.json`, which is created if it does not exist.

    Raises ConfigurationError if the data set was measured on another site: two clusters are two data sets.
    """
    path = folder / "campaign.json"
    if path.exists():
        facts = json.loads(path.read_text())
        if facts["site"] != site.name:
            raise ConfigurationError(
                f"this data set was measured on the site {facts['site']!r}, not {site.name!r}",
                where=path,
                next_step=f"choose another name: --data {site.name}",
            )
        return facts
    facts = campaign_facts(site, data_set, session, secondary)
    durable.make_directory(folder)
    durable.replace(path, pretty_json(facts))
    return facts


def _osds(session: MonitorSession) -> int:
    return int(session.status()["osdmap"]["num_osds"])


def _pool_size(session: MonitorSession, site: Site) -> int:
    return int(session.command({"prefix": "osd pool get", "pool": site.pools.data.name, "var": "size"})["size"])


def _object_store(session: MonitorSession) -> str | None:
    try:
        stores = session.command({"prefix": "osd count-metadata", "property": "osd_objectstore"})
    except CephCommandError:
        return None  # a restricted client may not ask this; the deck then shows "not known"
    return ", ".join(sorted(stores)) or None
