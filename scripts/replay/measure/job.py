"""The process that measures one planned block: what it is asked for, what it does first, and why it ended.

A block is two processes away from the run that asked for it. Its exit status does not come through Snakemake, so a file
beside the run's plan has it, with the cause, and whether the whole run has to end.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from replay.base.disk import explained
from replay.base.errors import (
    INTERRUPTED,
    ConfigurationError,
    RefusedError,
    ReplayError,
    cleaning_up,
    handling,
    take_notes,
)
from replay.base.paths import config_directory, replay_command, shown
from replay.base.progress import Progress
from replay.cluster.cluster import CephCommandError
from replay.cluster.placement_groups import CALM_WITHIN_SECONDS, await_calm
from replay.cluster.session import MonitorSession, versions
from replay.cluster.site import Site, Stop, missing
from replay.cluster.site_file import load_site
from replay.design.design import Design, PlanFile, PlannedBlock, digest_of, plan_digest
from replay.design.expansion import narrowed
from replay.evidence import durable
from replay.evidence.data_set import pretty_json, refuse_copies
from replay.evidence.record import host, program_version, short_version
from replay.measure.bench import Bench
from replay.measure.signed_plan import site_facts
from replay.ownership.daemon_settings import OsdSettings, settings_of_second
from replay.ownership.locks import go_command
from replay.ownership.pools import ensure_pools, remove_leftover_pools
from replay.ownership.removal import remove_leftover_files, remove_leftover_mounts, remove_owned_leftovers
from replay.preflight.plan import design_for, sources_digest
from replay.preflight.releases import refuse_other_releases
from replay.sandbox.daemons import up_command
from replay.sandbox.link import round_trip_seconds


class RunStoppedError(RefusedError):
    """The whole run ends, not just this block, because the next block would meet the same cluster."""


class Halted(KeyboardInterrupt):
    """Raised in the main thread, wherever that is. `reason` is a reason of invalidity; `error` is for people."""

    def __init__(self, reason: str, error: RunStoppedError) -> None:
        super().__init__(error.what)
        self.reason = reason
        self.error = error


@dataclass(frozen=True)
class Job:
    """One block of a plan. `plan` is the digest that names its evidence, `log` gets every line that stays."""

    plan_file: Path
    experiment: str
    block: int
    plan: str
    log: Path | None = None


def run_job(description: str, arguments: list[str] | None, measure: Callable[[Job, Progress], Any]) -> int:
    """Measure the block that the arguments name. Returns 0, 130 if interrupted, or the error's exit status."""
    parser = argparse.ArgumentParser(prog="python -m replay.measure.block", description=description)
    parser.add_argument("--plan-file", required=True, type=Path, help="the plan that contains this block")
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--block", required=True, type=int)
    parser.add_argument("--plan", required=True, help="the digest that names the block's evidence")
    parser.add_argument("--log", type=Path, help="also append every line that stays on the screen to this file")
    job = Job(**vars(parser.parse_args(arguments)))
    with contextlib.ExitStack() as stack:
        # A script that starts `measure` in the background leaves SIGINT ignored, and so do the processes in between.
        stack.enter_context(handling(dict.fromkeys((signal.SIGINT, signal.SIGTERM), signal.default_int_handler)))
        log = stack.enter_context(job.log.open("a")) if job.log else None
        return exit_status_of(job, stack.enter_context(Progress(log=log)), measure)


def exit_status_of(job: Job, progress: Progress, measure: Callable[[Job, Progress], Any]) -> int:
    """Measure a block; say why it ended, unless it is whole. Return the exit status."""
    try:
        measure(job, progress)
    except Halted as halt:
        take_notes(halt.error, halt)
        return _failed(halt.error, job, progress)
    except KeyboardInterrupt as error:
        progress.line("\n".join(["stopped; every finished set is kept", *getattr(error, "__notes__", ())]))
        return INTERRUPTED
    except Exception as error:
        return _failed(error, job, progress)
    return 0


