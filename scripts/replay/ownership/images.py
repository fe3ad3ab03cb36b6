"""Block device images of Replay's: created, filled, in the ledger before they exist, and removed with what keeps them.

What keeps an image are watchers, mirroring, and snapshots of the mirror daemon. An OSD drops the watch of a client that
has gone after half a minute. That of 16.2.15 starts this clock once the watch is on disk, and not at all if the
connection was lost by then. Such a watch is listed, and keeps the image from being removed, until the OSD reads the
image's header anew: once the header's placement group has peered, the clock starts. 20.2.4 starts it in either case.
"""

from __future__ import annotations

import errno
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from replay.base.clock import Waiting
from replay.base.errors import RefusedError
from replay.cluster.cluster import CephCommandError, Cluster, unless_gone
from replay.cluster.running import last_line
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site, ceilings_reached
from replay.design.design import Image
from replay.design.sizing import Write
from replay.ownership.ledger import Entry, Ledger, unique_name
from replay.ownership.open_site import BlockImage, OpenSite, intend

#: The slowest rate at which `rbd` may fill an image, in bytes a second; slower is an error rather than an endless wait.
SLOWEST_FILL_BYTES_PER_SECOND = 1 << 20
FILL_IO_BYTES = 4 << 20


def create_image(
    bench: OpenSite,
    suffix: str,
    image: Image,
    *,
    fill_with: Callable[[OpenSite, BlockImage], None] | None = None,
    journal_pool: str | None = None,
    pool: str | None = None,
) -> BlockImage:
    """Create an image, fill it, then enable journaling and mirroring, so that their cost does not include filling.

    `fill_with` writes other contents than `fill_image` does. `pool` replaces the site's pool for the whole image. The
    journal goes to `journal_pool`, else to the site's journal pool if it names one, else to the image's pool.
    Raises CephCommandError if a command fails; everything created by then is in the ledger.
    """
    pools = bench.site.pools
    own_pool, cluster = pool is not None, bench.primary_cluster
    pool, namespace = (pool, "") if pool is not None else (pools.data.name, pools.data.namespace or "")
    name = unique_name(suffix)
    late = [feature for feature in image.features if feature == "journaling"]
    early = [feature for feature in image.features if feature not in late]
    with bench.costs.measure("prepare"):
        facts = {"size_bytes": image.size_bytes, "mirrored": image.mirroring is not None}
        entry = intend(bench, "image", name, pool=pool, namespace=namespace, **facts)
        made = BlockImage(pool, namespace, name, image, entry)
        options = ["--size", f"{image.size_bytes}B", "--object-size", f"{image.object_size_bytes}B"]
        for feature in early or ["layering"]:
            options += ["--image-feature", feature]
        if pools.data_pool is not None and not own_pool:
            options += ["--data-pool", pools.data_pool.name]
        look = bench.waiting(f"{made.name} to be made", None).glance
        cluster.run("rbd", "create", *options, made.spec, while_running=look)
        made.rbd_id = cluster.json("rbd", "info", made.spec, while_running=look)["id"]
        bench.ledger.confirm(entry, {"id": made.rbd_id})
        (fill_with or fill_image)(bench, made)
        for feature in late:
            journal = journal_pool or (pools.journal.name if pools.journal is not None else None)
            place = ["--journal-pool", journal] if journal is not None else []
            cluster.run("rbd", "feature", "enable", *place, made.spec, feature, while_running=look)
        if image.mirroring:
            cluster.run("rbd", "mirror", "image", "enable", made.spec, image.mirroring, while_running=look)
    return made


def fill_image(bench: OpenSite, made: BlockImage) -> None:
    """Write every byte of an image once, at the site's rate, so that reads find data and writes overwrite data.

    The bytes come from `rbd bench`, which writes one repeated byte: do not measure on a pool that compresses. Raises
    RefusedError if the site does not allow that much, in this run or on an OSD.
    """
    size = made.image.size_bytes
    limits = bench.site.ceilings
    slowest = min(SLOWEST_FILL_BYTES_PER_SECOND, 0.5 * (limits.rate_bytes_per_second or math.inf))
    what, write = f"filling {made.name}", Write(size, pool=made.pool, adds=True)
    osd_df, added = bench.session.command({"prefix": "osd df"}), bench.budget.media_bytes(write)
    if stops := ceilings_reached(limits, osd_df=osd_df, bytes_added_by_next_set=added):
        raise RefusedError(
            f"{what} is refused: {stops[0].detail}",
            where=f"site {bench.site.name}, ceiling {stops[0].reason}",
            next_step="finished sets are kept; run measure again when there is space, or raise the ceiling",
        )
    bench.budget.reserve(what, write)
    timeout_seconds = 60 + size / slowest
    waiting = bench.waiting(f"{made.name} to be filled", timeout_seconds)
    bench.primary_cluster.run(
        "rbd",
        "bench",
        *("--io-type", "write", "--io-pattern", "full-seq"),
        *("--io-size", str(min(FILL_IO_BYTES, size)), "--io-threads", "4", "--io-total", str(size)),
        made.spec,
        "--rbd_cache=false",
        *(f"--{name}={value}" for name, value in limits.client_options().items()),
        timeout_seconds=timeout_seconds,
        while_running=waiting.glance,
    )


