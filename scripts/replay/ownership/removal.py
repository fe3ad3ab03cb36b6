"""x"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from replay.base.errors import ReplayError
from replay.base.invocation import replay_command
from replay.base.waiting import Waiting
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.session import MonitorSession
from replay.cluster.site import Site, missing, require
from replay.ownership.ledger import Entry, Ledger
from replay.ownership.open_site import OpenSite
from replay.ownership.this_machine import KINDS, remove_file, unmap, unmount
from replay.sandbox.io_caps import release


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


def _set_back_option(site: Site, session: MonitorSession, entry: Entry) -> bool:
    require(site, "osd_config", session.fsid())
    command, before = {"who": entry.details["who"], "name": entry.name}, entry.details.get("before")
    if before is None:
        session.command({"prefix": "config rm", **command})
    else:
        session.command({"prefix": "config set", **command, "value": str(before)})
    return True


def _set_back_weight(site: Site, session: MonitorSession, entry: Entry) -> bool:
    if there := _is_there(site, session, entry):
        before = float(entry.details["before"])
        session.command({"prefix": "osd crush reweight", "name": entry.name, "weight": before})
    return there


def _set_back_affinity(site: Site, session: MonitorSession, entry: Entry) -> bool:
    if there := _is_there(site, session, entry):
        number, before = int(entry.name.removeprefix("osd.")), float(entry.details["before"])
        session.command({"prefix": "osd primary-affinity", "id": number, "weight": before})
    return there


def _set_back_device_class(site: Site, session: MonitorSession, entry: Entry) -> bool:
    if there := _is_there(site, session, entry):
        session.command({"prefix": "osd crush rm-device-class", "ids": [entry.name]})
        if before := entry.details.get("before"):
            session.command({"prefix": "osd crush set-device-class", "class": before, "ids": [entry.name]})
    return there


def _is_there(site: Site, session: MonitorSession, entry: Entry) -> bool:
    require(site, "crush", session.fsid())
    nodes = session.command({"prefix": "osd tree"})["nodes"]
    return entry.name in {node["name"] for node in nodes if node["type"] == "osd"}


#: The functions by the ledger's kind of entry.
SET_BACK: Mapping[str, Callable[[Site, MonitorSession, Entry], bool]] = {
    "config": _set_back_option,
    "crush_weight": _set_back_weight,
    "primary_affinity": _set_back_affinity,
    "device_class": _set_back_device_class,
}


NOT_FOUND = 2
BUSY = 16
#: A killed client keeps its image open for half a minute. An OSD that takes a placement group over starts that anew.
PATIENCE_SECONDS = 120.0
#: A client that is still listed after this time has most likely been killed while it opened the image.
FORGET_AFTER_SECONDS = 50.0
#: A large image has many objects, each removed on its own.
REMOVED_WITHIN_SECONDS = 600.0
HAS_SNAPSHOTS = 39
#: How the mirror daemon names the snapshot for the first copy of an image.
DAEMON_SNAPSHOT = ".rbd-mirror."
#: Objects of an image. In a pool without images of Replay's, they belong to a neighbour.
_IMAGE_OBJECTS = ("rbd_data.", "rbd_header.", "rbd_id.", "rbd_object_map.", "journal_data.", "journal.")


@dataclass(frozen=True)
class Outcome:
    """The outcome for an entry: `removed`, `absent` (it was gone, or never made) or `left`, with the reason."""

    entry: Entry
    status: str
    why: str = ""
    next_step: str = ""


@dataclass
class Remover:
    """Removes entries of one cluster. `mirror` is the cluster with the mirrored copies, if the site names it."""

    site: Site
    cluster: Cluster
    session: MonitorSession
    ledger: Ledger
    mirror: Cluster | None = None
    say: Callable[[str], None] = print
    patience_seconds: float = PATIENCE_SECONDS
    forget_after_seconds: float = FORGET_AFTER_SECONDS
    poll_seconds: float = 1.0
    #: `OpenSite.waiting` makes waits that end with their cause if they become hopeless. Without it, they only tell.
    waiting: Callable[..., Waiting] | None = None
    #: Entries whose image is gone, but whose mirrored copy may still exist.
    copies: list[tuple[Entry, str]] = field(default_factory=list)

    def remove(self, entry: Entry) -> Outcome | None:
        """Remove one entry; None if its mirrored copy is still to be awaited (`finish` returns the outcome)."""
        by_kind = {
            "image": self._image,
            "pool": self._pool,
            "snapshot": self._snapshot,
            "mirror_snapshot_schedule": self._schedule,
            **dict.fromkeys(SET_BACK, self._setting),
            "io_cap": lambda one: Outcome(one, _gone(release(**one.details))),
            "kernel_mapping": lambda one: Outcome(one, _gone(unmap(self.cluster, one.spec))),
            "kernel_mount": lambda one: Outcome(one, _gone(unmount(one.details["folder"]))),
            "file": lambda one: Outcome(one, *remove_file(one)),
        }
        try:
            outcome = by_kind[entry.kind](entry)
        except ReplayError as error:
            return Outcome(entry, "left", error.what, error.next_step)
        if outcome.status == "left":
            return outcome
        if entry.kind == "image" and entry.details.get("mirrored"):
            self.copies.append((entry, outcome.status))
            return None
        return self._closed(outcome)

    def finish(self) -> list[Outcome]:
        """Wait until mirroring has removed the copies of removed images; return their outcomes."""
        deadline = time.monotonic() + self.patience_seconds
        outcomes = []
        left = list(self.copies)
        self.copies.clear()
        wait = self._wait(f"{len(left)} mirrored copies to be removed", mirrored=True)
        while left:
            still = []
            for entry, status in left:
                why = self._copy_remains(entry)
                if why is None:
                    outcomes.append(self._closed(Outcome(entry, status)))
                elif time.monotonic() > deadline or self.mirror is None:
                    hint = f"check it on the second cluster: rbd mirror image status {entry.spec}"
                    outcomes.append(Outcome(entry, "left", why, hint))
                else:
                    still.append((entry, status, why))
            left = [(entry, status) for entry, status, _ in still]
            try:
                if left:
                    wait.pause(self.poll_seconds)
            except ReplayError as error:
                return outcomes + [
                    Outcome(entry, "left", f"{why}: {error.what}", error.next_step) for entry, _, why in still
                ]
        return outcomes

    def _wait(self, what: str, at_most_seconds: float | None = None, *, mirrored: bool = False) -> Waiting:
        at_most_seconds = self.patience_seconds if at_most_seconds is None else at_most_seconds
        if self.waiting is None:
            return Waiting(what, at_most_seconds, say=self.say)
        return self.waiting(what, at_most_seconds, mirrored=mirrored, writing=False)

    def size_bytes(self, entry: Entry) -> int | None:
        """Return how large the thing is (provisioned size of an image, data stored in a pool), None if unknown."""
        if entry.kind == "image":
            info = self._info(entry)
            return int(info["size"]) if info else entry.details.get("size_bytes")
        if entry.kind == "pool":
            found = self._find_pool(entry)
            pools = self.session.command({"prefix": "df"})["pools"]
            return next((each["stats"]["stored"] for each in pools if found and each["id"] == found["pool_id"]), None)
        return None

    def _closed(self, outcome: Outcome) -> Outcome:
        self.ledger.removed(outcome.entry.id)
        return outcome

    def _info(self, entry: Entry) -> dict[str, Any] | None:
        look = self._wait(f"{entry.spec} to be looked up").glance
        return _unless_gone(lambda: self.cluster.json("rbd", "info", entry.spec, while_running=look))

    def _image(self, entry: Entry) -> Outcome:
        info = self._info(entry)
        if info is None:
            return self._remains_of_image(entry)
        known = entry.facts.get("id")
        if known is not None and info["id"] != known:
            return Outcome(
                entry, "left", f"this is not the image that Replay created: its id is {info['id']}, not {known}"
            )
        self._disable_mirroring(entry, info)
        began = time.monotonic()
        deadline, forget_at = began + self.patience_seconds, began + self.forget_after_seconds
        wait = self._wait(f"{entry.spec} to have no more watchers or snapshots")
        removing = self._wait(f"{entry.spec} to be removed", REMOVED_WITHIN_SECONDS)
        told = False
        while True:
            done = self.cluster.run(
                *("rbd", "rm", "--no-progress", entry.spec),
                check=False,
                timeout_seconds=REMOVED_WITHIN_SECONDS,
                while_running=removing.glance,
            )
            if done.returncode in (0, NOT_FOUND):
                return Outcome(entry, "removed")
            if done.returncode == HAS_SNAPSHOTS and time.monotonic() <= deadline and self._daemon_snapshots(entry):
                wait.pause(self.poll_seconds)
                continue
            busy, over = done.returncode == BUSY, time.monotonic() > deadline
            watchers = self._watchers(entry) if busy and (over or not told) else []
            if over or not busy:
                lines = [line for line in done.stderr.splitlines() if line.strip()]
                why = lines[-1].removeprefix("rbd: ") if lines else f"rbd rm ended with status {done.returncode}"
                next_step = f"find out who uses it: rbd status {entry.spec}"
                if watchers:
                    why = f"it is still open in {' and '.join(watchers)}"
                    group = group_of_header(self.session, entry, str(info["id"]))
                    next_step += f"; if nobody does, an administrator may have Ceph forget it: ceph pg repeer {group}"
                return Outcome(entry, "left", why, next_step)
            if not told:
                names = " and ".join(watchers) or "a client that has just gone"
                self.say(f"{entry.spec} is still open in {names}; waiting up to {self.patience_seconds:.0f} s")
                told = True
            elif time.monotonic() > forget_at and self._made_its_pool(entry):
                forget_at = deadline
                group = group_of_header(self.session, entry, str(info["id"]))
                if peer_again(self.session, group):
                    self.say(f"{entry.spec} is still open; its placement group {group} peers anew, to end dead clients")
            wait.pause(self.poll_seconds)

    def _made_its_pool(self, entry: Entry) -> bool:
        """Return whether the image's pool is Replay's own: that of a sandbox, or one in the ledger."""
        if self.site.sandbox is not None:
            return True
        return any(one.kind == "pool" and one.pool == entry.pool for one in self.ledger.owned())

    def _watchers(self, entry: Entry) -> list[str]:
        """Return the clients that have an image open, as `client.4711 at 10.0.0.7:0/123`."""
        status = _unless_gone(lambda: self.cluster.json("rbd", "status", entry.spec)) or {}
        return [f"client.{one['client']} at {one['address']}" for one in status.get("watchers", [])]

    def _disable_mirroring(self, entry: Entry, info: dict[str, Any] | None) -> None:
        """Disable an image's mirroring; try again if something that it listed was gone when it was to be removed.

        The mirror daemon removes mirror snapshots, too (and copies whose original is gone). If it is faster, librbd
        says "not found" and leaves the image in the state `disabling`, from which it can continue.
        """
        deadline = time.monotonic() + self.patience_seconds
        wait = self._wait(f"mirroring of {entry.spec} to be disabled")
        while info is not None and info.get("mirroring", {}).get("state", "disabled") != "disabled":
            try:
                self.cluster.run("rbd", "mirror", "image", "disable", "--force", entry.spec, timeout_seconds=60)
                return
            except CephCommandError as error:
                if error.exit_status_of_tool != NOT_FOUND or time.monotonic() > deadline:
                    raise
            wait.pause(self.poll_seconds)
            info = self._info(entry)

    def _daemon_snapshots(self, entry: Entry) -> bool:
        """Remove what an interrupted first copy left on an image; False if only other snapshots keep it."""
        # None if the image itself has gone meanwhile.
        listed = _unless_gone(lambda: self.cluster.json("rbd", "snap", "ls", entry.spec)) or []
        own = [snapshot["name"] for snapshot in listed if snapshot["name"].startswith(DAEMON_SNAPSHOT)]
        for name in own:
            remove = ("snap", "rm", "--no-progress", f"{entry.spec}@{name}")
            _unless_gone(lambda words=remove: self.cluster.run("rbd", *words, timeout_seconds=120))
        return len(own) == len(listed)

    def _remains_of_image(self, entry: Entry) -> Outcome:
        """Remove what an interrupted creation or removal left: an id or a directory entry."""
        self.cluster.run("rbd", "rm", "--no-progress", entry.spec, check=False, timeout_seconds=60)
        place = "/".join(part for part in (entry.pool, entry.namespace) if part)
        # None if the pool or namespace itself is gone.
        names = _unless_gone(lambda: self.cluster.json("rbd", "ls", place)) or []
        if entry.name in names:
            return Outcome(entry, "left", "the image is listed but cannot be opened or removed")
        return Outcome(entry, "absent")

    def _copy_remains(self, entry: Entry) -> str | None:
        if self.mirror is None:
            return "cannot look for its mirrored copy: the site's file names no second cluster"
        try:
            if self.mirror.run("rbd", "info", entry.spec, check=False).returncode != NOT_FOUND:
                return "its mirrored copy is still on the second cluster"
            # The mirror daemon moves a copy to the trash first, and empties that a moment later.
            place = "/".join(part for part in (entry.pool, entry.namespace) if part)
            trash = {one["name"] for one in self.mirror.json("rbd", "trash", "ls", "--all", place)}
        except CephCommandError as error:
            return f"cannot look for its mirrored copy: {error.what}"
        return "its mirrored copy is in the second cluster's trash" if entry.name in trash else None

    def _snapshot(self, entry: Entry) -> Outcome:
        image, _, snapshot = entry.name.partition("@")
        done = self.cluster.run("rbd", "snap", "rm", "--no-progress", entry.spec, check=False, timeout_seconds=120)
        if done.returncode in (0, NOT_FOUND):
            return Outcome(entry, "removed" if done.returncode == 0 else "absent")
        return Outcome(entry, "left", f"snapshot {snapshot} of {image}: {done.stderr.strip().splitlines()[-1]}")

    def _setting(self, entry: Entry) -> Outcome:
        return Outcome(entry, _gone(SET_BACK[entry.kind](self.site, self.session, entry)))

    def _schedule(self, entry: Entry) -> Outcome:
        where = ["--pool", entry.pool, *(["--namespace", entry.namespace] if entry.namespace else [])]
        where += ["--image", entry.name] if entry.name else []
        interval = [entry.details["interval"]] if "interval" in entry.details else []
        done = self.cluster.run(
            "rbd", "mirror", "snapshot", "schedule", "remove", *where, *interval, check=False, timeout_seconds=30
        )
        if done.returncode == 0:
            return Outcome(entry, "removed")
        said = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        if done.returncode == NOT_FOUND or "does not exist" in said[0]:
            return Outcome(entry, "absent")
        return Outcome(entry, "left", said[0])

    def _pool(self, entry: Entry) -> Outcome:
        pool = self._find_pool(entry)
        if pool is None:
            self._rules_of_pool(entry)
            return Outcome(entry, "absent")
        name = pool["pool_name"]
        by_hand = f"an administrator may run: ceph osd pool delete {name} {name} --yes-i-really-really-mean-it"
        if lacking := missing(["pool_delete"], self.site):
            return Outcome(entry, "left", lacking[0][1], by_hand)
        objects = self.cluster.run("rados", "--pool", name, "--all", "ls", timeout_seconds=120).stdout
        foreign = [line for line in objects.splitlines() if line.split("\t")[-1].startswith(_IMAGE_OBJECTS)]
        if foreign and (kept := [one.spec for one in self.ledger.owned() if _is_image_in(one, entry.pool)]):
            return Outcome(entry, "left", f"{kept[0]} is still in it")
        if foreign:
            why = f"it holds {len(foreign)} objects of images that Replay does not own, such as {foreign[0].strip()}"
            return Outcome(entry, "left", why)
        try:
            self.session.command(
                {"prefix": "osd pool delete", "pool": name, "pool2": name, "yes_i_really_really_mean_it": True}
            )
        except CephCommandError as error:
            return Outcome(entry, "left", error.what, by_hand)
        self._rules_of_pool(entry)
        return Outcome(entry, "removed")

    def _find_pool(self, entry: Entry) -> dict[str, Any] | None:
        """Return the pool by its id, even if it was renamed; a pool without a confirmed id by its original name."""
        pools = self.session.command({"prefix": "osd pool ls", "detail": "detail"})
        if "id" in entry.facts:
            return next((pool for pool in pools if pool["pool_id"] == entry.facts["id"]), None)
        return next((pool for pool in pools if pool["pool_name"] == entry.pool), None)

    def _rules_of_pool(self, entry: Entry) -> None:
        """Remove the placement rule and erasure-code profile that were made for the pool; absent ones are no error."""
        if rule := entry.details.get("crush_rule"):
            self.session.command({"prefix": "osd crush rule rm", "name": rule})
        if profile := entry.details.get("erasure_code_profile"):
            self.session.command({"prefix": "osd erasure-code-profile rm", "name": profile})


def _unless_gone(ask: Callable[[], Any]) -> Any:
    """Return what a command of Ceph returns, None if the thing does not exist (any more)."""
    try:
        return ask()
    except CephCommandError as error:
        if error.exit_status_of_tool != NOT_FOUND:
            raise
        return None


def _is_image_in(entry: Entry, pool: str) -> bool:
    return entry.kind == "image" and entry.pool == pool


def _gone(there: bool) -> str:
    return "removed" if there else "absent"


def remove_all(
    bench: OpenSite, entries: Iterable[Entry], what: str, where: Callable[[Entry], str], advice: str = ""
) -> int:
    """Remove entries of the first cluster's ledger; return how many there were.

    Raises ReplayError about the first one that is left, after trying all of them: see `refuse_left`.
    """
    session = bench.session
    remover = Remover(bench.site, session.cluster, session, bench.ledger, None, bench.say, waiting=bench.waiting)
    outcomes = [remover.remove(one) for one in entries]
    refuse_left(bench.site, [one for one in outcomes if one is not None], what, where, advice)
    return len(outcomes)


def refuse_left(
    site: Site, outcomes: Iterable[Outcome], what: str, where: Callable[[Entry], str], advice: str = ""
) -> None:
    """Raise ReplayError if any entry is left: `what` says what could not be done, `where` names the first entry.

    `advice` says what to do before `replay clean`; without it, the message says that they are still in the ledger.
    """
    left = [one for one in outcomes if one.status == "left"]
    if left:
        raise ReplayError(
            f"{len(left)} {what}: {left[0].why}",
            where=where(left[0].entry),
            next_step=f"{advice or 'they are still in the ledger; run'}: "
            f"{replay_command('clean', '--site', site.name)}",
        )


def remove_leftover_mounts(bench: OpenSite) -> int:
    """Unmount and unmap what the ledger holds of this site: every mount before any mapping.

    Returns how many there were. Raises ReplayError naming one that is left. It stays in the ledger, and so does a
    mapping whose mount is left.
    """
    mine = [one for one in bench.ledger.owned() if one.kind in KINDS and one.site == bench.site.name]
    return remove_all(
        bench,
        sorted(mine, key=lambda one: KINDS.index(one.kind)),
        "mount(s) or mapping(s) could not be undone",
        lambda entry: f"{entry.kind} {entry.spec}",
        "end the program that uses it, then run",
    )
