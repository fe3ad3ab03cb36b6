"""The bench: a site opened for measuring, with its samplers and its caches. Each process opens and closes one."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from replay.base.clock import Costs, NotInTimeError, poll
from replay.base.paths import state_directory
from replay.cluster import sandbox_record
from replay.cluster.cluster import ask
from replay.cluster.hosts import HostSampler
from replay.cluster.prometheus import PrometheusClient
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.evidence.record import Measured, Wait
from replay.measure.machine import MachineSampler
from replay.ownership.ledger import Ledger
from replay.ownership.locks import SlotLock
from replay.ownership.open_site import ClusterWatch, OpenSite
from replay.ownership.write_budget import MediaCopies, WriteBudget


@dataclass(kw_only=True)
class Bench(OpenSite):
    """One measuring process on one site. `hosts` asks the site's Prometheus about OSDs on other machines."""

    watch: ClusterWatch
    sampler: MachineSampler
    hosts: HostSampler | None = None
    #: What names the site's clusters, and the placeholder for it in evidence.
    names: Mapping[str, str] = field(default_factory=dict)


def budget_of(site: Site, data_set: str, session: MonitorSession) -> WriteBudget:
    """Return this run's budget of bytes written to media, limited by the site's ceiling."""
    return WriteBudget.of(
        session.fsid(),
        site.name,
        data_set,
        media_bytes=MediaCopies(site, session).media_bytes,
        limit=site.ceilings.bytes_written_to_media_per_run,
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
            watch=ClusterWatch(session, secondary),
            budget=budget_of(site, data_set, session),
            hosts=HostSampler(PrometheusClient(site.prometheus), costs, say=say) if site.prometheus else None,
            names=placeholders_of(session, secondary),
        )


# What names the site stays out of evidence: protocols put placeholders into what they build themselves, but a tool may
# repeat its configuration, as fio does in its report, or complain about a file. Raw output is meant to be shared, so
# all of it is searched.


def placeholders_of(session: MonitorSession, secondary: MonitorSession | None) -> dict[str, str]:
    """Return the words that name a site's clusters, each with its placeholder. Longer words come first."""
    words: dict[str, str] = {}
    # The second cluster comes first, so that a client of both gets the first one's placeholder.
    for each, prefix in ((secondary, "second_"), (session, "")):
        if each is None:
            continue
        cluster = each.cluster
        words[cluster.client] = f"{{{prefix}client}}"
        words[str(cluster.conf)] = f"{{{prefix}conf}}"
        words[each.fsid()] = f"{{{prefix}fsid}}"
        if cluster.keyring is not None:
            words[str(cluster.keyring)] = f"{{{prefix}keyring}}"
    return dict(sorted(words.items(), key=lambda pair: -len(pair[0])))


def redact(text: str, words: Mapping[str, str]) -> str:
    """Return a text with placeholders for the words, except where a word is part of a longer one."""
    if not words:
        return text
    either = "|".join(map(re.escape, words))
    return re.sub(rf"(?<![\w/.-])(?:{either})(?![\w-])", lambda found: words[found[0]], text)


def redact_cell(measured: Measured, words: Mapping[str, str]) -> None:
    """Redact the words in a cell's result files and in the detail of its invalidity."""
    for role, (suffix, content) in measured.results.items():
        if any(word.encode() in content for word in words):
            # Bytes that are not text pass unchanged.
            text = content.decode(errors="surrogateescape")
            measured.results[role] = (suffix, redact(text, words).encode(errors="surrogateescape"))
    if measured.invalid is not None:
        reason, detail = measured.invalid
        measured.invalid = (reason, redact(detail, words))


DROP_CACHES = Path("/proc/sys/vm/drop_caches")


class Caches:
    """Drops the OSDs' caches before a cell, and this machine's page cache before a block.

    It does neither on somebody else's cluster, whose tenants need these caches. Each sidecar records what it did.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.sockets: list[Path] = []
        self.page_cache = "kept: the cluster is not Replay's"
        if bench.daemons_are_here and bench.site.sandbox:
            owned = sandbox_record.load(bench.primary_cluster.conf.parent.parent)
            clusters = [
                cluster for cluster in owned.clusters.values() if Path(cluster.conf) == bench.primary_cluster.conf
            ]
            self.sockets = [
                Path(daemon.asok)
                for cluster in clusters
                for daemon in cluster.daemons
                if daemon.type == "osd" and daemon.asok
            ]

    def before_block(self) -> None:
        """Write dirty pages and drop the page cache, which needs root."""
        if not self.bench.daemons_are_here:
            return
        if os.geteuid() != 0 or "host_root" not in self.bench.allowed:
            self.page_cache = "kept: needs root"
            return
        with self.bench.costs.measure("prepare"):
            os.sync()
            try:
                DROP_CACHES.write_text("3\n")
                self.page_cache = "dropped before the block"
            except OSError as error:
                self.page_cache = f"kept: {error.strerror}"

    def before_cell(self) -> tuple[dict[str, str], list[Wait]]:
        """Drop the OSDs' caches; return the state of each cache and the wait, for the sidecar."""
        started, waits = time.monotonic(), []
        with self.bench.costs.measure("wait"):
            for socket in self.sockets:
                ask(socket, "cache drop", timeout_seconds=10)
        if self.sockets:
            waits.append(Wait("osd_caches_dropped", time.monotonic() - started, "dropped"))
        osds = "dropped before the cell" if self.sockets else "kept: the cluster is not Replay's"
        return {"osd_caches": osds, "page_cache": self.page_cache}, waits


def await_done(
    is_done: Callable[[], bool],
    *,
    reason: str,
    outcomes: tuple[str, str],
    seconds: float,
    every: float,
    pause: Callable[[float], None],
    clock: Callable[[], float] = time.monotonic,
) -> Wait:
    """Wait until something is done, or the time is over; return the wait for the record.

    `outcomes` has the words for both.
    """
    started = clock()
    done, late = outcomes
    try:
        poll(lambda: is_done() or None, what=reason, seconds=seconds, every=every, pause=pause, clock=clock)
    except NotInTimeError:
        return Wait(reason, clock() - started, late)
    return Wait(reason, clock() - started, done)
