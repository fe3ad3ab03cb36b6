"""Starts and stops a sandbox, whatever its current state."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Collection, Container
from dataclasses import asdict
from pathlib import Path
from typing import Any

from replay.base.programs import HOST, Programs, releases_directory, title_of
from replay.cluster import sandbox_record as state
from replay.cluster.sandbox_options import SandboxOptions
from replay.cluster.sandbox_record import (
    STATE_FILE,
    IncompatibleStateError,
    Layout,
    Sandbox,
    SandboxError,
    choose_run_directory,
    default_directory,
    is_scratch,
)
from replay.sandbox import conf, create, daemons, link, processes, releases
from replay.sandbox.interventions import find_hierarchy, remove_empty_groups
from replay.sandbox.tools import Interrupt, Say, in_parallel, locked, monitors_of, remove_all_but, undisturbed


def remove(folder: Path, run: Path | None = None) -> None:
    """Remove a stopped sandbox's files, its folder of sockets (`run`, by default the recorded one) and its folder."""
    if run is None:
        run = recorded_run_directory(folder)
    if run is not None and is_scratch(run):
        shutil.rmtree(run, ignore_errors=True)
    # The state file goes last, so that an interrupted removal can be repeated.
    remove_all_but(STATE_FILE, folder)
    shutil.rmtree(folder)


def remove_run_files(folder: Path) -> None:
    """Remove the pid files and sockets of a stopped sandbox, but not its data."""
    if run := recorded_run_directory(folder):
        # Nothing, if a reboot has emptied /tmp.
        for leftover in list(run.glob("*")):
            leftover.unlink()


def recorded_run_directory(folder: Path) -> Path | None:
    """Return the folder of sockets from the state file or, if that is damaged, from `ceph.conf`."""
    try:
        return Path(state.load(folder).run_dir)
    except SandboxError:
        with contextlib.suppress(OSError):
            text = (folder / "left" / "ceph.conf").read_text(encoding="utf-8")
            if match := re.search(r"^run_dir = (.+)$", text, re.MULTILINE):
                return Path(match[1])
        return None


def up(
    directory: Path | str | None = None, *, say: Say = lambda line: None, image: str | None = None, **options: Any
) -> Sandbox:
    """Bring the sandbox up and return it: both clusters active+clean, mirroring connected.

    Creates what does not exist, starts what is not running, and returns at once if everything is running. `options` are
    fields of SandboxOptions; None means the default for a new sandbox and the current value for an existing one. A
    release that is not here is fetched, from the container image `image` if that is given. `say` is called with lines
    for a person. Raises ReplayError; after any exception, nothing that this call started keeps running.
    """
    folder = _folder(directory)
    with locked(folder, say=say):
        sandbox = _find(folder, say, options, image)
        if sandbox is None:
            wanted = _usual_options(options, say).replaced(options)
            releases.ensure(wanted.release_number, say, image)
            return _create(folder, wanted, say)
        _check_same_options(sandbox, options)
        if not daemons.lost_its_line(sandbox) and all(
            daemons.is_ready(sandbox.layout, role) for role in daemons.all_roles(sandbox)
        ):
            say("already running")
            return sandbox
        return _restart(sandbox, say)


def down(directory: Path | str | None = None, *, keep: bool = False, say: Say = lambda line: None) -> bool:
    """Stop the sandbox and remove all its files (`keep`: only stop). Return False if there was none.

    Order: rbd-mirror, OSDs, managers, monitors. Raises SandboxError if the directory is not a sandbox's.
    """
    folder = _folder(directory)
    if not folder.exists() and not any(processes.of_sandbox(folder)):
        return False
    with locked(folder, say=say):
        has_files = _is_ours(folder)
        if not has_files and not any(processes.of_sandbox(folder)):
            return False
        processes.stop_all(folder)
        keep = keep and has_files
        if keep:
            remove_run_files(folder)
        elif has_files:
            remove(folder)
    # The ledger of a cluster that is gone cannot be cleaned, so an interrupted run's caps on its OSDs are removed here.
    remove_empty_groups(find_hierarchy())
    say("stopped, data kept" if keep else "stopped and removed")
    return True


def _folder(directory: Path | str | None) -> Path:
    return Path(directory).resolve() if directory is not None else default_directory()


