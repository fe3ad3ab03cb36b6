"""Checks the Snakefile's `config` and provides what the rules need from it. Only reads; asks no cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snakemake.io import ancient

from replay.base.did_you_mean import suggestion
from replay.base.errors import ConfigurationError
from replay.base.paths import benchmarks_directory, config_directory, program_file
from replay.base.releases import older_releases
from replay.base.snakemake import rule_path
from replay.claims.workflow.notes import ANSWERED, ANSWERING, DESCRIBING, JUDGED, JUDGING, Step
from replay.derive.part import PART, noted_part, state_of
from replay.design.documents import validate_values
from replay.design.plan_file import PlanFile, read_plan_file
from replay.design.talk_files import answer_path, claims_path
from replay.evidence.layout import SEALED_BLOCK, data_sets_in, experiments_in, recorded_in, sealed_block, sealed_blocks

#: A marker for a step whose note no longer fits what is there: the rule `changed` makes it for the time of one run.
CHANGED = ".replay/changed/{step}"


@dataclass(frozen=True)
class Settings:
    """The scope of a workflow run: data sets, their selected experiments (empty: all), a plan to measure."""

    data_sets: tuple[str, ...]
    experiments: tuple[str, ...]
    plan: PlanFile | None
    #: As it was given: a job reads it at this path, perhaps on another host.
    plan_file: str
    #: Whether data sets were named; if not, these are all that exist.
    named: bool

    def planned_blocks(self) -> list[str]:
        """Return what measuring creates: the blocks of the plan that are not sealed yet.

        A sealed block is evidence. No rule may create it, so that not even `--forceall` runs, removes or replaces it.
        """
        if self.plan is None:
            return []
        blocks = [
            sealed_block(_raw(self.plan.data_set, one.experiment), one.block, one.plan) for one in self.plan.blocks
        ]
        return [_path(block) for block in blocks if not block.exists()]

    def planned_pattern(self) -> str:
        """Return a regular expression for the wildcard `data` that only matches in paths of `planned_blocks`."""
        start = len(_path(benchmarks_directory())) + 1
        paths = [re.escape(block[start:]) for block in self.planned_blocks()]
        return f"(?=(?:{'|'.join(paths)})$)[^/]+" if paths else "(?!)"

    def described(self, file: str) -> list[str]:
        """Return a file of each data set, such as its manifest."""
        return [_path(benchmarks_directory() / name / file) for name in self.data_sets]

    def of_experiments(self, data_set: str, file: str) -> list[str]:
        """Return a file of each experiment of a data set that has raw output or will be measured."""
        return [_path(benchmarks_directory() / data_set / name / file) for name in self._names(data_set)]

    def _names(self, data_set: str) -> list[str]:
        names = set(experiments_in(benchmarks_directory() / data_set))
        if self.plan and self.plan.data_set == data_set:
            names |= {one.experiment for one in self.plan.blocks}
        return sorted(names)

    def sources(self, data_set: str, experiment: str) -> list[str]:
        """Return the inputs of an experiment: its evidence, and the configuration that names its metrics.

        They are `ancient` for experiments that were not selected, whose last derivation is kept.
        """
        paths = [*self._evidence(data_set, experiment), *experiment_files(experiment)]
        if not self._is_selected(experiment):
            return [ancient(path) for path in paths]
        directory = benchmarks_directory() / data_set / experiment
        return self._asked(
            paths,
            current=not self._is_due(data_set, experiment),
            noted=(directory / PART).exists() and noted_part(directory) is None,
            changed=lambda: f"{data_set}-{experiment}-{state_of(directory)[:12]}",
        )

    def judged_from(self, data_set: str) -> list[str]:
        """Return the inputs of the verdicts: all tables, the claims, and the configuration of experiments."""
        return self._from_tables(data_set, claims_files(), JUDGING)

    def answered_from(self, data_set: str) -> list[str]:
        """Return the inputs of answer.csv: all tables, and the configuration that it is made by."""
        return self._from_tables(data_set, answer_files(), ANSWERING)

    def described_from(self, data_set: str) -> list[str]:
        """Return the inputs of a data set's description: what was derived and judged, and where it comes from.

        These include the manifests of older releases that this run derives as well, so that they are written before.
        """
        folder = benchmarks_directory() / data_set
        said = [file for step, files in _steps_before() for file in files]
        paths = [*self.of_experiments(data_set, PART), *(_path(folder / file) for file in said)]
        paths += [*claims_files(), *answer_files(), *experiment_files()]
        older = [one for one in older_releases(folder) if one.name in self.data_sets]
        paths += [_path(one / "manifest.json") for one in older]
        upstream = self._derived_due(data_set) or any(
            self._derived_due(one.name) or not DESCRIBING.is_current(one) for one in older
        )
        return self._of_whole(data_set, [*paths, *origin_files(data_set)], DESCRIBING, upstream=upstream)

    def _derived_due(self, data_set: str) -> bool:
        folder = benchmarks_directory() / data_set
        return self._experiments_due(data_set) or any(not step.is_current(folder) for step, _ in _steps_before())

    def markers(self) -> list[str]:
        """Return the markers of all steps: Snakemake makes missing files only for the rule that was requested."""
        found = []
        for data_set in self.data_sets:
            for name in self._names(data_set):
                found += self.sources(data_set, name)
            found += [*self.judged_from(data_set), *self.answered_from(data_set), *self.described_from(data_set)]
        return [path for path in found if path.startswith(CHANGED.format(step=""))]

    def _from_tables(self, data_set: str, configured: list[str], step: Step) -> list[str]:
        paths = [*self.of_experiments(data_set, "tidy.csv"), *configured, *experiment_files()]
        return self._of_whole(data_set, paths, step, upstream=self._experiments_due(data_set))

    def _of_whole(self, data_set: str, paths: list[str], step: Step, *, upstream: bool) -> list[str]:
        folder = benchmarks_directory() / data_set
        current = step.is_current(folder)
        return self._asked(
            paths,
            current=current and not upstream,
            noted=(folder / step.note).exists() and not current,
            changed=lambda: f"{data_set}-{step.note.removesuffix('.json')}-{step.state(folder)[:12]}",
        )

    @staticmethod
    def _asked(paths: list[str], *, current: bool, noted: bool, changed: Callable[[], str]) -> list[str]:
        """Return inputs that make Snakemake, which compares times, do what the notes say, which compare contents.

        If a step is current, no input is newer. If it has a note that no longer fits, there is one that must be made.
        """
        if current:
            return [ancient(path) for path in paths]
        return [*paths, CHANGED.format(step=changed())] if noted else paths

    def _is_selected(self, experiment: str) -> bool:
        return not self.experiments or experiment in self.experiments

    def _experiments_due(self, data_set: str) -> bool:
        return any(self._is_due(data_set, name) for name in self._names(data_set) if self._is_selected(name))

    def _is_due(self, data_set: str, experiment: str) -> bool:
        measured_first = any(path.startswith(f"{_path(_raw(data_set, experiment))}/") for path in self.planned_blocks())
        return measured_first or noted_part(benchmarks_directory() / data_set / experiment) is None

    def _evidence(self, data_set: str, experiment: str) -> list[str]:
        """Return the digests of what was recorded, and the sealed blocks, including those of the plan.

        If the experiment is measured first, its open blocks do not count: they will have been sealed.
        """
        raw = _raw(data_set, experiment)
        blocks = [_path(path) for path in sealed_blocks(raw)]
        measured_first = self.plan is not None and any(one.experiment == experiment for one in self.plan.blocks)
        recorded = [path for path in recorded_in(raw) if path.parent == raw or not measured_first]
        blocks += [path for path in self.planned_blocks() if path.startswith(f"{_path(raw)}/") and path not in blocks]
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


def remove(markers: Iterable[str]) -> None:
    """Remove the markers of a run that ended."""
    for marker in markers:
        Path(marker).unlink(missing_ok=True)


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


def answer_files() -> list[str]:
    """Return the file that says where answer.csv comes from; nothing if the talk has no such table."""
    return [_path(answer_path())] if answer_path().exists() else []


def _steps_before() -> list[tuple[Step, tuple[str, ...]]]:
    """Return the steps that a description follows, and what each writes: those that this talk has."""
    steps = ((claims_files(), JUDGING, JUDGED), (answer_files(), ANSWERING, ANSWERED))
    return [(step, files) for configured, step, files in steps if configured]


def _unknown(key: str, name: str, known: list[str]) -> ConfigurationError:
    return ConfigurationError(f"{key}: {name!r} has no raw output", where="--config", next_step=suggestion(name, known))


def _raw(data_set: str, experiment: str) -> Path:
    return benchmarks_directory() / data_set / experiment / "raw"


def _path(path: Path) -> str:
    return rule_path(path, Path.cwd())


def deck_files(root: Path) -> list[str]:
    """Return the deck's sources, from which the site is built."""
    patterns = ("index.html", "config/talk.yaml", "slides/*.md", "css/*.css", "deck/**/*.js", "plugins/*/src/**/*.js")
    return sorted(_path(path) for pattern in patterns for path in root.glob(pattern))
