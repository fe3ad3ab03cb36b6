"""`replay measure`: plans a campaign, prints what it will do, runs it through Snakemake, and reports the results.

The caller says what precedes a campaign, such as reading the claims, and what follows it, such as deriving its tables.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from replay.base.errors import INTERRUPTED, ConfigurationError
from replay.base.paths import (
    ROOT,
    benchmarks_directory,
    project_directory,
    replay_command,
    shown,
    working_directory,
)
from replay.base.progress import Part, Progress, elapsed_text
from replay.base.snakemake import cause_in, end_of, log_path, profile_folder, run_snakemake
from replay.base.terminal import answer_to, waiting
from replay.design.design import Design, PlanFile, PlannedBlock
from replay.design.sizing import RemainingWork, Terms, bytes_at_once
from replay.evidence.attempts import History, record_design
from replay.evidence.data_set import raw_directory, sealed_block
from replay.measure.job import Failure, take_failure
from replay.measure.run import chosen, write_plan
from replay.preflight.plan import copies_on, estimate, terms_of
from replay.preflight.pool_checks import refuse_without_room
from replay.preflight.releases import check_releases
from replay.sandbox.daemons import naming_absent_daemons


def run(
    options: argparse.Namespace,
    *,
    beforehand: Callable[[str], None] = lambda data_set: None,
    afterwards: Callable[[str, list[str], int, Failure | None], int] = lambda *given: given[2],
) -> int:
    """Run a campaign. Returns 0, 130 if interrupted, or the exit status of the part that failed; raises ReplayError.

    `beforehand` is called with the data set, and raises ReplayError to end all before anything runs. `afterwards` is
    called with the data set, the experiments, the exit status of measuring and why it failed, and returns the exit
    status of all.
    """
    profile = profile_folder(options.profile) if options.profile else None
    with waiting("planning"):
        asked = chosen(options)
        beforehand(asked.plan.data_set)
    if options.plan_only:
        with waiting(f"inspecting {asked.site.label}"):
            return write_plan(asked)
    site, plan, designs, data_set, todo = asked.site, asked.plan, asked.designs, asked.plan.data_set, asked.plan.blocks
    names = list(designs)
    packs = {block: sealed_block(raw_directory(data_set, block.experiment), block.block, block.plan) for block in todo}
    before = {block for block, pack in packs.items() if pack.exists()}
    # A dry run asks no cluster.
    terms = terms_of(site, None if options.dry_run or before == packs.keys() else copies_on(site))
    print("\n".join(plan_lines(asked.estimates(terms))), flush=True)
    if options.dry_run:
        return 0
    if before != packs.keys():
        require_consent(data_set, given=options.into_shipped)
        with waiting("asking the cluster for its release"), naming_absent_daemons(site):
            notes = check_releases(site, data_set, names)
            refuse_without_room(site, {block.experiment: bytes_at_once(designs[block.experiment]) for block in todo})
        for note in notes:
            print(f"note: {note}", flush=True)
    record_skipped(data_set, designs.values())
    with Progress() as progress:
        progress.plan(parts_of(designs, data_set, todo, terms))
        status, failure = 0, None
        for part in [[name] for name in names] if options.experiment else [names]:
            ended, why = _measure(plan.of(part), progress, profile)
            status, failure = ended or status, why or failure
            if ended == INTERRUPTED or (why is not None and why.ends_run):
                break
    if status == INTERRUPTED:
        how = ["--profile", options.profile] if options.profile else []
        how += [INTO_SHIPPED] if options.into_shipped else []
        print(f"next: to continue, run {replay_command('measure', *asked.again, *how)}")
    with waiting("reading what was measured", spinner=False):
        _say_costs(data_set, [block for block, pack in packs.items() if pack.exists() and block not in before])
        _say_invalid(data_set, names)
    return afterwards(data_set, names, status, failure)


def parts_of(
    designs: Mapping[str, Design], data_set: str, todo: Iterable[PlannedBlock], terms: Terms
) -> dict[str, Part]:
    """Return the parts of the whole run: cells and expected seconds of each incomplete block, by its title."""
    parts = {}
    for plan in todo:
        design = designs[plan.experiment]
        figures = estimate(design, data_set, [plan.block], terms)
        if figures.cells:
            parts[design.title_of_block(plan.block)] = Part(figures.cells, figures.seconds)
    return parts


def record_skipped(data_set: str, designs: Iterable[Design]) -> None:
    """Store the design of each experiment that the site cannot run at all, so that derive can say what is missing."""
    for design in designs:
        if design.skipped and not design.sets:
            record_design(raw_directory(data_set, design.name), design.public(), design.digest)


def plan_lines(estimates: Sequence[tuple[Design, int, RemainingWork]]) -> list[str]:
    """Return the lines that say what a run will do: skipped variants, each (design, blocks, estimate), and the sum."""
    lines = []
    for design, blocks, figures in estimates:
        lines += [
            f"{design.name}: {skip.variant or 'all of it'} is skipped, because it needs {skip.requires}: {skip.detail}"
            for skip in design.skipped
        ]
        told = f"; time estimated from {figures.earlier_blocks} earlier block(s)" if figures.earlier_blocks else ""
        lines.append(f"{design.name} at scale {design.scale}: {blocks} block(s), {_amounts(figures)}{told}")
    if len(estimates) > 1:
        total = sum((figures for _, _, figures in estimates), RemainingWork())
        blocks = sum(number for _, number, _ in estimates)
        lines.append(f"all {len(estimates)} experiments: {blocks} block(s), {_amounts(total)}")
    return lines


def _amounts(figures: RemainingWork) -> str:
    return (
        f"{figures.cells} of {figures.cells_in_all} cells to measure, about {elapsed_text(figures.seconds)}, about "
        f"{figures.client_bytes / 2**30:.1f} GiB from clients, {figures.media_bytes / 2**30:.1f} GiB to media"
    )


def _measure(plan: PlanFile, progress: Progress, profile: Path | None = None) -> tuple[int, Failure | None]:
    """Have Snakemake measure the blocks of a plan, one after another, where `profile` says.

    Returns the exit status, that of the block which failed, and why it did.
    """
    if not plan.blocks:
        return 0, None
    log = log_path(plan.data_set, *(plan.sources if len(plan.sources) == 1 else ["all"]))
    path = plan.write(working_directory() / "plans")
    stopping = "stopping: ending the running cell and removing what its block created"
    progress.doing("starting Snakemake")
    if profile:
        logs = shown(working_directory() / "logs")
        progress.line(
            f"blocks run where {shown(profile)} says; what they print is in {logs}/measure-{plan.data_set}-*.log"
        )
    take_failure(path)
    status = run_snakemake(
        ("--cores", "1"),
        # From the project's folder, whose name may have what Snakemake takes for something else, such as ` #`.
        [f"plan_file={path.relative_to(project_directory())}"],
        log,
        progress.tell,
        stopping=lambda: progress.doing(stopping),
        profile=profile,
    )
    failure = take_failure(path)
    if status in (0, INTERRUPTED):
        return status, None
    if failure is None:  # the block was killed, or never began
        cause = cause_in(log)
        what = f"Snakemake {end_of(status)}; {f'{cause}; ' if cause else ''}see {shown(log)}"
        progress.line(what)
        kept = "finished sets are kept; run measure again, which first removes what the block left on the cluster"
        failure = Failure(what, kept, status)
    return failure.exit_status, failure


def _say_costs(data_set: str, done: list[PlannedBlock]) -> None:
    """Print where the time of this run's blocks went, by component."""
    totals: Counter[str] = Counter()
    for block in done:
        for receipt in History(raw_directory(data_set, block.experiment)).receipts():
            if (receipt["block"], receipt["plan"]) == (block.block, block.plan):
                totals.update(receipt["costs_seconds"])
    if not totals["total"]:
        return
    shown = ", ".join(
        f"{name} {seconds:.1f} s"
        for name, seconds in totals.most_common()
        if name not in ("total", "own", "own_fraction") and seconds >= 0.05
    )
    print(f"\ntime: {elapsed_text(totals['total'])} in all: {shown}")
    print(f"the runner's own cost: {totals['own']:.1f} s, {totals['own'] / totals['total']:.2%}")


