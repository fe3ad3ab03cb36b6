"""What clients write, and what of it reaches media."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Write:
    """Bytes that clients write: to the site's images, or to another `pool`; `journaled` goes through a journal.

    `copies` is known where it is not the pool's, such as 1 of a local file. `adds` tells what takes room that was free:
    a fill, or new objects; overwriting does not.
    """

    bytes: float
    pool: str | None = None
    journaled: bool = False
    copies: float | None = None
    adds: bool = False


def media_bytes(
    client_bytes: float, *, replicas: int = 3, journaled: bool = False, erasure_code: tuple[int, int] | None = None
) -> float:
    """Estimate what the cluster writes to its media for `client_bytes` of writes.

    Copies: `replicas`, or (k+m)/k for an erasure-coded data pool. A journal holds the data once more, in a replicated
    pool. BlueStore's own log, deferred writes and metadata come on top and are not estimated.
    """
    copies = float(replicas) if erasure_code is None else sum(erasure_code) / erasure_code[0]
    return client_bytes * (copies + (replicas if journaled else 0))
