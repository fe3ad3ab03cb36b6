"""Evidence is append-only, seen whole or not at all, and survives being cut short at any point."""

from __future__ import annotations

import gzip
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from replay.base.errors import EvidenceError
from replay.evidence.attempts import BlockWriter, record_design
from replay.evidence.data_set import pack_name, pretty_json, sealed_block
from replay.evidence.durable import SUMS, Store, read_sums
from replay.evidence.read import list_raw
from replay.evidence.seal import recover, seal
from support.evidence import evidence_of, members_of, sums_match

PLAN, OTHER = "0123456789ab", "ba9876543210"
VALID = {"schema_version": 1, "valid": True, "cells": {"plain": "c1"}}


@pytest.fixture
def raw(tmp_path):
    record_design(tmp_path / "x" / "raw", {"schema_version": 1}, "ab12")
    return tmp_path / "x" / "raw"


@pytest.fixture
def writer(raw):
    return BlockWriter(raw, 1)


def cell(attempt, variant="plain"):
    attempt.write_cell(
        variant, {"stdout": ("stdout", b"out\n"), "stderr": ("stderr", b"")}, {"schema_version": 1, "variant": variant}
    )


def one_attempt(writer, point="p", seal_facts=VALID):
    attempt = writer.begin_attempt(point, writer.next_attempt(point))
    cell(attempt)
    attempt.seal(seal_facts)
    return attempt


def sealed(writer, plan=PLAN):
    """Complete a block and pack it; return the pack."""
    writer.record_receipt(plan, {"schema_version": 1})
    return seal(writer.raw, 1, plan)


def test_a_sealed_attempt_is_listed_file_by_file(writer):
    attempt = one_attempt(writer, "write-seq-4096")
    names = {path.relative_to(writer.folder).as_posix() for path in attempt.directory.iterdir()}
    assert read_sums(writer.folder).keys() == names
    assert sums_match(writer.folder)
    (attempt.directory / "plain.stdout").write_text("better\n")
    assert not sums_match(writer.folder)


def test_an_attempt_is_not_seen_before_it_is_sealed(raw, writer):
    attempt = writer.begin_attempt("p", 1)
    cell(attempt)
    assert evidence_of(raw).keys() == {"design-ab12.json"}
    assert writer.history.attempts(1, "p") == []
    attempt.seal(VALID)
    assert writer.history.attempts(1, "p") == [(1, VALID)]


def test_a_pilot_s_output_and_note_are_seen_at_once_or_not_at_all(raw, writer, monkeypatch):
    results = {"stdout": ("stdout", b"out"), "stderr": ("stderr", b"")}

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("replay.evidence.attempts.pretty_json", full)
        with pytest.raises(OSError, match="No space"):
            writer.record_pilot("host", "cell", 1, results, {"schema_version": 1})
    assert evidence_of(raw).keys() == {"design-ab12.json"}
    assert recover(raw) == []
    writer.record_pilot("host", "cell", 1, results, {"schema_version": 1, "io_total_bytes": 1})
    assert list(writer.history.pilots("host", "cell")) == [1]
    assert writer.history.pilots("another host", "cell") == {}


def test_what_another_host_measured_is_not_measured_here(writer, monkeypatch):
    attempt = writer.begin_attempt("p", 1)
    here = {"id": "host-0", "cpu": "A CPU", "kernel": "6.1"}
    attempt.write_cell("plain", {}, {"schema_version": 1, "variant": "plain", "host": here})
    attempt.seal(VALID)
    for other, is_here in (({"kernel": "6.2"}, True), ({"id": "host-1"}, False), ({"cpu": "Another CPU"}, False)):
        monkeypatch.setattr("replay.evidence.attempts.host", lambda other=other: {**here, **other})
        assert writer.history.is_measured(1, "p", VALID["cells"]) == is_here


def test_evidence_is_never_overwritten(raw):
    store = Store(raw / "block-01.open", raw)
    store.add_file("block-01/a.json", b"one")
    store.add_file("block-01/a.json", b"one")
    with pytest.raises(EvidenceError, match=r"a\.json"):
        store.add_file("block-01/a.json", b"two")
    assert (store.folder / "block-01/a.json").read_bytes() == b"one"


def test_a_record_has_its_name_on_disk_before_it_is_listed(raw, monkeypatch):
    store, synced = Store(raw / "block-01.open", raw), []

    def fsync(descriptor, real=os.fsync):
        synced.append(Path(f"/proc/self/fd/{descriptor}").resolve())
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    store.add_file("block-01/a.json", b"one")
    before = synced[: synced.index(store.folder / f".{SUMS}.partial")]
    assert before[-2:] == [store.folder / "block-01/.a.json.partial", store.folder / "block-01"]


def test_an_attempt_is_never_begun_twice(raw):
    BlockWriter(raw, 1).begin_attempt("p", 1)
    with pytest.raises(FileExistsError):
        BlockWriter(raw, 1).begin_attempt("p", 1)


def test_an_interrupted_attempt_is_sealed_as_such_and_kept(raw, writer):
    one_attempt(writer)
    cut = writer.begin_attempt("p", writer.next_attempt("p"))
    cell(cut)
    (cut.directory / ".other.stdout.partial").write_bytes(b"half")
    assert recover(raw) == ["attempt 2 of p was interrupted; it is kept, and its set runs again"]
    (first, second) = writer.history.attempts(1, "p")
    assert first[1]["valid"] is True
    assert (second[0], second[1]["status"], second[1]["valid"]) == (2, "interrupted", False)
    assert evidence_of(raw)["block-01/p/attempt-2/plain.stdout"] == b"out\n"
    assert not list(raw.rglob("*.partial"))
    assert sums_match(writer.folder)
    assert recover(raw) == [], "the second time there is nothing to do"