def _say_invalid(data_set: str, names: list[str]) -> None:
    for name in names:
        seals = History(raw_directory(data_set, name)).seals()
        reasons = Counter(problem["reason"] for seal in seals for problem in seal["invalid"])
        if reasons:
            listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            print(f"{name}: invalid cells, kept but not drawn: {listed}")


# Consent to measure into a data set that ships with the talk ---------------------------------------------------------


INTO_SHIPPED = "--into-shipped"
_NAMED = r"^data_set:\s*[\"']?{0}[\"']?\s*(?:#|$)|benchmarks/{0}/"


def require_consent(data_set: str, *, given: bool) -> None:
    """Raise ConfigurationError if the data set ships and nobody agrees to measure into it.

    Agreement is `given` with an option, or asked for in the terminal.
    """
    why = None if given else why_it_ships(data_set)
    if why is None:
        return
    if sys.stdin.isatty() and sys.stdout.isatty():
        print(f"{data_set} ships with the talk: {why}. What you measure now becomes part of it.", flush=True)
        if answer_to(f"Type {data_set} to measure into it all the same: ") == data_set:
            return
        raise ConfigurationError("nothing was measured", next_step="name a data set of your own with --data")
    raise ConfigurationError(
        f"{data_set} ships with the talk: {why}",
        where=benchmarks_directory() / data_set,
        next_step=f"name a data set of your own with --data, or measure into this one with {INTO_SHIPPED}",
    )


def why_it_ships(data_set: str, project: Path | None = ROOT) -> str | None:
    """Return why a data set counts as one that ships, which is that git tracks its files; None if it does not.

    In a copy of the checkout without git, a set that a talk of `project` names counts.
    """
    folder = benchmarks_directory() / data_set
    if not folder.is_dir():
        return None
    tracked = _tracked_files(folder)
    if tracked is not None:
        return "git tracks its files" if tracked else None
    named = re.compile(_NAMED.format(re.escape(data_set)), re.MULTILINE)
    pages = [*project.glob("slides/*/talk.yaml"), *project.glob("slides/*/*.md")] if project else []
    for path in sorted(pages):
        if named.search(path.read_text(encoding="utf-8")):
            return f"{path.relative_to(project)} names it"
    return None


def _tracked_files(folder: Path) -> str | None:
    """Return the files below a folder that git tracks, as text; None without git or a repository."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "--", "."], cwd=folder, capture_output=True, text=True, check=False, timeout=60
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    return listed.stdout.strip() if listed.returncode == 0 else None
