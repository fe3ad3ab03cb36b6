"""Evidence is append-only, sealed, and survives being cut short at any point."""

from __future__ import annotations

import gzip
import hashlib
import subprocess

import pytest

from replay.base.errors import EvidenceError
from replay.raw import evidence
from replay.raw.evidence import SEAL, SUMS, Attempt, attempts_of, record, seal_leftovers


def cell(attempt, variant="plain"):
    attempt.write_cell(variant, {"stdout": ("stdout", b"out\n"), "stderr": ("stderr", b"")}, {"variant": variant})


def checks(raw):
    return subprocess.run(["sha256sum", "--check", "--strict", SUMS], cwd=raw, capture_output=True, check=False)


def test_a_sealed_attempt_is_listed_file_by_file(tmp_path):
    attempt = Attempt(tmp_path, 1, "write-seq-4096", 1)
    cell(attempt)
    attempt.seal({"valid": True})
    names = {path.relative_to(tmp_path).as_posix() for path in attempt.directory.iterdir()}
    assert evidence.listed(tmp_path) == names
    assert checks(tmp_path).returncode == 0
    (attempt.directory / "plain.stdout").write_text("better\n")
    assert checks(tmp_path).returncode == 1


def test_large_output_is_stored_compressed_and_read_as_it_was(tmp_path):
    content = b'{"pgs": []}\n' * 10_000
    attempt = Attempt(tmp_path, 1, "read-0", 1)
    attempt.write_cell("plain", {"before": ("before.json", content), "after": ("after.json", b"{}\n")}, {})
    attempt.seal({"valid": True})
    stored = attempt.directory / "plain.before.json.gz"
    assert {path.name for path in attempt.directory.iterdir()} == {
        stored.name,
        "plain.after.json",
        "plain.json",
        SEAL,
    }
    assert stored.stat().st_size < len(content) / 10
    assert gzip.decompress(stored.read_bytes()) == content
    assert evidence.as_stored("again", content)[1] == stored.read_bytes(), "the same output, the same bytes"
    assert checks(tmp_path).returncode == 0


def test_evidence_is_never_overwritten(tmp_path):
    record(tmp_path, "pilot/a.stdout", b"one")
    record(tmp_path, "pilot/a.stdout", b"one")
    with pytest.raises(EvidenceError, match=r"a\.stdout"):
        record(tmp_path, "pilot/a.stdout", b"two")
    assert (tmp_path / "pilot/a.stdout").read_bytes() == b"one"


def test_an_attempt_is_never_begun_twice(tmp_path):
    Attempt(tmp_path, 1, "p", 1)
    with pytest.raises(FileExistsError):
        Attempt(tmp_path, 1, "p", 1)


def test_an_interrupted_attempt_is_sealed_as_such_and_kept(tmp_path):
    done = Attempt(tmp_path, 1, "p", 1)
    cell(done)
    done.seal({"valid": True})
    cut = Attempt(tmp_path, 1, "p", 2)
    cell(cut)
    (cut.directory / ".other.stdout.partial").write_bytes(b"half")
    assert seal_leftovers(tmp_path) == [cut.directory]
    (first, second) = attempts_of(tmp_path, 1, "p")
    assert first[1]["valid"] is True
    assert (second[1]["status"], second[1]["valid"]) == ("interrupted", False)
    assert (cut.directory / "plain.stdout").exists()
    assert not list(tmp_path.rglob("*.partial"))
    assert checks(tmp_path).returncode == 0
    assert seal_leftovers(tmp_path) == [], "the second time there is nothing to do"


def test_a_crash_between_the_seal_and_its_checksums_is_mended(tmp_path):
    attempt = Attempt(tmp_path, 1, "p", 1)
    cell(attempt)
    (attempt.directory / SEAL).write_text('{"valid": true}')
    seal_leftovers(tmp_path)
    assert checks(tmp_path).returncode == 0
    assert hashlib.sha256(b"out\n").hexdigest() in (tmp_path / SUMS).read_text()
    assert attempts_of(tmp_path, 1, "p")[0][1] == {"valid": True}, "the seal itself is left as it was"


def test_an_unreadable_seal_is_named(tmp_path):
    attempt = Attempt(tmp_path, 1, "p", 1)
    (attempt.directory / SEAL).write_text("{")
    with pytest.raises(EvidenceError, match=r"attempt\.json"):
        attempts_of(tmp_path, 1, "p")
