"""The commands with which an administrator gives Replay what a site's file names, and their undo. Nothing runs them.

They only add. Preflight's knowledge is outdated when they are pasted, and it knows nothing about a site that it could
not inspect. So each command checks again by itself, and never changes an existing user, keyring, pool, mirroring mode,
peer, site name or daemon. They are POSIX shell without comments (an interactive zsh does not accept any).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from replay.cluster.cluster import Cluster
from replay.cluster.mirroring import POLL_AGE
from replay.cluster.site import DEFAULT_ERASURE_CODE, DEFAULT_PG_NUM, Pool, Site

#: Prefix of every name that Replay creates.
NAME_PREFIX = "replay-"
#: The mark of an experiment's pool, among the metadata of its application: a user's rights can refer to it.
OWN_KEY, OWN_VALUE = "replay", "own"
POOL_DELETE_OPTION = "mon_allow_pool_delete"
ADMINISTRATOR = "client.admin"
#: How commands reach Ceph: on a host of the first cluster, by each cluster's configuration, or in cephadm's container.
PLAIN, CONF, CEPHADM = "plain", "conf", "cephadm"
#: The programs that the commands use.
_PROGRAMS = ("ceph", "rbd", "rados")
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


@dataclass(frozen=True)
class AdminCommand:
    """Shell that makes something, and shell that removes it by its name: only what `text` made may be undone.

    `undo` is empty where there is nothing to undo. Both are in the form CONF, without a newline at the end.
    """

    text: str
    undo: str = ""
    #: For this machine alone: not for a host of the cluster, nor for its container.
    is_local: bool = False


def install(package: str) -> AdminCommand:
    """Return the command that installs a package on this machine; a question would swallow what is pasted after it."""
    return AdminCommand(f"apt-get install --yes {package}", is_local=True)


def in_form(text: str, site: Site, form: str) -> str:
    """Return a command or its undo in another form than CONF.

    PLAIN is for a host of the first cluster; the second cluster is still reached by its configuration file.
    """
    if form == CONF:
        return text
    for cluster in (site.primary,) if form == PLAIN or site.secondary is None else (site.primary, site.secondary):
        admin = administrator(cluster)
        files = ["--config", str(admin.conf), *(["--keyring", str(admin.keyring)] if admin.keyring else [])]
        for name in _PROGRAMS:
            inside = shlex.join(["cephadm", "shell", *files, "--", name, "--name", admin.client])
            text = text.replace(f"{program(name, cluster)} ", f"{name if form == PLAIN else inside} ")
    # `cephadm shell` reads standard input even if its command does not, and so would swallow the next command.
    return text if form == PLAIN else f"{{\n{text}\n}} < /dev/null"


def of_release(site: Site) -> list[str]:
    """Return shell functions by which Ceph's programs are those of the release that the site's file names.

    They belong before commands in the form CONF, which are for this machine. None if the file names no release, or if
    this machine does not have it: then preflight says how to get it.
    """
    programs = site.primary.programs
    if programs.release is None or any(programs.find(name) is None for name in _PROGRAMS):
        return []
    return [f'{name}() {{ {shlex.join(programs.command([name]))} "$@"; }}' for name in _PROGRAMS]


def administrator(cluster: Cluster) -> Cluster:
    """Return the cluster as its administrator reaches it, with the keyring of the usual name next to its conf.

    If there is none, ceph looks for one itself.
    """
    keyring = cluster.conf.with_name(f"{cluster.conf.stem}.{ADMINISTRATOR}.keyring")
    return replace(cluster, client=ADMINISTRATOR, keyring=keyring if os.path.lexists(keyring) else None)


def program(name: str, cluster: Cluster) -> str:
    """Return how an administrator calls a program on a cluster."""
    return shlex.join([name, *administrator(cluster).arguments()])


def everything(site: Site) -> list[AdminCommand]:
    """Return all commands for setting up a site from scratch, for both clusters."""
    commands = [
        pool(site.primary, each, is_data_pool=each is site.pools.data_pool)
        for each in site.pools.all()
        if not each.create
    ]
    return commands + user(site) + second_site(site)


def second_site(site: Site) -> list[AdminCommand]:
    """Return all commands for setting up the second cluster from scratch, except for the mirror daemon.

    Whether a daemon runs is only known if the cluster answers. None if the site has no second cluster.
    """
    return second_pool(site) + second_user(site) + mirroring(site)


# Users --------------------------------------------------------------------------------------------------------------


def user(site: Site) -> list[AdminCommand]:
    """Return the command that creates the site's user and its keyring; none if that keyring exists."""
    return _user(site.primary, rights(site))


