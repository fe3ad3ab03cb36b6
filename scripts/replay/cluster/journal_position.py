"""How far a mirrored journal has been replayed, by the journal itself: exact, and without the daemon's admin socket.

`rbd mirror image status` is half a minute old. But the daemon records in the journal what it has replayed, five seconds
late at most (`rbd_mirror_journal_commit_age`), so it is level when its position is that of the image's own client.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from replay.cluster.cluster import CephCommandError, Cluster
from replay.evidence.record import Wait

#: The newest entry that a client of the journal is done with: the tag, which changes with the writer, and its number.
Position = tuple[int, int]
NOT_BEGUN: Position = (0, -1)


def positions_in(status: Mapping[str, Any]) -> tuple[Position, list[Position]]:
    """Return the position of the image's own client, and of each mirroring peer, from `rbd journal status`."""
    found: dict[str, Position] = {}
    for client in status["registered_clients"]:
        places = client["commit_position"]["object_positions"]
        found[client["id"]] = max(((one["tag_tid"], one["entry_tid"]) for one in places), default=NOT_BEGUN)
    own = found.pop("", NOT_BEGUN)
    return own, list(found.values())


def read_positions(cluster: Cluster, spec: str) -> tuple[Position, list[Position]]:
    """Ask for the positions of an image's journal. Raises CephCommandError."""
    return positions_in(cluster.json("rbd", "journal", "status", spec))


def is_replaying(second: Cluster, spec: str) -> bool:
    """Return whether the second cluster says that it replays the image; not if it does not know it yet."""
    try:
        return second.json("rbd", "mirror", "image", "status", spec)["state"] == "up+replaying"
    except CephCommandError as error:
        if error.exit_status_of_tool is None:
            raise
        return False


def wait_until_level(
    read: Callable[[], tuple[Position, list[Position]]],
    before: Position,
    *,
    stall_seconds: float = 60.0,
    poll_seconds: float = 1.0,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Wait:
    """Wait until every peer has replayed what the journal's own client has written; `before` is where peers were.

    The outcome is `replayed`, or `stalled` if no peer moved for `stall_seconds` before that.
    """
    started = moved = clock()
    last: list[Position] | None = None
    while True:
        own, peers = read()
        now = clock()
        if peers != last:
            last, moved = peers, now
        level = bool(peers) and all(peer == own for peer in peers)
        if level or now - moved >= stall_seconds:
            least = min(peers, default=NOT_BEGUN)
            entries = least[1] - (before[1] if least[0] == before[0] else -1)
            outcome = "replayed" if level else "stalled"
            after = round(now - started, 3) if level else None
            details = {"replayed_entries": entries, "expected_after_seconds": after}
            return Wait("journal_replayed", now - started, outcome, details)
        sleep(poll_seconds)
