"""How far a mirrored journal has been replayed, by the journal itself: exact, and without the daemon's admin socket.

`rbd mirror image status` is half a minute old. But the daemon records in the journal what it has replayed, five seconds
late at most (`rbd_mirror_journal_commit_age`), so it is level when its position is that of the image's own client.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.cluster.cluster import CephCommandError, Cluster

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