def second_user(site: Site) -> list[AdminCommand]:
    """Return the command that creates the user on the second cluster, which only reads and removes leftover copies."""
    return _user(site.second_site.cluster, second_rights(site)) if site.second_site else []


def rights(site: Site) -> dict[str, str]:
    """Return the capabilities of the site's user on the cluster to be measured, by kind of daemon.

    They allow no more than the site's file lets Replay do.
    """
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
    """Return the capabilities of the user on the second cluster. It may ask which poll age its mirror daemons have."""
    profile = f"profile rbd pool={site.pools.data.name}"
    return {"mon": f'profile rbd, allow command "config get" with key={POLL_AGE}', "osd": profile, "mgr": profile}


def _user(cluster: Cluster, caps: dict[str, str]) -> list[AdminCommand]:
    """Return the command that creates a user and its keyring.

    Ceph refuses `get-or-create` for a user with other capabilities, but `-o` would already have emptied the file.
    """
    if cluster.keyring is None or os.path.lexists(cluster.keyring):
        return []
    ceph, keyring = program("ceph", cluster), shlex.quote(str(cluster.keyring))
    words = " ".join(f"{daemon} '{text}'" for daemon, text in caps.items())
    step = _new_keyring(f"{ceph} auth get-or-create {cluster.client} {words}", keyring)
    return [AdminCommand(step, f"{ceph} auth rm {cluster.client} && rm -f {keyring}")]


def _new_keyring(made: str, keyring: str, indented: str = "") -> str:
    """Return a command that writes another command's output to a new file that only its owner can read.

    It writes the file at the end, so a failing command leaves no empty keyring.
    """
    lines = ("(umask 077 && set -o noclobber &&", f"key=$({made}) &&", f"printf '%s\\n' \"$key\" > {keyring})")
    return f"\n{indented}  ".join(lines)


def _profile(pool: Pool) -> str:
    # Creating a pool includes creating its namespace, which needs the whole pool.
    inside = f" namespace={pool.namespace}" if pool.namespace and not pool.create else ""
    return f"profile rbd pool={pool.name}{inside}"


def _monitor_rights(site: Site) -> str:
    commands = _POOL_CREATE if "pool_create" in site.allows else {}
    commands = commands | (_POOL_DELETE if "pool_delete" in site.allows else {})
    caps = [f'allow command "{command}" with {name} prefix {NAME_PREFIX}' for command, name in commands.items()]
    if "pool_delete" in site.allows:
        made = [pool.name for pool in site.pools.all() if pool.create and not pool.name.startswith(NAME_PREFIX)]
        caps += [f'allow command "osd pool delete" with pool={name}' for name in made]
    return ", ".join(["profile rbd", *caps])


# Pools --------------------------------------------------------------------------------------------------------------


