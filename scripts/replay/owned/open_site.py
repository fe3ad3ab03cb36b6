"""A site that is open for work: sessions, ledgers, the slot. What makes and removes anything on a cluster takes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from replay.base.costs import Costs
from replay.cluster.cluster import Cluster
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.owned.ledger import Ledger
from replay.owned.slot import SlotLock


@dataclass(kw_only=True)
class OpenSite:
    """One process at work on one site.

    `say` prints a line for the person who waits. `daemons_are_here` is true where the OSDs run on this machine, so
    that its CPU and disks are theirs too.
    """

    site: Site
    data_set: str
    session: MonitorSession
    ledger: Ledger
    slot: SlotLock
    costs: Costs
    say: Callable[[str], None]
    daemons_are_here: bool
    allowed: frozenset[str]
    secondary: MonitorSession | None = None
    secondary_ledger: Ledger | None = None
    #: What this process made clients write, and the part of it that went through a journal: the ceilings' account.
    client_bytes_written: float = 0.0
    journaled_bytes_written: float = 0.0

    def account(self, written_bytes: float, *, journaled: bool = False) -> None:
        """Add what a client wrote to the account."""
        self.client_bytes_written += written_bytes
        if journaled:
            self.journaled_bytes_written += written_bytes

    @property
    def primary_cluster(self) -> Cluster:
        """The cluster that is measured."""
        return self.session.cluster
