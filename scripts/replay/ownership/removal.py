"""Removes what the ledger names, one entry at a time, and nothing else. Settings are set back to what they were.

A name is not enough: an image or a pool whose id differs from the recorded one is somebody else's, and is left alone.
Every step can be repeated: after a crash in the middle, the next clean continues.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from replay.base.errors import ReplayError
from replay.base.paths import replay_command
from replay.cluster.cluster import CephCommandError
from replay.cluster.site import Site, missing, require
from replay.ownership.images import ImageRemover, RemovalOutcome
from replay.ownership.ledger import Entry
from replay.ownership.open_site import BlockImage, OpenSite
from replay.ownership.this_machine import KINDS, remove_file, unmap, unmount
from replay.sandbox.interventions import release

#: Objects of an image. In a pool without images of Replay's, they belong to a neighbour.
_IMAGE_OBJECTS = ("rbd_data.", "rbd_header.", "rbd_id.", "rbd_object_map.", "journal_data.", "journal.")


@dataclass
class Remover(ImageRemover):
    """Removes entries of one cluster."""

    #: Entries whose image is gone, but whose mirrored copy may still exist.
    copies: list[tuple[Entry, str]] = field(default_factory=list)

    def remove(self, entry: Entry) -> RemovalOutcome | None:
        """Remove one entry; None if its mirrored copy is still to be awaited (`finish` returns the outcome)."""
        by_kind = {
            "image": self._image,
            "pool": self._pool,
            # Earlier versions' write probe took one.
            "snapshot": self._snapshot,
            "file": lambda entry: RemovalOutcome(entry, *remove_file(entry)),
        }
        # These only say whether there was anything to undo.
        was_there = {
            "config": self._set_back_option,
            **dict.fromkeys(("crush_weight", "primary_affinity", "device_class"), self._set_back_osd),
            "io_cap": lambda entry: release(**entry.details),
            "kernel_mapping": lambda entry: unmap(self.cluster, entry.spec),
            # This machine may share a folder with another one, but knows nothing of its mounts.
            "kernel_mount": lambda entry: not entry.elsewhere and unmount(entry.details["folder"]),
        }
        try:
            if entry.kind in was_there:
                outcome = RemovalOutcome(entry, "removed" if was_there[entry.kind](entry) else "absent")
            else:
                outcome = by_kind[entry.kind](entry)
        except ReplayError as error:
            return RemovalOutcome(entry, "left", error.what, error.next_step)
        if outcome.status == "absent" and entry.elsewhere:
            next_step = f"run {replay_command('clean', '--site', self.site.name)} there"
            return RemovalOutcome(entry, "left", f"it was made on {entry.elsewhere}", next_step)
        if outcome.status == "left":
            return outcome
        if entry.kind == "image" and entry.details.get("mirrored"):
            self.copies.append((entry, outcome.status))
            return None
        return self._closed(outcome)

    def finish(self) -> list[RemovalOutcome]:
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
                    outcomes.append(self._closed(RemovalOutcome(entry, status)))
                elif time.monotonic() > deadline or self.mirror is None:
                    hint = f"check it on the second cluster: rbd mirror image status {entry.spec}"
                    outcomes.append(RemovalOutcome(entry, "left", why, hint))
                else:
                    still.append((entry, status, why))
            left = [(entry, status) for entry, status, _ in still]
            try:
                if left:
                    wait.pause(self.poll_seconds)
            except ReplayError as error:
                return outcomes + [
                    RemovalOutcome(entry, "left", f"{why}: {error.what}", error.next_step) for entry, _, why in still
                ]
        return outcomes

    def size_bytes(self, entry: Entry) -> int | None:
        """Return how large the thing is (provisioned size of an image, data stored in a pool), None if unknown."""
        if entry.kind == "image":
            info = self._info(entry)
            return int(info["size"]) if info else entry.details.get("size_bytes")
        if entry.kind == "pool":
            pool = self._find_pool(entry)
            pools = self.session.command({"prefix": "df"})["pools"]
            return next((each["stats"]["stored"] for each in pools if pool and each["id"] == pool["pool_id"]), None)
        return None

    def _closed(self, outcome: RemovalOutcome) -> RemovalOutcome:
        self.ledger.removed(outcome.entry.id)
        return outcome

    def _pool(self, entry: Entry) -> RemovalOutcome:
        pool = self._find_pool(entry)
        if pool is None:
            self._rules_of_pool(entry)
            return RemovalOutcome(entry, "absent")
        name = pool["pool_name"]
        by_hand = f"an administrator may run: ceph osd pool delete {name} {name} --yes-i-really-really-mean-it"
        if lacking := missing(["pool_delete"], self.site):
            return RemovalOutcome(entry, "left", lacking[0][1], by_hand)
        try:
            objects = self.cluster.run("rados", "--pool", name, "--all", "ls", timeout_seconds=120).stdout
        except CephCommandError as error:
            return RemovalOutcome(entry, "left", f"what it holds cannot be listed: {error.what}", by_hand)
        foreign = [line for line in objects.splitlines() if line.split("\t")[-1].startswith(_IMAGE_OBJECTS)]
        if foreign:
            why = f"it holds {len(foreign)} objects of images that Replay does not own, such as {foreign[0].strip()}"
            # An image may have its data and its journal in other pools than its own.
            own = [image.spec for image in self.ledger.owned() if (image.kind, image.site) == ("image", entry.site)]
            if own:
                why = f"it holds objects of images, and {own[0]} still exists"
            return RemovalOutcome(entry, "left", why)
        try:
            self.session.command(
                {"prefix": "osd pool delete", "pool": name, "pool2": name, "yes_i_really_really_mean_it": True}
            )
        except CephCommandError as error:
            return RemovalOutcome(entry, "left", error.what, by_hand)
        self._rules_of_pool(entry)
        return RemovalOutcome(entry, "removed")

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

    # Settings of daemons. Setting them back is refused on a cluster that Replay did not start.

    def _set_back_option(self, entry: Entry) -> bool:
        require(self.site, "osd_config", self.session.fsid())
        command, before = {"who": entry.details["who"], "name": entry.name}, entry.details.get("before")
        if before is None:
            self.session.command({"prefix": "config rm", **command})
        else:
            self.session.command({"prefix": "config set", **command, "value": str(before)})
        return True

    def _set_back_osd(self, entry: Entry) -> bool:
        """Set back what an OSD has; return whether that still exists."""
        require(self.site, "crush", self.session.fsid())
        nodes = self.session.command({"prefix": "osd tree"})["nodes"]
        if entry.name not in {node["name"] for node in nodes if node["type"] == "osd"}:
            return False
        for command in osd_commands(entry.kind, entry.name, entry.details.get("before")):
            self.session.command(command)
        return True


def osd_commands(kind: str, osd: str, value: Any) -> list[dict[str, Any]]:
    """Return the commands that give an OSD a weight, a primary affinity or a device class; None is no class."""
    if kind == "crush_weight":
        return [{"prefix": "osd crush reweight", "name": osd, "weight": float(value)}]
    if kind == "primary_affinity":
        return [{"prefix": "osd primary-affinity", "id": int(osd.removeprefix("osd.")), "weight": float(value)}]
    # Ceph does not replace an existing class.
    given = [{"prefix": "osd crush set-device-class", "class": value, "ids": [osd]}] if value else []
    return [{"prefix": "osd crush rm-device-class", "ids": [osd]}, *given]


# Several entries at once ----------------------------------------------------------------------------------------------


def remove_entries(work: Sequence[tuple[Remover, Iterable[Entry]]]) -> Iterator[RemovalOutcome]:
    """Remove each remover's entries, and yield the outcomes as they are known.

    Copies are awaited last: an image that was failed over has its own entry for the second cluster.
    """
    for remover, entries in work:
        for entry in entries:
            if (outcome := remover.remove(entry)) is not None:
                yield outcome
    for remover, _ in work:
        yield from remover.finish()


def remove_all(bench: OpenSite, entries: Iterable[Entry], what: str, advice: str = "") -> int:
    """Remove entries of the first cluster's ledger; return how many there were.

    Raises ReplayError about the first one that is left, after trying all of them: see `refuse_left`.
    """
    remover = Remover(bench.site, bench.session, bench.ledger, None, bench.say, waiting=bench.waiting)
    outcomes = list(remove_entries([(remover, entries)]))
    refuse_left(bench.site, outcomes, what, advice)
    return len(outcomes)


def refuse_left(site: Site, outcomes: Iterable[RemovalOutcome], what: str, advice: str = "") -> None:
    """Raise ReplayError that names the first entry if any is left: `what` says what could not be done.

    `advice` says what to do before `replay clean`; without it, the message says that they are still in the ledger.
    """
    left = [outcome for outcome in outcomes if outcome.status == "left"]
    if left:
        entry = left[0].entry
        raise ReplayError(
            f"{len(left)} {what}: {left[0].why}",
            # The name of what was set, mapped or mounted does not say what it is.
            where=entry.spec if entry.kind in ("image", "pool", "file") else f"{entry.kind} {entry.spec}",
            next_step=f"{advice or 'they are still in the ledger; run'}: "
            f"{replay_command('clean', '--site', site.name)}",
        )


def remove_images(bench: OpenSite, images: Iterable[BlockImage]) -> None:
    """Remove images that this process created, and wait until their mirrored copies are gone.

    Raises ReplayError naming those that cannot be removed: they stay in the ledger for `replay clean`.
    """
    wanted = {made.entry_id for made in images}
    outcomes = _remove(bench, lambda entry: entry.id in wanted)
    refuse_left(bench.site, outcomes, "image(s) could not be removed")


def remove_owned_leftovers(bench: OpenSite) -> int:
    """Remove the images that an earlier run on this site left behind: only those in the ledger whose ids match.

    Returns how many were removed; says which could not be.
    """
    outcomes = _remove(bench, lambda entry: entry.kind == "image" and entry.site == bench.site.name)
    for outcome in outcomes:
        if outcome.status == "left":
            bench.say(f"{outcome.entry.spec} was not removed: {outcome.why}")
    return sum(outcome.status == "removed" for outcome in outcomes)


def _remove(bench: OpenSite, chosen: Callable[[Entry], bool]) -> list[RemovalOutcome]:
    """Remove the chosen entries of both clusters' ledgers."""
    sides = [(bench.session, bench.ledger, bench.site.secondary)]
    if bench.secondary is not None and bench.secondary_ledger is not None:
        sides.append((bench.secondary, bench.secondary_ledger, bench.site.primary))
    work = []
    with bench.costs.measure("prepare"):
        for session, ledger, mirror in sides:
            how = {"poll_seconds": 0.25, "waiting": bench.waiting}
            remover = Remover(bench.site, session, ledger, mirror, bench.say, **how)
            work.append((remover, [entry for entry in ledger.owned() if chosen(entry)]))
        return list(remove_entries(work))


def _here(bench: OpenSite) -> list[Entry]:
    """Return this site's entries, without those of another machine."""
    return [entry for entry in bench.ledger.owned() if entry.site == bench.site.name and not entry.elsewhere]


def remove_leftover_files(bench: OpenSite) -> int:
    """Remove this site's files, including those of an interrupted run; return how many there were.

    Raises ReplayError naming one that could not be removed: it stays in the ledger for `replay clean`.
    """
    mine = [entry for entry in _here(bench) if entry.kind == "file"]
    return remove_all(bench, mine, "file(s) could not be removed")


def remove_leftover_mounts(bench: OpenSite) -> int:
    """Unmount and unmap what the ledger holds of this site: every mount before any mapping.

    Returns how many there were. Raises ReplayError naming one that is left. It stays in the ledger, and so does a
    mapping whose mount is left.
    """
    mine = [entry for entry in _here(bench) if entry.kind in KINDS]
    return remove_all(
        bench,
        sorted(mine, key=lambda entry: KINDS.index(entry.kind)),
        "mount(s) or mapping(s) could not be undone",
        "end the program that uses it, then run",
    )
