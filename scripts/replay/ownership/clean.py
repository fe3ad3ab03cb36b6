"""The ledger as a change record: what Replay made on a site's clusters and removed again, and when. Asks no cluster."""

from __future__ import annotations

import argparse
import csv
import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TextIO

from replay.base.disk import size_text
from replay.base.errors import ConfigurationError, RefusedError, ReplayError
from replay.base.terminal import answer_to, waiting
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site
from replay.cluster.site_file import fsid_in, load_site
from replay.ownership.images import RemovalOutcome
from replay.ownership.ledger import Entry, Ledger
from replay.ownership.locks import KIND, UNSERVED, ClusterLock, SlotLock
from replay.ownership.open_site import ClusterWatch
from replay.ownership.removal import Remover, remove_entries

COLUMNS = ("cluster", "kind", "name", "data_set", "entered_at", "made_at", "removed_at", "state")
#: By whether its making was confirmed, and whether it was removed. A lock, for example, is never confirmed.
_STATES = {
    (True, False): "there",
    (True, True): "removed",
    (False, False): "perhaps there",
    (False, True): "removed, or never made",
}


def write_change_record(site: Site, out: TextIO, *, data_set: str | None = None) -> None:
    """Write a CSV row for everything that the ledgers have of a site, or of one of its data sets, oldest first.

    Times are UTC. `made_at` is empty if nothing confirms that the thing was made. Raises ConfigurationError if a
    ceph.conf does not say which cluster it is for, and EvidenceError if a ledger has an invalid line.
    """
    rows = sorted(
        (row for cluster in (site.primary, site.secondary) if cluster for row in _rows(site, cluster, data_set)),
        key=lambda row: row[4],
    )
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows)


def _rows(site: Site, cluster: Cluster, data_set: str | None) -> Iterator[tuple[str, ...]]:
    fsid = site.fsid if cluster is site.primary else fsid_in(cluster.conf)
    if fsid is None:
        raise ConfigurationError(
            "it does not say which cluster it is for, and the ledger's name is the cluster's fsid",
            where=cluster.conf,
            next_step="add the line `fsid = …`, as `ceph fsid` prints it",
        )
    for entry in Ledger(fsid).history():
        if entry.site != site.name or data_set not in (None, entry.data_set):
            continue
        name = entry.details.get("final_name", entry.spec)
        times = (entry.intended_at, entry.confirmed_at, entry.removed_at)
        yield (fsid, entry.kind, name, entry.data_set, *times, _STATES[entry.confirmed, bool(entry.removed_at)])


def clean(
    site: Site,
    *,
    confirm: Callable[[int], bool],
    say: Callable[[str], None] = print,
) -> list[RemovalOutcome]:
    """Remove everything in the ledgers of the site's clusters that belongs to this site; return each outcome.

    `confirm` is called once with the number of things, after listing them; nothing is removed unless it returns True.
    An entry that cannot be removed stays in the ledger; the others are removed anyway.
    Raises CephCommandError if the primary cluster cannot be reached, RefusedError while a measurement runs on it, or
    if one has begun because the lock lapsed meanwhile.
    """
    with ExitStack() as stack:
        with waiting("asking the cluster what exists", spinner=False):
            work, lock = _work(site, stack, say)
        total = sum(len(entries) for _, entries in work)
        if total == 0:
            say(f"nothing to remove: the ledger has no entries for site {site.name}")
            return []
        for remover, entries in work:
            for entry in entries:
                say(f"  {_described(remover, entry)}")
        if not confirm(total):
            say("nothing was removed")
            return []

        def still_ours() -> Site:
            # Confirming and removing may take longer than the lock lasts.
            lock.keep()
            return site

        still_ours()
        watch = ClusterWatch(*(remover.session for remover, _ in work))
        for remover, _ in work:
            remover.waiting = functools.partial(watch.waiting, still_ours, say=say)
        outcomes = []
        for outcome in remove_entries(work):
            outcomes.append(outcome)
            say(f"{outcome.status}: {outcome.entry.kind} {outcome.entry.spec}")
            still_ours()
        return outcomes


