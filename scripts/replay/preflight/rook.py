"""What Replay needs on a cluster that Rook runs, as Kubernetes resources: pools, a client, and a job that measures.

The operator makes the client's key and keeps it in a secret of its own (`rook-ceph-client-NAME`); it also keeps the
monitors' addresses. The job takes both from there, so no key is ever in this text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import yaml

from replay.base.errors import ConfigurationError
from replay.base.version import version
from replay.cluster.admin_commands import rights
from replay.cluster.site import Pool, Site

#: Rook's own names for the namespace of a cluster and for where its operator keeps the monitors' addresses.
NAMESPACE, MONITORS = "rook-ceph", "rook-ceph-mon-endpoints"
RESULTS = "replay-results"
#: Copies, if the site's file does not say how many.
REPLICAS = 3
_ROLES = ("data", "journal", "data_pool")
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?")

_HEAD = """\
# What the site {site} needs on a cluster that Rook runs. Before you apply it:
#   - change the namespace everywhere if yours is not {namespace}, and the job's image to the one that you built from
#     Replay's Containerfile and pushed to your registry;
#   - make sure that no pool has one of these names: Rook would take it over, and delete it later.
# kubectl apply -f FILE makes it all, and measures. What was measured and the ledger are on the claim {results}.
# The job removes its images at its end. kubectl delete -f FILE then removes all the rest, the claim included.
"""
_START = """\
set -eu
umask 077
monitors=$(printf %s "$MONITORS" | sed 's/[a-z]*=//g')
printf '[global]\\nmon_host = %s\\n' "$monitors" > /etc/ceph/ceph.conf
printf '[%s]\\nkey = %s\\n' "$CLIENT" "$KEY" > /etc/ceph/replay.keyring
[ -d config/experiments ] || replay init .
cp /site/{site}.yaml config/sites/
replay preflight --site {site}
status=0
replay measure --site {site} --data {site} --scale talk || status=$?
replay clean --site {site} --yes
exit $status
"""


def rook_resources(site: Site) -> str:
    """Return the resources as YAML documents. Raises ConfigurationError for what Rook's resources cannot say."""
    if "second_site" in site.allows:
        raise ConfigurationError(
            "Rook mirrors pools with resources of both clusters, which Replay does not write",
            where=f"site {site.name}",
            next_step="mirror the pool as Rook's pages say, then run preflight --format rook on a site file without "
            "second_site for the rest",
        )
    site = _as_rook_has_it(site)
    documents = [*map(_pool, site.pools.all()), *_namespaces(site), _client(site), _secret(site), _claim(), _job(site)]
    body = yaml.safe_dump_all(documents, sort_keys=False, explicit_start=True, width=1000)
    return _HEAD.format(site=site.name, namespace=NAMESPACE, results=RESULTS) + body


def _as_rook_has_it(site: Site) -> Site:
    """Return the site as the job sees it: Rook makes its pools, and it has no rights beyond them.

    Raises ConfigurationError if Kubernetes does not take a name.
    """
    pools = site.pools
    names = [name for pool in pools.all() for name in (pool.name, pool.namespace) if name]
    for name in [*names, site.name, _name(site)]:
        if not _NAME.fullmatch(name):
            raise ConfigurationError(
                f"{name!r} is no name for Kubernetes, which takes lower-case letters, digits and dashes",
                where=f"site {site.name}",
                next_step="choose another name in the site's file",
            )
    made = {one: replace(pool, create=False) for one in _ROLES if (pool := getattr(pools, one)) is not None}
    return replace(site, pools=replace(pools, **made), allows=frozenset())


def _resource(api: str, kind: str, name: str, **content: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {"app": "replay"}}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **content}


def _pool(pool: Pool) -> dict[str, Any]:
    spec: dict[str, Any] = {"failureDomain": "host"}
    spec |= {"deviceClass": pool.device_class} if pool.device_class else {}
    if pool.erasure_code:
        k, m = pool.erasure_code
        spec |= {"erasureCoded": {"dataChunks": k, "codingChunks": m}}
    else:
        spec |= {"replicated": {"size": pool.replicas or REPLICAS}}
        spec |= {"parameters": {"pg_num": str(pool.pg_num)}} if pool.pg_num else {}
    return _resource("ceph.rook.io/v1", "CephBlockPool", pool.name, spec=spec)


def _namespaces(site: Site) -> Iterator[dict[str, Any]]:
    for pool in site.pools.all():
        if pool.namespace:
            yield _resource(
                "ceph.rook.io/v1", "CephBlockPoolRadosNamespace", pool.namespace, spec={"blockPoolName": pool.name}
            )


def _client(site: Site) -> dict[str, Any]:
    spec = {"caps": rights(site)}
    return _resource("ceph.rook.io/v1", "CephClient", _name(site), spec=spec)


def _name(site: Site) -> str:
    return site.primary.client.removeprefix("client.")


def _secret(site: Site) -> dict[str, Any]:
    """Return the site's file as it is inside the job. Its names and limits are not for everybody to see."""
    pools = {}
    for role in _ROLES:
        if (pool := getattr(site.pools, role)) is not None:
            pools[role] = {"name": pool.name} | ({"namespace": pool.namespace} if pool.namespace else {})
    ceilings = {key: value for key, value in asdict(site.ceilings).items() if value is not None}
    text = {
        "name": site.name,
        "label": site.label,
        "limitation": site.limitation,
        "cluster": {
            "conf": "/etc/ceph/ceph.conf",
            "client": site.primary.client,
            "keyring": "/etc/ceph/replay.keyring",
        },
        "pools": pools,
        "ceilings": ceilings,
        "allows": [],
    }
    if window := site.time_window:
        text["time_window"] = {
            "from": f"{window.start:%H:%M}",
            "to": f"{window.end:%H:%M}",
            "timezone": str(window.zone),
        }
    data = {f"{site.name}.yaml": yaml.safe_dump(text, sort_keys=False)}
    return _resource("v1", "Secret", "replay-site", type="Opaque", stringData=data)


def _claim() -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}
    return _resource("v1", "PersistentVolumeClaim", RESULTS, spec=spec)


def _job(site: Site) -> dict[str, Any]:
    name = _name(site)
    variables = [
        {"name": "CLIENT", "value": site.primary.client},
        {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": f"rook-ceph-client-{name}", "key": name}}},
        {"name": "MONITORS", "valueFrom": {"configMapKeyRef": {"name": MONITORS, "key": "data"}}},
    ]
    container = {
        "name": "replay",
        "image": f"replay:{version()}",
        "command": ["/bin/sh", "-c", _START.format(site=site.name)],
        "env": variables,
        "volumeMounts": [
            {"name": "results", "mountPath": "/project"},
            {"name": "site", "mountPath": "/site", "readOnly": True},
            {"name": "ceph", "mountPath": "/etc/ceph"},
        ],
    }
    pod = {
        "restartPolicy": "Never",
        "containers": [container],
        "volumes": [
            {"name": "results", "persistentVolumeClaim": {"claimName": RESULTS}},
            {"name": "site", "secret": {"secretName": "replay-site"}},
            # The key is in memory only.
            {"name": "ceph", "emptyDir": {"medium": "Memory"}},
        ],
    }
    # A second attempt would repeat nothing, but a person should read first why the first one ended.
    spec = {"backoffLimit": 0, "template": {"metadata": {"labels": {"app": "replay"}}, "spec": pod}}
    return _resource("batch/v1", "Job", f"replay-{site.name}", spec=spec)
