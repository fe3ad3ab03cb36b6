"""The capabilities that a site's users need, by kind of daemon: no more than its file lets Replay do."""

from __future__ import annotations

from replay.cluster.pools import NAME_PREFIX, OWN_KEY, OWN_VALUE, POOL_DELETE_OPTION
from replay.cluster.site import Pool, Site

#: What may be asked of the monitors beyond `profile rbd`, where Replay makes or removes pools of its own, with the
#: argument that has to begin with `replay-`. Ceph asks for the last one when a pool is first used for images.
_POOL_CREATE = {
    "osd pool create": "pool",
    "osd pool set": "pool",
    "osd pool rename": "srcpool",
    "osd pool application enable": "pool",
    "osd pool application set": "pool",
    "osd crush rule create-replicated": "name",
    "osd erasure-code-profile set": "name",
    "osd pool op unmanaged-snap": "poolname",
}
_POOL_DELETE = {"osd pool delete": "pool", "osd crush rule rm": "name", "osd erasure-code-profile rm": "name"}


def rights(site: Site) -> dict[str, str]:
    """Return the capabilities of the site's user on the cluster to be measured, by kind of daemon."""
    osd = [_profile(pool) for pool in site.pools.all()]
    mgr = [*dict.fromkeys(f"profile rbd pool={pool.name}" for pool in site.pools.all())]
    if "pool_create" in site.allows:
        # An experiment's pools have random names; Replay marks them, and only they have this mark.
        mark = f"{OWN_KEY}={OWN_VALUE}"
        osd += [f"allow rwx tag rbd {mark}", f"allow rwx tag rados {mark}"]
    if "pool_delete" in site.allows:
        mgr.append(f'allow command "config show" with key={POOL_DELETE_OPTION}')
    return {"mon": _monitor_rights(site), "osd": ", ".join(osd), "mgr": ", ".join(mgr)}


def second_rights(site: Site) -> dict[str, str]:
    """Return the capabilities of the user on the second cluster."""
    profile = f"profile rbd pool={site.pools.data.name}"
    return {"mon": "profile rbd", "osd": profile, "mgr": profile}


def _profile(wanted: Pool) -> str:
    # Creating a pool includes creating its namespace, which needs the whole pool.
    inside = f" namespace={wanted.namespace}" if wanted.namespace and not wanted.create else ""
    return f"profile rbd pool={wanted.name}{inside}"


def _monitor_rights(site: Site) -> str:
    wanted = _POOL_CREATE if "pool_create" in site.allows else {}
    wanted = wanted | (_POOL_DELETE if "pool_delete" in site.allows else {})
    found = [f'allow command "{command}" with {name} prefix {NAME_PREFIX}' for command, name in wanted.items()]
    if "pool_delete" in site.allows:
        made = [pool.name for pool in site.pools.all() if pool.create and not pool.name.startswith(NAME_PREFIX)]
        found += [f'allow command "osd pool delete" with pool={name}' for name in made]
    return ", ".join(["profile rbd", *found])
