"""A client that is killed while it opens an image: Ceph 16 lists it for ever, and the image is removed all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from replay.cluster.cluster import Cluster, ask
from replay.cluster.health import classify
from replay.cluster.session import MonitorSession
from replay.ownership.images import RemovalOutcome, group_of_header
from replay.ownership.ledger import Entry, Ledger
from replay.ownership.removal import Remover
from replay.sandbox import Sandbox
from support.administrator import tell
from support.patience import wait_until

pytestmark = [pytest.mark.sandbox, pytest.mark.of_release]
#: After this time an OSD forgets a client that has gone; Ceph's default is 30 seconds.
WATCH_SECONDS = 3
FSID = "11111111-2222-3333-4444-555555555555"
SPEC = "replay/replay-0a1b2c3d-opened"


@pytest.fixture
def session(administrator: Cluster) -> Iterator[MonitorSession]:
    with MonitorSession(administrator) as one:
        yield one


@pytest.fixture
def forgetful(administrator: Cluster) -> Iterator[None]:
    """OSDs that wait for a client that has gone for seconds only."""
    tell(administrator, "config set", who="osd", name="osd_client_watch_timeout", value=str(WATCH_SECONDS))
    yield
    tell(administrator, "config rm", who="osd", name="osd_client_watch_timeout")
    wait_until(lambda: fit(administrator), "every placement group to be clean, for the tests that follow")


def fit(administrator: Cluster) -> bool:
    return classify(administrator.json("ceph", "status")).fit


@pytest.fixture
def entry(administrator: Cluster, tmp_path) -> Iterator[Entry]:
    """An image that the ledger names."""
    administrator.run("rbd", "create", "--size", "8M", SPEC)
    ledger = Ledger(FSID, directory=tmp_path)
    pool, name = SPEC.split("/")
    made = ledger.intend("image", pool, "", name, site="s", data_set="d", details={})
    ledger.confirm(made, {"id": administrator.json("rbd", "info", SPEC)["id"]})
    yield ledger.owned()[0]
    administrator.run("rbd", "rm", "--no-progress", SPEC, check=False)


def kill_a_client_that_opens(administrator: Cluster, sandbox: Sandbox, session: MonitorSession, entry: Entry) -> None:
    """Kill a client when its watch has reached the OSD of the image's header, but is not on every disk."""

    def osds_of(name: str) -> list[int]:
        """Return the OSDs of an object, the one first that speaks to clients."""
        return session.command({"prefix": "osd map", "pool": entry.pool, "object": name})["acting"]

    daemons = {one.name: one for one in sandbox.clusters["left"].daemons}
    of_header, *copies = osds_of(f"rbd_header.{entry.facts['id']}")
    of_name, *_ = osds_of(f"rbd_id.{entry.name}")
    stopped = daemons[f"osd.{next(one for one in copies if one != of_name)}"].pid
    socket = daemons[f"osd.{of_header}"].asok

    def is_watched() -> bool:
        return any(" watch " in one["description"] for one in ask(socket, "dump_ops_in_flight")["ops"])

    bench = ["rbd", *administrator.arguments(), "bench", "--io-type", "read", SPEC]
    argv = administrator.programs.command(bench)
    os.kill(stopped, signal.SIGSTOP)
    try:
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
            try:
                wait_until(is_watched, "the client's watch")
            finally:
                client.kill()
        time.sleep(1)  # the OSD notices that the connection is lost, which nothing tells
    finally:
        os.kill(stopped, signal.SIGCONT)


def test_an_image_that_ceph_lists_as_open_for_ever_is_removed_where_the_pool_is_replay_s_own(
    administrator: Cluster, live_sandbox: Sandbox, session: MonitorSession, entry: Entry, forgetful, tmp_path
) -> None:
    kill_a_client_that_opens(administrator, live_sandbox, session, entry)
    group = group_of_header(session, entry, entry.facts["id"])
    said: list[str] = []

    def removed_at(sandbox: str | None, **more) -> RemovalOutcome:
        ledger = Ledger(FSID, directory=tmp_path)
        site = SimpleNamespace(sandbox=sandbox)
        remover = Remover(site, session, ledger, say=said.append, poll_seconds=0.5, **more)
        outcome = remover.remove(entry)
        assert outcome is not None
        return outcome

    outcome = removed_at(None, patience_seconds=4.0 * WATCH_SECONDS, forget_after_seconds=1.0)
    assert not any("peers anew" in line for line in said)
    if not live_sandbox.ceph_version.startswith("16.") and outcome.status == "removed":
        return  # newer OSDs forget such a client by themselves
    assert outcome.status == "left"
    assert outcome.why.startswith("it is still open in client.")
    assert f"ceph pg repeer {group}" in outcome.next_step

    outcome = removed_at("default", forget_after_seconds=1.0)
    assert outcome.status == "removed", (outcome.why, said)
    assert any(f"its placement group {group} peers anew" in line for line in said)
