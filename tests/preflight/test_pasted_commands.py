"""Every command that preflight prints, pasted by an administrator, takes nothing from neighbours."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from replay.cluster import admin_commands
from replay.cluster.cluster import Cluster
from replay.cluster.session import MonitorSession
from replay.cluster.site_file import load_site
from replay.ownership.pools import await_clean
from replay.preflight import command as preflight
from replay.sandbox import Sandbox
from support.administrator import delete_pool, make_user, tell
from support.cluster_snapshot import difference, snapshot, taken
from support.patience import patient, wait_until

pytestmark = [pytest.mark.sandbox, pytest.mark.xdist_group("neighbours of pasted commands")]
WriteSite = Callable[[str, str], Path]
Snapshot = dict[str, Any]
#: Their users' capabilities.
TENANT = ("mon", "profile rbd", "osd", "profile rbd pool=tenant2", "mgr", "profile rbd pool=tenant2")


@pytest.fixture(scope="module")
def neighbours(administrator: Cluster, second_administrator: Cluster) -> None:
    """On both clusters: pools, users, images, configuration, keys and mirroring of somebody else, named `tenant…`."""
    for cluster in (administrator, second_administrator):
        for pool in ("tenant", "tenant2"):
            tell(cluster, "osd pool create", pool=pool, pg_num=8)
            cluster.run("rbd", "pool", "init", pool)
        tell(cluster, "osd pool create", pool="tenant-files", pg_num=8)
        tell(cluster, "osd pool application enable", pool="tenant-files", app="cephfs")
        tell(cluster, "osd pool create", pool="tenant-objects", pg_num=8)
        cluster.run("rados", "--pool", "tenant-objects", "put", "theirs", "/etc/hostname")
        for user in ("client.tenant", "client.tenant2"):
            make_user(cluster, user, *TENANT)
        tell(cluster, "config set", who="client.tenant", name="rbd_cache", value="false")
        tell(cluster, "config-key set", key="tenant/key", val="theirs")
        for spec in ("tenant/replay-0a1b2c3d-with-journal", "tenant2/disk"):
            cluster.run("rbd", "create", "--size", "16M", spec)
        # In this mode every journaled image is mirrored automatically; another mode would end that.
        cluster.run("rbd", "mirror", "pool", "enable", "tenant", "pool")
    for cluster in (administrator, second_administrator):
        with MonitorSession(cluster) as session:
            await_clean(session, ["tenant", "tenant2", "tenant-files", "tenant-objects"])


@pytest.fixture
def confs(tmp_path: Path, live_sandbox: Sandbox) -> Path:
    """A folder as an administrator has it: a conf of each cluster, and the administrators' keyrings beside them."""
    folder = tmp_path / "an administrator's"
    folder.mkdir()
    for name in ("left", "right"):
        cluster = live_sandbox.clusters[name]
        text = Path(cluster.conf).read_text()
        # A foreign conf does not name a keyring with the administrator's key.
        (folder / f"{name}.conf").write_text(re.sub(r"(?m)^keyring = .*client\.keyring$", "", text))
        keyring = folder / f"{name}.client.admin.keyring"
        keyring.write_text(Path(cluster.keyring).read_text())
        keyring.chmod(0o600)
    return folder


@pytest.fixture(scope="module")
def found_last() -> list[Snapshot]:
    """Both clusters as the last test left them: a snapshot takes dozens of programs."""
    return []