def _is_ours(folder: Path) -> bool:
    """Return whether `folder` contains a sandbox, whole or damaged; False if absent or as good as empty.

    Raises SandboxError if something else is there.
    """
    if not folder.exists() or all(map(_is_before_the_record, folder.iterdir())):
        return False
    if not (folder / STATE_FILE).exists():
        raise SandboxError(
            "this folder contains files that do not belong to a sandbox",
            where=folder,
            next_step="choose another --directory; nothing was touched",
        )
    with contextlib.suppress(IncompatibleStateError):
        if (made_in := state.load(folder).directory) != str(folder):
            raise SandboxError(
                f"this sandbox was made in {made_in}, and its configuration names that folder",
                where=folder,
                next_step="move it back, or remove this folder if none of its daemons is running",
            )
    return True


def _is_before_the_record(entry: Path) -> bool:
    """Return whether a start makes this entry before the state file; one that was killed then leaves nothing else."""
    if entry.name == "run":
        return entry.is_dir() and not any(entry.iterdir())
    return entry.name == Path(STATE_FILE).with_suffix(".tmp").name


def _find(folder: Path, say: Say, asked: dict[str, Any], image: str | None) -> Sandbox | None:
    """Return an existing sandbox if it can be used; else remove its remains, say so, and return None."""
    if not _is_ours(folder):
        # Somebody removed the files of a sandbox whose daemons still run.
        processes.stop_all(folder)
        return None
    reason = ""
    try:
        sandbox = state.load(folder)
    except IncompatibleStateError as error:
        reason = error.what
    else:
        if sandbox.phase != "created":
            reason = "its creation was not finished"
        elif sandbox.ceph_version.split(".")[0] != (version := _version_of(sandbox, say, asked, image)).split(".")[0]:
            reason = f"it was made with Ceph {sandbox.ceph_version}, and this is {version}"
    if not reason:
        return sandbox
    say(f"removing the remains of an older sandbox: {reason}")
    processes.stop_all(folder)
    remove(folder)
    return None


def _usual_options(asked: dict[str, Any], say: Say) -> SandboxOptions:
    """Return the options of a new sandbox for which nothing is asked."""
    shape = {"stretch": True, "left_osds": 4, "right_osds": 0} if asked.get("stretch") else {}
    usual = SandboxOptions(release=releases.usual_release(), **shape)
    if usual.release != HOST and asked.get("release") is None:
        using = f"using Ceph {title_of(int(usual.release))} of {releases_directory()}"
        say(f"this host lacks programs of Ceph or of the benchmark tools: {using}")
    return usual


def _version_of(sandbox: Sandbox, say: Say, asked: dict[str, Any], image: str | None) -> str:
    """Return the version of Ceph with which an existing sandbox would start now."""
    is_of_image = asked.get("release") == sandbox.options.release
    releases.ensure(sandbox.options.release_number, say, image if is_of_image else None)
    return releases.ceph_version(sandbox.layout.programs)


def _check_same_options(sandbox: Sandbox, asked: dict[str, Any]) -> None:
    # What was asked alone: together with what is there, it may be no shape at all.
    has = asdict(sandbox.options)
    differing = [key for key in has if asked.get(key) not in (None, has[key])]
    if not differing:
        return
    line_alone = sandbox.link is not None and all(key.startswith("link_") for key in differing)
    link_command, down_command = (state.sandbox_command(verb, sandbox.directory) for verb in ("link", "down"))
    of_line = f"run {link_command} with --rtt or --rate, which changes the line as it runs"
    anew = f"run {down_command} first, or use another --name"
    raise SandboxError(
        "this sandbox already exists with other options: "
        + ", ".join(f"{key} is {has[key]}, not {asked[key]}" for key in differing),
        where=sandbox.directory,
        next_step=of_line if line_alone else anew,
    )


def _create(folder: Path, options: SandboxOptions, say: Say) -> Sandbox:
    releases.check_programs(options)
    if warning := releases.check_space(folder, options):
        say(f"note: {warning}")
    version = releases.ceph_version(Programs.of(options.release_number))
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    layout = Layout(folder, choose_run_directory(folder), options.release)
    try:
        sandbox = _plan(layout, options, version)
        sandbox.save()
        _start(sandbox, lambda cluster, interrupt: create.create(cluster, sandbox, interrupt, say), say)
    except KeyboardInterrupt:
        with undisturbed():
            processes.stop_all(folder)
            remove(folder, layout.run)
        raise
    return sandbox


