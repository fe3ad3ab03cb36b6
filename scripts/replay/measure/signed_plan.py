"""A run as a file to sign: what people read, and at its end what `replay measure --plan` holds the run to.

The file is Markdown. Its digest covers everything up to the line that states it; below that line, people may sign.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, RefusedError
from replay.base.paths import replay_command, version
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.cluster.site_file import fsid_in
from replay.design.design import Design, PlanFile, PlannedBlock, plan_digest
from replay.evidence.durable import sha256

SCHEMA_VERSION = 1
CONNECT_WITHIN_SECONDS = 10.0
_RECORD = re.compile(r"^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_DIGEST = re.compile(r"^SHA-256 of all lines above: ([0-9a-f]{64})$", re.MULTILINE)


@dataclass(frozen=True)
class Promise:
    """What a plan promises: the site, the data set, and every block of every experiment by its digest."""

    site: Mapping[str, Any]
    data_set: str
    scale: str
    only: tuple[str, ...]
    experiments: Mapping[str, Mapping[str, Any]]
    replay_version: str

    def public(self) -> dict[str, Any]:
        return {"schema_version": SCHEMA_VERSION, **asdict(self), "only": list(self.only)}

    def blocks(self) -> list[PlannedBlock]:
        """Return the blocks, repetition by repetition: within one, experiments take turns."""
        planned = [
            PlannedBlock(name, int(block), plan)
            for name, experiment in self.experiments.items()
            for block, plan in experiment["blocks"].items()
        ]
        return sorted(planned, key=lambda block: block.block)


def promise(site: Site, plan: PlanFile, designs: Mapping[str, Design]) -> Promise:
    """Return what a run would do. Raises ConfigurationError if a cluster's fsid cannot be found out."""
    experiments = {
        name: {
            "sources": plan.sources[name],
            "cells_per_block": sum(len(cell_set.cells) for cell_set in design.sets),
            "blocks": {str(block.block): block.plan for block in plan.blocks if block.experiment == name},
        }
        for name, design in designs.items()
        if design.sets
    }
    primary, secondary = (_fsid(cluster) if cluster else None for cluster in (site.primary, site.secondary))
    facts = site_facts(site, primary, secondary)
    return Promise(facts, plan.data_set, plan.scale, plan.only, experiments, version())


def site_facts(site: Site, fsid: str | None, second_fsid: str | None) -> dict[str, Any]:
    """Return all of a site that decides what a run may do to its clusters, as JSON."""
    clusters = {"primary": _cluster_facts(site.primary, fsid)}
    if site.secondary is not None:
        clusters["secondary"] = _cluster_facts(site.secondary, second_fsid)
    pools = {name: pool for name, pool in asdict(site.pools).items() if pool is not None}
    return json.loads(
        json.dumps(
            {
                "name": site.name,
                "clusters": clusters,
                "pools": pools,
                "allows": sorted(site.allows),
                "client_hosts": site.client_hosts,
                "time_window": str(site.time_window) if site.time_window else None,
                "ceilings": asdict(site.ceilings),
            }
        )
    )


def check_site(promised: Promise, site: Site) -> None:
    """Raise RefusedError if the site's file no longer says what the plan says. The clusters are not asked."""
    clusters = promised.site["clusters"]
    now = site_facts(site, clusters["primary"]["fsid"], clusters.get("secondary", {}).get("fsid"))
    if differing := list(_differences(promised.site, now)):
        raise RefusedError(
            f"the site's file and the plan differ: {'; '.join(differing)}",
            where=f"site {site.name}",
            next_step=f"change it back, or have a new plan signed: {replay_command('measure', '--plan-only')} …",
        )


def check_design(promised: Promise, design: Design, sources: str) -> None:
    """Raise RefusedError if an experiment would now measure something else than the plan says."""
    planned = promised.experiments[design.name]
    if sources != planned["sources"] or any(
        plan_digest(design, int(block)) != plan for block, plan in planned["blocks"].items()
    ):
        raise RefusedError(
            "this experiment, or what its site and this machine allow, has changed since the plan was made",
            where=design.name,
            next_step=f"change it back, or have a new plan signed: {replay_command('measure', '--plan-only')} …",
        )


def with_digest(text: str) -> str:
    """Return a plan's text with its last line, the digest of all lines above it."""
    return f"{text}SHA-256 of all lines above: {sha256(text.encode())}\n"


def digest_in(text: str) -> str:
    return _DIGEST.search(text)[1]


def read_signed_plan(path: Path) -> Promise:
    """Return what the plan in a file promises.

    Raises ConfigurationError if there is none, or it is of another version of Replay; RefusedError if it was altered.
    """
    again = replay_command("measure", "--plan-only") + " …"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"the plan cannot be read: {error}", where=path) from error
    stated, record = _DIGEST.search(text), None
    if stated is not None:
        if sha256(text[: stated.start()].encode()) != stated[1]:
            raise RefusedError(
                "the plan was altered after it was made",
                where=path,
                next_step=f"use the file that was signed, or make a new one: {again}",
            )
        record = list(_RECORD.finditer(text[: stated.start()]))[-1:]
    if not record:
        raise ConfigurationError("this is no plan of `replay measure --plan-only`", where=path)
    document = json.loads(record[0][1])
    if document["schema_version"] != SCHEMA_VERSION or document["replay_version"] != version():
        raise ConfigurationError(
            f"the plan was made by Replay {document['replay_version']}, and this is {version()}",
            where=path,
            next_step=f"measure with that version, or make a new plan: {again}",
        )
    document.pop("schema_version")
    return Promise(**document | {"only": tuple(document["only"])})


def _cluster_facts(cluster: Cluster, fsid: str | None) -> dict[str, Any]:
    return {"conf": str(cluster.conf), "client": cluster.client, "fsid": fsid}


def _fsid(cluster: Cluster) -> str:
    """Ask a cluster for its fsid; if it does not answer, its ceph.conf may name it."""
    try:
        with closing(MonitorSession(cluster, connect_timeout_seconds=CONNECT_WITHIN_SECONDS)) as session:
            return session.fsid()
    except CephCommandError as error:
        if stated := fsid_in(cluster.conf):
            return stated
        raise ConfigurationError(
            f"a plan has to say which cluster it is for, and this one does not answer: {error.what}",
            where=cluster.conf,
            next_step="add the line `fsid = …` to this file, or plan again when the cluster answers",
        ) from error


def _differences(planned: Any, now: Any, path: str = "") -> Iterator[str]:
    if isinstance(planned, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys((*planned, *now)):
            yield from _differences(planned.get(key), now.get(key), f"{path}.{key}" if path else key)
    elif planned != now:
        yield f"{path} was {planned!r} and is {now!r}"
