"""What a measurement would do: designs, blocks, cells, hours, bytes, and every command that changes a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.cluster.site import LOCAL_HOSTS, Site, missing
from replay.design.configuration import load_experiment_document
from replay.design.design import Design, PlannedBlock, digest_of, plan_digest
from replay.design.expansion import expand
from replay.design.needs import check_experiment, lacking
from replay.design.sizing import UNASKED, PoolCopies, RemainingWork, Terms, reckon
from replay.evidence.attempts import History
from replay.evidence.data_set import raw_directory, refuse_copies, refuse_mixed_scales
from replay.ownership.write_budget import MediaCopies

#: Keys of an experiment that decide how it is presented, not how it is measured.
_WORDS = ("title", "sources", "x_label", "x_unit", "metrics", "ceilings", "ratio_direction")


def design_for(site: Site, name: str, scale: str) -> Design:
    """Return an experiment's design on a site; variants that need a missing capability are skipped with its word.

    Raises ConfigurationError if there is no such experiment, or its file is invalid.
    """
    return expand(scale=scale, **_sources(site, name))


def sources_digest(site: Site, name: str) -> str:
    """Return a digest of what determines how an experiment is measured: its configuration, and what a site allows.

    Keys that only affect its presentation, such as its title, may change at any time.
    """
    sources = _sources(site, name)
    measuring = {key: value for key, value in sources["configuration"].items() if key not in _WORDS}
    return digest_of({**sources, "configuration": measuring, "missing": sorted(sources["missing"])})


def _sources(site: Site, name: str) -> Mapping[str, Any]:
    document = load_experiment_document(name)
    configuration = document.data
    check_experiment(configuration, document.where)
    words = {word for variant in configuration["variants"] for word in variant.get("requires", ())}
    words |= set(configuration.get("requires", ()))
    return {
        "configuration": configuration,
        "missing": lacking(configuration["protocol"], site) | dict(missing(sorted(words), site)),
        "site_client_options": site.ceilings.client_options(),
    }


def plans(data_set: str, designs: Iterable[Design], blocks: int | None = None) -> list[PlannedBlock]:
    """Return every block of the designs, repetition by repetition: within one, experiments take turns.

    Raises ConfigurationError if the data set cannot take them: a copy, or a data set at another scale.
    """
    refuse_copies(data_set)
    designs = [design for design in designs if design.sets]
    for design in designs:
        refuse_mixed_scales(data_set, design)
    blocks_of_designs = [
        PlannedBlock(design.name, block, plan_digest(design, block))
        for design in designs
        for block in range(1, (blocks or design.blocks) + 1)
    ]
    return sorted(blocks_of_designs, key=lambda plan: plan.block)


def estimate(design: Design, data_set: str, blocks: Iterable[int], terms: Terms = UNASKED) -> RemainingWork:
    """Estimate what it takes to measure the missing sets of these blocks.

    The time comes from earlier blocks of this data set, if there are any. Of most protocols, client bytes are unknown
    before a pilot; the estimate assumes that a cell writes 64 MiB/s for its target time.
    """
    history = History(raw_directory(data_set, design.name))
    todo = [history.missing_sets(design, block) for block in blocks]
    return reckon(design, todo, history.receipts(), terms)


def terms_of(site: Site, copies: PoolCopies | None = None) -> Terms:
    """Return what a site adds to the estimates; `copies` are its pools', if its cluster was asked."""
    others = len(set(site.client_hosts) - LOCAL_HOSTS)
    return Terms(copies or PoolCopies(), site.ceilings.rate_bytes_per_second, others)


#: An estimate is not worth a longer wait; whatever needs the cluster next says why it does not answer.
CONNECT_WITHIN_SECONDS = 5.0


def copies_on(site: Site, session: MonitorSession | None = None) -> PoolCopies:
    """Ask the site's cluster, through a session if there is one; three copies are assumed if it does not answer."""
    try:
        if session is not None:
            return MediaCopies(site, session).of_site()
        with closing(MonitorSession(site.primary, connect_timeout_seconds=CONNECT_WITHIN_SECONDS)) as opened:
            return MediaCopies(site, opened).of_site()
    except CephCommandError:
        return PoolCopies()


# Commands -------------------------------------------------------------------------------------------------------------

#: When a command is used, besides the words that a site allows: always, or for variants of that kind.
ALWAYS, MIRRORED, JOURNALED = "always", "mirrored", "journaled"


@dataclass(frozen=True)
class ClusterCommand:
    """A command without its arguments; `when` is a word of `allows`, or one of those above."""

    command: str
    when: str
    does: str
    undo: str


_IMAGE = "removed with the image"
#: For a plan to sign. A test compares the list with all commands in the code.
CHANGES = tuple(
    ClusterCommand(*row)
    for row in (
        ("rados lock", ALWAYS, "locks the object replay-lock, one run at a time", "removed at the end, or lapses"),
        (
            "osd blocklist add",
            ALWAYS,
            "librbd lists a killed client of Replay before its image is removed, so that it can write no more",
            "lapses after an hour",
        ),
        (
            "rbd create",
            ALWAYS,
            "makes an image replay-<8 random hexadecimal digits>-…",
            "rbd rm, at the end of the block",
        ),
        ("rbd bench", ALWAYS, "fills and loads these images", _IMAGE),
        ("fio", ALWAYS, "loads these images", _IMAGE),
        ("rbd feature enable", JOURNALED, "switches journaling on, for these images", _IMAGE),
        ("rbd feature disable", "kernel_rbd", "switches off what the kernel does not know, for these images", _IMAGE),
        ("rbd mirror image enable", MIRRORED, "mirrors these images", "rbd mirror image disable"),
        ("rbd mirror image disable", MIRRORED, "ends the mirroring of these images", _IMAGE),
        ("rbd mirror image snapshot", MIRRORED, "takes mirror snapshots of these images", _IMAGE),
        ("rbd mirror image demote", "second_site", "gives an image's role to the other cluster", _IMAGE),
        ("rbd mirror image promote", "second_site", "takes the role of an image, on the second cluster", _IMAGE),
        ("rbd mirror stop", "second_site", "stops the copying of these images (admin socket)", "rbd mirror start"),
        ("rbd mirror start", "second_site", "starts it again (admin socket)", "none is needed"),
        ("rbd snap rm", ALWAYS, "removes what a mirror daemon or the write probe left on these images", _IMAGE),
        ("rbd rm", ALWAYS, "removes images whose name and id the ledger has", "cannot be undone"),
        ("rbd map", "kernel_rbd", "maps these images on this machine", "rbd unmap"),
        ("rbd unmap", "kernel_rbd", "unmaps them", "none is needed"),
        ("mount", "kernel_rbd", "mounts file systems on these images on this machine", "umount"),
        ("umount", "kernel_rbd", "unmounts them", "none is needed"),
        ("rados bench", "pool_create", "writes objects into pools of its own", "removed with the pool"),
        ("rados cleanup", "pool_create", "removes the objects of rados bench", "cannot be undone"),
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
