"""The ceiling is the run's: over blocks, processes, kills and resumes, whatever writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from replay.owned.account import Account
from support.scripted_block import CELL_BYTES, COPIES, FILL_BYTES, FSID, PIECES, PILOT_BYTES

PROGRAM = Path(__file__).resolve().parents[1] / "support" / "scripted_block.py"
#: Two sets of two cells.
BLOCK_MEDIA_BYTES = COPIES * (FILL_BYTES + PILOT_BYTES + 4 * CELL_BYTES)
OPENING_MEDIA_BYTES, SET_MEDIA_BYTES = COPIES * (FILL_BYTES + PILOT_BYTES), COPIES * 2 * CELL_BYTES
BLOCK_PIECES = 6 * PIECES


class Campaign:
    """Blocks of one campaign, each a process of its own."""

    def __init__(self, folder: Path, ceiling: int) -> None:
        self.folder, self.ceiling = folder, ceiling
        self.account = Account(folder / "state" / "accounts" / f"{FSID}.scripted.campaign.jsonl")

    def block(self, number: int, *more: int) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, str(PROGRAM), str(self.folder), str(number), str(self.ceiling), *map(str, more)],
            env={**os.environ, "REPLAY_STATE": str(self.folder / "state")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert self.written() <= self.account.total() <= self.ceiling, done.stdout + done.stderr
        return done

    def written(self) -> int:
        """What reached the media, by the media."""
        media = self.folder / "media"
        return sum(map(int, media.read_text().split())) if media.exists() else 0

    def receipts(self) -> list[str]:
        """The blocks that are whole."""
        return sorted(path.name[:8] for path in (self.folder / "raw").glob("block-*.tar.gz"))


def test_four_blocks_in_four_processes_stop_at_the_ceiling_and_go_on_when_it_is_raised(tmp_path):
    """It has room for two blocks and the half of a third."""
    campaign = Campaign(tmp_path, 2 * BLOCK_MEDIA_BYTES + OPENING_MEDIA_BYTES + SET_MEDIA_BYTES)
    done = [campaign.block(number) for number in (1, 2, 3, 4)]
    assert [one.returncode for one in done] == [0, 0, 4, 4], [one.stdout + one.stderr for one in done]
    assert campaign.receipts() == ["block-01", "block-02"]
    assert campaign.written() == campaign.account.total() == campaign.ceiling, "to the last byte that it has room for"
    assert "bytes_written_to_media_per_run" in done[3].stdout and "bytes_written" in done[2].stdout
    assert "this run has written" in done[2].stdout and "set " in done[2].stdout
    assert "raise the ceiling and run measure again" in done[2].stdout
    campaign.ceiling *= 3
    assert [campaign.block(number).returncode for number in (3, 4)] == [0, 0]
    assert len(campaign.receipts()) == 4
    # The third block was filled a second time; its first set was there already.
    assert campaign.written() == campaign.account.total() == 4 * BLOCK_MEDIA_BYTES + OPENING_MEDIA_BYTES


def test_a_void_attempt_counts_like_any_other(tmp_path):
    campaign = Campaign(tmp_path, 2 * BLOCK_MEDIA_BYTES)
    (tmp_path / "void").write_text("without-journal")
    assert campaign.block(1).returncode == 0
    assert campaign.written() == campaign.account.total() == BLOCK_MEDIA_BYTES + SET_MEDIA_BYTES


def test_a_block_that_has_no_room_for_its_fill_writes_nothing(tmp_path):
    campaign = Campaign(tmp_path, COPIES * FILL_BYTES - 1)
    done = campaign.block(1)
    assert done.returncode == 4
    assert "filling would write about" in done.stdout
    assert campaign.written() == 0


@pytest.mark.parametrize("piece", [1, PIECES, PIECES + 1, 2 * PIECES + 1, 3 * PIECES, 4 * PIECES + 2, BLOCK_PIECES])
def test_a_block_that_is_killed_in_any_of_its_writes_stays_charged(tmp_path, piece):
    campaign = Campaign(tmp_path, 3 * BLOCK_MEDIA_BYTES)
    assert campaign.block(1, piece).returncode == -signal.SIGKILL
    left = campaign.account.total()
    assert left >= campaign.written() > 0
    assert campaign.block(1).returncode == 0
    assert campaign.receipts() == ["block-01"]
    assert campaign.account.total() >= campaign.written() > left - SET_MEDIA_BYTES


def test_kills_over_and_over_never_let_a_run_write_more_than_the_ceiling(tmp_path):
    campaign = Campaign(tmp_path, 4 * BLOCK_MEDIA_BYTES)
    statuses = [campaign.block(1, piece).returncode for piece in (3, 7, 9, 2, 11, 1, 12, 5, 10, 6)]
    assert set(statuses) <= {-signal.SIGKILL, 0, 4}
    statuses = [campaign.block(number).returncode for number in (1, 2, 3, 4)]
    assert 4 in statuses, "the kills have used up what a block would have needed"
