"""`replay sandbox`: what each command does, and what it prints."""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import shlex
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from replay.base.disk import explained, size_text
from replay.base.errors import ConfigurationError, ReplayError, handling
from replay.base.programs import HOST, title_of
from replay.cluster import sandbox_record as state
from replay.cluster.sandbox_record import Layout, Sandbox, SandboxCluster, SandboxError, default_directory
from replay.sandbox import conf, create, daemons, lifecycle, link, releases, tools
from replay.sandbox.tools import locked, rbd


def report(sandbox: Sandbox) -> dict[str, Any]:
    """Return what `status --json` prints: it queries every daemon and both clusters, and never waits long.

    A daemon's `pid` is None if it does not run; its `state` is ready, not ready or stopped. It is `ok` if all daemons
    are ready, all PGs clean, mirroring and line connected. Never raises for a daemon that is down.
    """
    statuses = [_daemon(sandbox.layout, role) for role in daemons.all_roles(sandbox)]
    ready = {(each["cluster"], each["name"]) for each in statuses if each["state"] == "ready"}
    has_line = not daemons.lost_its_line(sandbox)
    reachable = [
        cluster
        for cluster in sandbox.clusters.values()
        if has_line and any(on == cluster.name and name.startswith("mon.") for on, name in ready)
    ]
    answers = dict.fromkeys(sandbox.clusters, ("the monitor does not answer", False))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        asked = {cluster.name: pool.submit(_health, sandbox, cluster) for cluster in reachable}
        mirroring = "not connected" if "right" in sandbox.clusters else "none"
        if ("right", daemons.MIRROR.name) in ready:
            mirroring = _mirroring(sandbox)
    answers |= {name: answer.result() for name, answer in asked.items()}
    return {
        "directory": sandbox.directory,
        "ceph_version": sandbox.ceph_version,
        "daemons": statuses,
        "health": {name: health for name, (health, _) in answers.items()},
        "mirroring": mirroring,
        "link": "none" if sandbox.link is None else link.describe(sandbox.link) if has_line else "does not run",
        "ok": has_line and len(ready) == len(statuses) and all(is_well for _, is_well in answers.values()),
    }


def _daemon(layout: Layout, role: daemons.Role) -> dict[str, Any]:
    process = daemons.running(layout, role)
    state = "stopped" if process is None else "ready" if daemons.is_ready(layout, role) else "not ready"
    return {"cluster": role.cluster, "name": role.name, "pid": process.pid if process else None, "state": state}


def _health(sandbox: Sandbox, cluster: SandboxCluster) -> tuple[str, bool]:
    """Return what a cluster says of its health, and whether it is well."""
    argv = ["ceph", "--conf", cluster.conf, "--connect-timeout", "5", "status", "--format", "json"]
    try:
        text = tools.run(sandbox.layout.programs_at(cluster.name), argv, timeout_seconds=15.0)
        status = json.loads(text)
        return create.describe(status), create.is_well(status)
    except (ReplayError, ValueError) as error:
        return f"no answer ({error})", False


def _mirroring(sandbox: Sandbox) -> str:
    asked = ("mirror", "pool", "status", conf.POOL, "--verbose", "--format", "json")
    try:
        text = rbd(sandbox.layout, "right", *asked, timeout_seconds=15.0)
        status = json.loads(text)
        summary = status["summary"]
    except (ReplayError, ValueError, KeyError) as error:
        return f"connected, but its status could not be read ({error})"
    images = ", ".join(f"{count} {state}" for state, count in summary.get("states", {}).items()) or "no images"
    # A killed daemon stays listed for a minute; the one that leads is the one that works.
    leads = [daemon["health"] for daemon in status.get("daemons", []) if daemon.get("leader")]
    daemon_health = leads[0] if leads else "not reported yet"
    return f"connected, left to right; daemon {daemon_health}, images {summary.get('image_health')}; {images}"


