from __future__ import annotations

import json
import multiprocessing
import os
import re
from pathlib import Path

import pytest

from replay.base.errors import EvidenceError, ReplayError
from replay.ownership.ledger import Ledger, unique_name
from support.patience import patient

FSID = "11111111-2222-3333-4444-555555555555"


def _intend(ledger: Ledger, name: str = "replay-0a1b2c3d-x") -> str:
    return ledger.intend("image", "replay", "", name, site="s", data_set="d", details={"size_bytes": 1})


def test_an_intent_is_owned_until_it_is_recorded_as_removed(tmp_path: Path) -> None:
    ledger = Ledger(FSID, directory=tmp_path)
    assert ledger.owned() == []
    entry_id = _intend(ledger)
    (entry,) = ledger.owned()
    assert (entry.id, entry.spec, entry.confirmed) == (entry_id, "replay/replay-0a1b2c3d-x", False)
    ledger.confirm(entry_id, {"id": "abc"})
    (entry,) = ledger.owned()
    assert (entry.confirmed, entry.facts) == (True, {"id": "abc"})
    ledger.removed(entry_id)
    assert ledger.owned() == []


def test_the_line_is_synced_to_disk_before_intend_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").resolve().name)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    _intend(Ledger(FSID, directory=tmp_path / "ledger"))
    assert synced == ["ledger", tmp_path.name, f"{FSID}.jsonl"]


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_torn_last_line_is_skipped_and_cut_off_by_the_next_writer(tmp_path: Path, cut: int) -> None:
    ledger = Ledger(FSID, directory=tmp_path)
    first = _intend(ledger, "replay-00000001-a")
    whole = ledger.path.read_bytes()
    _intend(ledger, "replay-00000002-b")
    ledger.path.write_bytes(ledger.path.read_bytes()[: len(whole) + cut])
    assert [entry.id for entry in ledger.owned()] == [first]
    _intend(ledger, "replay-00000003-c")
    assert [entry.name for entry in ledger.owned()] == ["replay-00000001-a", "replay-00000003-c"]
    assert all(json.loads(line) for line in ledger.path.read_text().splitlines())


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    ledger = Ledger(FSID, directory=tmp_path)
    _intend(ledger)
    ledger.path.write_text("{broken\n" + ledger.path.read_text())
    with pytest.raises(EvidenceError, match=rf"{FSID}\.jsonl:1"):
        ledger.owned()


def _write_many(directory: Path, count: int) -> None:
    ledger = Ledger(FSID, directory=directory)
    for _ in range(count):
        ledger.removed(_intend(ledger, unique_name("x")))
        _intend(ledger, unique_name("y"))


@pytest.mark.slow
def test_writers_in_several_processes_do_not_mix_their_lines(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(tmp_path, 20)) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(patient(60))
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert len(Ledger(FSID, directory=tmp_path).owned()) == 60


def test_names_cannot_be_guessed_and_kinds_cannot_be_invented(tmp_path: Path) -> None:
    names = {unique_name("with-journal") for _ in range(50)}
    assert len(names) == 50
    assert all(re.fullmatch(r"replay-[0-9a-f]{8}-with-journal", name) for name in names)
    with pytest.raises(ReplayError, match="is not one of"):
        Ledger(FSID, directory=tmp_path).intend("user", "", "", "client.x", site="s")
    with pytest.raises(ReplayError, match="not a cluster's fsid"):
        Ledger("../../etc/passwd", directory=tmp_path)
