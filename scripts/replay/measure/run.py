"""What one call of `replay measure` measures: as its options say, or as a signed plan does."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.base.invocation import replay_command
from replay.cluster.site import Site
from replay.cluster.site_file import load_site
from replay.design.configuration import experiment_names
from replay.design.design import DEFAULT_SCALE, Design
from replay.design.estimate import Estimate
from replay.design.expansion import narrowed
from replay.design.plan_file import PlanFile, PlannedBlock
from replay.evidence.data_set import refuse_copies, refuse_mixed_scales
from replay.measure.plan_page import plan_page
from replay.measure.signed_plan import Promise, check_design, check_site, digest_in, promise, read_signed_plan
from replay.preflight.command import load_experiments, preflight
from replay.preflight.plan import design_for, estimate, plans, sources_digest, terms_of


@dataclass(frozen=True)
class RunPlan:
    """The site, the data set, and the blocks in their order. `again` are the options that continue the run."""

    site: Site
    data_set: str
    scale: str
    designs: Mapping[str, Design]
    sources: Mapping[str, str]
    todo: tuple[PlannedBlock, ...]
    again: tuple[str, ...]
    only: tuple[str, ...] = ()
    promised: Promise | None = field(default=None)

    def plan_file(self) -> PlanFile:
        """Return the plan for the jobs."""
        locked_to = self.promised.locked_to if self.promised else ""
        return PlanFile(self.site.name, self.data_set, self.scale, self.designs, self.sources, self.todo, locked_to)


def chosen(options: argparse.Namespace) -> RunPlan:
    """Return the run that the options describe. Raises ReplayError."""
    if not options.plan:
        return _asked_for(options)
    given = [name for name in ("data", "scale", "experiment", "only", "blocks") if getattr(options, name)]
    if given or options.plan_only:
        raise ConfigurationError(
            f"the plan says what is measured; leave out --{given[0] if given else 'plan-only'}", where=options.plan
        )
    return _planned(options.plan)


def _asked_for(options: argparse.Namespace) -> RunPlan:
    site = load_site(options.site, check_files=not options.plan_only)
    data_set = options.data or site.name
    if options.only and not options.experiment:
        raise ConfigurationError(
            "factors and levels are those of an experiment",
            where="--only",
            next_step="name it with --experiment",
        )
    scale = options.scale or DEFAULT_SCALE
    names = options.experiment or experiment_names(scale)
    designs = {name: narrowed(design_for(site, name, scale), options.only) for name in names}
    sources = {name: sources_digest(site, name) for name in names}
    todo = tuple(plans(data_set, designs.values(), options.blocks))
    words = ("--site", options.site, *(("--data", options.data) if options.data else ()), "--scale", scale)
    words += tuple(word for name in options.experiment for word in ("--experiment", name))
    words += tuple(word for choice in options.only for word in ("--only", choice))
    words += ("--blocks", str(options.blocks)) if options.blocks else ()
    return RunPlan(site, data_set, scale, designs, sources, todo, words, tuple(options.only))


def _planned(path: Path) -> RunPlan:
    """Return the run of a signed plan. Raises RefusedError if anything differs from it."""
    promised = read_signed_plan(path)
    site = load_site(promised.site["name"])
    check_site(promised, site)
    refuse_copies(promised.data_set)
    designs, sources = {}, {}
    for name in promised.experiments:
        designs[name] = narrowed(design_for(site, name, promised.scale), promised.only)
        sources[name] = sources_digest(site, name)
        check_design(promised, designs[name], sources[name])
        refuse_mixed_scales(promised.data_set, designs[name])
    again = ("--plan", str(path))
    todo = tuple(promised.blocks())
    return RunPlan(site, promised.data_set, promised.scale, designs, sources, todo, again, promised.only, promised)


def write_plan(run: RunPlan) -> int:
    """Write the plan of a run into the working folder, as a file to sign; measure nothing. Returns 0."""
    report = preflight(run.site, load_experiments(), data_set=run.data_set)
    promised = promise(run.site, run.data_set, run.scale, list(run.only), run.designs, run.sources, list(run.todo))
    estimates: list[tuple[Design, int, Estimate]] = []
    for name, design in run.designs.items():
        blocks = [block.block for block in run.todo if block.experiment == name]
        terms = terms_of(run.site, report.findings.copies)
        estimates.append((design, len(blocks), estimate(design, run.data_set, blocks, terms)))
    text = plan_page(run.site, promised, estimates, report, datetime.now(UTC))
    path = Path(f"{run.data_set}-{digest_in(text)[:8]}.plan.md")
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path}")
    print(f"next: have it signed, then run {replay_command('measure', '--plan', str(path))}")
    return 0