def render(answer: Mapping[str, Any]) -> str:
    """Return the report as a table for people."""
    rows = [(each["cluster"], each["name"], str(each["pid"] or "-"), each["state"]) for each in answer["daemons"]]
    lines = [f"sandbox in {answer['directory']}, Ceph {answer['ceph_version']}", ""]
    lines += [*tools.columns([("cluster", "daemon", "pid", "state"), *rows]), ""]
    lines += [f"{name}: {health}" for name, health in answer["health"].items()]
    lines.append(f"mirroring: {answer['mirroring']}")
    if answer["link"] != "none":
        lines.append(f"line between the sites: {answer['link']}")
    return "\n".join(lines)


def run(options: argparse.Namespace) -> int:
    """Run one command and return the exit status: 0 done, 3 status not ok. Raises ReplayError."""
    programs = {"up": _up, "down": _down, "status": _status, "link": _link, "conf": _conf, "releases": _releases}
    try:
        # SIGTERM works like Ctrl-C: everything that this command started is stopped.
        with handling({signal.SIGTERM: signal.default_int_handler}):
            return programs[options.what](options, None if options.what == "releases" else _directory(options))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise explained(error) or SandboxError(str(error)) from error


def _directory(options: argparse.Namespace) -> Path:
    if options.directory is not None:
        return Path(options.directory).resolve()
    return default_directory(options.name)


def _up(options: argparse.Namespace, directory: Path) -> int:
    if options.image is not None and options.release in (None, HOST):
        raise ConfigurationError(
            "--image works only with --release", next_step="name the release: --release 18 --image IMAGE"
        )
    began = time.monotonic()

    def say(line: str) -> None:
        if not options.quiet:
            print(f"{time.monotonic() - began:5.1f} s  {line}", flush=True)

    sandbox = lifecycle.up(
        directory,
        say=say,
        left_osds=options.left_osds,
        right_osds=options.right,
        left_osd_bytes=options.left_osd_size,
        right_osd_bytes=options.right_osd_size,
        release=options.release,
        image=options.image,
        link_rtt_seconds=options.rtt,
        link_rate_bytes_per_second=options.rate,
        stretch=options.stretch,
    )
    # As it can be typed: with the sandbox's own Ceph, and in the network of the site.
    ask = sandbox.layout.programs_at("left").command(["ceph", "-c", sandbox.clusters["left"].conf, "-s"])
    say(f"the sandbox is up: {shlex.join(ask)}")
    if options.directory is None and options.name != "default":
        say(f"to measure it, copy config/sites/sandbox.yaml, with a name of its own and sandbox: {options.name}")
    return 0


def _releases(options: argparse.Namespace, _: None) -> int:
    if options.image is not None and options.get is None:
        raise ConfigurationError("--image works only with --get", next_step="name the release: --get 18 --image IMAGE")
    if options.remove is not None:
        freed = releases.remove(options.remove)
        print(f"removed Ceph {title_of(options.remove)}: {size_text(freed)} freed")
        return 0
    if options.get is not None:
        releases.ensure(options.get, print, options.image)
    print(releases.table())
    return 0


def _down(options: argparse.Namespace, directory: Path) -> int:
    if not lifecycle.down(directory, keep=options.keep, say=print):
        print(f"no sandbox in {directory}")
    return 0


def _status(options: argparse.Namespace, directory: Path) -> int:
    try:
        status = report(state.load(directory))
    except SandboxError as error:
        if options.json and not state.exists(directory):
            print(json.dumps({"directory": str(directory), "ok": False, "daemons": []}, indent=2))
            return 3
        raise error
    print(json.dumps(status, indent=2) if options.json else render(status))
    return 0 if status["ok"] else 3


def _link(options: argparse.Namespace, directory: Path) -> int:
    wanted: dict[str, float | None] = {} if options.rtt is None else {"rtt_seconds": options.rtt}
    if options.rate is not None or options.no_rate:
        wanted["rate_bytes_per_second"] = options.rate
    if not wanted:
        raise ConfigurationError("nothing to change", next_step="add --rtt, --rate or --no-rate")
    with locked(directory):
        link.change(state.load(directory), print, **wanted)
    return 0


def _conf(options: argparse.Namespace, directory: Path) -> int:
    clusters = state.load(directory).clusters
    if options.cluster not in clusters:
        raise SandboxError(f"this sandbox has no cluster {options.cluster}", where=directory)
    print(clusters[options.cluster].conf)
    return 0
