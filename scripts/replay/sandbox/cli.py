"""`replay sandbox`: what each command does, and what it prints."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from replay.base.disk import explained
from replay.base.errors import INTERRUPTED, ConfigurationError, ReplayError
from replay.base.invocation import replay_command
from replay.base.releases import title_of
from replay.cluster import sandbox_record as state
from replay.cluster.sandbox_layout import default_directory
from replay.design.sandbox_options import show_size
from replay.sandbox import lifecycle, release_store, report
from replay.sandbox.errors import SandboxError


def run(options: argparse.Namespace) -> int:
    """Run one command and return the exit status: 0 done, 1 failed, 2 wrong use, 3 status not ok, 130 interrupted."""
    # SIGTERM works like Ctrl-C: everything that this command started is stopped.
    previous = signal.signal(signal.SIGTERM, _interrupt)
    programs = {"up": _up, "down": _down, "status": _status, "conf": _conf, "releases": _releases}
    try:
        return programs[options.what](options, None if options.what == "releases" else _directory(options))
    except ReplayError as error:
        print(f"sandbox: {error}", file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:
        raise
    except OSError as error:
        print(f"sandbox: {explained(error) or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("sandbox: interrupted; everything that this command started has been stopped", file=sys.stderr)
        return INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, previous)


def _interrupt(*_: Any) -> NoReturn:
    raise KeyboardInterrupt


def _directory(options: argparse.Namespace) -> Path:
    if options.directory is not None:
        return Path(options.directory).resolve()
    return default_directory(options.name)


def _up(options: argparse.Namespace, directory: Path) -> int:
    began = time.monotonic()
    say = _quiet if options.quiet else lambda line: print(f"{time.monotonic() - began:5.1f} s  {line}", flush=True)
    lifecycle.up(
        directory,
        say=say,
        left_osds=options.left_osds,
        right_osds=options.right,
        left_osd_bytes=options.left_osd_size,
        right_osd_bytes=options.right_osd_size,
        release=options.release,
        image=options.image,
    )
    say(f"the sandbox is up: ceph -c $({replay_command('sandbox', 'conf', *_where(options))}) -s")
    return 0


def _releases(options: argparse.Namespace, _: None) -> int:
    if options.image is not None and options.get is None:
        raise ConfigurationError("--image works only with --get", next_step="name the release: --get 18 --image IMAGE")
    if options.remove is not None:
        freed = release_store.remove(options.remove)
        print(f"removed Ceph {title_of(options.remove)}: {show_size(freed)} freed")
        return 0
    if options.get is not None:
        release_store.ensure(options.get, print, options.image)
    print(release_store.table())
    return 0


def _quiet(_: str) -> None:
    return None


def _where(options: argparse.Namespace) -> list[str]:
    if options.directory is not None:
        return ["--directory", str(options.directory)]
    return [] if options.name == "default" else ["--name", options.name]


def _down(options: argparse.Namespace, directory: Path) -> int:
    if not lifecycle.down(directory, keep=options.keep, say=print):
        print(f"no sandbox in {directory}")
    return 0


def _status(options: argparse.Namespace, directory: Path) -> int:
    try:
        found = report.report(state.load(directory))
    except SandboxError as error:
        if options.json and not state.exists(directory):
            print(json.dumps({"directory": str(directory), "ok": False, "daemons": []}, indent=2))
            return 3
        raise error
    print(json.dumps(found.to_json(), indent=2) if options.json else report.render(found))
    return 0 if found.ok else 3


def _conf(options: argparse.Namespace, directory: Path) -> int:
    clusters = state.load(directory).clusters
    if options.cluster not in clusters:
        raise SandboxError(f"this sandbox has no cluster {options.cluster}", where=directory)
    print(clusters[options.cluster].conf)
    return 0
