"""`scripts/sandbox`: the commands, their options, and what they print."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from replay.base.errors import ReplayError
from replay.cluster import sandbox_record as state
from replay.cluster.sandbox_layout import default_directory
from replay.config.sandbox_options import SandboxOptions, parse_size, show_size
from replay.sandbox import lifecycle, report
from replay.sandbox.errors import SandboxError

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status: 0 done, 1 failed, 2 wrong use, 3 status not ok, 130 interrupted."""
    options = _parser().parse_args(arguments)
    # SIGTERM ends like Ctrl-C: what was started is stopped.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return options.run(options, _directory(options))
    except ReplayError as error:
        print(f"sandbox: {error}", file=sys.stderr)
        return error.exit_status
    except OSError as error:
        print(f"sandbox: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("sandbox: interrupted; what this command had started is stopped", file=sys.stderr)
        return INTERRUPTED


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
    )
    say(f"the sandbox is up: ceph -c $(scripts/sandbox conf{_where(options)}) -s")
    return 0


def _quiet(_: str) -> None:
    return None


def _where(options: argparse.Namespace) -> str:
    if options.directory is not None:
        return f" --directory {options.directory}"
    return "" if options.name == "default" else f" --name {options.name}"


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


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ReplayError as error:
        raise argparse.ArgumentTypeError(error.what) from error


def _right(text: str) -> int:
    try:
        return 0 if text == "none" else int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor none") from error


def _parser() -> argparse.ArgumentParser:
    place = argparse.ArgumentParser(add_help=False)
    place.add_argument("--name", default="default", help="which sandbox of this checkout (default: %(default)s)")
    place.add_argument("--directory", metavar="DIR", help="its folder, instead of .replay/sandbox/NAME")
    parser = argparse.ArgumentParser(
        prog="scripts/sandbox",
        description="Two real Ceph clusters, left and right, mirrored from left to right, as processes of this user.",
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="up|status|down|conf")
    default = SandboxOptions()

    up = commands.add_parser("up", parents=[place], help="create or start it; at once when it runs")
    up.add_argument("--left-osds", type=int, metavar="N", help=f"OSDs of left (default {default.left_osds})")
    up.add_argument("--right", type=_right, metavar="N|none", help="OSDs of right, or no second cluster (default 1)")
    for side, size in (("left", default.left_osd_bytes), ("right", default.right_osd_bytes)):
        up.add_argument(
            f"--{side}-osd-size", type=_size, metavar="SIZE", help=f"sparse, each (default {show_size(size)})"
        )
    up.add_argument("--quiet", action="store_true", help="print errors only")
    up.set_defaults(run=_up)

    down = commands.add_parser("down", parents=[place], help="stop it and remove every file of it")
    down.add_argument("--keep", action="store_true", help="stop only; the next up finds the data again")
    down.set_defaults(run=_down)

    status = commands.add_parser("status", parents=[place], help="daemons, health, mirroring")
    status.add_argument("--json", action="store_true", help="for programs")
    status.set_defaults(run=_status)

    conf = commands.add_parser("conf", parents=[place], help="print the path of a cluster's ceph.conf")
    conf.add_argument("cluster", nargs="?", choices=("left", "right"), default="left")
    conf.set_defaults(run=_conf)
    return parser