def _failed(error: Exception, job: Job, progress: Progress) -> int:
    """Say why the block failed, and where its log is, which also gets the traceback; return the exit status."""
    reason = explained(error) if isinstance(error, OSError) else error
    if not isinstance(reason, ReplayError):
        reason = ReplayError(
            f"{type(error).__name__}: {error}", next_step="this is a fault of Replay's; report it with the log"
        )
        take_notes(reason, error)
    reason.where = reason.where or f"{job.experiment}, block {job.block}"
    progress.line(f"{reason}\n  log: {shown(job.log)}" if job.log else str(reason))
    progress.record("".join(traceback.format_exception(error)).rstrip())
    # A full disk may be the reason, and then has no room for this; Snakemake says at least that the block failed.
    with contextlib.suppress(OSError):
        leave_failure(job.plan_file, reason)
    return reason.exit_status


@dataclass(frozen=True)
class Failure:
    """Why a block failed, in a line; what to do next; its exit status; and whether the whole run has to end."""

    what: str
    next_step: str
    exit_status: int
    ends_run: bool = False


def leave_failure(plan_file: Path, error: ReplayError) -> None:
    """Leave word beside a plan of why one of its blocks failed."""
    what = f"{error.where}: {error.what}" if error.where else error.what
    failure = Failure(what, error.next_step, error.exit_status, isinstance(error, RunStoppedError))
    durable.replace(_place_of_failure(plan_file), json.dumps(asdict(failure)).encode())


def take_failure(plan_file: Path) -> Failure | None:
    """Return what a block of the plan has left, and remove it."""
    place = _place_of_failure(plan_file)
    if not place.exists():
        return None
    failure = Failure(**json.loads(place.read_text(encoding="utf-8")))
    place.unlink()
    return failure


def _place_of_failure(plan_file: Path) -> Path:
    return plan_file.with_suffix(".failed")


def stopped(site: Site, stop: Stop) -> RunStoppedError:
    """Return the error that ends a run."""
    then = {
        "stopped": f"when it may run again: {go_command(site)}; then run measure again",
        "lock_lost": "when the other run has ended, run measure again",
        "line_lost": f"run {up_command(site)}, then measure again",
        "second_silent": "when its monitors answer again, run measure again",
    }.get(stop.reason, "run measure again at a quieter hour, or with a lower rate_bytes_per_second and another --data")
    return RunStoppedError(
        stop.detail, where=f"site {site.name}, {stop.reason}", next_step=f"finished sets are kept; {then}"
    )


@contextlib.contextmanager
def without_interruption(*steps: Callable[[], None]) -> Iterator[None]:
    """Run `steps` after the work inside, even if Ctrl-C is pressed again, because they remove what it created."""
    ignored = dict.fromkeys((signal.SIGINT, signal.SIGTERM, signal.SIGUSR1), signal.SIG_IGN)
    with (
        contextlib.ExitStack() as until_clean,
        cleaning_up(lambda: until_clean.enter_context(handling(ignored)), *steps),
    ):
        yield


# Before a block's first set: nothing may have changed since its plan, and nothing may be left over -------------------


def planned(plan: PlanFile, job: Job) -> tuple[Design, Site]:
    """Return the design of a planned block, and its site. Raises ConfigurationError if either has changed since."""
    refuse_copies(plan.data_set)
    plan.check(PlannedBlock(job.experiment, job.block, job.plan))
    site = load_site(plan.site)
    design = narrowed(design_for(site, job.experiment, plan.scale), plan.only)
    sources = sources_digest(site, design.name)
    if sources != plan.sources[design.name] or plan_digest(design, job.block) != job.plan:
        raise ConfigurationError(
            "this experiment, or what its site allows, has changed since the block was planned",
            where=config_directory() / "experiments" / f"{design.name}.yaml",
            next_step="run measure again: it makes a new plan and keeps every finished set",
        )
    return design, site


