"""A pack is read in chunks, whatever the sizes of its files, and one that is cut off is refused."""

from __future__ import annotations

import random

import pytest

from replay.base.errors import EvidenceError
from replay.raw.pack import members, write_pack
from replay.raw.sums import SUMS, sha256

#: Around the sizes of a tar's blocks and of the chunks in which a pack is decompressed.
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
