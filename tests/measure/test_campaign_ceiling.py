"""The ceiling holds for the whole run: over blocks, processes, kills and resumes, whatever writes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from replay.ownership.ledger import SyncedLog
from replay.ownership.write_budget import WriteBudget
from support.scripted_block import CELL_BYTES, COPIES, FILL_BYTES, FSID, PIECES, PILOT_BYTES

#: All in one process of the tests: each would start the one of which the blocks are forks.
pytestmark = pytest.mark.xdist_group("scripted blocks")
PROGRAM = Path(__file__).resolve().parents[1] / "support" / "scripted_block.py"
#: Two sets of two cells.
BLOCK_MEDIA_BYTES = COPIES * (FILL_BYTES + PILOT_BYTES + 4 * CELL_BYTES)
OPENING_MEDIA_BYTES, SET_MEDIA_BYTES = COPIES * (FILL_BYTES + PILOT_BYTES), COPIES * 2 * CELL_BYTES
BLOCK_PIECES = 6 * PIECES


class Done(NamedTuple):
    """A block's exit status, and what it said."""

    status: int
    said: str


class Campaign:
    """Blocks of one campaign, each in its own process."""

    def __init__(self, blocks: subprocess.Popen[str], folder: Path) -> None:
        self.blocks, self.folder = blocks, folder
        self.ceiling = 0
        self.budget = WriteBudget(SyncedLog(folder / "state" / "accounts" / f"{FSID}.scripted.campaign.jsonl"))

    def block(self, number: int, kill_after: int | None = None) -> Done:
        said = self.folder / "said"
        said.unlink(missing_ok=True)
        asked = {"folder": str(self.folder), "block": number, "ceiling": self.ceiling}
        self.blocks.stdin.write(json.dumps(asked | {"kill_after": kill_after, "said": str(said)}) + "\n")
        self.blocks.stdin.flush()
        done = Done(int(self.blocks.stdout.readline()), said.read_text())
        assert self.written() <= self.budget.total() <= self.ceiling, done.said
        return done

    def written(self) -> int:
        """The bytes that reached the media, according to the media."""
        media = self.folder / "media"
        return sum(map(int, media.read_text().split())) if media.exists() else 0

    def receipts(self) -> list[str]:
        """The complete blocks."""
        return sorted(path.name[:8] for path in (self.folder / "raw").glob("block-*.tar.gz"))


@pytest.fixture(scope="module")
def blocks():
    """The process of which each block is a fork."""
    with subprocess.Popen([sys.executable, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        yield one


@pytest.fixture
def campaign(blocks, tmp_path):
    return Campaign(blocks, tmp_path)


def test_four_blocks_in_four_processes_stop_at_the_ceiling_and_continue_when_it_is_raised(campaign):
    """There is room for two and a half blocks."""
    campaign.ceiling = 2 * BLOCK_MEDIA_BYTES + OPENING_MEDIA_BYTES + SET_MEDIA_BYTES
    done = [campaign.block(number) for number in (1, 2, 3, 4)]
    assert [one.status for one in done] == [0, 0, 4, 4], [one.said for one in done]
    assert campaign.receipts() == ["block-01", "block-02"]
    assert campaign.written() == campaign.budget.total() == campaign.ceiling, "to the last byte that it has room for"
    assert "bytes_written_to_media_per_run" in done[3].said and "bytes_written" in done[2].said
    assert "this run has written" in done[2].said and "set " in done[2].said
    assert "raise the ceiling and run measure again" in done[2].said
    campaign.ceiling *= 3
    assert [campaign.block(number).status for number in (3, 4)] == [0, 0]
    assert len(campaign.receipts()) == 4
    # The third block was filled a second time; its first set already existed.
    assert campaign.written() == campaign.budget.total() == 4 * BLOCK_MEDIA_BYTES + OPENING_MEDIA_BYTES


def test_a_void_attempt_counts_like_any_other(campaign):
    campaign.ceiling = 2 * BLOCK_MEDIA_BYTES
    (campaign.folder / "void").write_text("without-journal")
    assert campaign.block(1).status == 0
    assert campaign.written() == campaign.budget.total() == BLOCK_MEDIA_BYTES + SET_MEDIA_BYTES


def test_a_block_without_room_for_its_fill_writes_nothing(campaign):
    campaign.ceiling = COPIES * FILL_BYTES - 1
    done = campaign.block(1)
    assert done.status == 4
    assert "filling would write about" in done.said
    assert campaign.written() == 0


@pytest.mark.parametrize(
    "piece",
    [
        *(1, PIECES + 1, BLOCK_PIECES),
        *(pytest.param(one, marks=pytest.mark.slow) for one in (PIECES, 2 * PIECES + 1, 3 * PIECES, 4 * PIECES + 2)),
    ],
)
def test_a_block_that_is_killed_in_any_of_its_writes_stays_charged(campaign, piece):
    campaign.ceiling = 3 * BLOCK_MEDIA_BYTES
    assert campaign.block(1, piece).status == -signal.SIGKILL
    left = campaign.budget.total()
    assert left >= campaign.written() > 0
    assert campaign.block(1).status == 0
    assert campaign.receipts() == ["block-01"]
    assert campaign.budget.total() >= campaign.written() > left - SET_MEDIA_BYTES


@pytest.mark.slow
def test_however_often_it_is_killed_a_run_never_writes_more_than_the_ceiling(campaign):
    campaign.ceiling = 4 * BLOCK_MEDIA_BYTES
    statuses = [campaign.block(1, piece).status for piece in (3, 7, 9, 2, 11, 1, 12, 5, 10, 6)]
    assert set(statuses) <= {-signal.SIGKILL, 0, 4}
    statuses = [campaign.block(number).status for number in (1, 2, 3, 4)]
    assert 4 in statuses, "the kills have used up what a block would have needed"
