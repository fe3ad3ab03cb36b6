"""What clients write, and how much of it reaches media."""

from __future__ import annotations

from dataclasses import dataclass


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


def media_bytes(
    client_bytes: float, *, replicas: int = 3, journaled: bool = False, erasure_code: tuple[int, int] | None = None
) -> float:
    """Estimate how many bytes the cluster writes to its media when clients write `client_bytes`.

    Copies: `replicas`, or (k+m)/k for an erasure-coded data pool. A journal stores the data again, in a replicated
    pool. BlueStore's own log, deferred writes and metadata are not included.
    """
    copies = float(replicas) if erasure_code is None else sum(erasure_code) / erasure_code[0]
    return client_bytes * (copies + (replicas if journaled else 0))
