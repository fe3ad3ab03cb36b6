"""What the remover does if the mirror daemon removes things at the same time, on a scripted cluster."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from replay.cluster.cluster import CephCommandError
from replay.ownership import clean
from replay.ownership.images import BUSY, DAEMON_SNAPSHOT, HAS_SNAPSHOTS, NOT_FOUND, RemovalOutcome
from replay.ownership.ledger import Entry, Ledger
from replay.ownership.removal import Remover

FSID = "11111111-2222-3333-4444-555555555555"
MIRRORED = {"id": "abc", "size": 1 << 20, "mirroring": {"state": "enabled"}}
DISABLING = {"id": "abc", "size": 1 << 20, "mirroring": {"state": "disabling"}}
PLAIN = {"id": "abc", "size": 1 << 20}


class ScriptedCluster:
    """Answers each command of rbd from its list of outputs or exit statuses."""

    def __init__(self, infos: list[dict[str, Any] | None], disables: list[int], **more: list[Any]) -> None:
        self.answers = {"info": infos, "mirror image disable": disables, **more}
        self.asked: list[str] = []

    def json(self, tool: str, *args: str, **_: Any) -> Any:
        printed = self.answers[" ".join(args[:-1])].pop(0)
        if printed is None:
            raise CephCommandError("exit status 2", where="rbd", exit_status_of_tool=NOT_FOUND)
        return printed

    def run(self, tool: str, *args: str, check: bool = True, **_: Any) -> SimpleNamespace:
        *words, spec = [word for word in args if not word.startswith("--")]
        command = " ".join(words)
        self.asked.append(f"{command} {spec}")
        status = self.answers[command].pop(0) if command in self.answers else 0
        if check and status:
            raise CephCommandError(f"exit status {status}", where="rbd", exit_status_of_tool=status)
        return SimpleNamespace(returncode=status, stdout="", stderr="")


def removed_by(cluster: ScriptedCluster, folder, *, patience_seconds: float = 60.0, say=lambda _: None):
    ledger = Ledger(FSID, directory=folder)
    entry_id = ledger.intend("image", "rbd", "", "replay-x", site="s", data_set="d", details={})
    ledger.confirm(entry_id, {"id": "abc"})
    (entry,) = ledger.owned()
    remover = Remover(
        SimpleNamespace(sandbox=None),
        SimpleNamespace(cluster=cluster, command=lambda command: {"pgid": "2.1f"}),
        ledger,
        say=say,
        poll_seconds=0.0,
        patience_seconds=patience_seconds,
    )
    return remover.remove(entry), ledger.owned()


def test_a_mirror_snapshot_that_the_daemon_removed_first_is_not_a_failure(tmp_path) -> None:
    cluster = ScriptedCluster([MIRRORED, DISABLING], disables=[NOT_FOUND, 0])
    outcome, left = removed_by(cluster, tmp_path)
    assert outcome.status == "removed"
    assert cluster.asked == [
        "mirror image disable rbd/replay-x",
        "mirror image disable rbd/replay-x",
        "rm rbd/replay-x",
    ]
    assert left == []


def test_mirroring_that_was_disabled_after_all_is_not_disabled_again(tmp_path) -> None:
    cluster = ScriptedCluster([MIRRORED, PLAIN], disables=[NOT_FOUND])
    outcome, left = removed_by(cluster, tmp_path)
    assert outcome.status == "removed"
    assert cluster.asked == ["mirror image disable rbd/replay-x", "rm rbd/replay-x"]
    assert left == []


def test_an_image_that_the_daemon_removed_meanwhile_is_gone(tmp_path) -> None:
    outcome, left = removed_by(ScriptedCluster([MIRRORED, None], disables=[NOT_FOUND]), tmp_path)
    assert outcome.status == "removed"
    assert left == []


@pytest.mark.parametrize(
    ("status", "patience_seconds"), [(22, 60.0), (NOT_FOUND, -1.0)], ids=["refused", "never-there"]
)
def test_another_refusal_or_an_endless_one_leaves_the_image_in_the_ledger(tmp_path, status, patience_seconds) -> None:
    cluster = ScriptedCluster([MIRRORED, MIRRORED], disables=[status, 0])
    outcome, left = removed_by(cluster, tmp_path, patience_seconds=patience_seconds)
    assert outcome.status == "left"
    assert outcome.why == f"exit status {status}"
    assert [entry.name for entry in left] == ["replay-x"]
    assert len(cluster.asked) == 1


@pytest.mark.parametrize(
    "listed", [[{"name": f"{DAEMON_SNAPSHOT}1"}], None], ids=["the-snapshot-went-first", "the-image-went-first"]
)
def test_the_daemon_s_own_snapshot_may_go_before_it_is_removed(tmp_path, listed) -> None:
    answers = {"rm": [HAS_SNAPSHOTS, 0], "snap ls": [listed], "snap rm": [NOT_FOUND]}
    outcome, left = removed_by(ScriptedCluster([PLAIN], [], **answers), tmp_path)
    assert outcome.status == "removed"
    assert left == []


def test_a_snapshot_of_somebody_else_keeps_the_image(tmp_path) -> None:
    answers = {
        "rm": [HAS_SNAPSHOTS],
        "snap ls": [[{"name": f"{DAEMON_SNAPSHOT}1"}, {"name": "backup"}]],
        "snap rm": [0],
    }
    outcome, left = removed_by(ScriptedCluster([PLAIN], [], **answers), tmp_path)
    assert outcome.status == "left"
    assert [entry.name for entry in left] == ["replay-x"]


@pytest.mark.parametrize("open_for", [1, 2], ids=["closed-in-time", "still-open"])
def test_a_client_that_has_the_image_open_is_named(tmp_path, open_for) -> None:
    watcher = {"address": "10.0.0.7:0/123", "client": 4711, "cookie": 1}
    answers = {"rm": [BUSY] * open_for + [0], "status": [{"watchers": [watcher]}] * open_for}
    said: list[str] = []
    patience_seconds = 60.0 if open_for == 1 else -1.0
    cluster = ScriptedCluster([PLAIN], [], **answers)
    outcome, left = removed_by(cluster, tmp_path, patience_seconds=patience_seconds, say=said.append)
    if open_for == 1:
        assert (outcome.status, left) == ("removed", [])
        assert said == ["rbd/replay-x is still open in client.4711 at 10.0.0.7:0/123; waiting up to 60 s"]
    else:
        assert (outcome.status, outcome.why) == ("left", "it is still open in client.4711 at 10.0.0.7:0/123")
        assert "an administrator may have Ceph forget it: ceph pg repeer 2.1f" in outcome.next_step
        assert [entry.name for entry in left] == ["replay-x"]


@pytest.mark.parametrize(("typed", "agreed"), [("y\n", True), ("Yes\n", True), ("\n", False), ("", False)])
def test_things_are_removed_only_if_a_person_agrees(monkeypatch: pytest.MonkeyPatch, typed: str, agreed: bool) -> None:
    person = io.StringIO(typed)
    person.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdin", person)
    assert clean._ask(3) is agreed


def test_an_image_in_a_pool_that_replay_made_and_renamed_is_in_a_pool_of_its_own(tmp_path) -> None:
    ledger = Ledger(FSID, directory=tmp_path)
    for pool in ("rbd", "theirs"):
        ledger.intend("image", pool, "", "replay-x", site="s")
    ledger.intend("pool", "replay-0a1b2c3d-pool", "", "", site="s", details={"final_name": "rbd"})
    remover = Remover(SimpleNamespace(sandbox=None), None, ledger)
    own, theirs, _ = ledger.owned()
    assert (remover._made_its_pool(own), remover._made_its_pool(theirs)) == (True, False)


def test_a_snapshot_that_stays_without_a_word_is_left_with_the_exit_status(tmp_path) -> None:
    ledger = Ledger(FSID, directory=tmp_path)
    ledger.intend("snapshot", "rbd", "", "replay-x@probe", site="s")
    (entry,) = ledger.owned()
    session = SimpleNamespace(cluster=ScriptedCluster([], [], **{"snap rm": [22]}))
    remover = Remover(SimpleNamespace(sandbox=None), session, ledger)
    outcome = remover.remove(entry)
    assert (outcome.status, outcome.why) == ("left", "snapshot probe of replay-x: exit status 22")


def test_the_lock_is_renewed_once_a_person_has_agreed_and_before_each_thing_is_removed(monkeypatch) -> None:
    did: list[str] = []

    class OneByOne:
        cluster, session = SimpleNamespace(name="primary"), None

        def size_bytes(self, entry):
            return None

        def remove(self, entry):
            did.append(entry.name)
            return RemovalOutcome(entry, "removed")

        def finish(self):
            return []

    entries = [Entry("1", "image", "rbd", "", name, "s", "d", "2026-01-01T00:00:00Z") for name in ("a", "b")]
    remover, lock = OneByOne(), SimpleNamespace(keep=lambda: did.append("renewed"))
    monkeypatch.setattr(clean, "_work", lambda *_: ([(remover, entries)], lock))
    watch = SimpleNamespace(waiting=lambda site, *_, **__: site())
    monkeypatch.setattr(clean, "ClusterWatch", lambda *_: watch)
    site = SimpleNamespace(name="s")
    outcomes = clean.clean(site, confirm=lambda _: not did.append("agreed"), say=lambda _: None)
    assert [outcome.status for outcome in outcomes] == ["removed", "removed"]
    assert did == ["agreed", "renewed", "a", "renewed", "b", "renewed"]
    assert remover.waiting("it to go", 1.0) is site and did[-1] == "renewed", "and while one of them takes long"
    assert len(did) == 7