def run(options: argparse.Namespace) -> int:
    """Remove what the options select; return 0 if everything is gone, 1 if something is left. Raises ReplayError."""
    if options.record:
        write_change_record(load_site(options.site, check_files=False), sys.stdout, data_set=options.data)
        return 0
    if options.data:
        raise ConfigurationError(
            "clean removes all that Replay made on a site", where="--data", next_step="leave it out, or add --record"
        )
    outcomes = clean(load_site(options.site), confirm=lambda count: options.yes or _ask(count))
    left = [outcome for outcome in outcomes if outcome.status == "left"]
    for outcome in left:
        print(f"left: {outcome.entry.kind} {outcome.entry.spec}: {outcome.why}")
        if outcome.next_step:
            print(f"  next: {outcome.next_step}")
    if outcomes:
        print(f"{len(outcomes) - len(left)} of {len(outcomes)} gone" + (f", {len(left)} left" if left else ""))
    return 1 if left else 0


def _work(
    site: Site, stack: ExitStack, say: Callable[[str], None]
) -> tuple[list[tuple[Remover, list[Entry]]], ClusterLock]:
    """Return each cluster's remover and the entries to remove, and the lock; `stack` closes what was opened."""
    work = []
    for cluster, mirror in ((site.primary, site.secondary), (site.secondary, site.primary)):
        if cluster is None:
            continue
        session = stack.enter_context(MonitorSession(cluster))
        try:
            ledger = Ledger(session.fsid())
        except CephCommandError:
            if cluster is site.primary:
                raise
            say("the second cluster does not answer: Replay cannot see now what it owns there")
            continue
        if cluster is site.primary:
            lock = _hold(site, session, ledger, stack, say)
        work.append((Remover(site, session, ledger, mirror, say), _entries(ledger, site, say)))
    return work, lock


def _hold(
    site: Site, session: MonitorSession, ledger: Ledger, stack: ExitStack, say: Callable[[str], None]
) -> ClusterLock:
    """Take the slot and the cluster's lock: nothing that a running measurement uses may be removed."""
    slot = SlotLock.of(ledger.fsid)
    slot.acquire(wait_seconds=2.0)
    stack.callback(slot.release)
    lock = ClusterLock(site, session, ledger, wait_seconds=2.0, say=say)
    try:
        lock.acquire()
    except CephCommandError as error:
        if error.exit_status_of_tool not in UNSERVED:
            raise
        # What is removed may be what fills the pool.
        say(f"{lock.object.spec} cannot be locked now: {error.what}")
    stack.callback(lock.release)
    return lock


def _entries(ledger: Ledger, site: Site, say: Callable[[str], None]) -> list[Entry]:
    """Return this site's entries, newest first: snapshots go before their image, images before their pool."""
    owned = ledger.owned()
    others = sorted({entry.site for entry in owned} - {site.name})
    if others:
        say(f"this cluster also holds things created through other sites: {', '.join(others)} (clean each by its name)")
    # This program holds the lock itself, and removes it last.
    return [entry for entry in reversed(owned) if entry.site == site.name and entry.kind != KIND]


def _described(remover: Remover, entry: Entry) -> str:
    words = [entry.kind.replace("_", " "), entry.details.get("final_name", entry.spec)]
    try:
        size = remover.size_bytes(entry)
    except ReplayError as error:
        size = None
        words.append(f"({error.what})")
    if size is not None:
        words.append(size_text(size))
    words.append(f"of {entry.intended_at[:16].replace('T', ' ')} UTC")
    if not entry.confirmed:
        words.append("(perhaps never made)")
    if remover.cluster.name != "primary":
        words.append("on the second cluster")
    return " ".join(words)


def _ask(count: int) -> bool:
    if not sys.stdin.isatty():
        raise RefusedError(
            "there is no terminal to ask for confirmation", next_step="check the list above, then add --yes"
        )
    return answer_to(f"remove these {count}? [y/N] ").lower() in ("y", "yes")
