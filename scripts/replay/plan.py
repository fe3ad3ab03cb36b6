"""What a measuring run would do: cells, hours, bytes; and the plan files that Snakemake's jobs read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from replay.adapters import tool_names
from replay.ceilings import media_bytes
from replay.configuration import load_validated
from replay.copies import ALTERED, CAMPAIGN, measured_as, read_stamp
from replay.design import Cell, CellSet, Design, Image, canonical_json, plan_digest
from replay.errors import ConfigurationError
from replay.evidence import is_measured, read_json
from replay.expansion import expand
from replay.paths import ROOT, benchmarks_directory, config_directory
from replay.protocols import lacking, protocol_class, protocol_names
from replay.site import Site, missing

#: For the estimate before anything was measured: seconds until an image is there, seconds per MiB that fills it, and
#: seconds until the second cluster is level after a write. Measured on a sandbox; the rest is the protocols' own.
IMAGE_SECONDS = 1.0
FILL_SECONDS_PER_MEBIBYTE = 0.004
MIRRORED_WRITE_WAIT_SECONDS = 6.0
#: What a client is taken to write before a pilot has told.
ASSUMED_BYTES_PER_SECOND = 64 << 20


def experiment_names() -> list[str]:
    """Return the names of all configured experiments."""
    return sorted(path.stem for path in (config_directory() / "experiments").glob("*.yaml"))


def load_experiment(name: str) -> dict[str, Any]:
    """Read and check `config/experiments/<name>.yaml`. Raises ConfigurationError naming file, key and what is wrong."""
    path = config_directory() / "experiments" / f"{name}.yaml"
    if not path.exists():
        raise ConfigurationError(
            f"no experiment {name!r}", where=path, next_step=f"experiments: {', '.join(experiment_names())}"
        )
    configuration = load_validated(path, ROOT / "config" / "schemas" / "experiment.schema.json")
    if configuration["name"] != name:
        raise ConfigurationError(f"name: {configuration['name']!r} is not the file's name {name!r}", where=path)
    for key, known in (("protocol", protocol_names()), ("tool", tool_names())):
        if configuration[key].replace("-", "_") not in known:
            raise ConfigurationError(
                f"{key}: there is no {configuration[key]!r}", where=path, next_step=f"one of {', '.join(known)}"
            )
    return configuration


def design_for(site: Site, name: str, scale: str) -> Design:
    """Return an experiment's design on a site: what the site lacks is skipped with the missing word."""
    configuration = load_experiment(name)
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
        return ROOT / ".replay" / "plans" / f"{self.data_set}-{self.experiment}-{self.block:02d}-{self.digest}.json"

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
            "this block was never planned", where=wanted.path, next_step="start with: npm run measure -- --help"
        ) from error


@dataclass(frozen=True)
class Estimate:
    """What is left to do: cells, seconds, bytes that clients write, bytes that reach media (copies and journals).

    `earlier_blocks` is how many blocks of the data set told the seconds; 0 where the design alone did.
    """

    cells: int = 0
    cells_in_all: int = 0
    seconds: float = 0.0
    client_bytes: float = 0.0
    media_bytes: float = 0.0
    earlier_blocks: int = 0

    def __add__(self, other: Estimate) -> Estimate:
        """Return what is left to do of both."""
        return Estimate(*(one + another for one, another in zip(astuple(self), astuple(other), strict=True)))


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


def reckon(
    design: Design, todo: Sequence[Sequence[CellSet]], receipts: Iterable[Mapping[str, Any]], *, replicas: int = 3
) -> Estimate:
    """Estimate what measuring `todo` takes, the sets of each block that are missing. Pure.

    `receipts` are those of blocks measured before: of this experiment, at any scale.
    """
    protocol = design.configuration["protocol"]
    per_set = seconds_per_set(receipts, design.scale, sized_once=protocol_class(protocol).pilot_share > 0)
    blocks = [[cell for one in sets for cell in one.cells] for sets in todo]
    client = media = 0.0
    for cells in blocks:
        for cell in filter(_writes, cells):
            written = ASSUMED_BYTES_PER_SECOND * design.sizing.target_seconds
            client += written
            media += media_bytes(written, replicas=replicas, journaled="journaling" in cell.variant.image.features)
        for image in _images(protocol, cells):
            client += image.size_bytes
            media += media_bytes(image.size_bytes, replicas=replicas)
    if per_set:
        seconds = median(per_set) * sum(len(sets) for sets in todo)
    else:
        seconds = sum(seconds_by_design(design, cells, first=number == 0) for number, cells in enumerate(blocks))
    left, in_all = sum(map(len, blocks)), len(blocks) * sum(len(one.cells) for one in design.sets)
    return Estimate(left, in_all, seconds, client, media, len(per_set) if left else 0)


def seconds_per_set(receipts: Iterable[Mapping[str, Any]], scale: str, *, sized_once: bool) -> list[float]:
    """Return what a set took on average, of each block that receipts at this scale tell of: with waits and cleaning up.

    `sized_once` leaves out pilots, which are not run again. A block in which nothing was left to do tells nothing.
    """
    told = [one for one in receipts if one["scale"] == scale and one["sets_measured_in_this_sitting"]]
    return [
        (one["costs_seconds"]["total"] - (one["costs_seconds"].get("pilot", 0.0) if sized_once else 0.0))
        / one["sets_measured_in_this_sitting"]
        for one in told
    ]


def seconds_by_design(design: Design, cells: Sequence[Cell], *, first: bool) -> float:
    """Return what a block with these cells takes by its design alone; the `first` one also sizes them."""
    name = design.configuration["protocol"]
    protocol, target = protocol_class(name), design.sizing.target_seconds
    each = target * (1 + (protocol.pilot_share if first else 0.0)) + protocol.overhead_seconds
    mirrored = sum(_writes(cell) and cell.variant.image.mirroring is not None for cell in cells)
    filling = sum(
        IMAGE_SECONDS + image.size_bytes / 2**20 * FILL_SECONDS_PER_MEBIBYTE * (2 if image.mirroring else 1)
        for image in _images(name, cells)
    )
    return each * len(cells) + MIRRORED_WRITE_WAIT_SECONDS * mirrored + filling


def _writes(cell: Cell) -> bool:
    return "write" in str(cell.levels.get("io_type", cell.levels.get("mode", "write")))


def _images(protocol: str, todo: Sequence[Cell]) -> list[Image]:
    """Return a block's images: one per variant, or as many as `clients` or `images` say; or one per cell.

    Experiments without images have variants with one of no size: it is left out.
    """
    if protocol in ("failover", "mirror_lag"):
        return [cell.variant.image for cell in todo]
    most: dict[str, tuple[Image, int]] = {}
    for cell in todo:
        name, count = cell.variant.image_name, int(cell.levels.get("clients", cell.levels.get("images", 1)))
        most[name] = (cell.variant.image, max(count, most[name][1] if name in most else 0))
    return [image for image, count in most.values() if image.size_bytes for _ in range(count)]
