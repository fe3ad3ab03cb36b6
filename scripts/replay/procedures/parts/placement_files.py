"""What Ceph says of where a pool's placement groups are, as evidence."""

from __future__ import annotations

import json

from replay.cluster.session import MonitorSession
from replay.tools.logs.placement_entities import ROLES


def read_placement_files(session: MonitorSession, pool: str) -> dict[str, tuple[str, bytes]]:
    """Return Ceph's JSON of the pool's placement groups and of the OSDs, by role with the file's suffix.

    It is as Ceph says it but for the space between its words: asked over the open connection, which costs
    milliseconds where three starts of the `ceph` program cost a second of CPU.
    """
    commands = {
        "groups": {"prefix": "pg ls-by-pool", "poolstr": pool},
        "tree": {"prefix": "osd tree"},
        "usage": {"prefix": "osd df"},
    }
    return {
        role: (ROLES[role], json.dumps(session.command(command), separators=(",", ":")).encode() + b"\n")
        for role, command in commands.items()
    }
