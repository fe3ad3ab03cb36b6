"""The commands with which an administrator gives Replay what a site's file names. Nothing here runs them.

They only add. Preflight's knowledge is outdated when they are pasted, and it knows nothing about a site that it could
not inspect. So each command checks again by itself, and never changes an existing user, keyring, pool, mirroring mode,
peer, site name or daemon. They are POSIX shell without comments (an interactive zsh does not accept any).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from replay.cluster.cluster import Cluster
from replay.cluster.site import Pool, Site

ADMINISTRATOR = "client.admin"
#: What may be asked of the monitors beyond `profile rbd`, where Replay makes or removes its own pools.
_POOL_CREATE = ("osd pool create", "osd pool set", "osd pool rename", "osd pool application enable")
_POOL_CREATE += ("osd crush rule create-replicated", "osd erasure-code-profile set")
_POOL_DELETE = ("osd pool delete", "osd crush rule rm", "osd erasure-code-profile rm")


def administrator(cluster: Cluster) -> Cluster:
    """Return the cluster as its administrator reaches it, with the keyring of the usual name next to its conf.

    If there is none, ceph looks for one itself.
    """
    keyring = cluster.conf.with_name(f"{cluster.conf.stem}.{ADMINISTRATOR}.keyring")
    return replace(cluster, client=ADMINISTRATOR, keyring=keyring if os.path.lexists(keyring) else None)


def user(site: Site) -> list[str]:
    """Return the command that creates the site's user and its keyring; none if that keyring exists."""
    osd = ", ".join(_profile(pool) for pool in site.pools.all())
    mgr = ", ".join(dict.fromkeys(f"profile rbd pool={pool.name}" for pool in site.pools.all()))
    return _user(site.primary, {"mon": _monitor_capabilities(site), "osd": osd, "mgr": mgr})


def second_user(site: Site) -> list[str]:
    """Return the command that creates the user on the second cluster, which only reads and removes leftover copies."""
    if (second := site.second_site) is None:
        return []
    profile = f"profile rbd pool={second.pool}"
    return _user(second.cluster, {"mon": "profile rbd", "osd": profile, "mgr": profile})


def pool(cluster: Cluster, wanted: Pool, *, is_data_pool: bool = False) -> list[str]:
    """Return the command that creates a pool: replicated by device class, or erasure-coded with overwrites.

    It does nothing if a pool of that name exists, or if the cluster does not confirm that there is none: `pool create`
    succeeds on an existing pool, and the next commands would change it.
    """
    ceph = _program("ceph", cluster)
    name, pg_num, steps = wanted.name, wanted.pg_num or 32, []
    if is_data_pool:
        k, m = wanted.erasure_code or (2, 1)
        device = f" crush-device-class={wanted.device_class}" if wanted.device_class else ""
        steps.append(f"{ceph} osd erasure-code-profile set {name} k={k} m={m} crush-failure-domain=host{device}")
        steps.append(f"{ceph} osd pool create {name} {pg_num} {pg_num} erasure {name}")
        steps.append(f"{ceph} osd pool set {name} allow_ec_overwrites true")
        steps.append(f"{ceph} osd pool application enable {name} rbd")
    else:
        rule = f" {name}-{wanted.device_class}" if wanted.device_class else ""
        if rule:
            steps.append(f"{ceph} osd crush rule create-replicated{rule} default host {wanted.device_class}")
        steps.append(f"{ceph} osd pool create {name} {pg_num} {pg_num} replicated{rule}")
        if wanted.replicas:
            steps.append(f"{ceph} osd pool set {name} size {wanted.replicas}")
        steps += initialise(cluster, wanted)
        steps += namespace(cluster, wanted) if wanted.namespace else []
    absent = f"pools=$({ceph} osd pool ls) && ! printf '%s\\n' \"$pools\" | grep -qxF -e {name}"
    return [_block(absent, steps)]


def second_pool(site: Site) -> list[str]:
    """Return the command that creates the data pool's counterpart on the second cluster, with its defaults."""
    if (second := site.second_site) is None:
        return []
    return pool(second.cluster, replace(site.pools.data, replicas=None, device_class=None))


def initialise(cluster: Cluster, wanted: Pool) -> list[str]:
    """Return the command that initialises a pool for block devices; `rbd` refuses pools of other applications."""
    return [f"{_program('rbd', cluster)} pool init {wanted.name}"]


def namespace(cluster: Cluster, wanted: Pool) -> list[str]:
    """Return the command that creates the pool's namespace; it fails if the namespace exists."""
    return [f"{_program('rbd', cluster)} namespace create --pool {wanted.name} --namespace {wanted.namespace}"]


