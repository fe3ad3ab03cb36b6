"""An opened site: its sessions, ledgers and slot, an image that was made on it, and one watch of its clusters.

Everything that creates or removes something on a cluster needs it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from replay.base.clock import LOOK_EVERY_SECONDS, Costs, Waiting
from replay.base.errors import ReplayError
from replay.base.programs import Programs
from replay.cluster import health, sandbox_record
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.mirroring import MirrorDaemon
from replay.cluster.session import MonitorSession
from replay.cluster.site import Ceilings, Site, Stop, ceilings_reached
from replay.design.design import Image
from replay.ownership.ledger import NAME_PREFIX, Ledger
from replay.ownership.locks import SlotLock
from replay.ownership.write_budget import MediaCopies, WriteBudget
from replay.sandbox.daemons import absent_daemons, up_command


@dataclass(kw_only=True)
class OpenSite:
    """One process working on one site.

    `say` prints a line for the person who waits. `daemons_are_here` is true if the OSDs run on this machine and share
    its CPU and disks: only of a sandbox does Replay know that every daemon is on this machine.
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
    #: What looks around during waits.
    watch: ClusterWatch
    secondary: MonitorSession | None = None
    secondary_ledger: Ledger | None = None

    def waiting(self, what: str, at_most_seconds: float | None, **how: Any) -> Waiting:
        """Return a wait that says what it sees, and ends if it is hopeless; `how` is for `ClusterWatch.waiting`."""
        return self.watch.waiting(lambda: self.site, what, at_most_seconds, say=self.say, **how)

    @property
    def primary_cluster(self) -> Cluster:
        return self.session.cluster

    @property
    def programs(self) -> Programs:
        """The programs of this site's clients: the host's, or those of a release."""
        return self.primary_cluster.programs


@contextlib.contextmanager
def opened(
    site: Site,
    data_set: str,
    say: Callable[[str], None],
    *,
    limit: float | None,
    wait_seconds: float = 60.0,
) -> Iterator[OpenSite]:
    """Yield the site, holding its slot; `limit` is the ceiling in bytes to media, or None.

    Raises RefusedError if something else still holds the slot after `wait_seconds`.
    """
    with contextlib.ExitStack() as stack:
        session = stack.enter_context(MonitorSession(site.primary))
        fsid = session.fsid()
        secondary = secondary_ledger = None
        if site.secondary is not None:
            secondary = stack.enter_context(MonitorSession(site.secondary))
            secondary_ledger = Ledger(secondary.fsid())
        slot = SlotLock.of(fsid)
        slot.acquire(wait_seconds, say)
        stack.callback(slot.release)
        copies = MediaCopies(site, session)
        yield OpenSite(
            site=site,
            data_set=data_set,
            session=session,
            ledger=Ledger(fsid),
            slot=slot,
            costs=Costs(),
            budget=WriteBudget.of(fsid, site.name, data_set, media_bytes=copies.media_bytes, limit=limit),
            say=say,
            daemons_are_here=sandbox_record.owns_fsid(fsid),
            watch=ClusterWatch(session, secondary),
            secondary=secondary,
            secondary_ledger=secondary_ledger,
        )


def intend(bench: OpenSite, kind: str, name: str = "", *, pool: str = "", namespace: str = "", **details: Any) -> str:
    """Enter in a bench's ledger what is about to be made; return the entry's id. See `Ledger.intend`."""
    return bench.ledger.intend(
        kind, pool, namespace, name, site=bench.site.name, data_set=bench.data_set, details=details
    )


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


# One watch of a site's clusters: what is new since a block began, what must end a run, and what makes a wait hopeless.
#
# It only reads, through connections that are open already.


#: A monitor that needs longer is lost. The session adds two seconds, a wait looks every three: within fifteen in all.
ANSWER_WITHIN_SECONDS = 8.0
#: Keys of a pool's quotas, with their units.
_QUOTAS = (("quota_max_bytes", "bytes"), ("quota_max_objects", "objects"))
#: If a cluster has not answered a block's check within this time, it is asked again at the next one.
CHECK_ANSWERED_WITHIN_SECONDS = 5.0
#: A second cluster that is gone ends a run within fifteen seconds of its last answer: the next question follows after
#: five at most (a block checks every two), and the one after that, six later, has waited for four in vain as well.
#: One such question alone ends nothing: a monitor may be being replaced.
SECOND_CHECKED_EVERY_SECONDS, SECOND_ANSWERS_WITHIN_SECONDS, SECOND_SILENT_FOR_SECONDS = 3.0, 4.0, 8.0
#: An answer this fresh serves all questions of one step.
SAME_MOMENT_SECONDS = 1.0
_PRIMARY, _SECONDARY = "the cluster", "the second cluster"


