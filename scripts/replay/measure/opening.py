"""What happens before a block's first set: nothing may have changed since its plan, and nothing may be left over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from replay.base.errors import ConfigurationError, RefusedError
from replay.base.invocation import replay_command
from replay.base.paths import config_directory
from replay.base.progress import Progress
from replay.cluster.placement_groups import CALM_WITHIN_SECONDS, await_calm
from replay.cluster.session import versions
from replay.cluster.site import Site
from replay.cluster.site_file import load_site
from replay.design.design import Design, digest_of
from replay.design.plan_file import PlanFile
from replay.evidence.seal import recover
from replay.measure.bench import Bench
from replay.measure.campaign import ensure_campaign
from replay.measure.job import Job
from replay.measure.signed_plan import site_facts
from replay.ownership.daemon_settings import OsdSettings, settings_of_second
from replay.ownership.images import remove_owned_leftovers
from replay.ownership.pools import ensure_pools, remove_leftover_pools
from replay.ownership.removal import remove_leftover_mounts
from replay.ownership.this_machine import remove_leftover_files
from replay.preflight.plan import refuse_copies, sources_digest
from replay.preflight.releases import refuse_other_releases


def planned(plan: PlanFile, job: Job) -> tuple[Design, Site]:
    """Return the design of a planned block, and its site. Raises ConfigurationError if either has changed since."""
    refuse_copies(plan.data_set)
    design = plan.design_of(job.experiment, job.block, job.plan)
    site = load_site(plan.site)
    if sources_digest(site, design.name) != plan.sources[design.name]:
        raise ConfigurationError(
            "this experiment, or what its site allows, has changed since the block was planned",
            where=config_directory() / "experiments" / f"{design.name}.yaml",
            next_step="run measure again: it makes a new plan and keeps every finished set",
        )
    return design, site


def make_ready(plan: PlanFile, design: Design, bench: Bench, raw: Path, progress: Progress) -> None:
    """Make the pools that the site wants, and put in order what an interrupted run left in the evidence.

    Raises RefusedError if the cluster is not the planned one, or has another release than the data set.
    """
    if plan.locked_to:
        _refuse_another_site(plan, bench)
    # Again, because a cluster may be upgraded between two blocks.
    running = versions(bench.session, "rbd", bench.secondary)
    refuse_other_releases(bench.site, plan.data_set, [design.name], running)
    for name in ensure_pools(bench.site, bench.session, bench.ledger, data_set=plan.data_set, say=progress.line):
        progress.line(f"made the pool {name}; {replay_command('clean', '--site', plan.site)} removes it")
    ensure_campaign(raw.parent.parent, bench.site, plan.data_set, bench.session, bench.secondary)
    for sentence in recover(raw):
        progress.line(sentence)


def _refuse_another_site(plan: PlanFile, bench: Bench) -> None:
    """Raise RefusedError if the site's file or a live cluster is not what the signed plan says."""
    secondary = bench.secondary.fsid() if bench.secondary else None
    if digest_of(site_facts(bench.site, bench.session.fsid(), secondary)) != plan.locked_to:
        raise RefusedError(
            "the site's file, or the cluster behind it, is not the one of the signed plan",
            where=f"site {bench.site.name}",
            next_step="compare the plan's list of clusters with `ceph fsid`, and the site's file with the plan",
        )


def undo_leftovers(bench: Bench, say: Callable[[str], None]) -> None:
    """Undo what interrupted runs left on the cluster, and `say` how much. Raises ReplayError if something remains."""
    settings = OsdSettings(bench)
    # Caps first: otherwise all the rest would run at the pace of a capped disk.
    restored = settings.lift_caps()
    if removed := remove_leftover_mounts(bench):
        say(f"undid {removed} mount(s) and mapping(s) that an interrupted run had left")
    if removed := remove_owned_leftovers(bench):
        say(f"removed {removed} image(s) that an interrupted run had left")
    if removed := remove_leftover_pools(bench):
        say(f"removed {removed} pool(s) that an interrupted run had left")
    if removed := remove_leftover_files(bench):
        say(f"removed {removed} file(s) that an interrupted run had left")
    if restored := restored + settings.restore():
        say(f"set back {restored} setting(s) of OSDs that an interrupted run had changed")
        waiting = bench.waiting("the placement groups to be calm", CALM_WITHIN_SECONDS, writing=False)
        await_calm(bench.session, sleep=waiting.pause)  # the guard judges whether calm came
    second = settings_of_second(bench)
    if second and (restored := second.restore()):
        say(f"set back {restored} setting(s) of the second cluster that an interrupted run had changed")
