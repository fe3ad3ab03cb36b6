"""A pack comes back as it was written, and is refused if cut off; `replay raw` lists, prints, unpacks and verifies."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys

import pytest

from replay.base.errors import EvidenceError
from replay.evidence.data_set import members, write_pack
from replay.evidence.durable import SUMS, sha256
from replay.evidence.read import list_raw
from support.commands import run_raw
from support.evidence import evidence_of, pack_again, sums_match
from support.rawtree import RawTree

#: Around the sizes of a tar's blocks.
SIZES = [0, 1, 511, 512, 513, (1 << 18) - 512, 1 << 18, (3 << 18) + 7]


@pytest.fixture
def files():
    source = random.Random(1)
    return {f"block-01/point/attempt-{number}/a": source.randbytes(size) for number, size in enumerate(SIZES)}


@pytest.fixture
def pack(files, tmp_path):
    path = tmp_path / "block-01-0123456789ab.tar.gz"
    write_pack(path, {name: sha256(content) for name, content in files.items()}, files.__getitem__, "")
    return path.read_bytes()


def test_files_of_all_sizes_come_back(files, pack):
    found = dict(members(pack, "pack"))
    found.pop(SUMS)
    assert found == files


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.9, 0.999])
def test_a_pack_that_is_cut_off_is_refused(pack, share):
    with pytest.raises(EvidenceError, match="not a pack"):
        list(members(pack[: int(share * len(pack))], "pack"))


def test_a_file_that_is_not_gzip_is_refused(files):
    with pytest.raises(EvidenceError, match="not a pack"):
        list(members(b"".join(files.values()), "pack"))


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    made = RawTree(tmp_path / "benchmarks" / "mine" / "rbd-journaling").measure(blocks=1)
    made.attempt(2, "write-seq-4096", invalid={"with-journal": "too_short"})
    return made


def test_attempts_are_listed_with_their_validity_whether_packed_or_not(tree, capsys):
    assert run_raw(["ls", "--data", "mine"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == str(tree.packs()[0])
    assert lines[1] == "  block-01/read-seq-4096/attempt-1  10 files  valid"
    assert lines[-2:] == [
        str(tree.opened(2)),
        "  block-02/write-seq-4096/attempt-1  10 files  invalid: with-journal: too_short",
    ]


def test_a_member_is_printed_as_it_is_stored(tree, capfdbinary):
    name = "block-01/read-seq-4096/attempt-1/control.stdout"
    assert run_raw(["cat", str(tree.packs()[0]), name]) == 0
    printed = capfdbinary.readouterr().out
    assert printed.startswith(b"bench  type read")
    assert printed == evidence_of(tree.raw)[name]
    assert run_raw(["cat", str(tree.packs()[0]), "nonsense"]) == 2


def test_unpacked_files_pass_sha256sum_and_never_land_among_data_sets(tree, tmp_path, capsys):
    assert run_raw(["unpack", "--data", "mine", "--into", str(tmp_path / "look")]) == 0
    assert sums_match(tmp_path / "look")
    for name, content in evidence_of(tree.raw).items():
        assert name.startswith("design-") or (tmp_path / "look" / name).read_bytes() == content
    assert run_raw(["unpack", "--data", "mine", "--into", str(tmp_path / "look")]) == 2
    assert "this folder is not empty" in capsys.readouterr().err
    assert run_raw(["unpack", str(tree.packs()[0]), "--into", str(tmp_path / "benchmarks" / "mine" / "x")]) == 2


@pytest.mark.parametrize(
    ("other", "folders"),
    [("benchmarks/other", ("mine", "other")), ("elsewhere/mine", ("benchmarks/mine", "elsewhere/mine"))],
)
def test_packs_of_two_data_sets_are_unpacked_side_by_side(tree, tmp_path, other, folders):
    twin = RawTree(tmp_path / other / "rbd-journaling").measure(blocks=1)
    packs = [str(tree.packs()[0]), str(twin.packs()[0])]
    assert run_raw(["unpack", *packs, "--into", str(tmp_path / "look")]) == 0
    for name in folders:
        assert sums_match(tmp_path / "look" / name / "rbd-journaling")


def test_verify_counts_good_packs_and_names_bad_ones(tree, capsys):
    assert run_raw(["verify", "--data", "mine"]) == 0
    files = len(evidence_of(tree.raw)) - 1
    assert capsys.readouterr().out == f"{files} files of 2 blocks match their records\n"
    assert run_raw(["verify", str(tree.packs()[0])]) == 0
    name = "block-01/read-seq-4096/attempt-1/control.stdout"
    pack_again(tree.packs()[0], lambda one, content: b"" if one == name else content)
    for arguments in (["--data", "mine"], [str(tree.packs()[0])]):
        assert run_raw(["verify", *arguments]) == 3
        said = capsys.readouterr().err
        assert str(tree.packs()[0]) in said
        assert name in said


def test_a_block_that_is_sealed_while_it_is_read_is_named_in_a_sentence(tree, monkeypatch, capsys):
    def sealed_at_once(raw):
        listing = list_raw(raw)
        shutil.rmtree(tree.raw / "block-02.open")
        return listing

    monkeypatch.setattr("replay.evidence.command.list_raw", sealed_at_once)
    assert run_raw(["verify", "--data", "mine"]) == 1
    said = capsys.readouterr().err
    assert "block-02.open: it was sealed while it was read" in said
    assert "next: run this again" in said


@pytest.mark.parametrize(
    "arguments",
    [["ls"], ["ls", "--data", "none"], ["cat", "x.tar.gz", "y"], ["verify", "block-01-0123456789ab.tar.gz"]],
)
def test_a_missing_data_set_pack_or_member_is_named_in_a_sentence(tree, capsys, arguments):
    assert run_raw(arguments) in (2, 3)
    assert "next: " in capsys.readouterr().err


def test_a_reader_that_closes_the_pipe_is_a_status_and_not_an_error(tree):
    command = f"set -o pipefail; {sys.executable} -m replay raw ls --data mine | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (141, "")
