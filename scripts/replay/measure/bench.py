"""The bench: a site opened for measuring, with its samplers. Each process opens and closes one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from replay.base.clock import Costs
from replay.base.paths import state_directory
from replay.cluster import sandbox_record
from replay.cluster.prometheus import PrometheusClient
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.measure.nameless import words_of
from replay.measure.samplers.hosts import HostSampler
from replay.measure.samplers.machine import MachineSampler
from replay.ownership.account import Account
from replay.ownership.ledger import Ledger
from replay.ownership.lookout import Lookout
from replay.ownership.open_site import OpenSite
from replay.ownership.slot import SlotLock
from replay.ownership.spending import Copies, Spending


@dataclass(kw_only=True)
class Bench(OpenSite):
    """One measuring process on one site. `hosts` asks the site's Prometheus about OSDs on other machines."""

    sampler: MachineSampler
    hosts: HostSampler | None = None
    #: What names the site's clusters, and the placeholder for it in evidence.
    names: Mapping[str, str] = field(default_factory=dict)


def spending_of(site: Site, data_set: str, session: MonitorSession) -> Spending:
    """Return the account of this run's bytes written to media, limited by the site's ceiling."""
    return Spending(
        Account.of(session.fsid(), site.name, data_set),
        Copies(site, session).media_bytes,
        limit=site.ceilings.bytes_written_to_media_per_run,
        site=site.name,
    )


@contextlib.contextmanager
def open_bench(site: Site, data_set: str, say: Callable[[str], None]) -> Iterator[Bench]:
    """Yield a Bench that holds the cluster's slot. Raises RefusedError if another measurement holds it."""
    site.primary.programs.check()
    with contextlib.ExitStack() as stack:
        session = stack.enter_context(MonitorSession(site.primary))
        fsid = session.fsid()
        secondary = secondary_ledger = None
        if site.secondary is not None:
            secondary = stack.enter_context(MonitorSession(site.secondary))
            secondary_ledger = Ledger(secondary.fsid())
        slot = SlotLock(state_directory() / "locks" / f"{fsid}.lock")
        slot.acquire(say=say)
        stack.callback(slot.release)
        costs = Costs()
        yield Bench(
            site=site,
            data_set=data_set,
            session=session,
            ledger=Ledger(fsid),
            slot=slot,
            costs=costs,
            sampler=MachineSampler([Path(site.primary.conf).parent]),
            say=say,
            # Only of a sandbox does Replay know that every daemon is on this machine.
            daemons_are_here=sandbox_record.owns_fsid(fsid),
            allowed=frozenset(site.capabilities()),
            secondary=secondary,
            secondary_ledger=secondary_ledger,
            lookout=Lookout(session, secondary),
            spending=spending_of(site, data_set, session),
            hosts=HostSampler(PrometheusClient(site.prometheus), costs, say=say) if site.prometheus else None,
            names=words_of(session, secondary),
        )
