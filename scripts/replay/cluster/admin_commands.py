"""The shell of which an administrator's commands consist, and how one of them is undone. Nothing here runs it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from replay.cluster.cluster import Cluster
from replay.cluster.pools import NAME_PREFIX, OWN_KEY, OWN_VALUE, POOL_DELETE_OPTION
from replay.cluster.site import Pool, Site

ADMINISTRATOR = "client.admin"


@dataclass(frozen=True)
class AdminCommand:
    """A command that makes one thing, and what undoes it.

    `text` can be pasted. A script runs `steps` if `absent` holds, which must fail if the cluster does not answer, and
    then notes what `identity` prints. It runs `undo` only as long as `identity` prints the same: a thing of that name
    that somebody else has made meanwhile stays. `before` is what a script makes first, and undoes last; `text` makes it
    along. All of these are shell, without newlines at their end.
    """

    what: str
    text: str
    absent: str
    steps: tuple[str, ...]
    identity: str
    undo: tuple[str, ...]
    before: tuple[AdminCommand, ...] = ()

    def in_order(self) -> Iterator[AdminCommand]:
        """Yield what a script makes, one after the other."""
        yield from self.before
        yield self


def administrator(cluster: Cluster) -> Cluster:
    """Return the cluster as its administrator reaches it, with the keyring of the usual name next to its conf.

    If there is none, ceph looks for one itself.
    """
    keyring = cluster.conf.with_name(f"{cluster.conf.stem}.{ADMINISTRATOR}.keyring")
    return replace(cluster, client=ADMINISTRATOR, keyring=keyring if os.path.lexists(keyring) else None)


def named(what: str, kind: str, name: str, make: str) -> AdminCommand:
    """Return the command that makes a thing which only has a name, as `ls` and `rm` of its kind know it."""
    absent = f"names=$({kind} ls) && ! printf '%s\\n' \"$names\" | grep -qxF -e {name}"
    there = f"names=$({kind} ls) && printf '%s\\n' \"$names\" | grep -xF -e {name}"
    return AdminCommand(what, "", absent, (f"{kind} {make}",), there, (f"{kind} rm {name}",))


def new_keyring(made: str, keyring: str, indented: str = "") -> str:
    """Return a command that writes another command's output to a new file that only its owner can read.

    It writes the file at the end, so a failing command leaves no empty keyring.
    """
    lines = ("(umask 077 && set -o noclobber &&", f"key=$({made}) &&", f"printf '%s\\n' \"$key\" > {keyring})")
    return f"\n{indented}  ".join(lines)


def block(condition: str, steps: Sequence[str]) -> str:
    """Return a command that runs all steps, up to one that fails, if a condition holds."""
    body = " &&\n".join(f"  {step}" for step in steps)
    return f"if {condition}; then\n{body}\nfi"


def program(name: str, cluster: Cluster) -> str:
    """Return how an administrator calls a program on a cluster."""
    return shlex.join([name, *administrator(cluster).arguments()])


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


def user(site: Site) -> list[AdminCommand]:
    """Return the command that creates the site's user and its keyring; none if that keyring exists."""
    return _user(site.primary, rights(site))


def second_user(site: Site) -> list[AdminCommand]:
    """Return the command that creates the user on the second cluster, which only reads and removes leftover copies."""
    return _user(site.second_site.cluster, second_rights(site)) if site.second_site else []


def pool(cluster: Cluster, wanted: Pool, *, is_data_pool: bool = False) -> list[AdminCommand]:
    """Return the command that creates a pool: replicated by device class, or erasure-coded with overwrites.

    It does nothing if a pool of that name exists, or if the cluster does not confirm that there is none: `pool create`
    succeeds on an existing pool, and the next commands would change it.
    """
    ceph = program("ceph", cluster)
    name, pg_num = wanted.name, wanted.pg_num or 32
    no_pool = f"pools=$({ceph} osd pool ls) && ! printf '%s\\n' \"$pools\" | grep -qxF -e {name}"
    if is_data_pool:
        k, m = wanted.erasure_code or (2, 1)
        device = f" crush-device-class={wanted.device_class}" if wanted.device_class else ""
        profile = named(
            f"erasure code profile {name} ({cluster.name} cluster)",
            f"{ceph} osd erasure-code-profile",
            name,
            f"set {name} k={k} m={m} crush-failure-domain=host{device}",
        )
        rule_of_pool = named(
            f"CRUSH rule {name} ({cluster.name} cluster)",
            f"{ceph} osd crush rule",
            name,
            f"create-erasure {name} {name}",
        )
        first = [profile, rule_of_pool]
        steps = [
            f"{ceph} osd pool create {name} {pg_num} {pg_num} erasure {name} {name}",
            f"{ceph} osd pool set {name} allow_ec_overwrites true",
            f"{ceph} osd pool application enable {name} rbd",
        ]
    else:
        first = []
        rule = f" {name}-{wanted.device_class}" if wanted.device_class else ""
        if rule:
            first.append(
                named(
                    f"CRUSH rule{rule} ({cluster.name} cluster)",
                    f"{ceph} osd crush rule",
                    rule.strip(),
                    f"create-replicated{rule} default host {wanted.device_class}",
                )
            )
        steps = [f"{ceph} osd pool create {name} {pg_num} {pg_num} replicated{rule}"]
        if wanted.replicas:
            steps.append(f"{ceph} osd pool set {name} size {wanted.replicas}")
        steps.append(_initialise(cluster, wanted))
        steps += [_namespace(cluster, wanted)] if wanted.namespace else []
    undo = [
        *([] if is_data_pool else [_without_images(cluster, wanted)]),
        f"{ceph} osd pool delete {name} {name} --yes-i-really-really-mean-it",
    ]
    return [
        AdminCommand(
            f"pool {name} ({cluster.name} cluster)",
            block(no_pool, [step for one in first for step in one.steps] + steps),
            no_pool,
            tuple(steps),
            _id_of_pool(ceph, name),
            tuple(undo),
            before=tuple(first),
        )
    ]


