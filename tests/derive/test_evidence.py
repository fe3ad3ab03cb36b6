"""Evidence is verified before anything is derived: what is altered, missing or unlisted is an error that names it."""

import fcntl
import gzip
import subprocess
import threading
import time

import pytest

from replay.base.errors import EvidenceError, ReplayError
from replay.derive.experiment import derive_experiment
from replay.raw.read import list_raw, verify_all
from replay.workflow.dataset import derive_data_set
from support.patience import patient
from support.rawtree import RawTree


@pytest.fixture
def tree(tmp_path):
    return RawTree(tmp_path / "demo" / "rbd-journaling").measure(blocks=1)


def refused(tree):
    with pytest.raises(EvidenceError) as raised:
        derive_experiment(tree.directory)
    assert not (tree.directory / "tidy.csv").exists()
    return raised.value


@pytest.mark.parametrize(
    "name",
    [
        "block-01/write-seq-4096/attempt-1/with-journal.stdout",
        "block-01/write-seq-4096/attempt-1/with-journal.json",
        "block-01/write-seq-4096/attempt-1/attempt.json",
    ],
)
def test_an_altered_file_is_named_and_nothing_is_written(tree, name):
    path = tree.raw / name
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    error = refused(tree)
    assert error.where == str(path)
    assert "altered" in error.what


def test_an_altered_design_receipt_or_pilot_is_named(tree):
    tree.record("pilot/host-0/abc/round-1.json", {"schema_version": 1})
    for pattern in ("design-*.json", "block-01/receipt-*.json", "pilot/*/*/round-1.json"):
        (path,) = tree.raw.glob(pattern)
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        assert refused(tree).where == str(path)
        path.write_bytes(content)


@pytest.mark.parametrize("name", ["control.stderr", "control.stdout", "control.json", "attempt.json"])
def test_a_missing_file_is_named(tree, name):
    path = tree.raw / "block-01/write-seq-4096/attempt-1" / name
    path.unlink()
    assert refused(tree).where == str(path)


def test_a_missing_attempt_is_named(tree):
    folder = tree.raw / "block-01/write-seq-4096/attempt-1"
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    assert str(folder) in refused(tree).where


def test_an_unlisted_file_in_a_sealed_attempt_is_named(tree):
    path = tree.raw / "block-01/write-seq-4096/attempt-1/extra.stdout"
    path.write_text("")
    assert refused(tree).where == str(path)


def test_an_attempt_whose_seal_was_written_and_not_listed_yet_is_in_progress(tree):
    listed = (tree.raw / "SHA256SUMS").read_text()
    tree.attempt(2, "write-seq-4096")
    (tree.raw / "SHA256SUMS").write_text(listed)
    listing = list_raw(tree.raw)
    assert listing.unsealed == ["block-02/write-seq-4096/attempt-1"]
    assert derive_experiment(tree.directory).entry["attempts"] == 4


@pytest.mark.parametrize("line", ["nonsense", f"{'0' * 64}  /etc/passwd", f"{'0' * 64}  ../../x", f"{'0' * 63}  a"])
def test_a_line_that_sha256sum_would_not_write_is_named_by_its_number(tree, line):
    sums = tree.raw / "SHA256SUMS"
    count = len(sums.read_text().splitlines())
    sums.write_text(sums.read_text() + line + "\n")
    assert refused(tree).where == f"{sums}:{count + 1}"


def test_a_cut_off_last_line_is_named(tree):
    sums = tree.raw / "SHA256SUMS"
    sums.write_text(sums.read_text()[:-1])
    assert "cut off" in refused(tree).what


def test_a_sidecar_that_names_a_file_that_is_not_there_is_refused(tree):
    path = tree.raw / "block-01/write-seq-4096/attempt-1/control.json"
    path.write_text(path.read_text().replace('"control.stdout"', '"elsewhere.stdout"'))
    tree.reseal()
    assert "elsewhere.stdout" in refused(tree).what


def test_a_sidecar_that_belongs_to_another_folder_is_refused(tree):
    path = tree.raw / "block-01/write-seq-4096/attempt-1/control.json"
    path.write_text(path.read_text().replace('"block": 1', '"block": 2'))
    tree.reseal()
    assert "another attempt" in refused(tree).what


def test_a_file_that_is_no_gzip_is_named(tmp_path):
    tree = RawTree(tmp_path / "demo" / "rbd-journaling", compress=True).measure()
    path = tree.raw / "block-01/write-seq-4096/attempt-1/control.stdout.gz"
    path.write_bytes(gzip.compress(b"x" * 100)[:-4])
    tree.reseal()
    assert refused(tree).where == str(path)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema_version": 2}', "[" * 100_000])
def test_a_sidecar_that_is_not_one_is_an_error_that_names_it(tree, content):
    path = tree.raw / "block-01/write-seq-4096/attempt-1/control.json"
    path.write_text(content)
    tree.reseal()
    assert refused(tree).where == str(path)


def test_an_experiment_that_is_altered_does_not_keep_the_others_from_being_derived(tree):
    RawTree(tree.directory.parent / "other").measure()
    (tree.raw / "block-01/write-seq-4096/attempt-1/control.stdout").write_text("")
    with pytest.raises(ReplayError) as raised:
        derive_data_set(tree.directory.parent)
    assert raised.value.exit_status == EvidenceError.exit_status
    assert (tree.directory.parent / "other" / "tidy.csv").exists()
    assert not (tree.directory / "tidy.csv").exists()


def test_sha256sum_agrees_with_what_derive_verifies(tree):
    done = subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=tree.raw, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    verify_all(list_raw(tree.raw))


def test_listing_waits_for_a_writer_that_is_sealing(tree):
    moments = {}

    def listing():
        list_raw(tree.raw)
        moments["listed"] = time.monotonic()

    with (tree.raw / "SHA256SUMS").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        reader = threading.Thread(target=listing)
        reader.start()
        time.sleep(0.2)
        moments["released"] = time.monotonic()
        fcntl.flock(file, fcntl.LOCK_UN)
    reader.join(timeout=patient(5))
    assert moments["listed"] >= moments["released"]
