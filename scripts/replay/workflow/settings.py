"""Checks the Snakefile's `config` and provides what the rules need from it. Only reads; asks no cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snakemake.io import ancient

from replay.base.did_you_mean import suggestion
from replay.base.errors import ConfigurationError
from replay.base.paths import benchmarks_directory, config_directory, program_file
from replay.config.claims_file import claims_path
from replay.config.documents import validate_values
from replay.design.plan_file import PlanFile, read_plan_file
from replay.raw.layout import SEALED_BLOCK, data_sets_in, experiments_in, recorded_in, sealed_block, sealed_blocks
from replay.workflow.snakemake import rule_path


@dataclass(frozen=True)
class Settings:
    """The scope of a workflow run: data sets, their selected experiments (empty: all), a plan to measure."""

    data_sets: tuple[str, ...]
    experiments: tuple[str, ...]
    plan: PlanFile | None
    #: As it was given: a job, perhaps on another host, reads it there.
    plan_file: str
    #: Whether data sets were named, rather than being all that there are.
    named: bool

    def planned_blocks(self) -> list[str]:
        """Return what measuring creates: the sealed blocks of the plan."""
        plan = self.plan
        return [_path(sealed_block(_raw(plan.data_set, one.experiment), one.block, one.plan)) for one in plan.blocks]

    def described(self, file: str) -> list[str]:
        """Return a file of each data set, such as its manifest."""
        return [_path(benchmarks_directory() / name / file) for name in self.data_sets]

    def of_experiments(self, data_set: str, file: str) -> list[str]:
        """Return a file of each experiment of a data set that has raw output or will be measured."""
        names = set(experiments_in(benchmarks_directory() / data_set))
        if self.plan and self.plan.data_set == data_set:
            names |= {one.experiment for one in self.plan.blocks}
        return [_path(benchmarks_directory() / data_set / name / file) for name in sorted(names)]

    def sources(self, data_set: str, experiment: str) -> list[str]:
        """Return the inputs of an experiment: its evidence, and the configuration that names its metrics.

        They are `ancient` for experiments that were not selected, whose last derivation is kept.
        """
        paths = [*self._evidence(data_set, experiment), *experiment_files(experiment)]
        return [ancient(path) for path in paths] if self.experiments and experiment not in self.experiments else paths

    def _evidence(self, data_set: str, experiment: str) -> list[str]:
        """Return what says what was recorded, and the sealed blocks, those of the plan included.

        Of an experiment that is measured first, an open block is none of them: it will have been sealed.
        """
        raw = _raw(data_set, experiment)
        blocks = [_path(path) for path in sealed_blocks(raw)]
        measured_first = self.plan is not None and any(one.experiment == experiment for one in self.plan.blocks)
        recorded = [path for path in recorded_in(raw) if path.parent == raw or not measured_first]
        if self.plan:
            blocks += [
                path for path in self.planned_blocks() if path.startswith(f"{_path(raw)}/") and path not in blocks
            ]
        return [*map(_path, recorded), *blocks]


def read_settings(config: Mapping[str, Any]) -> Settings:
    """Return the settings in Snakemake's `config`.

    Raises ConfigurationError for an unknown key, data set or experiment, and for a plan that cannot be read.
    """
    schema = program_file("schemas", "workflow.schema.json")
    config = {key: str(value) if key in ("data", "plan_file") else value for key, value in config.items()}
    validate_values(config, "--config", schema)
    plan = read_plan_file(Path(config["plan_file"])) if "plan_file" in config else None
    known = data_sets_in(benchmarks_directory())
    data = config.get("data", plan.data_set if plan else None)
    if data is not None and data not in known and not (plan and plan.data_set == data):
        raise _unknown("data", data, known)
    data_sets = tuple(known) if data is None else (data,)
    experiments = config.get("experiment", [])
    experiments = (experiments,) if isinstance(experiments, str) else tuple(experiments)
    measured = sorted({name for one in data_sets for name in experiments_in(benchmarks_directory() / one)})
    for name in experiments:
        if name not in measured and not plan:
            raise _unknown("experiment", name, measured)
    return Settings(data_sets, experiments, plan, config.get("plan_file", ""), data is not None)


def block_pattern() -> str:
    """Return the path of a sealed block, with Snakemake's wildcards in it."""
    return f"{experiment_pattern('raw')}/{SEALED_BLOCK}"


def experiment_pattern(file: str) -> str:
    """Return the path of a file of an experiment, with Snakemake's wildcards in it."""
    return f"{data_set_pattern('{experiment}')}/{file}"


def data_set_pattern(file: str) -> str:
    """Return the path of a file of a data set, with Snakemake's wildcards in it."""
    return f"{_path(benchmarks_directory())}/{{data}}/{file}"


def origin_files(data_set: str) -> list[str]:
    """Return the existing files that record a data set's origin."""
    files = [benchmarks_directory() / data_set / name for name in ("campaign.json", "altered.json")]
    return [_path(path) for path in files if path.exists()]


def experiment_files(experiment: str = "*") -> list[str]:
    """Return the configuration of an experiment, or of all."""
    return sorted(_path(path) for path in (config_directory() / "experiments").glob(f"{experiment}.yaml"))


def claims_files() -> list[str]:
    """Return the file of the claims; nothing if the talk makes none."""
    return [_path(claims_path())] if claims_path().exists() else []


def _unknown(key: str, name: str, known: list[str]) -> ConfigurationError:
    return ConfigurationError(f"{key}: {name!r} has no raw output", where="--config", next_step=suggestion(name, known))


def _raw(data_set: str, experiment: str) -> Path:
    return benchmarks_directory() / data_set / experiment / "raw"


def _path(path: Path) -> str:
    return rule_path(path, Path.cwd())


def deck_files(root: Path) -> list[str]:
    """Return the deck's sources, from which the site is built."""
    patterns = ("index.html", "slides/*.md", "css/*.css", "deck/**/*.js", "plugins/*/src/**/*.js")
    return sorted(_path(path) for pattern in patterns for path in root.glob(pattern))