def second_pool(site: Site) -> list[AdminCommand]:
    """Return the command that creates the data pool's counterpart on the second cluster, with its defaults."""
    if (second := site.second_site) is None:
        return []
    return pool(second.cluster, replace(site.pools.data, replicas=None, device_class=None))


def initialise(cluster: Cluster, wanted: Pool) -> list[AdminCommand]:
    """Return the command that initialises a pool for block devices; `rbd` refuses pools of other applications."""
    ceph, name, step = program("ceph", cluster), wanted.name, _initialise(cluster, wanted)
    enabled = f"{ceph} osd pool application get {name}"
    return [
        AdminCommand(
            f"application rbd of pool {name} ({cluster.name} cluster)",
            step,
            f"found=$({enabled}) && ! printf '%s' \"$found\" | grep -q '\"rbd\"'",
            (step,),
            _id_of_pool(ceph, name),
            (
                _without_images(cluster, wanted),
                f"{ceph} osd pool application disable {name} rbd --yes-i-really-mean-it",
            ),
        )
    ]


def namespace(cluster: Cluster, wanted: Pool) -> list[AdminCommand]:
    """Return the command that creates the pool's namespace; it fails if the namespace exists."""
    rbd, step = program("rbd", cluster), _namespace(cluster, wanted)
    there = f"rows=$({rbd} namespace ls {wanted.name})"
    has = f"printf '%s\\n' \"$rows\" | grep -qx '{wanted.namespace} *'"
    return [
        AdminCommand(
            f"namespace {wanted.spec} ({cluster.name} cluster)",
            step,
            f"{there} && ! {has}",
            (step,),
            f"{there} && {has} && {_id_of_pool(program('ceph', cluster), wanted.name)}",
            # Ceph itself refuses to remove one with images in it.
            (f"{rbd} namespace remove --pool {wanted.name} --namespace {wanted.namespace}",),
        )
    ]


def mirroring(site: Site) -> list[AdminCommand]:
    """Return the commands that mirror the data pool, image by image, from the first cluster to the second.

    A pool that already mirrors keeps its mode and its peers. The commands set no site name: it belongs to the whole
    cluster, and without one Ceph uses the fsid. The token goes directly from one program to the other.
    """
    if (second := site.second_site) is None:
        return []
    data = site.pools.data
    commands = [
        _mirrored_by_image(cluster, spec)
        for spec in dict.fromkeys((data.name, data.spec))
        for cluster in (site.primary, second.cluster)
    ]
    here, there = program("rbd", site.primary), program("rbd", second.cluster)
    by_image = " && ".join(f"{rbd} mirror pool info {data.name} | grep -qx 'Mode: image'" for rbd in (here, there))
    without = f"{there} mirror pool info {data.name} | grep -qx 'Peer Sites: none'"
    step = (
        f"{here} mirror pool peer bootstrap create {data.name} |\n"
        f"    {there} mirror pool peer bootstrap import --direction rx-only {data.name} -"
    )
    identity = f"{there} mirror pool info {data.name} | sed -n 's/^UUID: //p'"
    peer = AdminCommand(
        f"peer of pool {data.name} ({second.cluster.name} cluster)",
        block(f"{by_image} && {without}", [step]),
        f"{by_image} && {without} && {here} mirror pool info {data.name} | grep -qx 'Peer Sites: none'",
        (step,),
        identity,
        # The second cluster's daemon registers itself as a peer of the first, a moment later. The user
        # client.rbd-mirror-peer of the first cluster stays: every pool's peers share it.
        (
            f'{there} mirror pool peer remove {data.name} "$identity"',
            f"peer=$({here} mirror pool info {data.name} | sed -n 's/^UUID: //p')",
            f'{{ [ -z "$peer" ] || {here} mirror pool peer remove {data.name} "$peer"; }}',
        ),
    )
    return [*commands, peer]


