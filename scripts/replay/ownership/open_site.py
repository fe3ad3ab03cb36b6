"""An opened site: sessions, ledgers, the slot, and an image that was made on it.

Everything that creates or removes something on a cluster needs it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from replay.base.clock import Costs, Waiting
from replay.base.programs import Programs
from replay.cluster.cluster import Cluster
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.design.design import Image
from replay.design.sizing import Write
from replay.ownership.cluster_watch import ClusterWatch
from replay.ownership.ledger import Ledger
from replay.ownership.locks import SlotLock
from replay.ownership.write_budget import WriteBudget


@dataclass(kw_only=True)
class OpenSite:
    """One process working on one site.

    `say` prints a line for the person who waits. `daemons_are_here` is true if the OSDs run on this machine and share
    its CPU and disks.
    """

    site: Site
    data_set: str
    session: MonitorSession
    ledger: Ledger
    slot: SlotLock
    costs: Costs
    #: What the run may write to media, and has written.
    budget: WriteBudget
    say: Callable[[str], None]
    daemons_are_here: bool
    allowed: frozenset[str]
    secondary: MonitorSession | None = None
    secondary_ledger: Ledger | None = None
    #: What looks around during waits; without it they only say how long they last.
    watch: ClusterWatch | None = None

    def waiting(self, what: str, at_most_seconds: float | None, **how: Any) -> Waiting:
        """Return a wait that says what it sees, and ends if it is hopeless; `how` is for `ClusterWatch.waiting`."""
        if self.watch is None:
            return Waiting(what, at_most_seconds, say=self.say, sleep=how.get("sleep", time.sleep))
        return self.watch.waiting(lambda: self.site, what, at_most_seconds, say=self.say, **how)

    def reserve(self, what: str, write: Write) -> None:
        """Charge upcoming client writes. Raises RefusedError if they would exceed the site's ceiling."""
        self.budget.reserve(what, write)

    def commit(self, write: Write) -> None:
        """Charge what clients wrote in a cell if the amount was unknown in advance."""
        self.budget.commit(write)

    @property
    def primary_cluster(self) -> Cluster:
        """The cluster to be measured."""
        return self.session.cluster

    @property
    def programs(self) -> Programs:
        """The programs of this site's clients: the host's, or those of a release."""
        return self.primary_cluster.programs


@dataclass
class BlockImage:
    """An image on the primary cluster that Replay created."""

    pool: str
    namespace: str
    name: str
    image: Image
    entry_id: str
    rbd_id: str = ""

    @property
    def spec(self) -> str:
        """`pool[/namespace]/name`, as the rbd program takes it."""
        return "/".join(part for part in (self.pool, self.namespace, self.name) if part)
