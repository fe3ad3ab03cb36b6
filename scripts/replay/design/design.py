"""Designs: cells, sets and blocks, in a reproducible random order; and plans, the blocks that a run measures, as files.

A *cell* is one combination of levels; a *set* is every variant of one point; a *block* is every set once.
The order comes from sorting by a hash of (seed, name): a uniformly random permutation in which existing sets keep their
order when a level is added (Fisher-Yates over a longer list would reshuffle everything).

Pure, except for reading and writing a plan's file. `expansion` creates designs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.paths import replay_command
from replay.base.tables import json_text, write_if_changed

#: Only some experiments have the last two: what tests the lead talk's headline again in an hour, and what
#: `replay interleave` compares releases by.
SCALES = ("smoke", "quick", "talk", "replicate", "headline")
DEFAULT_SCALE = "quick"

#: What a recorded design says as its experiment does. Only some have `ceilings`: the digests of others stay the same.
_AS_CONFIGURED = ("title", "protocol", "tool", "sources", "workload_factors", "metrics", "ceilings")


def canonical_json(value: Any) -> str:
    """Return the canonical JSON text of `value`: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest_of(value: Any, digits: int = 12) -> str:
    """Return the first hexadecimal digits of the SHA-256 of the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:digits]


@dataclass(frozen=True)
class Image:
    """Geometry and features of a block device image, and how it is mirrored (None, "journal" or "snapshot")."""

    size_bytes: int
    object_size_bytes: int
    features: tuple[str, ...]
    mirroring: str | None = None


@dataclass(frozen=True)
class Sizing:
    """How long a cell lasts: a target for its pilot, and the duration below which it is invalid."""

    target_seconds: float
    minimum_seconds: float
    minimum_operations: int


@dataclass(frozen=True)
class Variant:
    """A level of the factor under comparison."""

    name: str
    label: str
    image_name: str
    image: Image
    client_options: Mapping[str, str]
    levels: Mapping[str, Any] = field(default_factory=dict)
    reference: bool = False
    control: bool = False
    requires: tuple[str, ...] = ()
    #: The variant whose pilot sizes this one's cells; its own name where it has a pilot of its own.
    size_of: str = ""


@dataclass(frozen=True)
class Cell:
    """One variant of one point. `cell_id` is a digest of everything that affects its measurement."""

    cell_id: str
    point: str
    variant: Variant
    levels: Mapping[str, Any]


@dataclass(frozen=True)
class CellSet:
    """All variants of one point, in the design's order (each block and attempt draws its own running order)."""

    point: str
    levels: Mapping[str, Any]
    cells: tuple[Cell, ...]

    @property
    def by_variant(self) -> dict[str, Cell]:
        """The cells by the variant's name."""
        return {cell.variant.name: cell for cell in self.cells}


@dataclass(frozen=True)
class Skip:
    """A variant, or the whole experiment (variant None), that a site cannot measure, with the missing word."""

    variant: str | None
    requires: str
    detail: str


@dataclass(frozen=True)
class Design:
    """An experiment at one scale on one site."""

    name: str
    scale: str
    blocks: int
    configuration: Mapping[str, Any]
    options: Mapping[str, Any]
    factors: Mapping[str, tuple[Any, ...]]
    sizing: Sizing
    variants: tuple[Variant, ...]
    sets: tuple[CellSet, ...]
    skipped: tuple[Skip, ...]
    #: Sets of the design that this run does not measure: `--only`. They are no less part of the design.
    left_out: tuple[CellSet, ...] = ()

    @property
    def all_sets(self) -> tuple[CellSet, ...]:
        return (*self.sets, *self.left_out)

    def public(self) -> dict[str, Any]:
        """Return the content of `raw/design-<digest>.json`: all that derive needs, and nothing about the site."""
        raw = self.configuration
        return {
            "schema_version": 1,
            "experiment": self.name,
            "scale": self.scale,
            # This tells readers of an unfinished measurement how much of it is there.
            "blocks": self.blocks,
            **{key: raw[key] for key in _AS_CONFIGURED if key in raw},
            **{key: raw.get(key) for key in ("x_factor", "x_label", "x_unit")},
            "factors": {name: list(levels) for name, levels in self.factors.items()},
            "options": dict(self.options),
            "target_seconds": self.sizing.target_seconds,
            **self._image_geometry(),
            "variants": [self._public_variant(variant) for variant in self.variants],
            "ratio_direction": raw.get("ratio_direction", "reference/variant"),
            "cells": {
                cell.cell_id: {"point": cell.point, "variant": cell.variant.name, "levels": dict(cell.levels)}
                for cell_set in self.all_sets
                for cell in cell_set.cells
            },
            "skipped": [asdict(skip) for skip in self.skipped],
        }

    def _image_geometry(self) -> dict[str, int]:
        """Return the size of the images, and that of their objects unless it differs, if the experiment has images."""
        if "image" not in self.configuration or not self.variants:
            return {}
        sizes = {"image_size_bytes": self.variants[0].image.size_bytes}
        if not self._object_sizes_differ():
            sizes["object_size_bytes"] = self.variants[0].image.object_size_bytes
        return sizes

    def _public_variant(self, variant: Variant) -> dict[str, Any]:
        public = {name: getattr(variant, name) for name in ("name", "label", "reference", "control")}
        if self._object_sizes_differ():
            public["object_size_bytes"] = variant.image.object_size_bytes
        return public

    def _object_sizes_differ(self) -> bool:
        return len({variant.image.object_size_bytes for variant in self.variants}) > 1

    def title_of_block(self, block: int) -> str:
        """Return a block's title for people; a run may have more blocks than the scale asks for."""
        return f"{self.name} block {block}" + (f" of {self.blocks}" if block <= self.blocks else "")

    @property
    def digest(self) -> str:
        """Digest of the public design; names its file."""
        return digest_of(self.public())


