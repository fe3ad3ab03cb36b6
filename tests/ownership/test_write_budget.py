"""The write budget of a run never misses anything that may have been written, wherever a process was killed."""

from __future__ import annotations

import json
import multiprocessing
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.base.errors import EvidenceError, RefusedError, ReplayError
from replay.design.sizing import Write
from replay.ownership.ledger import SyncedLog
from replay.ownership.write_budget import WriteBudget
from support.patience import patient

GIB = 1 << 30


def budget_on(path: Path, limit: float | None = None) -> WriteBudget:
    return WriteBudget(SyncedLog(path), limit=limit, site="mine")


def test_an_account_belongs_to_one_campaign_on_one_cluster(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_STATE", str(tmp_path))
    one = WriteBudget.of("11111111-2222", "mine", "night")
    assert one.log.path == tmp_path / "accounts" / "11111111-2222.mine.night.jsonl"
    one.charge("filling", 5)
    assert WriteBudget.of("11111111-2222", "mine", "night").total() == 5, "another process, another night"
    others = [("33333333-4444", "mine", "night"), ("11111111-2222", "yours", "night"), ("11111111-2222", "mine", "day")]
    assert [WriteBudget.of(*other).total() for other in others] == [0, 0, 0]
    assert oct(one.log.path.stat().st_mode & 0o777) == "0o600"
    with pytest.raises(ReplayError, match="names no write budget"):
        WriteBudget.of("11111111-2222", "mine", "../night")


def test_a_settlement_replaces_its_charges(tmp_path):
    budget = budget_on(tmp_path / "a.jsonl")
    budget.reserve("filling", Write(7))
    for wrote in (60.4, 50):
        with budget.reserve_set("set", {"cell": 100}) as reservation:
            reservation.begin("cell")
            assert budget_on(tmp_path / "a.jsonl").total() == 107 + (60 if wrote == 50 else 0)
            budget.commit(Write(wrote))
            reservation.end(void=False)
    assert budget.total() == 7 + 60 + 50
    assert budget.most_written() == {"cell": 60}, "the most that it ever wrote"


def test_charges_of_another_process_are_seen_before_the_next_charge(tmp_path):
    path = tmp_path / "a.jsonl"
    here, there = budget_on(path, limit=31), budget_on(path, limit=31)
    here.reserve("filling", Write(10))
    there.reserve("filling", Write(20))
    with pytest.raises(RefusedError):
        here.reserve("filling", Write(2))
    here.reserve("filling", Write(1))
    path.unlink()
    there.reserve("filling", Write(31))
    with pytest.raises(RefusedError):
        here.reserve("filling", Write(1))
    assert here.total() == 31, "a file that was taken away begins anew for everybody"


def _charge_many(path: Path, times: int) -> None:
    for _ in range(times):
        budget_on(path).charge("filling", 1)


def test_processes_that_charge_at_once_lose_nothing(tmp_path):
    path = tmp_path / "a.jsonl"
    workers = [multiprocessing.get_context("fork").Process(target=_charge_many, args=(path, 25)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(patient(60))
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    assert budget_on(path).total() == 100


def test_a_charge_that_is_not_allowed_leaves_the_account_as_it_was(tmp_path):
    budget = budget_on(tmp_path / "a.jsonl", limit=2 * GIB)
    budget.reserve("filling", Write(2 * GIB))
    with pytest.raises(
        RefusedError, match="has written 2 GiB to media, and the pilot would write about 1 GiB"
    ) as refused:
        budget.reserve("the pilot", Write(1 * GIB))
    assert "bytes_written_to_media_per_run" in str(refused.value) and "--data" in refused.value.next_step
    assert budget.total() == 2 * GIB


@pytest.mark.parametrize(
    "line",
    [
        "no JSON",
        "[]",
        '{"event": "spent", "bytes_to_media": 1}',
        '{"event": "charge", "id": "x", "bytes_to_media": -1}',
        '{"event": "charge", "id": "x", "bytes_to_media": "1"}',
        '{"event": "charge", "id": "x", "bytes_to_media": NaN}',
        '{"event": "charge", "bytes_to_media": 1}',
        '{"event": "settle", "ids": ["nobody"], "bytes_to_media": 1, "cells": {}}',
    ],
)
def test_a_damaged_line_is_an_error_that_names_it_and_is_never_ignored(tmp_path, line):
    path = tmp_path / "a.jsonl"
    account = budget_on(path)
    account.charge("filling", 1)
    with path.open("a") as file:
        file.write(f"{line}\n")
    for ask in (account.total, lambda: budget_on(path).charge("filling", 1), account.most_written):
        with pytest.raises(EvidenceError, match=r"a\.jsonl:2: this line is not an event of the write budget"):
            ask()


def test_each_line_is_synced_before_the_call_returns(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("replay.ownership.ledger.os.fsync", synced.append)
    with budget_on(tmp_path / "accounts" / "a.jsonl").reserve_set("set", {"cell": 1}):
        assert len(synced) == 3, "the line, and the folders of a new file"
    assert len(synced) == 4


# A set settles with what its cells reported; a void cell, or an interrupted process, keeps what was expected.


def test_a_set_is_charged_before_its_first_cell_and_settled_with_what_its_cells_wrote(tmp_path):
    budget = budget_on(tmp_path / "a.jsonl")
    with budget.reserve_set("set", {"one": 100, "two": 100}) as reservation:
        assert budget_on(tmp_path / "a.jsonl").total() == 200
        for cell, wrote in (("one", 30), ("two", 250)):
            reservation.begin(cell)
            budget.commit(Write(wrote))
            reservation.end(void=False)
        assert budget_on(tmp_path / "a.jsonl").total() == 280, "the second one wrote more than was left"
    assert budget.total() == 280
    assert budget.most_written() == {"one": 30, "two": 250}


def test_a_void_cell_keeps_what_was_expected_of_it(tmp_path):
    budget = budget_on(tmp_path / "a.jsonl")
    with budget.reserve_set("set", {"one": 100, "two": 100}) as reservation:
        for cell in ("one", "two"):
            reservation.begin(cell)
            budget.commit(Write(30 if cell == "one" else 130))
            reservation.end(void=True)
    assert budget.total() == 230


def test_a_set_that_does_not_end_stays_charged(tmp_path):
    budget = budget_on(tmp_path / "a.jsonl")
    with pytest.raises(KeyboardInterrupt), budget.reserve_set("set", {"one": 100, "two": 100}) as reservation:
        reservation.begin("one")
        budget.commit(Write(130))
        reservation.end(void=False)
        reservation.begin("two")
        raise KeyboardInterrupt
    assert budget.total() == 230
    budget.reserve("filling", Write(1))
    assert budget.total() == 231, "what comes after is charged by itself again"


def test_a_fill_inside_a_set_is_part_of_what_was_charged_for_it(tmp_path):
    budget = budget_on(tmp_path / "a.jsonl", limit=120)
    with budget.reserve_set("set", {"one": 100}) as reservation:
        reservation.begin("one")
        budget.reserve("filling", Write(40))
        budget.commit(Write(60))
        reservation.end(void=False)
    assert budget.total() == 100


def test_a_cell_does_not_begin_if_earlier_ones_wrote_more_than_there_was_room_for(tmp_path):
    budget = budget_on(tmp_path / "a.jsonl", limit=250)
    with (
        pytest.raises(RefusedError, match="ceiling bytes_written_to_media_per_run"),
        budget.reserve_set("set", {"one": 100, "two": 100}) as reservation,
    ):
        reservation.begin("one")
        budget.commit(Write(200))
        reservation.end(void=False)
        reservation.begin("two")
    assert budget.total() >= 200


def test_a_pilot_between_two_cells_of_a_set_counts_and_belongs_to_no_cell(tmp_path):
    budget = budget_on(tmp_path / "a.jsonl")
    with budget.reserve_set("set", {"one": 10, "two": 10}) as reservation:
        reservation.begin("one")
        reservation.end(void=True)
        budget.reserve("pilot", Write(1000))
        reservation.begin("two")
        budget.commit(Write(5))
        reservation.end(void=False)
    assert budget.total() == 1015
    assert budget.most_written()["two"] == 5


amounts = st.integers(min_value=0, max_value=50)
fills = st.tuples(st.just("fill"), amounts)
sets = st.tuples(
    st.just("set"),
    st.lists(st.tuples(amounts, amounts, st.booleans()), min_size=1, max_size=3),
    st.booleans(),
)


@settings(deadline=None)
@given(st.lists(st.one_of(fills, sets), min_size=1, max_size=6), st.data())
def test_a_crash_between_two_writes_or_within_one_never_loses_a_charge(steps, data):
    """`truth` is the most that may have been written; `moments` pairs it with the file on disk at that time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        budget, truth, moments = budget_on(path), 0, [(0, 0)]

        def moment(written: int) -> int:
            moments.append((path.stat().st_size if path.exists() else 0, written))
            return written

        for step in steps:
            if step[0] == "fill":
                budget.reserve("filling", Write(step[1]))
                truth = moment(truth + step[1])
                continue
            _, cells, is_whole = step
            expected = {str(number): ahead for number, (ahead, _, _) in enumerate(cells)}
            try:
                with budget.reserve_set("set", expected) as reservation:
                    for number, (ahead, wrote, is_void) in enumerate(cells):
                        reservation.begin(str(number))
                        # While the tool runs, only the expected amount is known.
                        moment(truth + min(ahead, wrote))
                        budget.commit(Write(wrote))
                        truth = moment(truth + wrote)
                        reservation.end(void=is_void)
                    if not is_whole:
                        raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
            moment(truth)
        assert budget_on(path).total() >= truth
        whole = path.read_bytes() if path.exists() else b""
        index = data.draw(st.integers(0, len(moments) - 1))
        size, written = moments[index]
        until = moments[index + 1][0] if index + 1 < len(moments) else len(whole)
        # The next line may be there, or a part of it, when the power goes; what it tells of has not been written then.
        cut = data.draw(st.integers(size, max(size, until)))
        path.write_bytes(whole[:cut])
        after = budget_on(path)
        assert after.total() >= written
        charged = after.total()
        after.charge("the next run", 3)
        assert budget_on(path).total() == charged + 3
        assert all(json.loads(line) for line in path.read_text().splitlines())


@settings(deadline=None)
@given(st.lists(st.tuples(amounts, amounts), min_size=1, max_size=8), st.integers(0, 200))
def test_known_amounts_never_exceed_the_ceiling(cells, limit):
    with tempfile.TemporaryDirectory() as folder:
        budget, written = budget_on(Path(folder) / "a.jsonl", limit=limit), 0
        for fill, cell in cells:
            try:
                budget.reserve("filling", Write(fill))
                written += fill
                with budget.reserve_set("set", {"one": cell}) as reservation:
                    reservation.begin("one")
                    budget.commit(Write(cell))
                    written += cell
                    reservation.end(void=False)
            except RefusedError:
                continue
        assert written == budget.total() <= limit
