"""Evidence is verified before anything is derived: an altered, missing or unlisted file is an error that names it."""

import gzip
import hashlib
import io
import subprocess
import tarfile
import threading
import time

import pytest

from replay.base.errors import EvidenceError, ReplayError
from replay.claims.data_set import derive_data_set
from replay.derive.experiment import derive_experiment
from replay.evidence.data_set import in_pack_order
from replay.evidence.durable import locked
from replay.evidence.read import list_raw, verify
from support.evidence import members_of, pack_again, sums_match
from support.patience import patient
from support.rawtree import RawTree

MEMBERS = [
    "block-01/write-seq-4096/attempt-1/with-journal.stdout",
    "block-01/write-seq-4096/attempt-1/with-journal.json",
    "block-01/write-seq-4096/attempt-1/attempt.json",
]


@pytest.fixture
def tree(tmp_path):
    """A block that is still open, so that its files can be altered in place."""
    return RawTree(tmp_path / "demo" / "rbd-journaling", sealed=False).measure(blocks=1)


@pytest.fixture
def sealed(tmp_path):
    return RawTree(tmp_path / "demo" / "rbd-journaling").measure(blocks=2)


def refused(tree):
    with pytest.raises(EvidenceError) as raised:
        derive_experiment(tree.directory)
    assert not (tree.directory / "tidy.csv").exists()
    return raised.value


@pytest.mark.parametrize("name", MEMBERS)
def test_an_altered_file_is_named_and_nothing_is_written(tree, name):
    path = tree.path(name)
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    error = refused(tree)
    assert error.where == str(path)
    assert "altered" in error.what


def test_an_altered_design_receipt_or_pilot_is_named(tree):
    tree.record("pilot/host-0/abc/round-1.json", {"schema_version": 1})
    for pattern in ("design-*.json", "*.open/block-01/receipt-*.json", "*.open/pilot/*/*/round-1.json"):
        (path,) = tree.raw.glob(pattern)
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        assert refused(tree).where == str(path)
        path.write_bytes(content)


@pytest.mark.parametrize("name", ["control.stderr", "control.stdout", "control.json", "attempt.json"])
def test_a_missing_file_is_named(tree, name):
    path = tree.path("block-01/write-seq-4096/attempt-1/" + name)
    path.unlink()
    assert refused(tree).where == str(path)


def test_a_missing_attempt_is_named(tree):
    folder = tree.path("block-01/write-seq-4096/attempt-1")
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    assert str(folder) in refused(tree).where


def test_an_unlisted_file_in_a_sealed_attempt_is_named(tree):
    path = tree.path("block-01/write-seq-4096/attempt-1/extra.stdout")
    path.write_text("")
    assert refused(tree).where == str(path)


def test_an_attempt_that_is_listed_but_has_no_name_yet_is_in_progress(tree):
    folder = tree.attempt(2, "write-seq-4096")
    folder.rename(folder.with_name(".attempt-1.partial"))
    assert derive_experiment(tree.directory).entry["attempts"] == 4


def test_an_attempt_that_is_not_listed_is_named_and_nothing_is_dropped_or_deleted(tree):
    derive_experiment(tree.directory)
    before = {path: path.read_bytes() for path in tree.directory.rglob("*.csv")}
    sums = tree.opened(1) / "SHA256SUMS"
    lines = sums.read_text().splitlines(keepends=True)
    sums.write_text("".join(line for line in lines if "write-seq-4096" not in line))
    with pytest.raises(EvidenceError, match="not listed") as raised:
        derive_experiment(tree.directory)
    assert "block-01/write-seq-4096/attempt-1" in raised.value.where
    sums.write_text("")
    with pytest.raises(EvidenceError, match="not listed"):
        derive_experiment(tree.directory)
    assert {path: path.read_bytes() for path in tree.directory.rglob("*.csv")} == before


# Packs


@pytest.mark.parametrize("name", MEMBERS)
def test_a_pack_whose_member_was_altered_is_named_with_the_member(sealed, name):
    pack = sealed.packs()[0]
    pack_again(pack, lambda member, content: content.replace(b"1", b"2", 1) if member == name else content)
    error = refused(sealed)
    assert error.where == str(pack)
    assert f"{pack}:{name}: altered" in error.what


def test_a_pack_that_lost_a_member_or_gained_one_is_named_with_it(sealed):
    pack = sealed.packs()[1]
    whole = pack.read_bytes()
    lost = "block-02/read-seq-4096/attempt-1/control.stderr"
    pack_again(pack, lambda member, content: None if member == lost else content)
    assert lost in refused(sealed).what
    pack.write_bytes(whole)
    pack_again(pack, lambda member, content: content, added={"block-02/made-up": b""})
    assert "block-02/made-up" in refused(sealed).what


