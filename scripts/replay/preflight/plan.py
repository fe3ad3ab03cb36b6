"""What a measurement would do: designs, blocks, cells, hours, bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any

from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.cluster.site import LOCAL_HOSTS, Site, missing
from replay.design.configuration import load_experiment_document
from replay.design.design import Design, digest_of, plan_digest
from replay.design.expansion import expand
from replay.design.needs import check_experiment, lacking
from replay.design.plan_file import PlannedBlock
from replay.design.sizing import Estimate, PoolCopies, Terms, reckon
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


def estimate(design: Design, data_set: str, blocks: Iterable[int], terms: Terms | None = None) -> Estimate:
    """Estimate what it takes to measure the missing sets of these blocks.

    The time comes from earlier blocks of this data set, if there are any. Client bytes are unknown before a pilot; the
    estimate assumes that a cell writes 64 MiB/s for its target time.
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
