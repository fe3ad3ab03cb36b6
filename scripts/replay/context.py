"""What every part of a measurement shares: the site, one session per cluster, the ledger, the slot, the costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from replay.ceph.cluster import Cluster
from replay.ceph.session import MonitorSession
from replay.costs import Costs
from replay.ledger import Ledger
from replay.process import SlotLock
from replay.samplers.machine import MachineSampler

if TYPE_CHECKING:
    from replay.samplers.hosts import HostSampler
    from replay.site import Site


@dataclass
class Bench:
    """One measuring process on one site.

    `say` prints a line for the person who waits. `daemons_are_here` is true where the OSDs run on this machine, so
    that its CPU and disks are theirs too. `hosts` asks the site's Prometheus about them where they are elsewhere.
    """

    site: Site
    data_set: str
    session: MonitorSession
    ledger: Ledger
    slot: SlotLock
    costs: Costs
    sampler: MachineSampler
    say: Callable[[str], None]
    daemons_are_here: bool
    allowed: frozenset[str]
    secondary: MonitorSession | None = None
    secondary_ledger: Ledger | None = None
    hosts: HostSampler | None = None
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


@dataclass
class Wait:
    """A wait that is part of the record: what for, how long, how it ended."""

    reason: str
    seconds: float
    outcome: str
    details: dict[str, Any] = field(default_factory=dict)

    def public(self) -> dict[str, Any]:
        """Return what the sidecar holds."""
        return {"for": self.reason, "seconds": round(self.seconds, 3), "outcome": self.outcome, **self.details}