@pytest.fixture
def untaken(
    administrator: Cluster, second_administrator: Cluster, neighbours: None, found_last: list[Snapshot]
) -> Iterator[Callable[[], list[list[str]]]]:
    """What is missing or altered on both clusters since the test began, which must be nothing at its end.

    Removes what the test added.
    """
    clusters = (administrator, second_administrator)
    before = list(found_last) or [snapshot(cluster) for cluster in clusters]
    found_last.clear()

    def changes(now: list[Snapshot] | None = None) -> list[list[str]]:
        now = now or [snapshot(cluster) for cluster in clusters]
        return [taken(old, new) for old, new in zip(before, now, strict=True)]

    yield changes
    after = [snapshot(cluster) for cluster in clusters]
    assert changes(after) == [[], []]
    for cluster, old, now in zip(clusters, before, after, strict=True):
        for pool in now["pools"].keys() - old["pools"].keys():
            delete_pool(cluster, pool)
        for rule in set(now["crush_rules"]) - set(old["crush_rules"]):
            tell(cluster, "osd crush rule rm", name=rule)
        for user in now["auth"].keys() - old["auth"].keys():
            tell(cluster, "auth rm", entity=user)
    # Nothing is taken, and what was added is gone again.
    found_last[:] = before


def _site(write_site: WriteSite, confs: Path, *, client: str = "client.paste", pools: str, second: bool = True) -> None:
    there = (
        f"second_cluster: {{conf: {confs}/right.conf, client: {client}, keyring: {confs}/right.keyring}}\n"
        if second
        else ""
    )
    write_site(
        "mine",
        "name: mine\nlabel: Mine\nlimitation: A test.\n"
        f"allows: [{'second_site' if second else ''}]\npools: {pools}\n{there}"
        f'cluster: {{conf: "{confs}/left.conf", client: {client}, keyring: "{confs}/left.keyring"}}\n',
    )


def _look() -> preflight.Report:
    return preflight.preflight(load_site("mine", check_files=False), [])


def _said(report: preflight.Report) -> str:
    return "\n".join(item.text for item in report.findings.items)


def _paste(commands: list[str], shell: str = "sh", **environment: str) -> subprocess.CompletedProcess[str]:
    """Paste commands one after the other into a shell, which continues if one of them fails."""
    return subprocess.run(
        [shell],
        input="\n".join(commands) + "\n",
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )


def _peers(cluster: Cluster, pool: str) -> list[str]:
    """Return the peers of a mirrored pool."""
    _, peers = tell(cluster, "facts", target="rbd", pool=pool)["mirroring"][pool]
    return peers


def test_the_printed_commands_lead_from_nothing_to_measuring(
    write_site: WriteSite, confs: Path, administrator: Cluster, untaken: Callable[[], list[list[str]]]
) -> None:
    _site(
        write_site,
        confs,
        pools="{data: {name: paste, pg_num: 8, replicas: 2}, journal: {name: paste-journal, pg_num: 8}}",
    )
    first = _look()
    assert first.exit_status == 4
    done = _paste(preflight.commands_in(first), shell="bash")
    assert done.returncode == 0, done.stderr
    assert {path.stat().st_mode & 0o777 for path in (confs / "left.keyring", confs / "right.keyring")} == {0o600}
    for name in ("left", "right"):
        with MonitorSession(Cluster(confs / f"{name}.conf", "client.paste", confs / f"{name}.keyring")) as session:
            await_clean(session, ["paste"])
    # The mirror daemon enters itself as the first cluster's peer half a minute after it has found the pool.
    wait_until(lambda: _peers(administrator, "paste"), "the first cluster's pool to have a peer", 60)
    then = _look()
    assert [item.text for item in then.findings.items if item.level in ("refused", "skip")] == []
    assert "can be read by other users" not in _said(then)
    assert then.findings.commands() == []
    assert then.exit_status == 0
    # Once more: everything that exists now stays as it is, also a keyring of another content.
    left = confs / "left.keyring"
    own = left.read_bytes()
    left.write_text("somebody's")
    keys = [path.read_bytes() for path in sorted(confs.iterdir())]
    _paste(preflight.commands_in(first), shell="bash")
    assert [path.read_bytes() for path in sorted(confs.iterdir())] == keys
    left.write_bytes(own)
    assert _look().exit_status == 0
    assert untaken() == [[], []]