def mirroring(site: Site) -> list[str]:
    """Return the commands that mirror the data pool, image by image, from the first cluster to the second.

    A pool that already mirrors keeps its mode and its peers. The commands set no site name: it belongs to the whole
    cluster, and without one Ceph uses the fsid. The token goes directly from one program to the other.
    """
    if (second := site.second_site) is None:
        return []
    data = site.pools.data
    here, there = _program("rbd", site.primary), _program("rbd", second.cluster)
    commands = [
        f"{rbd} mirror pool info {spec} | grep -qx 'Mode: disabled' && {rbd} mirror pool enable {spec} image"
        for spec in dict.fromkeys((data.name, data.spec))
        for rbd in (here, there)
    ]
    by_image = " && ".join(f"{rbd} mirror pool info {data.name} | grep -qx 'Mode: image'" for rbd in (here, there))
    without = f"{there} mirror pool info {data.name} | grep -qx 'Peer Sites: none'"
    token = f"{here} mirror pool peer bootstrap create {data.name}"
    given = f"{there} mirror pool peer bootstrap import --direction rx-only {data.name} -"
    return [*commands, _block(f"{by_image} && {without}", [f"{token} |\n    {given}"])]


def mirror_daemon(second: Cluster, fsid: str, *, folder: Path = Path("/etc/ceph")) -> list[str]:
    """Return the commands that start a mirror daemon on the second cluster: with cephadm, or from packages.

    The second command is for a host of that cluster with its own configuration in `folder`; elsewhere it does nothing.
    """
    ceph = _program("ceph", second)
    keyring = f"{shlex.quote(str(folder))}/ceph.client.$id.keyring"
    made = "ceph auth get-or-create \"client.$id\" mon 'profile rbd-mirror' osd 'profile rbd'"
    return [
        _block(
            f"services=$({ceph} orch ls rbd-mirror) && ! printf '%s\\n' \"$services\" | grep -q '^rbd-mirror'",
            [f"{ceph} orch apply rbd-mirror --placement=1"],
        ),
        _block(
            f'id=rbd-mirror.$(hostname -s) && [ "$(ceph fsid)" = {fsid} ]',
            [
                f"{{ [ -e {keyring} ] || {{ {_new_keyring(made, keyring, '  ')} && chown ceph: {keyring}; }}; }}",
                'systemctl enable --now "ceph-rbd-mirror@$id"',
            ],
        ),
    ]


def everything(site: Site) -> list[str]:
    """Return all commands for setting up a site from scratch, for both clusters."""
    commands = []
    for each in site.pools.all():
        if not each.create:
            commands += pool(site.primary, each, is_data_pool=each is site.pools.data_pool)
    return commands + user(site) + second_site(site)


def second_site(site: Site) -> list[str]:
    """Return all commands for setting up the second cluster from scratch, except for the mirror daemon.

    Whether a daemon runs is only known if the cluster answers. None if the site's file does not allow its use.
    """
    if "second_site" not in site.allows:
        return []
    return second_pool(site) + second_user(site) + mirroring(site)


def _user(cluster: Cluster, capabilities: dict[str, str]) -> list[str]:
    """Return the command that creates a user and its keyring.

    Ceph refuses `get-or-create` for a user with other capabilities, but `-o` would already have emptied the file.
    """
    if cluster.keyring is None or os.path.lexists(cluster.keyring):
        return []
    caps = " ".join(f"{daemon} {_quoted(text)}" for daemon, text in capabilities.items())
    made = f"{_program('ceph', cluster)} auth get-or-create {cluster.client} {caps}"
    return [_new_keyring(made, shlex.quote(str(cluster.keyring)))]


def _new_keyring(made: str, keyring: str, indented: str = "") -> str:
    """Return a command that writes another command's output to a new file that only its owner can read.

    It writes the file at the end, so a failing command leaves no empty keyring.
    """
    lines = ("(umask 077 && set -o noclobber &&", f"key=$({made}) &&", f"printf '%s\\n' \"$key\" > {keyring})")
    return f"\n{indented}  ".join(lines)


def _block(condition: str, steps: Sequence[str]) -> str:
    body = " &&\n".join(f"  {step}" for step in steps)
    return f"if {condition}; then\n{body}\nfi"


def _program(name: str, cluster: Cluster) -> str:
    return shlex.join([name, *administrator(cluster).arguments()])


def _profile(wanted: Pool) -> str:
    # Creating a pool includes creating its namespace, which needs the whole pool.
    inside = f" namespace={wanted.namespace}" if wanted.namespace and not wanted.create else ""
    return f"profile rbd pool={wanted.name}{inside}"


def _monitor_capabilities(site: Site) -> str:
    extra = [*(_POOL_CREATE if "pool_create" in site.allows else ())]
    extra += [*(_POOL_DELETE if "pool_delete" in site.allows else ())]
    return ", ".join(["profile rbd", *(f'allow command "{command}"' for command in extra)])


def _quoted(text: str) -> str:
    return f"'{text}'"
