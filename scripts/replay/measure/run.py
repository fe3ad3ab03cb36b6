"""What one call of `replay measure` measures: as its options say, or as a signed plan does."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from replay.base.clock import elapsed_text
from replay.base.errors import ConfigurationError
from replay.base.paths import replay_command
from replay.cluster.admin_commands import rights, second_rights
from replay.cluster.site import Site
from replay.cluster.site_file import load_site
from replay.design.configuration import experiment_names
from replay.design.design import DEFAULT_SCALE, Design, PlanFile, digest_of
from replay.design.expansion import narrowed
from replay.design.needs import needs_of
from replay.design.sizing import RemainingWork, Terms
from replay.evidence.data_set import refuse_copies, refuse_mixed_scales
from replay.measure.signed_plan import (
    Promise,
    check_design,
    check_site,
    digest_in,
    promise,
    read_signed_plan,
    with_digest,
)
from replay.ownership.locks import go_command, stop_command
from replay.preflight.command import Report, commands_in, load_experiments, preflight, undo_in
from replay.preflight.plan import (
    JOURNALED,
    MIRRORED,
    changes_for,
    design_for,
    estimate,
    plans,
    sources_digest,
    terms_of,
)


@dataclass(frozen=True)
class RunPlan:
    """A plan, its site, and the design of each experiment. `again` are the options that continue the run."""

    site: Site
    plan: PlanFile
    designs: Mapping[str, Design]
    again: tuple[str, ...]

    def estimates(self, terms: Terms) -> list[tuple[Design, int, RemainingWork]]:
        """Return each experiment's design, number of blocks and estimate."""
        estimates = []
        for name, design in self.designs.items():
            blocks = [block.block for block in self.plan.blocks if block.experiment == name]
            estimates.append((design, len(blocks), estimate(design, self.plan.data_set, blocks, terms)))
        return estimates


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
    return RunPlan(site, PlanFile(site.name, data_set, scale, tuple(options.only), sources, todo), designs, words)


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
    todo = tuple(promised.blocks())
    plan = PlanFile(
        site.name, promised.data_set, promised.scale, promised.only, sources, todo, digest_of(promised.site)
    )
    return RunPlan(site, plan, designs, ("--plan", str(path)))


def write_plan(run: RunPlan) -> int:
    """Write the plan of a run into the working folder, as a file to sign; measure nothing. Returns 0."""
    report = preflight(run.site, load_experiments(), data_set=run.plan.data_set)
    promised = promise(run.site, run.plan, run.designs)
    estimates = run.estimates(terms_of(run.site, report.findings.copies))
    text = plan_page(run.site, promised, estimates, report, datetime.now(UTC))
    path = Path(f"{run.plan.data_set}-{digest_in(text)[:8]}.plan.md")
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path}")
    print(f"next: have it signed, then run {replay_command('measure', '--plan', str(path))}")
    return 0


# The text of a plan to sign: what a run will do to a cluster, with which rights and limits, and its undo -------------


_APPROVAL = """
The digest does not cover what follows. Sign here, if your process asks for it in the file:

"""


def plan_page(
    site: Site,
    promised: Promise,
    estimates: Sequence[tuple[Design, int, RemainingWork]],
    report: Report,
    now: datetime,
) -> str:
    """Return the whole file. `estimates` has each experiment's design, number of blocks and estimate."""
    parts = [
        *_title(site, promised, now),
        *_what(estimates),
        *_where(site, estimates),
        *_limits(site),
        *_rights(site),
        *_administrator(site, report),
        *_commands(site, [design for design, _, _ in estimates]),
        *_rollback(site, promised.data_set),
        *_record(promised),
    ]
    return with_digest("\n".join(parts) + "\n") + _APPROVAL


def _title(site: Site, promised: Promise, now: datetime) -> Iterator[str]:
    yield f"# Plan: measure {site.name} into the data set {promised.data_set}"
    yield ""
    yield f"Made {now:%Y-%m-%d %H:%M} UTC by Replay {promised.replay_version}. Nothing has been measured for it."
    yield ""
    for name, cluster in promised.site["clusters"].items():
        yield f"- {name} cluster: {cluster['fsid']}, as {cluster['client']}, through `{cluster['conf']}`"
    if site.client_hosts:
        yield f"- clients also run on: {', '.join(site.client_hosts)}"
    yield ""
    yield "`replay measure --plan FILE` measures exactly this. It refuses another cluster, site's file, experiment or"
    yield "version of Replay, and an altered file."


def _what(estimates: Sequence[tuple[Design, int, RemainingWork]]) -> Iterator[str]:
    yield from ("", "## What is measured", "")
    rows = [(design.name, blocks, figures) for design, blocks, figures in estimates if design.sets]
    total = sum((figures for _, _, figures in rows), RemainingWork())
    yield "| experiment | blocks | cells | time | from clients | to media |"
    yield "|---|---|---|---|---|---|"
    for name, blocks, figures in [*rows, ("all", sum(blocks for _, blocks, _ in rows), total)]:
        amounts = (elapsed_text(figures.seconds), _gib(figures.client_bytes), _gib(figures.media_bytes))
        yield f"| {name} | {blocks} | {figures.cells} | {' | '.join(amounts)} |"
    yield ""
    yield "Time and bytes are estimates. Bytes to media include copies and journals."
    for design, _, _ in estimates:
        for skip in design.skipped:
            yield f"\n- skipped: {design.name}, {skip.variant or 'all of it'}: needs {skip.requires}: {skip.detail}"
    yield from ("", "| experiment | tool and programs | variants | levels |", "|---|---|---|---|")
    for design, _, _ in estimates:
        if design.sets:
            yield _row_of(design)


