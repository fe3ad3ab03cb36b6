"""A plan: the blocks to measure, and digests of what decides how, as a file for the jobs.

Pure, except for reading and writing the file. The file is outside `benchmarks/`, because it is not evidence.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.base.paths import replay_command
from replay.base.tables import json_text, write_if_changed
from replay.design.design import digest_of

SCHEMA_VERSION = 4


@dataclass(frozen=True)
class PlannedBlock:
    """One block of one experiment; `plan` is the digest that names its evidence."""

    experiment: str
    block: int
    plan: str


@dataclass(frozen=True)
class PlanFile:
    """What one run measures: on a site, into a data set.

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
        document = {"schema_version": SCHEMA_VERSION, **asdict(self)}
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
        if (version := document.pop("schema_version")) != SCHEMA_VERSION:
            raise ValueError(f"its schema_version is {version!r}, not {SCHEMA_VERSION}")
        blocks = tuple(PlannedBlock(**block) for block in document["blocks"])
        return PlanFile(**{**document, "only": tuple(document["only"]), "blocks": blocks})
    except FileNotFoundError:
        raise ConfigurationError("there is no such plan", where=path, next_step=_plan_again()) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"this is not a plan: {error!r}", where=path, next_step=_plan_again()) from None


def _plan_again() -> str:
    return f"plan again: {replay_command('measure', '--help')}"