#: What `cephadm shell` does with its words, as far as the commands depend on it: files reach the program through its
#: options, and standard input is read, whether or not the program wants it.
CEPHADM_SHELL = """\
#!/bin/sh
[ "$1" = shell ] || exit 64
shift
while [ "$1" != -- ]; do
  case $1 in
    --config) conf=$2 ;;
    --keyring) keyring=$2 ;;
    *) exit 64 ;;
  esac
  shift 2
done
shift
called=$1
shift
cat | "$called" --conf "$conf" ${keyring:+--keyring "$keyring"} "$@"
"""


def test_the_commands_through_cephadm_make_everything_and_their_undo_removes_it(
    write_site: WriteSite,
    confs: Path,
    administrator: Cluster,
    second_administrator: Cluster,
    untaken: Callable[[], list[list[str]]],
    tmp_path: Path,
) -> None:
    clusters = (administrator, second_administrator)
    before = [snapshot(cluster) for cluster in clusters]
    pools = "data: {name: paste, namespace: talk, pg_num: 8, replicas: 2}"
    _site(write_site, confs, pools=f"{{{pools}, data_pool: {{name: paste-ec, pg_num: 8, device_class: ssd}}}}")
    report, programs = _look(), tmp_path / "programs"
    programs.mkdir()
    (programs / "cephadm").write_text(CEPHADM_SHELL)
    (programs / "cephadm").chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    done = _paste(preflight.commands_in(report, "cephadm"), PATH=path)
    assert done.returncode == 0, done
    assert _look().findings.commands() == []
    assert untaken() == [[], []]
    # A pool in use is left.
    second_administrator.run("rbd", "create", "--size", "16M", "paste/theirs")
    undo = preflight.undo_in(report, "cephadm")
    # The mirror daemon may register itself as a peer of the first cluster once more.
    wait_until(lambda: _paste(undo, PATH=path) and not _added(administrator, before[0]), "the undo of mirroring")
    there = difference(before[1], snapshot(second_administrator))
    assert all(line.split(" is new")[0].split("/")[2] == "paste" for line in there), there
    assert {line.split("/")[1] for line in there} == {"pools", "namespaces", "mirroring", "images", "trash"}
    assert not (confs / "left.keyring").exists()


def _added(cluster: Cluster, before: Snapshot) -> set[str]:
    """What a cluster has that it had not, besides Ceph's own user of all peers."""
    return {line.split(" is new")[0] for line in difference(before, snapshot(cluster))} - {
        "/auth/client.rbd-mirror-peer"
    }


def test_commands_for_names_of_a_neighbour_change_nothing(
    write_site: WriteSite, confs: Path, untaken: Callable[[], list[list[str]]]
) -> None:
    """Nothing could be inspected, and every name is taken: the user has other capabilities, the pools other sizes."""
    pools = "{data: {name: tenant, replicas: 1, pg_num: 16}, journal: {name: tenant-files}, data_pool: {name: tenant2}}"
    _site(write_site, confs, client="client.tenant", pools=pools)
    commands = preflight.commands_in(_look())
    assert any("osd pool create tenant 16" in each for each in commands)
    assert any("get-or-create client.tenant " in each for each in commands)
    done = _paste(commands)
    assert "cap" in done.stderr and "does not match" in done.stderr, "ceph itself refuses the neighbour's user"
    assert untaken() == [[], []]
    assert not (confs / "left.keyring").exists(), "a command that failed leaves no empty keyring"


def test_a_neighbours_user_is_refused_and_no_command_is_printed(
    write_site: WriteSite, confs: Path, administrator: Cluster, untaken: Callable[[], list[list[str]]]
) -> None:
    (confs / "left.keyring").write_text(make_user(administrator, "client.tenant", *TENANT))
    _site(write_site, confs, client="client.tenant", pools="{data: {name: tenant}}", second=False)
    report = _look()
    assert report.exit_status == 4
    assert "client.tenant cannot list tenant" in _said(report)
    assert "this user has other caps; give Replay a user of its own" in _said(report)
    assert report.findings.commands() == []


