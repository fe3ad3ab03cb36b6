"""`replay look` at a sandbox, as a user who can only read: it sees all of it, and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay.cli.main import main
from replay.cluster.cluster import Cluster
from replay.cluster.mirroring import is_replaying
from replay.preflight.look import asking, command
from replay.sandbox import Sandbox
from support.administrator import image_names, make_user
from support.cluster_snapshot import difference, snapshot
from support.patience import wait_until

pytestmark = [pytest.mark.sandbox, pytest.mark.of_release]
SPEC = "replay/looked-at"
CAPS = ("mon", "allow r", "osd", "profile rbd-read-only", "mgr", "allow r")


@pytest.fixture
def mirrored_image(administrator: Cluster, second_administrator: Cluster) -> Iterator[None]:
    """An image that is replayed by its journal; with its copy, it is gone at the end."""
    features = ("--image-feature", "exclusive-lock", "--image-feature", "journaling")
    administrator.run("rbd", "create", SPEC, "--size", "8M", *features)
    administrator.run("rbd", "mirror", "image", "enable", SPEC, "journal")
    try:
        wait_until(lambda: is_replaying(second_administrator, SPEC), "the image to be replayed")
        # The daemon removes the snapshot of its first copy, of the image and of the copy, a moment after that replays.
        for cluster in (administrator, second_administrator):
            wait_until(
                lambda of=cluster: not of.json("rbd", "snap", "ls", "--all", SPEC), "the daemon's snapshot to go"
            )
        yield
    finally:
        administrator.run("rbd", "mirror", "image", "disable", SPEC)
        administrator.run("rbd", "rm", "--no-progress", SPEC)
        wait_until(lambda: not image_names(second_administrator, "replay"), "the copy to be gone")


@pytest.mark.usefixtures("mirrored_image")
def test_a_user_who_only_reads_sees_all_of_it_and_nothing_changes(
    configuration: Path,
    live_sandbox: Sandbox,
    tmp_path: Path,
    administrator: Cluster,
    second_administrator: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(asking, "WATCHES_UNTIL_SECONDS", 6.0)
    release = administrator.programs.release
    words = [] if release is None else ["--client-release", str(release.number)]
    for name, option, cluster in (("left", "--conf", administrator), ("right", "--second", second_administrator)):
        conf = tmp_path / f"{name}.conf"
        conf.write_text(cluster.conf.read_text())
        (tmp_path / f"{name}.client.look.keyring").write_text(make_user(cluster, "client.look", *CAPS))
        words += [option, str(conf)]
    clusters = (administrator, second_administrator)
    before = [snapshot(cluster) for cluster in clusters]
    status = main(["look", *words, "--client", "client.look"])
    said = capsys.readouterr().out
    changes = [line for old, one in zip(before, clusters, strict=True) for line in difference(old, snapshot(one))]
    assert changes == []
    assert status == 0, said
    assert "unanswered" not in said
    assert f"Ceph {live_sandbox.ceph_version}, all daemons alike, asked as client.look" in said
    assert "Mirroring from the first cluster to the second cluster" in said, "only an administrator sees their names"
    assert "1 rbd-mirror registered: right" in said
    assert re.search(r"replay +1  journal +at most \d+ entries behind", said)
    assert "s (rbd_mirror_journal_poll_age of right; " in said


def test_the_user_that_it_asks_for_is_this_one() -> None:
    for kind, text in zip(CAPS[::2], CAPS[1::2], strict=True):
        assert f"{kind} '{text}'" in command.READER