def test_a_pack_with_a_flipped_bit_is_named_wherever_that_is(sealed):
    pack = sealed.packs()[0]
    whole = pack.read_bytes()
    for place in range(0, len(whole), len(whole) // 40):
        pack.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert refused(sealed).where == str(pack)


def test_a_missing_pack_is_named(sealed):
    gone = sealed.packs()[0]
    gone.unlink()
    error = refused(sealed)
    assert error.where == str(gone)
    assert "missing" in error.what


def test_a_pack_that_is_not_listed_is_named(sealed):
    sums = sealed.raw / "SHA256SUMS"
    sums.write_text("".join(line for line in sums.read_text().splitlines(keepends=True) if "block-02" not in line))
    assert refused(sealed).where == str(sealed.packs()[1])


def test_a_pack_with_a_correct_digest_but_a_wrong_list_is_named_by_its_member(sealed):
    pack = sealed.packs()[0]
    name = MEMBERS[0]
    pack_again(pack, lambda member, content: content + b" " if member == name else content)
    packed_plainly(pack)
    list_anew(sealed.raw, pack)
    assert refused(sealed).where == f"{pack}:{name}"
    packed_plainly(pack, without=name)
    list_anew(sealed.raw, pack)
    error = refused(sealed)
    assert (error.where, "missing" in error.what) == (f"{pack}:{name}", True)


@pytest.mark.parametrize(
    "content",
    [b"", b"nonsense", gzip.compress(b"", mtime=0), gzip.compress(b"x" * 2000, mtime=0)],
    ids=["empty", "words", "empty inside", "letters inside"],
)
def test_a_file_that_is_not_a_pack_is_named(sealed, content):
    pack = sealed.packs()[0]
    pack.write_bytes(content)
    list_anew(sealed.raw, pack)
    assert refused(sealed).where == str(pack)


def test_an_attempt_that_two_packs_hold_is_refused(sealed):
    pack = sealed.packs()[0]
    twin = pack.with_name("block-01-0123456789ab.tar.gz")
    twin.write_bytes(pack.read_bytes())
    list_anew(sealed.raw, twin)
    assert "two packs" in refused(sealed).what


def test_packs_and_open_blocks_give_the_same_tables(tmp_path):
    trees = [
        RawTree(tmp_path / name / "rbd-journaling", sealed=name == "packs").measure(2) for name in ("packs", "open")
    ]
    tables = []
    for tree in trees:
        derive_experiment(tree.directory)
        tables.append({path.name: path.read_bytes() for path in tree.directory.rglob("*.csv")})
    assert len(tables[0]) > 5
    assert tables[0] == tables[1]


def packed_plainly(pack, without=""):
    """Pack a pack's files again as measuring would, leaving its list as it is."""
    files = members_of(pack)
    with (
        pack.open("wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w") as archive,
    ):
        for name in sorted(files.keys() - {without}, key=in_pack_order):
            member = tarfile.TarInfo(name)
            member.size = len(files[name])
            archive.addfile(member, io.BytesIO(files[name]))


def list_anew(raw, pack):
    sums = raw / "SHA256SUMS"
    lines = [line for line in sums.read_text().splitlines() if pack.name not in line]
    sums.write_text("\n".join([*lines, f"{hashlib.sha256(pack.read_bytes()).hexdigest()}  {pack.name}"]) + "\n")


@pytest.mark.parametrize("line", ["nonsense", f"{'0' * 64}  /etc/passwd", f"{'0' * 64}  ../../x", f"{'0' * 63}  a"])
def test_a_line_that_sha256sum_would_not_write_is_named_by_its_number(tree, line):
    sums = tree.opened(1) / "SHA256SUMS"
    count = len(sums.read_text().splitlines())
    sums.write_text(sums.read_text() + line + "\n")
    assert refused(tree).where == f"{sums}:{count + 1}"


def test_a_cut_off_last_line_is_named(tree):
    sums = tree.opened(1) / "SHA256SUMS"
    sums.write_text(sums.read_text()[:-1])
    assert "cut off" in refused(tree).what


def test_a_sidecar_that_names_a_missing_file_is_refused(tree):
    path = tree.path("block-01/write-seq-4096/attempt-1/control.json")
    path.write_text(path.read_text().replace('"control.stdout"', '"elsewhere.stdout"'))
    tree.reseal()
    assert "elsewhere.stdout" in refused(tree).what


def test_a_sidecar_that_belongs_to_another_folder_is_refused(tree):
    path = tree.path("block-01/write-seq-4096/attempt-1/control.json")
    path.write_text(path.read_text().replace('"block": 1', '"block": 2'))
    tree.reseal()
    assert "another attempt" in refused(tree).what


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema_version": 2}', "[" * 100_000])
def test_an_invalid_sidecar_is_an_error_that_names_it(tree, content):
    path = tree.path("block-01/write-seq-4096/attempt-1/control.json")
    path.write_text(content)
    tree.reseal()
    assert refused(tree).where == str(path)


def test_an_altered_experiment_does_not_prevent_deriving_the_others(tree):
    RawTree(tree.directory.parent / "other").measure()
    (tree.path("block-01/write-seq-4096/attempt-1/control.stdout")).write_text("")
    with pytest.raises(ReplayError) as raised:
        derive_data_set(tree.directory.parent)
    assert raised.value.exit_status == EvidenceError.exit_status
    assert (tree.directory.parent / "other" / "tidy.csv").exists()
    assert not (tree.directory / "tidy.csv").exists()


def test_sha256sum_agrees_with_what_derive_verifies(sealed, tmp_path):
    for folder in (sealed.raw, unpacked(sealed.packs()[0], tmp_path / "unpacked")):
        assert sums_match(folder)
    assert sum(1 for _ in verify(list_raw(sealed.raw))) == 2 * (4 + 1)


def unpacked(pack, folder):
    folder.mkdir()
    subprocess.run(["tar", "-C", folder, "-xzf", pack], check=True)
    return folder


def test_listing_waits_while_a_writer_seals(tree):
    moments = {}

    def listing():
        list_raw(tree.raw)
        moments["listed"] = time.monotonic()

    with locked(tree.raw):
        reader = threading.Thread(target=listing)
        reader.start()
        time.sleep(0.2)
        moments["released"] = time.monotonic()
    reader.join(timeout=patient(5))
    assert moments["listed"] >= moments["released"]