class ClusterWatch:
    """Asks a site's clusters how they are.

    What their health was when the watch was made is not news, nor what the first one's was when the block began. A run
    checks every few seconds, from a thread of its own; a wait takes the answer that such a check got.
    """

    def __init__(self, session: MonitorSession, secondary: MonitorSession | None = None) -> None:
        self._session = session
        self._sides = {_PRIMARY: session, **({_SECONDARY: secondary} if secondary else {})}
        self._start = {name: health.classify(side.status()) for name, side in self._sides.items()}
        self._seen: dict[str, str] = {}
        self._mirror_silences = 0
        #: Since when the second cluster answers no check of a run; None while it does.
        self._second_silent_since: float | None = None
        #: Further checks of a run, each of which returns why it must end, or None.
        self.also: list[Callable[[], Stop | None]] = []

    # While a block runs -----------------------------------------------------------------------------------------------

    def verdict(self) -> health.Verdict:
        return health.classify(self._session.status())

    def begin(self, verdict: health.Verdict) -> None:
        """Take this for the health with which the block begins: it does not stop for trouble that was there already."""
        self._start[_PRIMARY], self._seen = verdict, {}
        # It was not asked while the run waited.
        self._second_silent_since = None

    def new_in(self, verdict: health.Verdict) -> dict[str, str]:
        """Return the codes, with messages, that a run stops for and that the cluster did not have at the start."""
        return health.new_since(self._start[_PRIMARY], verdict)

    def check(
        self, ceilings: Ceilings, *, has_tenants: bool, say: Callable[[str], None] = lambda line: None
    ) -> Stop | None:
        """Note new trouble; return why the cell that runs must end, or None.

        `say` is told at once that the second cluster does not answer. Raises CephCommandError if the first does not.
        """
        status = self._session.status(
            timeout_seconds=CHECK_ANSWERED_WITHIN_SECONDS, at_most_seconds_old=SAME_MOMENT_SECONDS
        )
        self._seen |= self.new_in(health.classify(status))
        stops = self._stops_for_tenants(ceilings, status) if has_tenants else []
        try:
            # All of them, because one renews the lock, also while what the block made is removed.
            stops += [stop for each in self.also if (stop := each()) is not None]
        except CephCommandError:
            if not stops:
                raise
        if has_tenants and not stops and (stop := self._check_second(say)) is not None:
            stops = [stop]
        return stops[0] if stops else None

    def _check_second(self, say: Callable[[str], None]) -> Stop | None:
        """Return a stop once the second cluster has not answered for too long.

        Only somebody else's: experiments stop the daemons of a cluster that Replay started.
        """
        if (second := self._sides.get(_SECONDARY)) is None:
            return None
        asked = time.monotonic()
        try:
            second.status(
                timeout_seconds=SECOND_ANSWERS_WITHIN_SECONDS, at_most_seconds_old=SECOND_CHECKED_EVERY_SECONDS
            )
        except CephCommandError as error:
            if self._second_silent_since is None:
                self._second_silent_since = asked
                limit = f"the run ends if that lasts {SECOND_SILENT_FOR_SECONDS:.0f} s"
                say(f"no monitor of the second cluster answers: {error.what}; {limit}")
            seconds = time.monotonic() - self._second_silent_since
            if seconds < SECOND_SILENT_FOR_SECONDS:
                return None
            return Stop("second_silent", f"no monitor of the second cluster has answered for {seconds:.0f} s")
        self._second_silent_since = None
        return None

    def _stops_for_tenants(self, ceilings: Ceilings, status: Mapping[str, Any]) -> list[Stop]:
        """Return what the cluster's other users feel. It ends a cell; other ceilings are checked between sets."""
        slow = health.slow_operations(status)
        stops = [Stop("slow_operations", f"the cluster has {slow} slow operation{'s'[: slow != 1]}")] if slow else []
        if ceilings.tenant_latency_seconds is not None:
            perf = self._session.command({"prefix": "osd perf"}, timeout_seconds=CHECK_ANSWERED_WITHIN_SECONDS)
            stops += ceilings_reached(ceilings, osd_perf=perf)
        return stops

    def note(self, code: str, message: str) -> None:
        """Note trouble that no status tells of."""
        self._seen[code] = message

    def take(self) -> dict[str, str]:
        """Return the new codes, with messages, that were noted since the last call."""
        seen, self._seen = self._seen, {}
        return seen

    def forget(self, codes: Collection[str]) -> None:
        """Drop these codes from those that were noted since the last call of `take`."""
        self._seen = {code: text for code, text in self._seen.items() if code not in codes}

    # During a wait ----------------------------------------------------------------------------------------------------

    def waiting(
        self,
        site: Callable[[], Site],
        what: str,
        at_most_seconds: float | None,
        *,
        say: Callable[[str], None],
        mirrored: bool = False,
        writing: bool = True,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Waiting:
        """Return a wait that looks around: see `look`. `site` returns the site as it is then."""

        def look() -> str:
            return self.look(site(), mirrored=mirrored, writing=writing)

        return Waiting(what, at_most_seconds, say=say, look=look, sleep=sleep)

    def look(self, site: Site, *, mirrored: bool = False, writing: bool = True) -> str:
        """Return what is seen, in a few words. Raises ReplayError with the cause if waiting has become hopeless.

        `mirrored`: the wait is for mirroring, so the second cluster and the mirror daemon matter. `writing`: clients
        have to be able to write, so a full pool or OSD makes the wait hopeless; without it, such a one is only named.
        The site is the one of this moment: a mirror daemon that was started again has another socket.
        """
        if absent := absent_daemons(site, clusters=("left", "right") if mirrored else ("left",)):
            raise _hopeless(site, ", ".join(absent), f"run {up_command(site)}, then this again")
        seen = []
        for name, session in self._sides.items():
            if name == _SECONDARY and not mirrored:
                continue
            codes = _codes(_status(site, name, session))
            if full := _full(site, name, session, codes):
                if writing:
                    raise _hopeless(site, *full)
                # Removing goes on where a pool is full, but slowly: what it writes itself has to wait.
                seen.append(f"what is written there waits: {full[0]}")
            new = {code: text for code, text in codes.items() if code not in self._start[name].summary["codes"]}
            if "OSD_DOWN" in new:
                raise _hopeless(site, f"{name}: OSD_DOWN: {new['OSD_DOWN']}", "bring the OSD back, then run this again")
            if new:
                seen.append(f"new on {name}: {', '.join(f'{code} ({text})' for code, text in new.items())}")
        if mirrored:
            seen.insert(0, self._look_at_mirror(site))
        return "; ".join(filter(None, seen)) or "no new health code"

    def _look_at_mirror(self, site: Site) -> str:
        """Return whether the mirror daemon answers on its admin socket; empty if the site names none."""
        if (daemon := MirrorDaemon.named_by(site)) is None:
            return ""
        try:
            daemon.alive()
        except ReplayError as error:
            self._mirror_silences += 1
            if self._mirror_silences > 1:  # once may be a restart
                raise _hopeless(site, error.what, error.next_step) from error
            return "the mirror daemon does not answer"
        self._mirror_silences = 0
        return "the mirror daemon answers"


def _status(site: Site, name: str, session: MonitorSession) -> Mapping[str, Any]:
    try:
        # In a block the run's check asks every two seconds; its answer is good enough.
        return session.status(timeout_seconds=ANSWER_WITHIN_SECONDS, at_most_seconds_old=LOOK_EVERY_SECONDS)
    except CephCommandError as error:
        check = f"check that the monitors named in {session.cluster.conf} run, then run this again"
        raise _hopeless(site, f"no monitor of {name} answers: {error.what}", check) from error


def _full(site: Site, name: str, session: MonitorSession, codes: Mapping[str, str]) -> tuple[str, str] | None:
    """Return which OSD, or which pool that this site uses, is full, so that clients cannot write, and what to do."""
    if "OSD_FULL" in codes:
        return f"{name}: OSD_FULL: {codes['OSD_FULL']}", "free space, then run this again"
    if "POOL_FULL" not in codes:
        return None
    ours, full = {pool.name for pool in site.pools.all()}, []
    for pool in session.command({"prefix": "osd pool ls", "detail": "detail"}, timeout_seconds=ANSWER_WITHIN_SECONDS):
        is_used = pool["pool_name"] in ours or pool["pool_name"].startswith(NAME_PREFIX)
        if is_used and "full" in str(pool.get("flags_names", "")).split(","):
            quota = " and ".join(f"{pool[key]} {unit}" for key, unit in _QUOTAS if pool.get(key))
            full.append(f"pool {pool['pool_name']} is full" + (f": its quota is {quota}" if quota else ""))
    return (f"{name}: {', '.join(full)}", "raise the quota or free space, then run this again") if full else None


def _hopeless(site: Site, what: str, next_step: str) -> ReplayError:
    return ReplayError(what, where=f"site {site.name}", next_step=f"{next_step}; finished sets are kept")


def _codes(status: Mapping[str, Any]) -> dict[str, str]:
    """Return the health codes of a status that somebody should know of, with their messages."""
    checks = status.get("health", {}).get("checks", {})
    return {
        code: check.get("summary", {}).get("message", "")
        for code, check in checks.items()
        if code not in health.HARMLESS_CODES
    }
