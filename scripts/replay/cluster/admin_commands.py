"""The exact commands by which an administrator gives Replay what a site's file names. Pure; nothing here runs them."""

from __future__ import annotations

from replay.cluster.site import Pool, Site

#: What may be asked of the monitors beyond `profile rbd`, where Replay makes or removes its own pools.
_POOL_CREATE = ("osd pool create", "osd pool set", "osd pool rename", "osd pool application enable")
_POOL_CREATE += ("osd crush rule create-replicated", "osd erasure-code-profile set")
_POOL_DELETE = ("osd pool delete", "osd crush rule rm", "osd erasure-code-profile rm")


def user(site: Site, *, exists: bool = False) -> list[str]:
    """Return the command that makes the site's user (or, where it `exists`, corrects its capabilities)."""
    osd = ", ".join(_profile(pool) for pool in site.pools.all())
    mgr = ", ".join(dict.fromkeys(f"profile rbd pool={pool.name}" for pool in site.pools.all()))
    caps = f"mon {_quoted(_monitor_capabilities(site))} osd {_quoted(osd)} mgr {_quoted(mgr)}"
    client, keyring = site.primary.client, site.primary.keyring
    if exists:
        return [f"ceph auth caps {client} {caps}"]
    output = f" -o {keyring}" if keyring else ""
    return [f"ceph auth get-or-create {client} {caps}{output}"]


def second_user(site: Site) -> list[str]:
    """Return the command that makes the user on the second cluster, which only reads and removes copies' remains."""
    second = site.second_site
    if second is None:
        return []
    caps = f"mon 'profile rbd' osd 'profile rbd pool={second.pool}' mgr 'profile rbd pool={second.pool}'"
    output = f" -o {second.cluster.keyring}" if second.cluster.keyring else ""
    return [f"ceph --conf {second.cluster.conf} auth get-or-create {second.cluster.client} {caps}{output}"]


def pool(wanted: Pool, *, is_data_pool: bool = False) -> list[str]:
    """Return the commands that make a pool: replicated by device class, or erasure-coded with overwrites."""
    pg_num = wanted.pg_num or 32
    commands = []
    if is_data_pool:
        k, m = wanted.erasure_code or (2, 1)
        device = f" crush-device-class={wanted.device_class}" if wanted.device_class else ""
        commands.append(
            f"ceph osd erasure-code-profile set {wanted.name} k={k} m={m} crush-failure-domain=host{device}"
        )
        commands.append(f"ceph osd pool create {wanted.name} {pg_num} {pg_num} erasure {wanted.name}")
        commands.append(f"ceph osd pool set {wanted.name} allow_ec_overwrites true")
        commands.append(f"ceph osd pool application enable {wanted.name} rbd")
        return commands
    rule = ""
    if wanted.device_class:
        rule = f" {wanted.name}-{wanted.device_class}"
        commands.append(f"ceph osd crush rule create-replicated{rule} default host {wanted.device_class}")
    commands.append(f"ceph osd pool create {wanted.name} {pg_num} {pg_num} replicated{rule}")
    if wanted.replicas:
        commands.append(f"ceph osd pool set {wanted.name} size {wanted.replicas}")
    return [*commands, *initialise(wanted), *(namespace(wanted) if wanted.namespace else [])]


def initialise(wanted: Pool) -> list[str]:
    """Return the command that makes a pool one for block devices."""
    return [f"rbd pool init {wanted.name}"]


def namespace(wanted: Pool) -> list[str]:
    """Return the command that makes the pool's namespace."""
    return [f"rbd namespace create --pool {wanted.name} --namespace {wanted.namespace}"]


def mirroring(site: Site) -> list[str]:
    """Return the commands that mirror the data pool, image by image, from the first cluster to the second."""
    second = site.second_site
    if second is None:
        return []
    data, there = site.pools.data, f"rbd --conf {second.cluster.conf}"
    commands = [f"rbd mirror pool enable {data.name} image", f"{there} mirror pool enable {data.name} image"]
    if data.namespace:
        commands += [f"rbd mirror pool enable {data.spec} image", f"{there} mirror pool enable {data.spec} image"]
    return [
        *commands,
        f"rbd mirror pool peer bootstrap create --site-name first {data.name} > peer-token",
        f"{there} mirror pool peer bootstrap import --site-name second --direction rx-only {data.name} peer-token",
        "shred --remove peer-token",
    ]


def mirror_daemon() -> list[str]:
    """Return the command that starts the mirror daemon on the second cluster (packages, then cephadm)."""
    return [
        "systemctl enable --now ceph-rbd-mirror@rbd-mirror.$(hostname -s)   # on a host of the second cluster",
        "ceph orch apply rbd-mirror --placement=1   # instead, where cephadm runs it",
    ]


def everything(site: Site) -> list[str]:
    """Return all commands that a site needs from nothing; those of what exists already do no harm but say so."""
    commands = []
    for each in site.pools.all():
        if not each.create:
            commands += pool(each, is_data_pool=each is site.pools.data_pool)
    commands += user(site)
    if site.second_site is not None:
        commands += second_user(site) + mirroring(site) + mirror_daemon()
    return commands


def _profile(wanted: Pool) -> str:
    # Who makes a pool also makes its namespace, which takes the whole pool.
    inside = f" namespace={wanted.namespace}" if wanted.namespace and not wanted.create else ""
    return f"profile rbd pool={wanted.name}{inside}"


def _monitor_capabilities(site: Site) -> str:
    extra = [*(_POOL_CREATE if "pool_create" in site.allows else ())]
    extra += [*(_POOL_DELETE if "pool_delete" in site.allows else ())]
    return ", ".join(["profile rbd", *(f'allow command "{command}"' for command in extra)])


def _quoted(text: str) -> str:
    return f"'{text}'"
