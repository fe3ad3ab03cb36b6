"""The writer dies before any of its system calls, or in the middle of a write; measuring then continues to the end.

It dies as if by SIGKILL: the system calls that it made take effect, and nothing else does. This cannot show what
fsync adds for a machine that loses power: here it only counts as a call.
"""

import os
import shutil

import pytest

from replay.evidence.attempts import BlockWriter, record_design
from replay.evidence.data_set import sealed_block
from replay.evidence.read import list_raw, verify
from replay.evidence.seal import recover, seal
from support.evidence import evidence_of

PLAN = "0123456789ab"
POINTS = ("read-4096", "write-4096")
CALLS = ("open", "write", "fsync", "rename", "unlink", "mkdir", "rmdir")


def measure(raw):
    """Measure a block as the runner does: leftovers of an earlier run, the design, a pilot, sets, receipt, seal."""
    recover(raw)
    writer = BlockWriter(raw, 1)
    if sealed_block(raw, 1, PLAN).exists():
        return
    record_design(raw, {"schema_version": 1, "experiment": "x", "cells": {}}, "ab12")
    rounds = writer.history.pilots("host", "cell")
    if not any(note["enough"] for note in rounds.values()):
        number = max(rounds, default=0) + 1
        results = {"stdout": ("stdout", b"pilot %d\n" % number), "stderr": ("stderr", b"")}
        writer.record_pilot("host", "cell", number, results, {"schema_version": 1, "enough": True})
    for point in POINTS:
        cells = {"plain": f"{point}-cell"}
        if writer.history.is_measured(1, point, cells):
            continue
        attempt = writer.begin_attempt(point, writer.next_attempt(point))
        results = {"stdout": ("stdout", b"%s %d\n" % (point.encode(), attempt.number) * 300)}
        attempt.write_cell("plain", results, {"schema_version": 1, "variant": "plain", "attempt": attempt.number})
        attempt.seal({"schema_version": 1, "valid": True, "cells": cells, "attempt": attempt.number})
    writer.record_receipt(PLAN, {"schema_version": 1, "plan": PLAN})
    seal(raw, 1, PLAN)


class Killed(BaseException):
    """The process is dead: none of its later calls reaches the system."""


def killed_at(raw, call):
    """Measure until just before call number `call`; return whether it was reached.

    The interpreter runs on for a moment, but can only close open files, as the death of a process does.
    """
    made, dead = 0, False
    real = {name: getattr(os, name) for name in CALLS}

    def counted(name):
        def wrapped(*arguments, **options):
            nonlocal made, dead
            if made == call:
                if name == "write" and not dead:
                    descriptor, content = arguments
                    real["write"](descriptor, content[: len(content) // 2])
                dead = True
                raise Killed
            made += 1
            return None if name == "fsync" else real[name](*arguments, **options)

        return wrapped

    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, counted(name))
        try:
            measure(raw)
        except Killed:
            return True
    return False


def written_cells(raw):
    """The contents of attempts that are being written, by the names that they will have."""
    paths = [path for path in raw.glob("block-*.open/block-*/*/.attempt-*.partial/*") if not path.name.startswith(".")]
    return {
        f"block-01/{path.parent.parent.name}/{path.parent.name[1:].removesuffix('.partial')}/{path.name}": content
        for path in paths
        if (content := path.read_bytes())
    }


def assert_whole(raw, kept):
    assert sorted(path.name for path in raw.iterdir()) == [
        "SHA256SUMS", f"block-01-{PLAN}.tar.gz", "design-ab12.json",
    ]  # fmt: skip
    assert sum(1 for _ in verify(list_raw(raw))) >= 4
    found = evidence_of(raw)
    assert {name: found.get(name) for name in kept} == kept, "nothing that was recorded is lost"
    history = BlockWriter(raw, 1).history
    for point in POINTS:
        assert history.is_measured(1, point, {"plain": f"{point}-cell"})
        numbers = [number for number, _ in history.attempts(1, point)]
        assert numbers == list(range(1, len(numbers) + 1))
    assert any(note["enough"] for note in history.pilots("host", "cell").values())


@pytest.mark.slow
def test_killed_before_any_call_and_again_while_it_recovers_measuring_completes_and_loses_nothing(tmp_path):
    calls = 0
    while True:
        raw = tmp_path / "x" / "raw"
        if not killed_at(raw, calls):
            break
        kept = (evidence_of(raw) if raw.is_dir() else {}) | written_cells(raw)
        if calls % 3 == 0:
            killed_at(raw, 5 * calls % 97)
        kept |= (evidence_of(raw) if raw.is_dir() else {}) | written_cells(raw)
        assert not killed_at(raw, -1)
        assert_whole(raw, kept)
        shutil.rmtree(raw)
        calls += 1
    assert_whole(raw, {})
    print(f"{calls} points")
    assert calls > 100, "every call of recording and sealing was a place to die at"


@pytest.mark.parametrize("what", ["pack gone", "pack and its line gone"])
def test_a_pack_that_somebody_removes_while_the_open_block_exists_is_made_again(tmp_path, what):
    raw = tmp_path / "x" / "raw"
    for call in range(120, 1000):
        assert killed_at(raw, call)
        opened, sums = raw / "block-01.open", raw / "SHA256SUMS"
        if sums.exists() and PLAN in sums.read_text() and opened.exists():
            break
        shutil.rmtree(raw, ignore_errors=True)
    pack = raw / f"block-01-{PLAN}.tar.gz"
    before = pack.read_bytes()
    kept = evidence_of(raw)
    pack.unlink()
    if what == "pack and its line gone":
        sums.write_text("".join(line for line in sums.read_text().splitlines(keepends=True) if PLAN not in line))
    measure(raw)
    assert pack.read_bytes() == before
    assert_whole(raw, kept)
