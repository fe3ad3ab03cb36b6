"""`python -m replay.measure.block`: the job that Snakemake runs for one block of one experiment on one site."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from replay.base.disk import explained
from replay.base.errors import INTERRUPTED, ConfigurationError, RefusedError, ReplayError, take_notes
from replay.base.invocation import replay_command
from replay.base.paths import config_directory, shown
from replay.base.progress import Progress
from replay.cluster.placement_state import CALM_WITHIN_SECONDS, await_calm
from replay.cluster.site import Site
from replay.cluster.site_file import load_site
from replay.cluster.versions import versions
from replay.design.design import digest_of
from replay.design.plan_file import PlanFile, read_plan_file
from replay.measure.bench import Bench, open_bench
from replay.measure.campaign import ensure_campaign
from replay.measure.guard import Guard
from replay.measure.runner import BlockRunner
from replay.measure.sentry import Halted, RunStoppedError, Sentry
from replay.measure.signed_plan import site_facts
from replay.measure.stop_mark import mark_stopped
from replay.ownership.cluster_lock import cluster_lock, stop_switch
from replay.ownership.experiment_pools import remove_leftover_pools
from replay.ownership.images import remove_owned_leftovers
from replay.ownership.kernel_leftovers import remove_leftover_mounts
from replay.ownership.osd_settings import OsdSettings, settings_of_second
from replay.ownership.owned_files import remove_leftover_files
from replay.ownership.pools import ensure_pools
from replay.preflight.plan import raw_directory, refuse_copies, sources_digest
from replay.preflight.releases import refuse_other_releases
from replay.evidence.seal import recover
from replay.sandbox.absent import naming_absent_daemons


def main(arguments: list[str] | None = None) -> int:
    """Measure a planned block. Returns 0, 130 if interrupted, or the error's exit status."""
    parser = argparse.ArgumentParser(prog="python -m replay.measure.block", description=__doc__)
    parser.add_argument("--plan-file", required=True, type=Path, help="the plan that contains this block")
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--block", required=True, type=int)
    parser.add_argument("--plan", required=True, help="the digest that names the block's evidence")
    parser.add_argument("--log", type=Path, help="also append every line that stays on the screen to this file")
    options = parser.parse_args(arguments)
    with contextlib.ExitStack() as stack:
        # A script that starts `measure` in the background leaves SIGINT ignored, and so do the processes in between.
        for number in (signal.SIGINT, signal.SIGTERM):
            stack.callback(signal.signal, number, signal.signal(number, _interrupt))
        log = stack.enter_context(options.log.open("a")) if options.log else None
        return _run(options, stack.enter_context(Progress(log=log)))


def _run(options: argparse.Namespace, progress: Progress) -> int:
    try:
        _measure(options, progress)
    except Halted as halt:
        take_notes(halt.error, halt)
        return _failed(halt.error, options, progress)
    except KeyboardInterrupt as error:
        progress.line("\n".join(["stopped; every finished set is kept", *getattr(error, "__notes__", ())]))
        return INTERRUPTED
    except Exception as error:
        return _failed(error, options, progress)
    return 0


def _failed(error: Exception, options: argparse.Namespace, progress: Progress) -> int:
    """Say why the block failed; return the exit status."""
    block = f"{options.experiment}, block {options.block}"
    told = explained(error) if isinstance(error, OSError) else error
    if not isinstance(told, ReplayError):
        told = ReplayError(
            f"{type(error).__name__}: {error}", next_step="this is a fault of Replay's; report it with the log"
        )
        take_notes(told, error)
    told.where = told.where or block
    _say_failure(error, str(told), options, progress)
    if isinstance(told, RunStoppedError):
        mark_stopped(options.plan_file, told)
    return told.exit_status


def _say_failure(error: Exception, text: str, options: argparse.Namespace, progress: Progress) -> None:
    """Say why the block ended, and where its log is, which also gets the traceback."""
    progress.line(f"{text}\n  log: {shown(options.log)}" if options.log else text)
    progress.record("".join(traceback.format_exception(error)).rstrip())


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _measure(options: argparse.Namespace, progress: Progress) -> None:
    plan = read_plan_file(options.plan_file)
    refuse_copies(plan.data_set)
    design = plan.design_of(options.experiment, options.block, options.plan)
    site = load_site(plan.site)
    if sources_digest(site, design.name) != plan.sources[design.name]:
        raise ConfigurationError(
            "this experiment, or what its site allows, has changed since the block was planned",
            where=config_directory() / "experiments" / f"{design.name}.yaml",
            next_step="run measure again: it makes a new plan and keeps every finished set",
        )
    raw = raw_directory(plan.data_set, design.name)
    progress.doing(f"{design.title_of_block(options.block)}: looking for what an interrupted run left behind")
    with contextlib.ExitStack() as stack:
        stack.enter_context(naming_absent_daemons(site))
        bench = stack.enter_context(open_bench(site, plan.data_set, progress.line))
        if plan.locked_to:
            _refuse_another_site(plan, site, bench)
        # Again, because a cluster may be upgraded between two blocks.
        refuse_other_releases(site, plan.data_set, [design.name], versions(bench.session, "rbd", bench.secondary))
        for name in ensure_pools(site, bench.session, bench.ledger, data_set=plan.data_set, say=progress.line):
            progress.line(f"made the pool {name}; {replay_command('clean', '--site', plan.site)} removes it")
        ensure_campaign(raw.parent.parent, site, plan.data_set, bench.session, bench.secondary)
        for sentence in recover(raw):
            progress.line(sentence)
        lock = stack.enter_context(cluster_lock(site, bench.session, bench.ledger, say=progress.line))
        with Sentry(bench) as sentry:
            sentry.also += [stop_switch(site, bench.session), lock.renew_when_due]
            undo_leftovers(bench, progress.line)
            BlockRunner(bench, design, options.block, raw, progress, guard=Guard(bench, sentry=sentry)).run()


def _refuse_another_site(plan: PlanFile, site: Site, bench: Bench) -> None:
    """Raise RefusedError if the site's file or a live cluster is not what the signed plan says."""
    secondary = bench.secondary.fsid() if bench.secondary else None
    if digest_of(site_facts(site, bench.session.fsid(), secondary)) != plan.locked_to:
        raise RefusedError(
            "the site's file, or the cluster behind it, is not the one of the signed plan",
            where=f"site {site.name}",
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


if __name__ == "__main__":
    sys.exit(main())