def _plan(layout: Layout, options: SandboxOptions, version: str) -> Sandbox:
    counts = {"left": options.left_osds, "right": options.right_osds}
    wanted = {name: count for name, count in counts.items() if count}
    if options.stretch:
        first, *others = conf.choose(3)
        clusters = {"left": conf.spread(create.plan("left", first, options.left_osds, layout), [first, *others])}
    else:
        clusters = {
            name: create.plan(name, port, wanted[name], layout)
            for name, port in zip(wanted, conf.choose(len(wanted)), strict=True)
        }
    return Sandbox(str(layout.directory), str(layout.run), version, options, clusters)


def _join_sites(sandbox: Sandbox, interrupt: Interrupt, say: Say) -> None:
    """Start and measure the line between the sites, if the options ask for one. Raises SandboxError if it is not so."""
    if sandbox.options.link_rtt_seconds is None:
        return
    sandbox.link = link.start(sandbox.layout, sandbox.options, interrupt)
    sandbox.save()
    sandbox.link = link.checked(sandbox.link, sandbox.layout.programs, say)
    sandbox.save()


def _restart(sandbox: Sandbox, say: Say) -> Sandbox:
    releases.check_programs(sandbox.options)
    folder, layout = Path(sandbox.directory), sandbox.layout
    # Some systems empty /tmp at a reboot; the configuration names this folder, so it is made again.
    layout.run.mkdir(mode=0o700, exist_ok=True)
    if daemons.lost_its_line(sandbox):
        # Its network went with the line: daemons that still run reach nobody.
        say("the line between the sites does not run: starting it and all daemons anew")
        processes.stop_all(folder)
    daemon_of = {role: daemons.running(layout, role) for role in daemons.all_roles(sandbox)}
    already = {role: process for role, process in daemon_of.items() if process is not None}
    # A measurement that stopped them may have been killed together with what lets them go on.
    processes.thaw(list(already.values()))
    # Daemons without a pid file go: their starter was killed before it could write one.
    line = daemons.running_link(layout)
    keep = {*already.values(), *([line] if line else [])}
    processes.stop_all(folder, keep=keep)
    say(f"{len(already)} of {len(daemon_of)} daemons are running: starting the rest")
    if sandbox.options.link_rtt_seconds is None:
        _refuse_busy_ports(sandbox, already)

    def start_cluster(cluster: state.SandboxCluster, interrupt: Interrupt) -> None:
        joined = sandbox.layout
        for role in daemons.roles(cluster):
            daemons.start(joined, role)
        for role in daemons.roles(cluster):
            daemons.await_ready(joined, role, interrupt)
        with monitors_of(cluster, joined) as monitors:
            create.await_manager(monitors, cluster, joined, interrupt)
            health = create.await_clean(monitors, cluster, joined, interrupt, healthy=False)
        say(f"{cluster.name}: {health}")

    _start(sandbox, start_cluster, say, keep)
    return sandbox


def _refuse_busy_ports(sandbox: Sandbox, already: Container[daemons.Role]) -> None:
    """Raise SandboxError if somebody else listens on the port of a monitor that has to be started."""
    for cluster in sandbox.clusters.values():
        ports = cluster.monitor_ports or {cluster.name: cluster.monitor_port}
        for role in daemons.roles(cluster):
            if role.type == "mon" and role not in already and not conf.is_free(port := ports[role.id]):
                raise SandboxError(
                    f"port {port} of {cluster.name}'s monitor is taken by another process",
                    where=sandbox.directory,
                    next_step=f"ss -ltnp 'sport = {port}' names it: end it and run this again, or start over: "
                    f"{state.sandbox_command('down', sandbox.directory)}, then up",
                )


def _start(
    sandbox: Sandbox,
    start_cluster: Callable[[state.SandboxCluster, Interrupt], None],
    say: Say,
    keep: Collection[processes.Process] = (),
) -> None:
    """Start the line, all clusters at the same time, and mirroring, and record what runs.

    If it fails or is interrupted, stop what did not run before it (`keep`).
    """
    interrupt = Interrupt()
    try:
        if daemons.running_link(sandbox.layout) is None:
            _join_sites(sandbox, interrupt, say)
        in_parallel([lambda c=c: start_cluster(c, interrupt) for c in sandbox.clusters.values()], interrupt)
        if "right" in sandbox.clusters:
            if sandbox.phase == "creating":
                daemons.connect_mirroring(sandbox.layout)
            daemons.start_mirroring(sandbox.layout, interrupt)
            say("mirroring: connected")
    except BaseException:
        with undisturbed():
            processes.stop_all(Path(sandbox.directory), keep)
        raise
    sandbox.phase = "created"
    daemons.record(sandbox)
    sandbox.save()