def test_an_unreadable_seal_is_named(raw, writer):
    attempt = writer.begin_attempt("p", 1)
    (attempt.directory / "attempt.json").write_text("{")
    recover(raw)
    with pytest.raises(EvidenceError, match=r"attempt\.json"):
        writer.history.attempts(1, "p")


def test_a_foreign_file_in_an_open_block_stops_measuring_and_is_named(raw, writer):
    one_attempt(writer)
    (writer.folder / "block-01" / "p" / "notes.txt").write_text("made up")
    with pytest.raises(EvidenceError, match=r"notes\.txt"):
        writer.history.is_measured(1, "p", {})
    writer.record_receipt(PLAN, {"schema_version": 1})
    with pytest.raises(EvidenceError, match=r"notes\.txt"):
        seal(raw, 1, PLAN)
    assert (writer.folder / "block-01" / "p" / "notes.txt").exists()


# Sealing


def test_a_whole_block_is_one_pack_that_tar_opens_and_the_same_files_give_the_same_bytes(tmp_path):
    packs = []
    for name in ("one", "two"):
        raw = tmp_path / name / "x" / "raw"
        record_design(raw, {"schema_version": 1}, "ab12")
        writer = BlockWriter(raw, 1)
        for point in ("b", "a") if name == "one" else ("a", "b"):
            one_attempt(writer, point)
        writer.record_pilot("host", "cell", 1, {"stdout": ("stdout", b"x")}, {"schema_version": 1})
        writer.record_receipt(PLAN, {"schema_version": 1})
        before = evidence_of(raw)
        packs.append(seal(raw, 1, PLAN))
        assert evidence_of(raw) == before
        assert not writer.folder.exists()
        assert sums_match(raw)
    first, second = packs
    assert first.name == pack_name(1, PLAN)
    assert first.read_bytes() == second.read_bytes()
    folder = tmp_path / "unpacked"
    folder.mkdir()
    subprocess.run(["tar", "-C", folder, "-xzf", first], check=True)
    assert sums_match(folder)
    with tarfile.open(first) as archive:
        for member in archive:
            said = (member.uid, member.gid, member.uname, member.gname, member.mtime, member.mode)
            assert said == (0, 0, "", "", 0, 0o644)
    with gzip.open(first) as stream:
        stream.read()
        assert (stream.mtime, first.read_bytes()[3]) == (0, 0), "no time and no name in gzip's header"


def test_a_block_measured_again_with_another_level_holds_only_the_new_cells(raw, writer):
    one_attempt(writer, "p")
    first = sealed(writer)
    kept = first.read_bytes()
    writer = BlockWriter(raw, 1)
    assert writer.history.is_measured(1, "p", {"plain": "c1"})
    assert not writer.history.is_measured(1, "p", {"plain": "c2"})
    other = one_attempt(writer, "p", {**VALID, "cells": {"plain": "c2"}})
    assert other.number == 2, "numbers go on over the packs of a block"
    one_attempt(writer, "q")
    second = sealed(writer, OTHER)
    assert first.read_bytes() == kept
    folders = {name.rpartition("/")[0] for name in members_of(second)} - {""}
    assert folders == {"block-01", "block-01/p/attempt-2", "block-01/q/attempt-1"}
    history = BlockWriter(raw, 1).history
    assert [number for number, _ in history.attempts(1, "p")] == [1, 2]
    assert len(history.receipts()) == 2


def test_pilots_are_found_in_packs_of_earlier_blocks(raw, writer):
    writer.record_pilot("host", "cell", 1, {}, {"schema_version": 1, "bytes": 7})
    sealed(writer)
    found = BlockWriter(raw, 2).history.pilots("host", "cell")
    assert {number: note["bytes"] for number, note in found.items()} == {1: 7}


def test_nothing_altered_is_ever_packed(raw, writer):
    attempt = one_attempt(writer)
    writer.record_receipt(PLAN, {"schema_version": 1})
    (attempt.directory / "plain.stdout").write_text("better\n")
    with pytest.raises(EvidenceError, match=r"plain\.stdout: altered"):
        seal(raw, 1, PLAN)
    assert not sealed_block(raw, 1, PLAN).exists()
    assert writer.folder.exists()


def test_a_pack_of_that_name_with_other_content_is_never_overwritten(raw, writer):
    one_attempt(writer)
    pack = sealed(writer)
    before = pack.read_bytes()
    one_attempt(BlockWriter(raw, 1), "q")
    writer.record_receipt(PLAN, {"schema_version": 1})
    with pytest.raises(EvidenceError, match="differs"):
        recover(raw)
    assert pack.read_bytes() == before
    assert (writer.folder / "block-01/q/attempt-1/plain.stdout").exists()


def test_long_names_are_packed_too(raw, writer):
    point = "-".join(["a-level-of-its-own"] * 12)
    one_attempt(writer, point)
    writer.record_receipt(PLAN, {"schema_version": 1})
    before = evidence_of(raw)
    seal(raw, 1, PLAN)
    assert evidence_of(raw) == before
    assert any(len(name) > 200 for name in before)


def test_a_document_is_written_for_people(raw):
    assert pretty_json({"b": 1, "a": "é"}) == '{\n "a": "é",\n "b": 1\n}\n'.encode()
    assert [path.name for path in list_raw(raw).blocks] == []
