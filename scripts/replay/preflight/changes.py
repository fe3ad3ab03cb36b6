"""Every command with which Replay changes a cluster, when it uses it, and what undoes it: for a plan to sign.

A test compares the list with all commands in the code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

#: When a command is used, besides the words that a site allows: always, or for variants of that kind.
ALWAYS, MIRRORED, JOURNALED, PROBE = "always", "mirrored", "journaled", "write probe"


@dataclass(frozen=True)
class ClusterCommand:
    """A command without its arguments; `when` is a word of `allows`, or one of those above."""

    command: str
    when: str
    does: str
    undo: str


_IMAGE = "removed with the image"
CHANGES = tuple(
    ClusterCommand(*row)
    for row in (
        ("rados lock", ALWAYS, "locks the object replay-lock, one run at a time", "removed at the end, or lapses"),
        ("rbd create", ALWAYS, "makes an image replay-<8 random digits>-…", "rbd rm, at the end of the block"),
        ("rbd bench", ALWAYS, "fills and loads these images", _IMAGE),
        ("fio", ALWAYS, "loads these images", _IMAGE),
        ("rbd feature enable", JOURNALED, "switches journaling on, for these images", _IMAGE),
        ("rbd feature disable", "kernel_rbd", "switches off what the kernel does not know, for these images", _IMAGE),
        ("rbd mirror image enable", MIRRORED, "mirrors these images", "rbd mirror image disable"),
        ("rbd mirror image disable", MIRRORED, "ends the mirroring of these images", _IMAGE),
        ("rbd mirror image snapshot", MIRRORED, "takes mirror snapshots of these images", _IMAGE),
        ("rbd mirror image demote", "second_site", "gives an image's role to the other cluster", _IMAGE),
        ("rbd mirror image promote", "second_site", "takes the role of an image, on the second cluster", _IMAGE),
        ("rbd mirror snapshot schedule remove", MIRRORED, "removes a schedule of these images", "none is needed"),
        ("rbd snap rm", ALWAYS, "removes what a mirror daemon or the write probe left on these images", _IMAGE),
        ("rbd rm", ALWAYS, "removes images whose name and id the ledger has", "cannot be undone"),
        ("rbd snap create", PROBE, "takes a snapshot of an image of the write probe", "rbd snap rm"),
        ("rbd clone", PROBE, "clones an image of the write probe", "rbd rm"),
        ("rbd flatten", PROBE, "makes that clone independent", "rbd rm"),
        ("rbd map", "kernel_rbd", "maps these images on this machine", "rbd unmap"),
        ("rbd unmap", "kernel_rbd", "unmaps them", "none is needed"),
        ("mount", "kernel_rbd", "mounts file systems on these images on this machine", "umount"),
        ("umount", "kernel_rbd", "unmounts them", "none is needed"),
        ("rados bench", "pool_create", "writes objects into pools of its own", "removed with the pool"),
        ("rados purge", "pool_create", "empties a pool of its own between cells", "cannot be undone"),
        ("osd pool create", "pool_create", "makes a pool", "osd pool delete"),
        ("osd pool set", "pool_create", "sets the size and overwrites of a pool of its own", "removed with the pool"),
        ("osd pool rename", "pool_create", "gives a pool of its own the name in the site's file", "osd pool delete"),
        ("osd pool application enable", "pool_create", "marks a pool of its own for rbd", "removed with the pool"),
        ("osd pool application set", "pool_create", "marks an experiment's pool as Replay's", "removed with the pool"),
        ("rbd pool init", "pool_create", "prepares a pool of its own", "removed with the pool"),
        ("rbd namespace create", "pool_create", "makes the namespace of a pool of its own", "removed with the pool"),
        ("osd crush rule create-replicated", "pool_create", "makes the rule of such a pool", "osd crush rule rm"),
        ("osd erasure-code-profile set", "pool_create", "makes a profile for a pool of its own", "… profile rm"),
        (
            "pg repeer",
            "pool_create",
            "has a placement group of a pool of its own peer anew, where Ceph lists a killed client for ever",
            "nothing stays of it",
        ),
        ("osd pool delete", "pool_delete", "removes a pool whose id the ledger has", "cannot be undone"),
        ("osd crush rule rm", "pool_delete", "removes the rule of such a pool", "cannot be undone"),
        ("osd erasure-code-profile rm", "pool_delete", "removes the profile of such a pool", "cannot be undone"),
        ("config set", "osd_config", "throttles daemons of a sandbox", "config rm, or the earlier value"),
        ("config rm", "osd_config", "sets back such a throttle", "none is needed"),
        ("osd primary-affinity", "crush", "moves primaries of a sandbox", "the earlier value"),
        ("osd crush reweight", "crush", "changes weights of a sandbox", "the earlier value"),
        ("osd crush rm-device-class", "crush", "changes device classes of a sandbox", "the earlier class"),
        ("osd crush set-device-class", "crush", "changes device classes of a sandbox", "the earlier class"),
    )
)


def changes_for(tags: Iterable[str]) -> list[ClusterCommand]:
    """Return the commands that a run with these words and kinds of variants may use."""
    wanted = {ALWAYS, *tags}
    return [command for command in CHANGES if command.when in wanted]
