"""How much a cell transfers, what clients write, and how much of it reaches media. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from replay.design.design import Sizing

#: A pilot counts when it lasted this share of the target; a shorter one is start-up, and is followed by a longer one.
ENOUGH_OF_TARGET = 0.2
MOST_ROUNDS = 5
MOST_GROWTH = 64.0
#: What all clients of a cell together are assumed to write before the cell was ever measured.
ASSUMED_BYTES_PER_SECOND = 64 << 20
#: How many small writes all clients of a cell together are assumed to finish.
ASSUMED_OPERATIONS_PER_SECOND = 1000.0


def writes(levels: Mapping[str, Any]) -> bool:
    """Return whether a cell with these levels writes; the default is yes."""
    kind = str(levels.get("io_type", levels.get("mode", "write")))
    return "write" in kind or "rw" in kind


def seconds_of(levels: Mapping[str, Any], sizing: Sizing) -> float:
    """Return how long a cell should last: its own level `cell_seconds` if it has one, else the scale's target."""
    return float(levels.get("cell_seconds", sizing.target_seconds))


@dataclass(frozen=True)
class PilotRound:
    """One pilot: the bytes that it had to transfer, and how long that took."""

    bytes: int
    seconds: float


def first_bytes(io_size_bytes: int, io_threads: int, sizing: Sizing) -> int:
    """Return how many bytes the first pilot transfers: a few operations per thread."""
    return io_size_bytes * io_threads * max(1, math.ceil(sizing.minimum_operations / 4 / io_threads))


def is_enough(last: PilotRound, sizing: Sizing) -> bool:
    """Return whether a pilot lasted long enough to trust its rate."""
    return last.seconds >= ENOUGH_OF_TARGET * sizing.target_seconds


def next_bytes(last: PilotRound, io_size_bytes: int, io_threads: int, sizing: Sizing) -> int:
    """Return how many bytes the next pilot transfers: half the target time at the last rate, with bounded growth."""
    seconds = max(last.seconds, 0.004)
    wanted = last.bytes * min(MOST_GROWTH, max(2.0, 0.5 * sizing.target_seconds / seconds))
    return whole_operations(wanted, io_size_bytes, io_threads, sizing)


def cell_bytes(last: PilotRound, io_size_bytes: int, io_threads: int, sizing: Sizing) -> int:
    """Return how many bytes a cell transfers: the target time at the pilot's rate, in whole operations per thread."""
    wanted = last.bytes / max(last.seconds, 0.004) * sizing.target_seconds
    return whole_operations(wanted, io_size_bytes, io_threads, sizing)


def longer_bytes(piloted: int, before: PilotRound, io_size_bytes: int, io_threads: int, sizing: Sizing) -> int:
    """Return how many bytes a cell transfers after it was too short with `before`; a new pilot suggests `piloted`.

    The machine may be busier during the pilot than during the cell. So the size never falls below the target time at
    the rate of the cell that was too short; otherwise the same set could be invalid again and again. Growth is bounded,
    because the rate of a cell that ended within one tick of its tool's clock is unknown.
    """
    growth = min(MOST_GROWTH, sizing.target_seconds / max(before.seconds, 0.004))
    return max(piloted, whole_operations(before.bytes * growth, io_size_bytes, io_threads, sizing))


def whole_operations(wanted_bytes: float, io_size_bytes: int, io_threads: int, sizing: Sizing) -> int:
    """Round bytes up to the same number of operations for every thread, and to no fewer than the minimum."""
    operations = max(sizing.minimum_operations, math.ceil(wanted_bytes / io_size_bytes))
    return math.ceil(operations / io_threads) * io_threads * io_size_bytes


@dataclass(frozen=True)
class Write:
    """Bytes that clients write: to the site's images, or to another `pool`; `journaled` goes through a journal.

    `copies` is set if it differs from the pool's, such as 1 for a local file. `adds` says that the writes need free
    space: filling an image and writing new objects do, overwriting does not.
    """

    bytes: float
    pool: str | None = None
    journaled: bool = False
    copies: float | None = None
    adds: bool = False


@dataclass(frozen=True)
class PoolCopies:
    """How many bytes reach media for each byte in the site's data pool, and in the pool of its journals.

    Three copies are assumed where nobody has asked the cluster.
    """

    data: float = 3.0
    journal: float = 3.0

    def media_bytes(self, client_bytes: float, *, journaled: bool = False) -> float:
        """Return how much the cluster writes to media when clients write `client_bytes`; a journal holds all of it too.

        BlueStore's own log, deferred writes and metadata are not included.
        """
        return client_bytes * (self.data + (self.journal if journaled else 0.0))
