"""What all blocks of a data set share: a public description of the site, and consent to measure into one that ships."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.paths import ROOT, benchmarks_directory, project_directory
from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession, versions
from replay.cluster.site import Site, missing
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
            **({"stretch": True} if _is_stretch(site) else {}),
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

    Raises ConfigurationError if the data set was measured on another site, or in another shape of the sandbox: two
    clusters are two data sets.
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
        if (was := facts["setup"].get("stretch", False)) != _is_stretch(site):
            shapes = {True: "one cluster over both sites", False: "two clusters, or one on a single site"}
            raise ConfigurationError(
                f"this data set was measured on {shapes[was]}; the sandbox is now {shapes[not was]}",
                where=path,
                next_step="choose another name with --data",
            )
        return facts
    facts = campaign_facts(site, data_set, session, secondary)
    durable.make_directory(folder)
    durable.replace(path, pretty_json(facts))
    return facts


def _is_stretch(site: Site) -> bool:
    """Return whether the site is a sandbox of one cluster over both sites."""
    return not missing(["stretch"], site)


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


INTO_SHIPPED = "--into-shipped"
_NAMED = r"^data_set:\s*[\"']?{0}[\"']?\s*(?:#|$)|benchmarks/{0}/"


def require_consent(data_set: str, *, given: bool) -> None:
    """Raise ConfigurationError if the data set ships and nobody agrees to measure into it.

    Agreement is `given` with an option, or asked for in the terminal.
    """
    why = None if given else why_it_ships(data_set)
    if why is None:
        return
    if sys.stdin.isatty() and sys.stdout.isatty():
        print(f"{data_set} ships with the talk: {why}. What you measure now becomes part of it.", flush=True)
        if input(f"Type {data_set} to measure into it all the same: ").strip() == data_set:
            return
        raise ConfigurationError("nothing was measured", next_step="name a data set of your own with --data")
    raise ConfigurationError(
        f"{data_set} ships with the talk: {why}",
        where=benchmarks_directory() / data_set,
        next_step=f"name a data set of your own with --data, or measure into this one with {INTO_SHIPPED}",
    )


def why_it_ships(data_set: str, project: Path | None = None) -> str | None:
    """Return why a data set counts as one that ships: git tracks its files, or the talk names it. None otherwise.

    The talk is that of `project`, else of the checkout; an installed Replay looks into the person's project.
    """
    project = project or ROOT or project_directory()
    if _is_tracked(benchmarks_directory() / data_set):
        return "git tracks its files"
    named = re.compile(_NAMED.format(re.escape(data_set)), re.MULTILINE)
    for path in (*sorted(project.glob("slides/*/talk.yaml")), *sorted(project.glob("slides/*/*.md"))):
        if path.is_file() and named.search(path.read_text(encoding="utf-8")):
            return f"{path.relative_to(project)} names it"
    return None


def _is_tracked(folder: Path) -> bool:
    """Return whether git tracks a file below a folder. Without git or a repository, nothing is tracked."""
    if not folder.is_dir():
        return False
    try:
        found = subprocess.run(
            ["git", "ls-files", "--", "."], cwd=folder, capture_output=True, text=True, check=False, timeout=60
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return False
    return found.returncode == 0 and bool(found.stdout.strip())