def within(levels: Mapping[str, Any], limits: Mapping[str, Iterable[Any]]) -> bool:
    """Return whether each factor that is limited has one of the allowed levels."""
    return all(levels.get(factor) in allowed for factor, allowed in limits.items())


def plan_digest(design: Design, block: int) -> str:
    """Return the digest that names a block's receipt. It covers only the block's number and the cells of its sets."""
    return digest_of({"block": block, "cells": sorted(c.cell_id for s in design.sets for c in s.cells)})


def block_seed(data_set: str, experiment: str, block: int) -> int:
    """Return the seed of a block. It depends only on the block's name, so that a dry run shows the real order."""
    return int(digest_of([data_set, experiment, block], 8), 16)


def shuffled(names: Iterable[str], *key: Any) -> list[str]:
    """Return `names` in the random order that `key` (the seed and what is being ordered) determines."""
    return sorted(names, key=lambda name: digest_of([*key, name], 64))


def order_of_sets(design: Design, seed: int) -> list[CellSet]:
    """Return the design's sets in the block's random order.

    Levels of a hard-to-change factor are randomised as whole plots: sets that share them stay together.
    """
    hard = tuple(design.configuration.get("hard_to_change", ()))

    def key(cell_set: CellSet) -> tuple[str, ...]:
        plots = tuple(digest_of([seed, factor, cell_set.levels[factor]], 64) for factor in hard)
        return (*plots, digest_of([seed, "set", cell_set.point], 64))

    return sorted(design.sets, key=key)


def order_of_cells(cell_set: CellSet, seed: int, attempt: int) -> list[Cell]:
    by_variant = cell_set.by_variant
    return [by_variant[name] for name in shuffled(by_variant, seed, cell_set.point, attempt)]


# A plan, for the jobs -------------------------------------------------------------------------------------------------

PLAN_SCHEMA_VERSION = 4


@dataclass(frozen=True)
class PlannedBlock:
    """One block of one experiment; `plan` is the digest that names its evidence."""

    experiment: str
    block: int
    plan: str


@dataclass(frozen=True)
class PlanFile:
    """What one run measures: on a site, into a data set. Its file is outside `benchmarks/`: it is not evidence.

    `only` narrows the experiments to some levels, each `FACTOR=LEVEL`. `sources` has a digest of what decides how each
    experiment is measured: a job expands its design again, and refuses another one.
    """

    site: str
    data_set: str
    scale: str
    only: tuple[str, ...]
    sources: Mapping[str, str]
    blocks: tuple[PlannedBlock, ...]
    #: A digest of the site as a signed plan describes it; empty if the run follows none.
    locked_to: str = ""

    def write(self, folder: Path) -> Path:
        """Write the plan into a folder, under a name that contains its digest; return the path."""
        document = {"schema_version": PLAN_SCHEMA_VERSION, **asdict(self)}
        path = folder / f"{self.data_set}-{digest_of(document)}.json"
        write_if_changed(path, json_text(document))
        return path

    def of(self, experiments: Sequence[str]) -> PlanFile:
        """Return the part of the plan for some experiments."""
        blocks = tuple(block for block in self.blocks if block.experiment in experiments)
        names = dict.fromkeys(block.experiment for block in blocks)
        return replace(self, sources={name: self.sources[name] for name in names}, blocks=blocks)

    def check(self, block: PlannedBlock) -> None:
        """Raise ConfigurationError if the plan has no such block."""
        if block not in self.blocks:
            raise ConfigurationError(
                f"the plan has no block {block.block} of {block.experiment}", next_step=_plan_again()
            )


def read_plan_file(path: Path) -> PlanFile:
    """Return the plan in a file. Raises ConfigurationError if there is none."""
    try:
        document = json.loads(path.read_bytes())
        if (version := document.pop("schema_version")) != PLAN_SCHEMA_VERSION:
            raise ValueError(f"its schema_version is {version!r}, not {PLAN_SCHEMA_VERSION}")
        blocks = tuple(PlannedBlock(**block) for block in document["blocks"])
        return PlanFile(**{**document, "only": tuple(document["only"]), "blocks": blocks})
    except FileNotFoundError:
        raise ConfigurationError("there is no such plan", where=path, next_step=_plan_again()) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"this is not a plan: {error!r}", where=path, next_step=_plan_again()) from None


def _plan_again() -> str:
    return f"plan again: {replay_command('measure', '--help')}"
