"""The write probe tries on a real cluster what a measurement does, and leaves nothing."""

from __future__ import annotations

import pytest

from replay.cluster.site_file import load_site
from replay.ownership.ledger import Ledger
from replay.preflight import command as preflight
from replay.preflight.write_probe import PROBE
from support.administrator import make_user
from support.cluster_snapshot import difference, snapshot

pytestmark = pytest.mark.sandbox


@pytest.fixture
def site(write_site, live_sandbox, tmp_path, administrator, second_administrator):
    """A site with a restricted user on both clusters."""
    caps = ("mon", "profile rbd", "osd", "profile rbd pool=replay", "mgr", "profile rbd pool=replay")
    for name, cluster in (("left", administrator), ("right", second_administrator)):
        keyring = tmp_path / name
        keyring.write_text(make_user(cluster, "client.probe", *caps))
        keyring.chmod(0o600)
    left, right = live_sandbox.clusters["left"], live_sandbox.clusters["right"]
    write_site(
        "mine",
        f"""\
name: mine
label: Mine
limitation: A test.
cluster: {{conf: {left.conf}, client: client.probe, keyring: {tmp_path}/left}}
pools: {{data: {{name: replay}}}}
second_cluster: {{conf: {right.conf}, client: client.probe, keyring: {tmp_path}/right}}
allows: [second_site]
""",
    )
    return load_site("mine")


def probed(report):
    return [(item.level, item.text.split(":")[0]) for item in report.findings.items if item.topic == "probe"]


def test_everything_that_a_measurement_does_is_tried_and_removed(site, administrator, second_administrator):
    clusters = (administrator, second_administrator)
    before = [snapshot(cluster) for cluster in clusters]
    report = preflight.preflight(site, [], write=True)
    assert probed(report) == [
        ("ok", "create and write an image"),
        ("ok", "remove all of it"),
        ("ok", "mirror an image to the second cluster"),
        ("ok", "remove all of it from both clusters"),
    ], [(item.level, item.text) for item in report.findings.items]
    assert [difference(old, snapshot(cluster)) for old, cluster in zip(before, clusters, strict=True)] == [[], []]
    ledger = Ledger(report.findings.fsid)
    assert ledger.owned() == []
    assert PROBE in ledger.path.read_text(), "each thing was in the ledger"


def test_a_user_who_may_not_write_is_found_out(site, administrator, tmp_path):
    caps = ("mon", "profile rbd-read-only", "osd", "profile rbd-read-only pool=replay", "mgr", "allow r")
    text = make_user(administrator, "client.reader", *caps)
    (tmp_path / "left").write_text(text)
    path = tmp_path / "config" / "sites" / "mine.yaml"
    path.write_text(
        path.read_text().replace(
            "client.probe, keyring: " + str(tmp_path / "left"), "client.reader, keyring: " + str(tmp_path / "left")
        )
    )
    report = preflight.preflight(load_site("mine"), [], write=True)
    refused = [item.text for item in report.findings.items if item.topic == "probe" and item.level == "refused"]
    assert refused and report.exit_status == 4
    assert Ledger(report.findings.fsid).owned() == []
