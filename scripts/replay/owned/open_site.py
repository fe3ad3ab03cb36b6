"""A site that is open for work: sessions, ledgers, the slot. What makes and removes anything on a cluster takes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from replay.base.costs import Costs
from replay.cluster.cluster import Cluster
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.design.media import Write
from replay.owned.ledger import Ledger
from replay.owned.slot import SlotLock
from replay.owned.spending import Spending


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
    #: The run's account of what is written to media.
    spending: Spending
    say: Callable[[str], None]
    daemons_are_here: bool
    allowed: frozenset[str]
    secondary: MonitorSession | None = None
    secondary_ledger: Ledger | None = None

    def charge(self, what: str, write: Write) -> None:
        """Charge what clients are about to write. Raises RefusedError where the site's ceiling has no room for it."""
        self.spending.charge(what, write)

    def account(self, write: Write) -> None:
        """Charge what clients wrote in a cell, of which nobody could tell beforehand how much it would be."""
        self.spending.record(write)

    @property
    def primary_cluster(self) -> Cluster:
        """The cluster that is measured."""
        return self.session.cluster