def pool(cluster: Cluster, wanted: Pool, *, is_data_pool: bool = False) -> AdminCommand:
    """Return the command that creates a pool: replicated by device class, or erasure-coded with overwrites.

    It does nothing if a pool of that name exists, or if the cluster does not confirm that there is none: `pool create`
    succeeds on an existing pool, and the next commands would change it.
    """
    ceph, name, pg_num = program("ceph", cluster), wanted.name, wanted.pg_num or DEFAULT_PG_NUM
    undo = [_unused(cluster, wanted), f"{ceph} osd pool delete {name} {name} --yes-i-really-really-mean-it"]
    if is_data_pool:
        k, m = wanted.erasure_code or DEFAULT_ERASURE_CODE
        device = f" crush-device-class={wanted.device_class}" if wanted.device_class else ""
        steps = [
            f"{ceph} osd erasure-code-profile set {name} k={k} m={m} crush-failure-domain=host{device}",
            f"{ceph} osd crush rule create-erasure {name} {name}",
            f"{ceph} osd pool create {name} {pg_num} {pg_num} erasure {name} {name}",
            f"{ceph} osd pool set {name} allow_ec_overwrites true",
            f"{ceph} osd pool application enable {name} rbd",
        ]
        undo += [f"{ceph} osd crush rule rm {name}", f"{ceph} osd erasure-code-profile rm {name}"]
    else:
        steps, rule = [], ""
        if wanted.device_class:
            rule = f" {name}-{wanted.device_class}"
            steps.append(f"{ceph} osd crush rule create-replicated{rule} default host {wanted.device_class}")
        steps.append(f"{ceph} osd pool create {name} {pg_num} {pg_num} replicated{rule}")
        if wanted.replicas:
            steps.append(f"{ceph} osd pool set {name} size {wanted.replicas}")
        steps.append(initialise(cluster, wanted).text)
        steps += [namespace(cluster, wanted).text] if wanted.namespace else []
        undo += [f"{ceph} osd crush rule rm{rule}"] if rule else []
    no_pool = f"pools=$({ceph} osd pool ls) && ! printf '%s\\n' \"$pools\" | grep -qxF -e {name}"
    return AdminCommand(_block(no_pool, steps), _chain(undo))


def second_pool(site: Site) -> list[AdminCommand]:
    """Return the command that creates the data pool's counterpart on the second cluster, with its defaults."""
    if (second := site.second_site) is None:
        return []
    return [pool(second.cluster, replace(site.pools.data, replicas=None, device_class=None))]


def initialise(cluster: Cluster, wanted: Pool) -> AdminCommand:
    """Return the command that initialises a pool for block devices; `rbd` refuses pools of other applications."""
    disable = f"{program('ceph', cluster)} osd pool application disable {wanted.name} rbd --yes-i-really-mean-it"
    step = f"{program('rbd', cluster)} pool init {wanted.name}"
    return AdminCommand(step, _chain([_unused(cluster, wanted), disable]))


def namespace(cluster: Cluster, wanted: Pool) -> AdminCommand:
    """Return the command that creates the pool's namespace; it fails if the namespace exists."""
    rbd, where = program("rbd", cluster), f"--pool {wanted.name} --namespace {wanted.namespace}"
    # Ceph itself refuses to remove one with images in it.
    return AdminCommand(f"{rbd} namespace create {where}", f"{rbd} namespace remove {where}")


def _unused(cluster: Cluster, wanted: Pool) -> str:
    """Return a test that fails if the pool holds more than what every pool for images does, or another namespace.

    No command of `rbd` lists all of it: images of other pools may have their data or journals here. A pool that cannot
    be listed, because its placement groups are not active, takes no writes either: what was counted in them counts.
    """
    listed = f"{program('rados', cluster)} --rados_osd_op_timeout 20 --pool {wanted.name} --all ls"
    own = f"({wanted.namespace})?" if wanted.namespace else ""
    # A mirror daemon that has just been stopped leaves its instance for a while. Without the word at the end, a list
    # that was cut short would look like that of an unused pool.
    usual = f"^{own}[[:space:]]rbd_([a-z_]+|mirror_instance\\.[0-9]+)$"
    lines = f"{{ {listed} && echo all; }} | grep -vE '{usual}' | head -n 1"
    groups = f"{program('ceph', cluster)} pg ls-by-pool {wanted.name} --format json"
    counts = f"{groups} | grep -oE '\"num_objects\": *[0-9]+' | tr -dc '0-9\\n' | sort -u"
    empty = f'counts=$({counts}) && [ "$counts" = 0 ]'
    return f'{{ found=$({lines}); [ "$found" = all ] || {{ [ -z "$found" ] && {empty}; }}; }}'