def make_ready(plan: PlanFile, design: Design, bench: Bench, raw: Path, progress: Progress) -> None:
    """Make the pools that the site wants, one of which holds the cluster's lock, and describe the site.

    Raises RefusedError if the cluster is not the planned one, or has another release than the data set.
    """
    if plan.locked_to:
        _refuse_another_site(plan, bench)
    # Again, because a cluster may be upgraded between two blocks.
    running = versions(bench.session, "rbd", bench.secondary)
    refuse_other_releases(bench.site, plan.data_set, [design.name], running)
    for name in ensure_pools(bench.site, bench.session, bench.ledger, data_set=plan.data_set, say=progress.line):
        progress.line(f"made the pool {name}; {replay_command('clean', '--site', plan.site)} removes it")
    ensure_campaign(raw.parent.parent, bench)


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


# What all blocks of a data set share: a public description of the site -----------------------------------------------


def campaign_facts(bench: Bench) -> dict[str, Any]:
    """Return the content of `campaign.json`: the site's label, limitation and set-up, without addresses or keys."""
    site, session = bench.site, bench.session
    known = versions(session, "rbd", bench.secondary)
    pool_size = {"prefix": "osd pool get", "pool": site.pools.data.name, "var": "size"}
    return {
        "schema_version": 1,
        "data_set": bench.data_set,
        "label": site.label,
        "site": site.name,
        "site_label": site.label,
        "limitation": site.limitation,
        "setup": {
            "ceph_version": (known["mon"] or [None])[-1],
            "librbd_version": known["librbd"],
            "osds": int(session.status()["osdmap"]["num_osds"]),
            "replicas": int(session.command(pool_size)["size"]),
            "object_store": _object_store(session),
            "clusters": 2 if site.second_site else 1,
            **({"stretch": True} if _is_stretch(site) else {}),
            **_distance(site),
            "cpu": host()["cpu"],
            "cores": host()["cores"],
            "memory_bytes": host()["memory_bytes"],
            "kernel": host()["kernel"],
            "fio_version": short_version(program_version("fio", session.cluster.programs)),
        },
        "versions": {key: value for key, value in known.items() if key != "tool"},
    }


def ensure_campaign(folder: Path, bench: Bench) -> None:
    """Write the data set's `campaign.json` if it does not exist.

    Raises ConfigurationError if the data set was measured on another site, or in another shape of the sandbox: two
    clusters are two data sets.
    """
    site, path = bench.site, folder / "campaign.json"
    if not path.exists():
        durable.make_directory(folder)
        durable.replace(path, pretty_json(campaign_facts(bench)))
        return
    facts = json.loads(path.read_text())
    if facts["site"] != site.name:
        raise ConfigurationError(
            f"this data set was measured on the site {facts['site']!r}, not {site.name!r}",
            where=path,
            next_step=f"choose another name: --data {site.name}",
        )
    if (was := facts["setup"].get("stretch", False)) != _is_stretch(site):
        shapes = {True: "one cluster over both sites", False: "two clusters, or one on a single site"}
        raise ConfigurationError(
            f"this data set was measured on {shapes[was]}; the sandbox is now {shapes[not was]}",
            where=path,
            next_step="choose another name with --data",
        )


def _is_stretch(site: Site) -> bool:
    """Return whether the site is a sandbox of one cluster over both sites."""
    return not missing(["stretch"], site)


def _distance(site: Site) -> dict[str, float]:
    """Return how far a foreign second cluster is. The line of a sandbox may differ by cell, which records it."""
    seconds = round_trip_seconds(site) if site.sandbox is None else None
    return {} if seconds is None else {"round_trip_seconds": float(f"{seconds:.3g}")}


def _object_store(session: MonitorSession) -> str | None:
    try:
        stores = session.command({"prefix": "osd count-metadata", "property": "osd_objectstore"})
    except CephCommandError:
        return None  # a restricted client may not ask this; the deck then shows "not known"
    return ", ".join(sorted(stores)) or None
