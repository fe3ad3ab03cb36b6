"""Unpacked blocks are packed, checked file by file, and only then removed; a stopped conversion completes later."""

import hashlib
import json
import os

import pytest

from replay.base.errors import EvidenceError
from replay.derive.experiment import derive_experiment
from replay.evidence.command import main
from replay.evidence.convert import convert
from replay.evidence.sums import read_sums
from support.datasets import digests
from support.evidence import evidence_of, members_of
from support.rawtree import RawTree


def old_layout(directory, whole_blocks=2):
    """Measure three blocks, and lay them out as an earlier version did; the last blocks have no receipt."""
    tree = RawTree(directory, sealed=False).measure(blocks=3)
    raw = tree.raw
    for block, ended_at in ((1, "2026-01-01T00:00:01.000Z"), (2, "2027-01-01T00:00:00.000Z")):
        folder = f"pilot/host-0/cell{block}"
        tree.record(f"{folder}/round-1.json", {"schema_version": 1, "ended_at": ended_at})
        (raw / "block-01.open" / folder / "round-1.stdout").write_text("out")
    receipts = {block: next(raw.glob(f"block-{block:02d}.open/block-*/receipt-*")) for block in (1, 2, 3)}
    said = json.loads(receipts[2].read_text())
    receipts[2].write_text(json.dumps(said | {"ended_at": "2028-01-01T00:00:00.000Z"}))
    for block in range(whole_blocks + 1, 4):
        receipts[block].unlink()
    for opened in sorted(raw.glob("block-*.open")):
        (opened / "SHA256SUMS").unlink()
        for path in opened.iterdir():
            path.rename(raw / path.name)
        opened.rmdir()
    names = sorted(path for path in raw.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    (raw / "SHA256SUMS").write_text(
        "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(raw)}\n" for path in names)
    )
    return tree


def files_of(raw):
    return {
        path.relative_to(raw).as_posix(): path.read_bytes()
        for path in raw.rglob("*")
        if path.is_file() and path.name != "SHA256SUMS"
    }


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    return old_layout(tmp_path / "mine" / "rbd-journaling")


def test_every_file_is_inside_unaltered_and_the_tables_are_the_same(tree, capsys):
    before, sums = files_of(tree.raw), read_sums(tree.raw)
    with pytest.raises(EvidenceError, match="convert --data"):
        derive_experiment(tree.directory)
    assert main(["convert", "--data", "mine"]) == 0
    said = capsys.readouterr().out
    assert f"{len(sums)} files listed before, {len(sums)} found again with the same SHA-256" in said
    assert evidence_of(tree.raw) == before
    first, second = (pack.name for pack in tree.packs())
    assert (first[:9], second[:9]) == ("block-01-", "block-02-")
    assert {path.name for path in tree.raw.iterdir()} == {
        "SHA256SUMS", first, second, "block-03.open", f"design-{tree.design_digest}.json",
    }  # fmt: skip
    fresh = RawTree(tree.directory.parent / "fresh").measure(blocks=3)
    for directory in (tree.directory, fresh.directory):
        derive_experiment(directory)
    one, other = (digests(directory / "aggregate") for directory in (tree.directory, fresh.directory))
    assert len(one) > 5
    assert one == other
    assert main(["convert", "--data", "mine"]) == 0
    assert "nothing to convert" in capsys.readouterr().out


def test_a_pilot_goes_to_the_block_that_ended_first_after_it(tree):
    convert(tree.raw)
    first, second = tree.packs()
    listed = {pack.name: set(members_of(pack)) for pack in (first, second)}
    assert {name for name in listed[first.name] if name.startswith("pilot")} == {
        "pilot/host-0/cell1/round-1.json", "pilot/host-0/cell1/round-1.stdout",
    }  # fmt: skip
    assert any(name.startswith("pilot/host-0/cell2/") for name in listed[second.name])


@pytest.mark.parametrize("how", ["altered", "missing", "unlisted"])
def test_incomplete_data_are_not_touched(tree, how):
    path = tree.raw / "block-01" / "write-seq-4096" / "attempt-1" / "control.stdout"
    if how == "altered":
        path.write_text("better")
    elif how == "missing":
        path.unlink()
    else:
        path = path.with_name("extra")
        path.write_text("")
    before = digests(tree.raw)
    with pytest.raises(EvidenceError) as raised:
        convert(tree.raw)
    assert raised.value.where == str(path)
    assert digests(tree.raw) == before


@pytest.mark.slow
def test_a_conversion_that_was_stopped_before_any_of_its_steps_completes_in_the_next_run(tmp_path):
    expected = None
    for step in range(1000):
        tree = old_layout(tmp_path / str(step) / "rbd-journaling")
        expected = expected or files_of(tree.raw)
        pid = os.fork()
        if not pid:
            try:
                _die_at(step)
                convert(tree.raw)
            except BaseException:
                os._exit(1)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert status in (0, 9)
        if any(path.name in ("pilot", "block-01", "block-02", "block-03") for path in tree.raw.iterdir()):
            convert(tree.raw)
        assert evidence_of(tree.raw) == expected
        if status == 0:
            break
    assert step > 10


def _die_at(step):
    """Die before the rename or removal of this number."""
    made = 0
    real = {name: getattr(os, name) for name in ("rename", "unlink", "rmdir")}

    def counted(name):
        def wrapped(*arguments, **options):
            nonlocal made
            if made == (step if step < 10 else step * 30 - 290):
                os._exit(9)
            made += 1
            return real[name](*arguments, **options)

        return wrapped

    for name in real:
        setattr(os, name, counted(name))