# Mirroring ----------------------------------------------------------------------------------------------------------


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
    first_rbd, second_rbd = program("rbd", site.primary), program("rbd", second.cluster)
    by_image = " && ".join(
        f"{rbd} mirror pool info {data.name} | grep -qx 'Mode: image'" for rbd in (first_rbd, second_rbd)
    )
    without = f"{second_rbd} mirror pool info {data.name} | grep -qx 'Peer Sites: none'"
    step = (
        f"{first_rbd} mirror pool peer bootstrap create {data.name} |\n"
        f"    {second_rbd} mirror pool peer bootstrap import --direction rx-only {data.name} -"
    )
    # The second cluster's daemon registers itself as a peer of the first, a moment later. The user
    # client.rbd-mirror-peer of the first cluster stays: every pool's peers share it.
    undo = [
        f'peer=$({rbd} mirror pool info {data.name} | sed -n "s/^UUID: //p") && '
        f'{{ [ -z "$peer" ] || {rbd} mirror pool peer remove {data.name} "$peer"; }}'
        for rbd in (second_rbd, first_rbd)
    ]
    return [*commands, AdminCommand(_block(f"{by_image} && {without}", [step]), _chain(undo))]


def _mirrored_by_image(cluster: Cluster, spec: str) -> AdminCommand:
    rbd = program("rbd", cluster)
    return AdminCommand(
        f"{rbd} mirror pool info {spec} | grep -qx 'Mode: disabled' && {rbd} mirror pool enable {spec} image",
        f"{rbd} mirror pool status {spec} | grep -q '^images: 0 total' && {rbd} mirror pool disable {spec}",
    )


def mirror_daemon(second: Cluster, fsid: str, *, folder: Path = Path("/etc/ceph")) -> list[AdminCommand]:
    """Return the commands that start a mirror daemon on the second cluster: with cephadm, or from packages.

    The second command is for a host of that cluster with its own configuration in `folder`; elsewhere it does nothing,
    nor does its undo.
    """
    ceph = program("ceph", second)
    keyring = f"{shlex.quote(str(folder))}/ceph.client.$id.keyring"
    made = "ceph auth get-or-create \"client.$id\" mon 'profile rbd-mirror' osd 'profile rbd'"
    here = f'id=rbd-mirror.$(hostname -s) && [ "$(ceph fsid)" = {fsid} ]'
    return [
        AdminCommand(
            _block(
                f"services=$({ceph} orch ls rbd-mirror) && ! printf '%s\\n' \"$services\" | grep -q '^rbd-mirror'",
                [f"{ceph} orch apply rbd-mirror --placement=1"],
            ),
            f"{ceph} orch rm rbd-mirror",
        ),
        AdminCommand(
            _block(
                here,
                [
                    f"{{ [ -e {keyring} ] || {{ {_new_keyring(made, keyring, '  ')} && chown ceph: {keyring}; }}; }}",
                    'systemctl enable --now "ceph-rbd-mirror@$id"',
                ],
            ),
            f'{here} && systemctl disable --now "ceph-rbd-mirror@$id" && ceph auth rm "client.$id" && rm -f {keyring}',
        ),
    ]


def _block(condition: str, steps: Sequence[str]) -> str:
    """Return a command that runs all steps, up to one that fails, if a condition holds."""
    return f"if {condition}; then\n{_chain([f'  {step}' for step in steps])}\nfi"


def _chain(steps: Sequence[str]) -> str:
    return " &&\n".join(steps)
