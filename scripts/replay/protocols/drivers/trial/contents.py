"""Finds out from an image's bytes alone what it holds after a trial. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from replay.protocols.drivers.trial.client import BLOCK_BYTES, fill_block, first_block, position_of, write_block


@dataclass(frozen=True)
class Contents:
    """The contents of an image.

    `writes_present` is the number of writes 0, 1, 2, … before the first missing one. `unexplained_blocks` counts the
    blocks that differ from an image with exactly these writes. `sha256` and `expected_sha256` cover all blocks but the
    last, which belongs to the first write on the other side.
    """

    writes_present: int
    unexplained_blocks: int
    sha256: str
    expected_sha256: str
    first_write_present: bool


def inspect(data: bytes, seed: int) -> Contents:
    """Return what an image of `seed` holds. Raises ValueError if its size is not a whole number of blocks."""
    blocks, rest = divmod(len(data), BLOCK_BYTES)
    if rest or blocks < 2:
        raise ValueError(f"{len(data)} bytes are not an image of whole blocks")

    def found(position: int) -> bytes:
        return data[position * BLOCK_BYTES : (position + 1) * BLOCK_BYTES]

    present = 0
    expected = {position: fill_block(seed, position) for position in range(blocks - 1)}
    while present < blocks - 1:
        position, wanted = position_of(present, blocks), write_block(seed, present)
        if found(position) != wanted:
            break
        expected[position] = wanted
        present += 1
    digest = hashlib.sha256()
    for position in range(blocks - 1):
        digest.update(expected[position])
    return Contents(
        writes_present=present,
        unexplained_blocks=sum(found(position) != expected[position] for position in range(blocks - 1)),
        sha256=hashlib.sha256(data[: -BLOCK_BYTES or None]).hexdigest(),
        expected_sha256=digest.hexdigest(),
        first_write_present=found(blocks - 1) == first_block(seed),
    )
