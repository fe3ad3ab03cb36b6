"""`replay look` at a sandbox, as a user who can only read: it sees all of it, and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.cli.main import main
from replay.cluster.cluster import Cluster
from replay.preflight.look import command, looking
from replay.sandbox import Sandbox
from support.administrator import make_user
from support.cluster_snapshot import difference, snapshot

pytestmark = [pytest.mark.sandbox, pytest.mark.of_release]
CAPS = ("mon", "allow r", "osd", "profile rbd-read-only", "mgr", "allow r")


def test_a_user_who_only_reads_sees_all_of_it_and_nothing_changes(
    configuration: Path,
    live_sandbox: Sandbox,
    tmp_path: Path,
    administrator: Cluster,
    second_administrator: Cluster,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(looking, "WATCHES_UNTIL_SECONDS", 6.0)
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
    assert [difference(old, snapshot(cluster)) for old, cluster in zip(before, clusters, strict=True)] == [[], []]
    assert status == 0, said
    assert "unanswered" not in said
    assert f"Ceph {live_sandbox.ceph_version}, all daemons alike, asked as client.look" in said
    assert "Mirroring from left to right" in said
    assert "1 rbd-mirror registered: right" in said
    assert "s (rbd_mirror_journal_poll_age of right; " in said


def test_the_user_that_it_asks_for_is_this_one() -> None:
    for kind, text in zip(CAPS[::2], CAPS[1::2], strict=True):
        assert f"{kind} '{text}'" in command.READER
