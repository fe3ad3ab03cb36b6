"""What a measuring run would do: cells, hours, bytes; and the plan files that Snakemake's jobs read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.base.invocation import replay_command
from replay.base.paths import benchmarks_directory, working_directory
from replay.cluster.site import Site, missing
from replay.config.experiments import load_experiment_document
from replay.design.design import CellSet, Design, canonical_json, plan_digest
from replay.design.estimate import Estimate, reckon
from replay.design.expansion import expand
from replay.design.procedures import check_experiment, lacking
from replay.raw.copies import ALTERED, CAMPAIGN, measured_as, read_stamp
from replay.raw.evidence import is_measured, read_json


def design_for(site: Site, name: str, scale: str) -> Design:
    """Return an experiment's design on a site: what the site lacks is skipped with the missing word."""
    document = load_experiment_document(name)
    configuration = document.data
    check_experiment(configuration, document.where)
    words = {word for one in configuration["variants"] for word in one.get("requires", ())}
    words |= set(configuration.get("requires", ()))
    return expand(
        configuration,
        scale,
        missing=lacking(configuration["protocol"], site) | dict(missing(sorted(words), site)),
        site_client_options=site.ceilings.client_options(),
    )


@dataclass(frozen=True)
class BlockPlan:
    """One block of one experiment, as one Snakemake job runs it."""

    site: str
    data_set: str
    experiment: str
    scale: str
    block: int
    digest: str

    @property
    def receipt(self) -> Path:
        """The file that says that the block is complete for this plan."""
        raw = raw_directory(self.data_set, self.experiment)
        return raw / f"block-{self.block:02d}" / f"receipt-{self.digest}.json"

    @property
    def path(self) -> Path:
        """Where the plan is written for the job: outside of `benchmarks/`, since it is no evidence."""
        return working_directory() / "plans" / f"{self.data_set}-{self.experiment}-{self.block:02d}-{self.digest}.json"

    def write(self) -> None:
        """Write the plan for the job that runs it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(canonical_json(self.__dict__) + "\n")


def raw_directory(data_set: str, experiment: str) -> Path:
    """Return the folder of an experiment's evidence."""
    return benchmarks_directory() / data_set / experiment / "raw"


def plans(site: Site, data_set: str, scale: str, names: Iterable[str], blocks: int | None = None) -> list[BlockPlan]:
    """Return every block of the named experiments, block by block: experiments take turns within a repetition.

    Raises ConfigurationError where the data set cannot take them: a copy, or one that holds another scale.
    """
    refuse_copies(data_set)
    designs = [design_for(site, name, scale) for name in names]
    designs = [design for design in designs if design.sets]
    for design in designs:
        refuse_mixed_scales(data_set, design)
    found = [
        BlockPlan(site.name, data_set, design.name, scale, block, plan_digest(design, block))
        for design in designs
        for block in range(1, (blocks or design.blocks) + 1)
    ]
    return sorted(found, key=lambda plan: plan.block)


def refuse_copies(data_set: str) -> None:
    """Raise ConfigurationError where a data set was altered, or was measured under another name.

    What is measured now would stand beside figures that nobody measured, or that another campaign did.
    """
    folder = benchmarks_directory() / data_set
    if stamp := read_stamp(folder):
        raise ConfigurationError(
            f"nothing is measured into altered data: this is {stamp.sentence()}",
            where=folder / ALTERED,
            next_step="measure into a data set of its own: choose another name with --data",
        )
    if (origin := measured_as(folder)) not in (None, folder.name):
        raise ConfigurationError(
            f"nothing is measured into a copy: this was measured as {origin!r}",
            where=folder / CAMPAIGN,
            next_step=f"go on with --data {origin}, or choose a new name (a renamed folder: give it back its name)",
        )


def refuse_mixed_scales(data_set: str, design: Design) -> None:
    """Raise ConfigurationError where the data set holds this experiment at another scale.

    A quick cell and a talk cell of one point last differently: a median over both would mean nothing.
    """
    for path in sorted(raw_directory(data_set, design.name).glob("design-*.json")):
        recorded = read_json(path)
        scale = recorded["scale"]
        # A design without cells says only that all of it was skipped.
        if scale != design.scale and recorded["cells"]:
            raise ConfigurationError(
                f"this data set holds {design.name} at scale {scale}, not {design.scale}",
                where=path.parent.parent,
                next_step=f"measure into another data set, for example --data {data_set}-{design.scale}",
            )


def read_plan(data_set: str, experiment: str, block: int, digest: str) -> BlockPlan:
    """Read the plan of a job. Raises ConfigurationError when there is none, or when the design has changed since."""
    refuse_copies(data_set)
    wanted = BlockPlan("", data_set, experiment, "", block, digest)
    try:
        return BlockPlan(**json.loads(wanted.path.read_text()))
    except FileNotFoundError as error:
        raise ConfigurationError(
            "this block was never planned",
            where=wanted.path,
            next_step=f"start with: {replay_command('measure', '--help')}",
        ) from error


def estimate(design: Design, data_set: str, blocks: Iterable[int], *, replicas: int = 3) -> Estimate:
    """Estimate what measuring the missing sets of these blocks takes.

    Time is what sets took in earlier blocks of this data set, where there are any. Client bytes cannot be known before
    a pilot; a cell is taken to write 64 MiB/s for its target time.
    """
    raw = raw_directory(data_set, design.name)
    todo = [[one for one in design.sets if not _is_measured(raw, block, one)] for block in blocks]
    receipts = [read_json(path) for path in sorted(raw.glob("block-*/receipt-*.json"))]
    return reckon(design, todo, receipts, replicas=replicas)


def _is_measured(raw: Path, block: int, one: CellSet) -> bool:
    return is_measured(raw, block, one.point, {cell.variant.name: cell.cell_id for cell in one.cells})
