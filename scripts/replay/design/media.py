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


@dataclass(frozen=True)
class PoolCopies:
    """How many bytes reach media for each byte in the site's data pool, and in the pool of its journals.

    `are_known` is false where nobody has asked the cluster, and three copies are assumed.
    """

    data: float = 3.0
    journal: float = 3.0
    are_known: bool = False

    def media_bytes(self, client_bytes: float, *, journaled: bool = False) -> float:
        """Return how much the cluster writes to media when clients write `client_bytes`; a journal holds all of it too.

        BlueStore's own log, deferred writes and metadata are not included.
        """
        return client_bytes * (self.data + (self.journal if journaled else 0.0))