@pytest.mark.parametrize(
    ("pool", "said"),
    [
        ("tenant-files", "belongs to cephfs: name a separate pool"),
        ("tenant-objects", "holds 1 objects: name a separate pool"),
    ],
)
def test_a_pool_of_another_application_is_refused_and_no_command_is_printed(
    write_site: WriteSite, confs: Path, administrator: Cluster, neighbours: None, pool: str, said: str
) -> None:
    _site(write_site, confs, client="client.admin", pools=f"{{data: {{name: {pool}}}}}", second=False)
    (confs / "left.keyring").write_text((confs / "left.client.admin.keyring").read_text())
    report = _look()
    assert said in _said(report)
    assert report.findings.commands() == []


def test_a_namespace_and_missing_pools_are_made_if_the_user_exists(
    write_site: WriteSite, confs: Path, administrator: Cluster, untaken: Callable[[], list[list[str]]]
) -> None:
    _site(write_site, confs, pools="{data: {name: paste, pg_num: 8}}", second=False)
    assert _paste(preflight.commands_in(_look())).returncode == 0
    _site(
        write_site,
        confs,
        pools="{data: {name: paste, namespace: talk}, journal: {name: paste-more, pg_num: 8}, "
        "data_pool: {name: paste-ec, pg_num: 8, erasure_code: {k: 2, m: 1}}}",
        second=False,
    )
    commands = preflight.commands_in(_look())
    assert sorted(re.search(r"namespace create|pool create", each)[0] for each in commands) == [
        "namespace create",
        "pool create",
        "pool create",
    ]
    assert _paste(commands).returncode == 0
    assert _look().findings.commands() == []
    pools = {one["pool_name"]: one for one in tell(administrator, "osd pool ls", detail="detail")}
    assert "ec_overwrites" in pools["paste-ec"]["flags_names"]
    assert list(pools["paste-ec"]["application_metadata"]) == ["rbd"]
    delete_pool(administrator, "paste-ec")
    tell(administrator, "osd erasure-code-profile rm", name="paste-ec")


def test_a_mirror_daemon_is_started_with_its_own_user_and_only_on_the_second_cluster(
    confs: Path,
    second_administrator: Cluster,
    live_sandbox: Sandbox,
    untaken: Callable[[], list[list[str]]],
    tmp_path: Path,
) -> None:
    programs, etc = tmp_path / "programs", tmp_path / "etc"
    programs.mkdir()
    etc.mkdir()
    (programs / "systemctl").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\n')
    (programs / "systemctl").chmod(0o755)
    second = Cluster(confs / "right.conf", "client.replay")
    made = admin_commands.mirror_daemon(second, live_sandbox.clusters["right"].fsid, folder=etc)
    commands = [command.text for command in made]

    def on_a_host_of(name: str) -> None:
        keyring = confs / f"{name}.client.admin.keyring"
        _paste(
            commands,
            PATH=f"{programs}:{os.environ['PATH']}",
            CEPH_CONF=str(confs / f"{name}.conf"),
            CEPH_KEYRING=str(keyring),
        )

    on_a_host_of("left")
    assert not (tmp_path / "called").exists()
    assert list(etc.iterdir()) == []
    on_a_host_of("right")
    (keyring,) = etc.iterdir()
    user = keyring.name.removeprefix("ceph.").removesuffix(".keyring")
    assert (tmp_path / "called").read_text() == f"enable --now ceph-rbd-mirror@{user.removeprefix('client.')}\n"
    assert (keyring.stat().st_mode & 0o777, keyring.owner()) == (0o600, "ceph")
    (made,) = tell(second_administrator, "auth get", entity=user)
    assert made["caps"] == {"mon": "profile rbd-mirror", "osd": "profile rbd"}
    kept = keyring.read_bytes()
    on_a_host_of("right")
    assert keyring.read_bytes() == kept
