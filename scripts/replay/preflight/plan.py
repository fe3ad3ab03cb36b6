"""What a measurement would do: designs, blocks, cells, hours, bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.paths import benchmarks_directory
from replay.cluster.cluster import CephCommandError
from replay.cluster.session import MonitorSession
from replay.cluster.site import LOCAL_HOSTS, Site, missing
from replay.design.design import CellSet, Design, digest_of, plan_digest
from replay.design.estimate import Estimate, Terms, reckon
from replay.design.expansion import expand
from replay.design.experiments import load_experiment_document
from replay.design.media import PoolCopies
from replay.design.plan_file import PlannedBlock
from replay.design.procedures import check_experiment, lacking
from replay.evidence import provenance
from replay.evidence.copies import ALTERED, CAMPAIGN, measured_as, read_stamp
from replay.evidence.documents import parse_json
from replay.evidence.history import History
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
    words = {word for one in configuration["variants"] for word in one.get("requires", ())}
    words |= set(configuration.get("requires", ()))
    return {
        "configuration": configuration,
        "missing": lacking(configuration["protocol"], site) | dict(missing(sorted(words), site)),
        "site_client_options": site.ceilings.client_options(),
    }


def raw_directory(data_set: str, experiment: str) -> Path:
    """Return the folder of an experiment's evidence."""
    return benchmarks_directory() / data_set / experiment / "raw"


def plans(data_set: str, designs: Iterable[Design], blocks: int | None = None) -> list[PlannedBlock]:
    """Return every block of the designs, repetition by repetition: within one, experiments take turns.

    Raises ConfigurationError if the data set cannot take them: a copy, or a data set at another scale.
    """
    refuse_copies(data_set)
    designs = [design for design in designs if design.sets]
    for design in designs:
        refuse_mixed_scales(data_set, design)
    found = [
        PlannedBlock(design.name, block, plan_digest(design, block))
        for design in designs
        for block in range(1, (blocks or design.blocks) + 1)
    ]
    return sorted(found, key=lambda plan: plan.block)


def refuse_copies(data_set: str) -> None:
    """Raise ConfigurationError if a data set was altered, or was measured under another name.

    New measurements would mix with figures that nobody measured, or with another campaign's.
    """
    folder = benchmarks_directory() / data_set
    if stamp := read_stamp(folder):
        raise ConfigurationError(
            f"Replay does not measure into altered data: this is {stamp.sentence()}",
            where=folder / ALTERED,
            next_step="measure into another data set: choose a new name with --data",
        )
    if (origin := measured_as(folder)) not in (None, folder.name):
        raise ConfigurationError(
            f"Replay does not measure into a copy: this was measured as {origin!r}",
            where=folder / CAMPAIGN,
            next_step=f"continue with --data {origin}, or choose a new name (or rename the folder back)",
        )


def refuse_mixed_scales(data_set: str, design: Design) -> None:
    """Raise ConfigurationError if the data set holds this experiment at another scale.

    A quick cell and a talk cell of the same point have different durations, so a median over both means nothing.
    """
    for path in sorted(raw_directory(data_set, design.name).glob("design-*.json")):
        recorded = parse_json(str(path), path.read_bytes())
        scale = recorded["scale"]
        # A design without cells only says that everything was skipped.
        if scale != design.scale and recorded["cells"]:
            raise ConfigurationError(
                f"this data set contains {design.name} at scale {scale}, not {design.scale}",
                where=path.parent.parent,
                next_step=f"measure into another data set, for example --data {data_set}-{design.scale}",
            )


def estimate(design: Design, data_set: str, blocks: Iterable[int], terms: Terms | None = None) -> Estimate:
    """Estimate what it takes to measure the missing sets of these blocks.

    The time comes from earlier blocks of this data set, if there are any. Client bytes are unknown before a pilot; the
    estimate assumes that a cell writes 64 MiB/s for its target time.
    """
    history = History(raw_directory(data_set, design.name))
    todo = [_missing(history, design, block) for block in blocks]
    return reckon(design, todo, history.receipts(), terms)


def terms_of(site: Site, copies: PoolCopies | None = None) -> Terms:
    """Return what a site adds to the estimates; `copies` are its pools', if its cluster was asked."""
    others = len(set(site.client_hosts) - LOCAL_HOSTS)
    return Terms(copies or PoolCopies(), site.ceilings.rate_bytes_per_second, others)


def _missing(history: History, design: Design, block: int) -> list[CellSet]:
    """Return the sets of a block that this host still has to measure."""
    if history.is_sealed(block, plan_digest(design, block)):
        return []
    return [
        one
        for one in design.sets
        if not history.is_measured(
            block, one.point, {cell.variant.name: cell.cell_id for cell in one.cells}, provenance.host()
        )
    ]


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