def _row_of(design: Design) -> str:
    needs = needs_of(design.configuration["protocol"])
    programs = ", ".join(dict.fromkeys([design.configuration["tool"], *needs.programs]))
    levels = "; ".join(f"{name}: {', '.join(map(str, levels))}" for name, levels in design.factors.items())
    variants = ", ".join(variant.label for variant in design.variants)
    return f"| {design.name} | {programs} | {variants} | {levels} |"


def _where(site: Site, estimates: Sequence[tuple[Design, int, RemainingWork]]) -> Iterator[str]:
    yield from ("", "## Where", "")
    for pool in site.pools.all():
        made = "Replay makes it" if pool.create else "it exists, or an administrator makes it"
        yield f"- pool {pool.spec}: {made}"
    images = [variant.image for design, _, _ in estimates for variant in design.variants if variant.image.size_bytes]
    if images:
        largest = _gib(max(image.size_bytes for image in images))
        name = "replay-<8 random hexadecimal digits>-…"
        yield f"- images of up to {largest} in these pools, named `{name}`; a block removes its own"
    if any(image.mirroring for image in images):
        yield "- copies of mirrored images in the pool of the same name on the secondary cluster"


def _limits(site: Site) -> Iterator[str]:
    limits = site.ceilings
    rows = (
        ("bytes written to media", limits.bytes_written_to_media_per_run, _gib),
        ("fullest OSD", limits.fullest_osd_fraction, "{:.0%}".format),
        ("rate of an image's clients", limits.rate_bytes_per_second, lambda rate: f"{_gib(rate)}/s"),
        ("commit latency of the slowest OSD", limits.tenant_latency_seconds, lambda seconds: f"{seconds * 1e3:g} ms"),
        ("time window", site.time_window, str),
    )
    yield from ("", "## Limits", "", "| ceiling | |", "|---|---|")
    for name, value, text in rows:
        yield f"| {name} | {'none' if value is None else text(value)} |"
    yield ""
    yield "Replay checks the cluster's health before each set and, while a set runs,"
    yield "every two seconds, or every eight without `python3-rados`. Any slow operation ends the cell and the run. A"
    yield "recovery, or other new trouble with block devices, ends the run after the current cell. The account of bytes"
    yield "covers all blocks, nights and resumed runs of this data set."


def _rights(site: Site) -> Iterator[str]:
    yield from ("", "## Rights", "")
    allowed = ", ".join(sorted(site.allows)) or "only images in the pools above"
    yield f"The site's file allows: {allowed}. The users need:"
    yield ""
    users = [(site.primary, rights(site))]
    if site.secondary is not None:
        users.append((site.secondary, second_rights(site)))
    for cluster, wanted in users:
        caps = " ".join(f"{daemon} '{text}'" for daemon, text in wanted.items())
        yield f"- {cluster.name} cluster: `{cluster.client}` with `{caps}`"


def _administrator(site: Site, report: Report) -> Iterator[str]:
    yield from ("", "## What an administrator does first", "")
    lacking = [f"- {item.text}" for item in report.findings.items if item.level in ("refused", "skip")]
    yield from lacking
    if not (commands := commands_in(report)):
        yield from ("", "No command is needed for the rest.") if lacking else ("No command is needed.",)
        return
    yield from ("", "These commands make what is missing, and change nothing that exists:")
    yield from ("", "```sh", *commands, "```")
    if undo := undo_in(report):
        yield from ("", "These remove by name what they made, in this order:", "", "```sh", *undo, "```")


def _commands(site: Site, designs: Iterable[Design]) -> Iterator[str]:
    variants = [variant for design in designs if design.sets for variant in design.variants]
    tags = set(site.allows)
    tags |= {MIRRORED} if any(variant.image.mirroring for variant in variants) else set()
    tags |= {JOURNALED} if any("journaling" in variant.image.features for variant in variants) else set()
    yield from ("", "## Every command that changes something on a cluster", "")
    yield from ("| command | what it does | undone by |", "|---|---|---|")
    for change in changes_for(tags):
        yield f"| `{change.command}` | {change.does} | {change.undo} |"
    yield ""
    yield "Before each creation its name is in the ledger, on disk. Only what the ledger names is ever removed."


def _rollback(site: Site, data_set: str) -> Iterator[str]:
    yield from ("", "## Stopping, rollback, record", "")
    yield f"- stop, on the measuring host: Ctrl-C; on the cluster, within ten seconds: `{stop_command(site)}`"
    yield f"- allow runs again: `{go_command(site)}`"
    yield f"- remove what the run left: `{replay_command('clean', '--site', site.name)}`"
    yield "- remove what the commands above made: see what an administrator does first"
    record = replay_command("clean", "--site", site.name, "--record", "--data", data_set)
    yield f"- what was made and removed, and when: `{record}`"


def _record(promised: Promise) -> Iterator[str]:
    yield from ("", "## What the run is held to", "", "```json")
    yield json.dumps(promised.public(), indent=1, ensure_ascii=False)
    yield from ("```", "")


def _gib(size_bytes: float) -> str:
    return f"{size_bytes / 2**30:.3g} GiB"
