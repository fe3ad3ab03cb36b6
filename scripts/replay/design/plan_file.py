"""A plan: the blocks to measure and their designs, expanded once, as a file for the jobs.

Pure, except for reading and writing the file. The file is outside `benchmarks/`, because it is not evidence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.paths import replay_command
from replay.base.tables import json_text, write_if_changed
from replay.design.design import Cell, CellSet, Design, Image, Sizing, Skip, Variant, digest_of

SCHEMA_VERSION = 3


@dataclass(frozen=True)
class PlannedBlock:
    """One block of one experiment; `plan` is the digest that names its evidence."""

    experiment: str
    block: int
    plan: str


@dataclass(frozen=True)
class PlanFile:
    """What one run measures: on a site, into a data set. `sources` holds a digest of each design's source."""

    site: str
    data_set: str
    scale: str
    designs: Mapping[str, Design]
    sources: Mapping[str, str]
    blocks: tuple[PlannedBlock, ...]
    #: A digest of the site as a signed plan describes it; empty if the run follows none.
    locked_to: str = ""

    def write(self, folder: Path) -> Path:
        """Write the plan into a folder, under a name that contains its digest; return the path."""
        document = {
            "schema_version": SCHEMA_VERSION,
            "site": self.site,
            "data_set": self.data_set,
            "scale": self.scale,
            "sources": dict(self.sources),
            "blocks": [asdict(block) for block in self.blocks],
            "designs": {name: design_document(design) for name, design in self.designs.items()},
            "locked_to": self.locked_to,
        }
        path = folder / f"{self.data_set}-{digest_of(document)}.json"
        write_if_changed(path, json_text(document))  # keep the order of keys: tools get their options in that order
        return path

    def of(self, experiments: Sequence[str]) -> PlanFile:
        """Return the part of the plan for some experiments."""
        blocks = tuple(block for block in self.blocks if block.experiment in experiments)
        names = dict.fromkeys(block.experiment for block in blocks)
        return replace(
            self,
            designs={name: self.designs[name] for name in names},
            sources={name: self.sources[name] for name in names},
            blocks=blocks,
        )

    def design_of(self, experiment: str, block: int, plan: str) -> Design:
        """Return the design of a planned block. Raises ConfigurationError if the plan has no such block."""
        if PlannedBlock(experiment, block, plan) not in self.blocks:
            raise ConfigurationError(f"the plan has no block {block} of {experiment}", next_step=_plan_again())
        return self.designs[experiment]


def read_plan_file(path: Path) -> PlanFile:
    """Return the plan in a file. Raises ConfigurationError if there is none."""
    try:
        document = json.loads(path.read_bytes())
        if document["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"its schema_version is {document['schema_version']!r}, not {SCHEMA_VERSION}")
        return PlanFile(
            document["site"],
            document["data_set"],
            document["scale"],
            {name: design_from(design) for name, design in document["designs"].items()},
            document["sources"],
            tuple(PlannedBlock(**block) for block in document["blocks"]),
            document["locked_to"],
        )
    except FileNotFoundError:
        raise ConfigurationError("there is no such plan", where=path, next_step=_plan_again()) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"this is not a plan: {error!r}", where=path, next_step=_plan_again()) from None


def _plan_again() -> str:
    return f"plan again: {replay_command('measure', '--help')}"


def design_document(design: Design) -> dict[str, Any]:
    """Return a design as JSON data; `design_from` restores it. Cells name their variant."""
    document = asdict(design)
    for cell_set in (*document["sets"], *document["left_out"]):
        for cell in cell_set["cells"]:
            cell["variant"] = cell["variant"]["name"]
    return document


def design_from(document: Mapping[str, Any]) -> Design:
    """Return the design that `design_document` stored. Raises KeyError or TypeError for anything else."""
    variants = {variant["name"]: _variant(variant) for variant in document["variants"]}

    def cell_sets(key: str) -> tuple[CellSet, ...]:
        found = []
        for one in document[key]:
            cells = tuple(Cell(**{**cell, "variant": variants[cell["variant"]]}) for cell in one["cells"])
            found.append(CellSet(one["point"], one["levels"], cells))
        return tuple(found)

    restored = {
        "factors": {name: tuple(levels) for name, levels in document["factors"].items()},
        "sizing": Sizing(**document["sizing"]),
        "variants": tuple(variants.values()),
        "sets": cell_sets("sets"),
        "left_out": cell_sets("left_out"),
        "skipped": tuple(Skip(**skip) for skip in document["skipped"]),
    }
    return Design(**{**document, **restored})


def _variant(document: Mapping[str, Any]) -> Variant:
    image = document["image"]
    return Variant(
        **{
            **document,
            "image": Image(**{**image, "features": tuple(image["features"])}),
            "requires": tuple(document["requires"]),
        }
    )
