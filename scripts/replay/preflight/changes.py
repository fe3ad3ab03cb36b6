"""Every command with which Replay changes a cluster, when it uses it, and what undoes it: for a plan to sign.

A test compares the list with all commands in the code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

#: When a command is used, besides the words that a site allows: always, or for variants of that kind.
ALWAYS, MIRRORED, JOURNALED, PROBE = "always", "mirrored", "journaled", "write probe"


@dataclass(frozen=True)
class Change:
    """A command without its arguments; `when` is a word of `allows`, or one of those above."""

    command: str
    when: str
    does: str
    undo: str


_IMAGE = "removed with the image"
CHANGES = (
    Change("rados lock", ALWAYS, "locks the object replay-lock, one run at a time", "removed at the end, or lapses"),
    Change("rbd create", ALWAYS, "makes an image replay-<8 random digits>-…", "rbd rm, at the end of the block"),
    Change("rbd bench", ALWAYS, "fills and loads these images", _IMAGE),
    Change("fio", ALWAYS, "loads these images", _IMAGE),
    Change("rbd feature enable", JOURNALED, "switches journaling on, for these images", _IMAGE),
    Change("rbd feature disable", "kernel_rbd", "switches off what the kernel does not know, for these images", _IMAGE),
    Change("rbd mirror image enable", MIRRORED, "mirrors these images", "rbd mirror image disable"),
    Change("rbd mirror image disable", MIRRORED, "ends the mirroring of these images", _IMAGE),
    Change("rbd mirror image snapshot", MIRRORED, "takes mirror snapshots of these images", _IMAGE),
    Change("rbd mirror image demote", "second_site", "gives an image's role to the other cluster", _IMAGE),
    Change("rbd mirror image promote", "second_site", "takes the role of an image, on the second cluster", _IMAGE),
    Change("rbd mirror snapshot schedule remove", MIRRORED, "removes a schedule of these images", "none is needed"),
    Change("rbd snap rm", ALWAYS, "removes what a mirror daemon or the write probe left on these images", _IMAGE),
    Change("rbd rm", ALWAYS, "removes images whose name and id the ledger has", "cannot be undone"),
    Change("rbd snap create", PROBE, "takes a snapshot of an image of the write probe", "rbd snap rm"),
    Change("rbd clone", PROBE, "clones an image of the write probe", "rbd rm"),
    Change("rbd flatten", PROBE, "makes that clone independent", "rbd rm"),
    Change("rbd map", "kernel_rbd", "maps these images on this machine", "rbd unmap"),
    Change("rbd unmap", "kernel_rbd", "unmaps them", "none is needed"),
    Change("mount", "kernel_rbd", "mounts file systems on these images on this machine", "umount"),
    Change("umount", "kernel_rbd", "unmounts them", "none is needed"),
    Change("rados bench", "pool_create", "writes objects into pools of its own", "removed with the pool"),
    Change("rados purge", "pool_create", "empties a pool of its own between cells", "cannot be undone"),
    Change("osd pool create", "pool_create", "makes a pool", "osd pool delete"),
    Change("osd pool set", "pool_create", "sets the size and overwrites of a pool of its own", "removed with the pool"),
    Change("osd pool rename", "pool_create", "gives a pool of its own the name in the site's file", "osd pool delete"),
    Change("osd pool application enable", "pool_create", "marks a pool of its own for rbd", "removed with the pool"),
    Change(
        "osd pool application set", "pool_create", "marks an experiment's pool as Replay's", "removed with the pool"
    ),
    Change("rbd pool init", "pool_create", "prepares a pool of its own", "removed with the pool"),
    Change("rbd namespace create", "pool_create", "makes the namespace of a pool of its own", "removed with the pool"),
    Change("osd crush rule create-replicated", "pool_create", "makes the rule of such a pool", "osd crush rule rm"),
    Change("osd erasure-code-profile set", "pool_create", "makes a profile for a pool of its own", "… profile rm"),
    Change(
        "pg repeer",
        "pool_create",
        "has a placement group of a pool of its own peer anew, where Ceph lists a killed client for ever",
        "nothing stays of it",
    ),
    Change("osd pool delete", "pool_delete", "removes a pool whose id the ledger has", "cannot be undone"),
    Change("osd crush rule rm", "pool_delete", "removes the rule of such a pool", "cannot be undone"),
    Change("osd erasure-code-profile rm", "pool_delete", "removes the profile of such a pool", "cannot be undone"),
    Change("config set", "osd_config", "throttles daemons of a sandbox", "config rm, or the earlier value"),
    Change("config rm", "osd_config", "sets back such a throttle", "none is needed"),
    Change("osd primary-affinity", "crush", "moves primaries of a sandbox", "the earlier value"),
    Change("osd crush reweight", "crush", "changes weights of a sandbox", "the earlier value"),
    Change("osd crush rm-device-class", "crush", "changes device classes of a sandbox", "the earlier class"),
    Change("osd crush set-device-class", "crush", "changes device classes of a sandbox", "the earlier class"),
)


def changes_for(tags: Iterable[str]) -> list[Change]:
    """Return the commands that a run with these words and kinds of variants may use."""
    wanted = {ALWAYS, *tags}
    return [one for one in CHANGES if one.when in wanted]
