"""Files that Replay makes on this machine are known before they exist, and nobody else's file is removed."""

from __future__ import annotations

import platform
from types import SimpleNamespace

import pytest

from replay.base.errors import ReplayError
from replay.ownership.ledger import Ledger
from replay.ownership.removal import Remover, remove_leftover_files
from replay.ownership.this_machine import create_file, remove_file
from support.bench import bench_of


@pytest.fixture
def bench(tmp_path):
    ledger = Ledger("11111111-2222-3333-4444-555555555555", directory=tmp_path / "ledger")
    return bench_of(SimpleNamespace(name="own"), SimpleNamespace(cluster=None), ledger=ledger)


def test_a_file_is_in_the_ledger_before_it_is_made_and_out_of_it_when_it_is_gone(bench, tmp_path, monkeypatch):
    seen, intend = [], bench.ledger.intend

    def intended(kind, pool, namespace, name, **more):
        seen.append((kind, name, list(tmp_path.glob("replay-*"))))
        return intend(kind, pool, namespace, name, **more)

    monkeypatch.setattr(bench.ledger, "intend", intended)
    path = create_file(bench, tmp_path, "baseline", size_bytes=7)
    assert seen == [("file", str(path), [])]
    [entry] = bench.ledger.owned()
    assert (entry.confirmed, entry.facts["inode"]) == (True, path.stat().st_ino)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_size == 7  # a tool would put another file in place of a shorter one
    assert remove_leftover_files(bench) == 1
    assert not path.exists() and bench.ledger.owned() == []
    assert remove_leftover_files(bench) == 0


def test_leftovers_of_a_crash_are_removed_whether_the_file_was_made_or_not(bench, tmp_path):
    made, never = tmp_path / "replay-0a1b2c3d-baseline", tmp_path / "replay-0a1b2c3e-baseline"
    for path in (made, never):
        bench.ledger.intend("file", "", "", str(path), site="own")
    made.write_text("x")
    assert remove_leftover_files(bench) == 2
    assert not made.exists() and bench.ledger.owned() == []


def test_clean_removes_it_too(bench, tmp_path):
    path = create_file(bench, tmp_path, "baseline", size_bytes=7)
    [entry] = bench.ledger.owned()
    outcome = Remover(bench.site, None, bench.ledger).remove(entry)
    assert (outcome.status, path.exists(), bench.ledger.owned()) == ("removed", False, [])


def test_a_file_of_another_machine_stays_in_the_ledger_for_clean_there(bench, tmp_path, monkeypatch):
    path = create_file(bench, tmp_path, "baseline", size_bytes=7)
    [entry] = bench.ledger.owned()
    monkeypatch.setattr(platform, "node", lambda: "another-machine")
    path.rename(tmp_path / "kept")
    assert remove_leftover_files(bench) == 0
    outcome = Remover(bench.site, None, bench.ledger).remove(entry)
    assert (outcome.status, outcome.why) == ("left", f"it was made on {entry.details['host']}")
    assert outcome.next_step.endswith("clean --site own there")
    (tmp_path / "kept").rename(path)  # a folder that both machines have
    assert Remover(bench.site, None, bench.ledger).remove(entry).status == "removed"
    assert not path.exists() and bench.ledger.owned() == []


def test_another_file_of_that_name_is_left_and_reported(bench, tmp_path):
    path = create_file(bench, tmp_path, "baseline", size_bytes=7)
    path.rename(tmp_path / "kept")  # so that its inode is not reused
    path.write_text("somebody's")
    with pytest.raises(ReplayError, match="another file than the one Replay made"):
        remove_leftover_files(bench)
    assert path.read_text() == "somebody's"
    assert len(bench.ledger.owned()) == 1


@pytest.mark.parametrize("kind", ["folder", "link", "other name"])
def test_a_file_that_is_not_replays_is_never_touched(bench, tmp_path, kind):
    path = tmp_path / ("precious" if kind == "other name" else "replay-0a1b2c3d-baseline")
    (tmp_path / "target").write_text("precious")
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(tmp_path / "target")
    else:
        path.write_text("precious")
    bench.ledger.intend("file", "", "", str(path), site="own")
    [entry] = bench.ledger.owned()
    assert remove_file(entry) == ("left", "it is not a file of Replay")
    assert path.exists() and (tmp_path / "target").read_text() == "precious"


def test_files_of_another_site_are_not_removed(bench, tmp_path):
    path = create_file(bench, tmp_path, "baseline", size_bytes=7)
    bench.site = SimpleNamespace(name="other")
    assert remove_leftover_files(bench) == 0
    assert path.exists()