# Removing an image ----------------------------------------------------------------------------------------------------

NOT_FOUND, BUSY, HAS_SNAPSHOTS = 2, 16, 39
#: A killed client keeps its image open for half a minute. An OSD that takes a placement group over starts that anew.
PATIENCE_SECONDS = 120.0
#: A client that is still listed after this time has most likely been killed while it opened the image.
FORGET_AFTER_SECONDS = 50.0
#: A large image has many objects, each removed on its own.
REMOVED_WITHIN_SECONDS = 600.0
#: How the mirror daemon names the snapshot for the first copy of an image.
DAEMON_SNAPSHOT = ".rbd-mirror."


@dataclass(frozen=True)
class RemovalOutcome:
    """The outcome for an entry: `removed`, `absent` (it was gone, or never made) or `left`, with the reason."""

    entry: Entry
    status: str
    why: str = ""
    next_step: str = ""


@dataclass
class ImageRemover:
    """Removes images of one cluster. `mirror` is the cluster with the mirrored copies, if the site names it."""

    site: Site
    session: MonitorSession
    ledger: Ledger
    mirror: Cluster | None = None
    say: Callable[[str], None] = print
    patience_seconds: float = PATIENCE_SECONDS
    forget_after_seconds: float = FORGET_AFTER_SECONDS
    poll_seconds: float = 1.0
    #: `OpenSite.waiting` makes waits that end with their cause if they become hopeless. Without it, they only tell.
    waiting: Callable[..., Waiting] | None = None

    @property
    def cluster(self) -> Cluster:
        return self.session.cluster

    def _image(self, entry: Entry) -> RemovalOutcome:
        info = self._info(entry)
        if info is None:
            return self._remains_of_image(entry)
        known = entry.facts.get("id")
        if known is not None and info["id"] != known:
            return RemovalOutcome(
                entry, "left", f"this is not the image that Replay created: its id is {info['id']}, not {known}"
            )
        self._disable_mirroring(entry, info)
        began = time.monotonic()
        deadline, forget_at = began + self.patience_seconds, began + self.forget_after_seconds
        wait = self._wait(f"{entry.spec} to have no more watchers or snapshots")
        removing = self._wait(f"{entry.spec} to be removed", REMOVED_WITHIN_SECONDS)
        is_said = False
        while True:
            done = self.cluster.run(
                *("rbd", "rm", "--no-progress", entry.spec),
                check=False,
                timeout_seconds=REMOVED_WITHIN_SECONDS,
                while_running=removing.glance,
            )
            if done.returncode in (0, NOT_FOUND):
                return RemovalOutcome(entry, "removed")
            if done.returncode == HAS_SNAPSHOTS and time.monotonic() <= deadline and self._daemon_snapshots(entry):
                wait.pause(self.poll_seconds)
                continue
            busy, over = done.returncode == BUSY, time.monotonic() > deadline
            watchers = self._watchers(entry) if busy and (over or not is_said) else []
            if over or not busy:
                why = last_line(done.stderr).removeprefix("rbd: ") or f"rbd rm ended with status {done.returncode}"
                next_step = f"find out who uses it: rbd status {entry.spec}"
                if watchers:
                    why = f"it is still open in {' and '.join(watchers)}"
                    group = group_of_header(self.session, entry, str(info["id"]))
                    next_step += f"; if nobody does, an administrator may have Ceph forget it: ceph pg repeer {group}"
                return RemovalOutcome(entry, "left", why, next_step)
            if not is_said:
                names = " and ".join(watchers) or "a client that has just gone"
                self.say(f"{entry.spec} is still open in {names}; waiting up to {self.patience_seconds:.0f} s")
                is_said = True
            elif time.monotonic() > forget_at and self._made_its_pool(entry):
                forget_at = deadline
                group = group_of_header(self.session, entry, str(info["id"]))
                if peer_again(self.session, group):
                    self.say(f"{entry.spec} is still open; its placement group {group} peers anew, to end dead clients")
            wait.pause(self.poll_seconds)

    def _info(self, entry: Entry) -> dict[str, Any] | None:
        look = self._wait(f"{entry.spec} to be looked up").glance
        return unless_gone(lambda: self.cluster.json("rbd", "info", entry.spec, while_running=look))

    def _wait(self, what: str, at_most_seconds: float | None = None, *, mirrored: bool = False) -> Waiting:
        at_most_seconds = self.patience_seconds if at_most_seconds is None else at_most_seconds
        if self.waiting is None:
            return Waiting(what, at_most_seconds, say=self.say)
        return self.waiting(what, at_most_seconds, mirrored=mirrored, writing=False)

    def _made_its_pool(self, entry: Entry) -> bool:
        """Return whether the image's pool is Replay's own: that of a sandbox, or one in the ledger."""
        if self.site.sandbox is not None:
            return True
        pools = [owned for owned in self.ledger.owned() if owned.kind == "pool"]
        return any(pool.details.get("final_name") == entry.pool for pool in pools)

    def _watchers(self, entry: Entry) -> list[str]:
        """Return the clients that have an image open, as `client.4711 at 10.0.0.7:0/123`."""
        status = unless_gone(lambda: self.cluster.json("rbd", "status", entry.spec)) or {}
        return [f"client.{watcher['client']} at {watcher['address']}" for watcher in status.get("watchers", [])]

    def _disable_mirroring(self, entry: Entry, info: dict[str, Any] | None) -> None:
        """Disable an image's mirroring; try again if something that it listed was gone when it was to be removed.

        The mirror daemon removes mirror snapshots, too (and copies whose original is gone). If it is faster, librbd
        says "not found" and leaves the image in the state `disabling`, from which it can continue.
        """
        deadline = time.monotonic() + self.patience_seconds
        wait = self._wait(f"mirroring of {entry.spec} to be disabled")
        while info is not None and info.get("mirroring", {}).get("state", "disabled") != "disabled":
            try:
                self.cluster.run(
                    *("rbd", "mirror", "image", "disable", "--force", entry.spec),
                    timeout_seconds=60,
                    while_running=wait.glance,
                )
                return
            except CephCommandError as error:
                if error.exit_status_of_tool != NOT_FOUND or time.monotonic() > deadline:
                    raise
            wait.pause(self.poll_seconds)
            info = self._info(entry)

    def _daemon_snapshots(self, entry: Entry) -> bool:
        """Remove what an interrupted first copy left on an image; False if only other snapshots keep it."""
        # None if the image itself has gone meanwhile.
        listed = unless_gone(lambda: self.cluster.json("rbd", "snap", "ls", entry.spec)) or []
        own = [snapshot["name"] for snapshot in listed if snapshot["name"].startswith(DAEMON_SNAPSHOT)]
        for name in own:
            remove = ("snap", "rm", "--no-progress", f"{entry.spec}@{name}")
            look = self._wait(f"{entry.spec}@{name} to be removed", 120).glance
            unless_gone(
                lambda words=remove, look=look: self.cluster.run("rbd", *words, timeout_seconds=120, while_running=look)
            )
        return len(own) == len(listed)

    def _remains_of_image(self, entry: Entry) -> RemovalOutcome:
        """Remove what an interrupted creation or removal left: an id or a directory entry."""
        look = self._wait(f"what is left of {entry.spec} to be removed", 60).glance
        self.cluster.run("rbd", "rm", "--no-progress", entry.spec, check=False, timeout_seconds=60, while_running=look)
        place = "/".join(part for part in (entry.pool, entry.namespace) if part)
        # None if the pool or namespace itself is gone.
        names = unless_gone(lambda: self.cluster.json("rbd", "ls", place)) or []
        if entry.name in names:
            return RemovalOutcome(entry, "left", "the image is listed but cannot be opened or removed")
        return RemovalOutcome(entry, "absent")

    def _copy_remains(self, entry: Entry) -> str | None:
        if self.mirror is None:
            return "cannot look for its mirrored copy: the site's file does not let Replay use a second cluster"
        try:
            if self.mirror.run("rbd", "info", entry.spec, check=False).returncode != NOT_FOUND:
                return "its mirrored copy is still on the second cluster"
            # The mirror daemon moves a copy to the trash first, and empties that a moment later.
            place = "/".join(part for part in (entry.pool, entry.namespace) if part)
            trash = {image["name"] for image in self.mirror.json("rbd", "trash", "ls", "--all", place)}
        except CephCommandError as error:
            return f"cannot look for its mirrored copy: {error.what}"
        return "its mirrored copy is in the second cluster's trash" if entry.name in trash else None

    def _snapshot(self, entry: Entry) -> RemovalOutcome:
        image, _, snapshot = entry.name.partition("@")
        look = self._wait(f"{entry.spec} to be removed", 120).glance
        done = self.cluster.run(
            *("rbd", "snap", "rm", "--no-progress", entry.spec),
            check=False,
            timeout_seconds=120,
            while_running=look,
        )
        if done.returncode in (0, NOT_FOUND):
            return RemovalOutcome(entry, "removed" if done.returncode == 0 else "absent")
        printed = last_line(done.stderr) or f"exit status {done.returncode}"
        return RemovalOutcome(entry, "left", f"snapshot {snapshot} of {image}: {printed}")


def group_of_header(session: MonitorSession, entry: Entry, image_id: str) -> str:
    """Return the placement group, such as `2.1f`, of an image's header. Raises CephCommandError."""
    command = {"prefix": "osd map", "pool": entry.pool, "object": f"rbd_header.{image_id}"}
    if entry.namespace:
        command["nspace"] = entry.namespace
    return str(session.command(command)["pgid"])


def peer_again(session: MonitorSession, group: str) -> bool:
    """Have a placement group peer anew, which delays what is written to it by a moment.

    Returns whether this user may. Raises CephCommandError.
    """
    try:
        session.command({"prefix": "pg repeer", "pgid": group})
    except CephCommandError as error:
        if error.exit_status_of_tool in (errno.EPERM, errno.EACCES):
            return False
        raise
    return True