def _mirrored_by_image(cluster: Cluster, spec: str) -> AdminCommand:
    rbd = program("rbd", cluster)
    disabled = f"{rbd} mirror pool info {spec} | grep -qx 'Mode: disabled'"
    step = f"{rbd} mirror pool enable {spec} image"
    return AdminCommand(
        f"mirroring of {spec} ({cluster.name} cluster)",
        f"{disabled} && {step}",
        disabled,
        (step,),
        f"{rbd} mirror pool info {spec} | grep -x 'Mode: image'",
        (f"{rbd} mirror pool status {spec} | grep -q '^images: 0 total'", f"{rbd} mirror pool disable {spec}"),
    )


def mirror_daemon(second: Cluster, fsid: str, *, folder: Path = Path("/etc/ceph")) -> list[str]:
    """Return the commands that start a mirror daemon on the second cluster: with cephadm, or from packages.

    The second command is for a host of that cluster with its own configuration in `folder`; elsewhere it does nothing.
    """
    ceph = program("ceph", second)
    keyring = f"{shlex.quote(str(folder))}/ceph.client.$id.keyring"
    made = "ceph auth get-or-create \"client.$id\" mon 'profile rbd-mirror' osd 'profile rbd'"
    return [
        block(
            f"services=$({ceph} orch ls rbd-mirror) && ! printf '%s\\n' \"$services\" | grep -q '^rbd-mirror'",
            [f"{ceph} orch apply rbd-mirror --placement=1"],
        ),
        block(
            f'id=rbd-mirror.$(hostname -s) && [ "$(ceph fsid)" = {fsid} ]',
            [
                f"{{ [ -e {keyring} ] || {{ {new_keyring(made, keyring, '  ')} && chown ceph: {keyring}; }}; }}",
                'systemctl enable --now "ceph-rbd-mirror@$id"',
            ],
        ),
    ]


def everything(site: Site) -> list[AdminCommand]:
    """Return all commands for setting up a site from scratch, for both clusters."""
    commands = []
    for each in site.pools.all():
        if not each.create:
            commands += pool(site.primary, each, is_data_pool=each is site.pools.data_pool)
    return commands + user(site) + second_site(site)


def second_site(site: Site) -> list[AdminCommand]:
    """Return all commands for setting up the second cluster from scratch, except for the mirror daemon.

    Whether a daemon runs is only known if the cluster answers. None if the site's file does not allow its use.
    """
    if "second_site" not in site.allows:
        return []
    return second_pool(site) + second_user(site) + mirroring(site)


def _user(cluster: Cluster, wanted: dict[str, str]) -> list[AdminCommand]:
    """Return the command that creates a user and its keyring.

    Ceph refuses `get-or-create` for a user with other capabilities, but `-o` would already have emptied the file.
    """
    if cluster.keyring is None or os.path.lexists(cluster.keyring):
        return []
    ceph, keyring = program("ceph", cluster), shlex.quote(str(cluster.keyring))
    caps = " ".join(f"{daemon} {_quoted(text)}" for daemon, text in wanted.items())
    step = new_keyring(f"{ceph} auth get-or-create {cluster.client} {caps}", keyring)
    return [
        AdminCommand(
            f"user {cluster.client} ({cluster.name} cluster)",
            step,
            f"users=$({ceph} auth ls) && ! printf '%s\\n' \"$users\" | grep -qxF -e {cluster.client}",
            (step,),
            # The key itself must not get into the script's notes.
            f"key=$({ceph} auth get-key {cluster.client}) && printf '%s' \"$key\" | cksum",
            (f"{ceph} auth rm {cluster.client}", f"rm -f {keyring}"),
        )
    ]


def _initialise(cluster: Cluster, wanted: Pool) -> str:
    return f"{program('rbd', cluster)} pool init {wanted.name}"


def _namespace(cluster: Cluster, wanted: Pool) -> str:
    return f"{program('rbd', cluster)} namespace create --pool {wanted.name} --namespace {wanted.namespace}"


def _id_of_pool(ceph: str, name: str) -> str:
    return f"{ceph} osd lspools | awk '$2 == \"{name}\" {{ print $1 }}'"


def _without_images(cluster: Cluster, wanted: Pool) -> str:
    """Return a test that fails if the pool holds an image, also one in the trash or in the site's namespace."""
    rbd = program("rbd", cluster)
    specs = dict.fromkeys((wanted.name, wanted.spec))
    lists = " && ".join(f"{rbd} {listing} {spec}" for spec in specs for listing in ("ls", "trash ls --all"))
    return f'found=$({lists}) && [ -z "$found" ]'


def _quoted(text: str) -> str:
    return f"'{text}'"
