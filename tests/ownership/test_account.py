"""The account of a run never misses anything that may have been written, wherever a process was killed."""

from __future__ import annotations

import json
import multiprocessing
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.base.errors import EvidenceError, RefusedError, ReplayError
from replay.design.media import Write
from replay.ownership.write_budget import Account, Spending
from support.patience import patient

GIB = 1 << 30


def spending_on(path: Path, limit: float | None = None) -> Spending:
    return Spending(Account(path), lambda write: write.bytes, limit=limit, site="mine")


def test_an_account_belongs_to_one_campaign_on_one_cluster(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_STATE", str(tmp_path))
    one = Account.of("11111111-2222", "mine", "night")
    assert one.path == tmp_path / "accounts" / "11111111-2222.mine.night.jsonl"
    one.charge("filling", 5)
    assert Account.of("11111111-2222", "mine", "night").total() == 5, "another process, another night"
    others = [("33333333-4444", "mine", "night"), ("11111111-2222", "yours", "night"), ("11111111-2222", "mine", "day")]
    assert [Account.of(*other).total() for other in others] == [0, 0, 0]
    assert oct(one.path.stat().st_mode & 0o777) == "0o600"
    with pytest.raises(ReplayError, match="names no account"):
        Account.of("11111111-2222", "mine", "../night")


def test_a_settlement_replaces_its_charges(tmp_path):
    account = Account(tmp_path / "a.jsonl")
    ids = [account.charge("set", 100), account.charge("set", 20)]
    account.charge("filling", 7)
    assert account.total() == 127
    account.settle(ids, 90, {"cell": 60.4})
    assert account.total() == 97
    assert (account.most_written("cell"), account.most_written("other")) == (60, None)
    account.settle([account.charge("set", 1)], 50, {"cell": 50})
    assert account.most_written("cell") == 60, "the most that it ever wrote"


def test_charges_of_another_process_are_seen_before_the_next_charge(tmp_path):
    here, there = Account(tmp_path / "a.jsonl"), Account(tmp_path / "a.jsonl")
    here.charge("filling", 10)
    there.charge("filling", 20)
    seen = []
    here.charge("filling", 1, allow=seen.append)
    assert seen == [30]
    here.path.unlink()
    there.charge("filling", 5, allow=seen.append)
    here.charge("filling", 5, allow=seen.append)
    assert seen == [30, 0, 5], "a file that was taken away begins anew for everybody"


def _charge_many(path: Path, times: int) -> None:
    for _ in range(times):
        Account(path).charge("filling", 1)


def test_processes_that_charge_at_once_lose_nothing(tmp_path):
    path = tmp_path / "a.jsonl"
    workers = [multiprocessing.get_context("fork").Process(target=_charge_many, args=(path, 25)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(patient(60))
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    assert Account(path).total() == 100


def test_a_charge_that_is_not_allowed_leaves_the_account_as_it_was(tmp_path):
    spending = spending_on(tmp_path / "a.jsonl", limit=2 * GIB)
    spending.charge("filling", Write(2 * GIB))
    with pytest.raises(
        RefusedError, match="has written 2 GiB to media, and the pilot would write about 1 GiB"
    ) as refused:
        spending.charge("the pilot", Write(1 * GIB))
    assert "bytes_written_to_media_per_run" in str(refused.value) and "--data" in refused.value.next_step
    assert spending.total() == 2 * GIB


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
    account = Account(tmp_path / "a.jsonl")
    account.charge("filling", 1)
    with account.path.open("a") as file:
        file.write(f"{line}\n")
    for ask in (account.total, lambda: Account(account.path).charge("filling", 1), lambda: account.most_written("x")):
        with pytest.raises(EvidenceError, match=r"a\.jsonl:2: this line is not an event of the account"):
            ask()


def test_each_line_is_synced_before_the_call_returns(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("replay.base.synced_log.os.fsync", synced.append)
    account = Account(tmp_path / "accounts" / "a.jsonl")
    charge = account.charge("filling", 1)
    assert len(synced) == 3, "the line, and the folders of a new file"
    account.settle([charge], 1, {})
    assert len(synced) == 4


# A set settles with what its cells reported; a void cell, or an interrupted process, keeps what was expected.


def test_a_set_is_charged_before_its_first_cell_and_settled_with_what_its_cells_wrote(tmp_path):
    spending = spending_on(tmp_path / "a.jsonl")
    with spending.reserve("set", {"one": 100, "two": 100}) as reservation:
        assert Account(tmp_path / "a.jsonl").total() == 200
        for cell, wrote in (("one", 30), ("two", 250)):
            reservation.begin(cell)
            spending.record(Write(wrote))
            reservation.end(void=False)
        assert Account(tmp_path / "a.jsonl").total() == 280, "the second one wrote more than was left"
    assert spending.total() == 280
    assert (spending.most_written("one"), spending.most_written("two")) == (30, 250)


def test_a_void_cell_keeps_what_was_expected_of_it(tmp_path):
    spending = spending_on(tmp_path / "a.jsonl")
    with spending.reserve("set", {"one": 100, "two": 100}) as reservation:
        for cell in ("one", "two"):
            reservation.begin(cell)
            spending.record(Write(30 if cell == "one" else 130))
            reservation.end(void=True)
    assert spending.total() == 230


def test_a_set_that_does_not_end_stays_charged(tmp_path):
    spending = spending_on(tmp_path / "a.jsonl")
    with pytest.raises(KeyboardInterrupt), spending.reserve("set", {"one": 100, "two": 100}) as reservation:
        reservation.begin("one")
        spending.record(Write(130))
        reservation.end(void=False)
        reservation.begin("two")
        raise KeyboardInterrupt
    assert spending.total() == 230
    spending.charge("filling", Write(1))
    assert spending.total() == 231, "what comes after is charged by itself again"


def test_a_fill_inside_a_set_is_part_of_what_was_charged_for_it(tmp_path):
    spending = spending_on(tmp_path / "a.jsonl", limit=120)
    with spending.reserve("set", {"one": 100}) as reservation:
        reservation.begin("one")
        spending.charge("filling", Write(40))
        spending.record(Write(60))
        reservation.end(void=False)
    assert spending.total() == 100


def test_a_cell_does_not_begin_if_earlier_ones_wrote_more_than_there_was_room_for(tmp_path):
    spending = spending_on(tmp_path / "a.jsonl", limit=250)
    with (
        pytest.raises(RefusedError, match="ceiling bytes_written_to_media_per_run"),
        spending.reserve("set", {"one": 100, "two": 100}) as reservation,
    ):
        reservation.begin("one")
        spending.record(Write(200))
        reservation.end(void=False)
        reservation.begin("two")
    assert spending.total() >= 200


def test_a_pilot_between_two_cells_of_a_set_counts_and_belongs_to_no_cell(tmp_path):
    spending = spending_on(tmp_path / "a.jsonl")
    with spending.reserve("set", {"one": 10, "two": 10}) as reservation:
        reservation.begin("one")
        reservation.end(void=True)
        spending.charge("pilot", Write(1000))
        reservation.begin("two")
        spending.record(Write(5))
        reservation.end(void=False)
    assert spending.total() == 1015
    assert spending.most_written("two") == 5


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
        spending, truth, moments = spending_on(path), 0, [(0, 0)]

        def moment(written: int) -> int:
            moments.append((path.stat().st_size if path.exists() else 0, written))
            return written

        for step in steps:
            if step[0] == "fill":
                spending.charge("filling", Write(step[1]))
                truth = moment(truth + step[1])
                continue
            _, cells, is_whole = step
            expected = {str(number): ahead for number, (ahead, _, _) in enumerate(cells)}
            try:
                with spending.reserve("set", expected) as reservation:
                    for number, (ahead, wrote, is_void) in enumerate(cells):
                        reservation.begin(str(number))
                        # While the tool runs, only the expected amount is known.
                        moment(truth + min(ahead, wrote))
                        spending.record(Write(wrote))
                        truth = moment(truth + wrote)
                        reservation.end(void=is_void)
                    if not is_whole:
                        raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
            moment(truth)
        assert Account(path).total() >= truth
        whole = path.read_bytes() if path.exists() else b""
        index = data.draw(st.integers(0, len(moments) - 1))
        size, written = moments[index]
        until = moments[index + 1][0] if index + 1 < len(moments) else len(whole)
        # The next line may be there, or a part of it, when the power goes; what it tells of has not been written then.
        cut = data.draw(st.integers(size, max(size, until)))
        path.write_bytes(whole[:cut])
        after = Account(path)
        assert after.total() >= written
        charged = after.total()
        after.charge("the next run", 3)
        assert Account(path).total() == charged + 3
        assert all(json.loads(line) for line in path.read_text().splitlines())


@settings(deadline=None)
@given(st.lists(st.tuples(amounts, amounts), min_size=1, max_size=8), st.integers(0, 200))
def test_known_amounts_never_exceed_the_ceiling(cells, limit):
    with tempfile.TemporaryDirectory() as folder:
        spending, written = spending_on(Path(folder) / "a.jsonl", limit=limit), 0
        for fill, cell in cells:
            try:
                spending.charge("filling", Write(fill))
                written += fill
                with spending.reserve("set", {"one": cell}) as reservation:
                    reservation.begin("one")
                    spending.record(Write(cell))
                    written += cell
                    reservation.end(void=False)
            except RefusedError:
                continue
        assert written == spending.total() <= limit
