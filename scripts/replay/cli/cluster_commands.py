"""The commands that use a cluster: look, preflight, measure, interleave, clean, sandbox."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from replay.base.disk import size_text
from replay.base.errors import ReplayError
from replay.base.paths import config_directory
from replay.base.programs import HOST, parse_release
from replay.cli.grammar import (
    CLIENT,
    DERIVED,
    NOTHING,
    OWN_CLUSTER,
    Command,
    Parser,
    add_commands,
    add_data,
    add_experiment,
    add_flag,
    add_site,
    slug,
)
from replay.cluster import sandbox_record
from replay.cluster.sandbox_options import SandboxOptions, parse_rate, parse_rtt, parse_size
from replay.design.design import DEFAULT_SCALE, SCALES

T = TypeVar("T")
_CONTINUE = "every finished set is kept; run the same command again to continue"


def _option(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Return a type of option; a text that cannot be parsed is refused with what is wrong, and what to write."""

    def parsed(text: str) -> T:
        try:
            return parse(text)
        except ReplayError as error:
            raise argparse.ArgumentTypeError("; ".join(filter(None, (error.what, error.next_step)))) from error

    return parsed


def _count(text: str) -> int:
    """Return a whole number. Raises argparse.ArgumentTypeError if it is below 1, or none."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


_rtt, _rate, _size, _release = map(_option, (parse_rtt, parse_rate, parse_size, parse_release))


def _level_of_site(options: argparse.Namespace) -> str:
    """Return the level for a site: only a sandbox needs Ceph's daemons here, and a fetched release brings programs."""
    if _named_by(options.site, "client_release") not in (None, HOST):
        return DERIVED
    if (sandbox := _named_by(options.site, "sandbox")) is None:
        return CLIENT
    return _level_of_daemons(sandbox)


def _level_of_daemons(sandbox: str = "default") -> str:
    return OWN_CLUSTER if _recorded_release(sandbox) == HOST else DERIVED


def _named_by(site: str | None, key: str) -> str | None:
    """Return what a site's file has under a key, None if it has none: nothing here reads YAML before the set-up."""
    try:
        text = (config_directory() / "sites" / f"{site}.yaml").read_text(encoding="utf-8")
    except (ReplayError, OSError, ValueError):
        return None  # which the command itself says better
    found = re.search(rf"^{key}:\s*[\"']?([\w.-]+)", text, re.MULTILINE)
    return found[1] if found else None


def _recorded_release(name: str = "default", directory: str | None = None) -> str:
    """Return the release that a sandbox runs, `host` if there is none yet."""
    try:
        return sandbox_record.load(directory or sandbox_record.default_directory(name)).options.release
    except ReplayError:
        return HOST


def _look(parser: Parser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--conf", type=Path, metavar="FILE", default=Path("/etc/ceph/ceph.conf"), help="(default: %(default)s)"
    )
    add_flag(which, "--sandbox", "look at the sandbox of this project, both clusters")
    parser.add_argument("--second", type=Path, metavar="FILE", help="the ceph.conf of the cluster that mirrors it")
    parser.add_argument("--client", metavar="NAME", default="client.admin", help="who asks (default: %(default)s)")
    parser.add_argument(
        "--keyring",
        type=Path,
        metavar="FILE",
        help="its keyring on the first cluster (default: the one beside each ceph.conf, else where Ceph looks)",
    )
    parser.add_argument(
        "--client-release",
        type=_fetched_release,
        metavar="RELEASE",
        help="the Ceph to ask with, instead of this machine's",
    )
    parser.add_argument(
        "--write-site", type=slug, metavar="NAME", help="also write config/sites/NAME.yaml, with limits"
    )


def _level_of_look(options: argparse.Namespace) -> str:
    """Return the level for `look`: what the sandbox needs, or a client that comes with a fetched release."""
    if options.sandbox:
        return _level_of_daemons()
    return CLIENT if options.client_release is None else DERIVED


LOOK = Command(
    "look",
    "say how a cluster is mirrored, how far the copy is behind, and what could be measured; only reads",
    _look,
    "replay.preflight.look.command:run",
    """\
Look at a cluster, and at the one that mirrors it, for less than a minute. It only reads, and needs no site's file:
release, health, pools and replicas, mirroring and its schedules, mirror daemons, the poll age in use, the lag at this
moment, the slowest OSDs, and what Replay could measure here, in hours and bytes.""",
    level=_level_of_look,
)


def _preflight(parser: Parser) -> None:
    add_site(parser)
    parser.add_argument(
        "--scale", choices=SCALES, default="talk", help="the scale for the estimates of hours and bytes"
    )
    add_experiment(parser, help="say only what this experiment needs and takes (may be repeated)")
    add_data(parser, help="the data set to be measured (default: the site's name)")
    add_flag(
        parser,
        "--write-probe",
        "also try to create, write, mirror and remove images of 8 MiB; the only option that writes",
    )
    form = parser.add_mutually_exclusive_group()
    add_flag(form, "--json", "print the report as JSON")
    form.add_argument(
        "--format",
        # The forms of cluster.admin_commands, which completion need not load.
        choices=("plain", "conf", "cephadm"),
        help="print only an administrator's commands and their undo: for a host of the cluster, with --conf for this "
        "machine, or through cephadm shell",
    )


PREFLIGHT = Command(
    "preflight",
    "show what can be measured on a cluster; read-only unless you ask for a write probe",
    _preflight,
    "replay.preflight.command:run",
    "Show what can and cannot be measured on a site, and what an administrator must do. Read-only, unless you "
    "ask for a write probe.",
    kept="nothing was changed but by a write probe, and what that could not remove is in the ledger, for clean",
    level=_level_of_site,
)


def _measure(parser: Parser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    add_site(which, required=False)
    which.add_argument(
        "--plan", metavar="FILE", type=Path, help="measure exactly what this file of --plan-only says, and nothing else"
    )
    add_data(parser, help="the data set to write into, benchmarks/NAME/ (default: the site's name)")
    parser.add_argument("--scale", choices=SCALES, help=f"how much to measure (default: {DEFAULT_SCALE})")
    add_experiment(parser)
    parser.add_argument(
        "--only",
        metavar="FACTOR=LEVEL",
        action="append",
        default=[],
        help="with --experiment, only the sets at this level (may be repeated); the others can follow later",
    )
    parser.add_argument(
        "--blocks", type=_count, metavar="N", help="the total number of repetitions (default: the scale's)"
    )
    add_flag(parser, "--into-shipped", "measure into a data set that ships with the talk, without asking")
    parser.add_argument(
        "--profile",
        metavar="NAME",
        help="where blocks run: `slurm`, or the folder of a Snakemake profile of your own (default: on this machine)",
    )
    instead = parser.add_mutually_exclusive_group()
    add_flag(instead, "--dry-run", "print cells, hours and bytes; measure nothing")
    add_flag(
        instead,
        "--plan-only",
        "write the run as a file to sign: its commands, rights, limits and undo; measure nothing",
    )


MEASURE = Command(
    "measure",
    "measure a cluster",
    _measure,
    "replay.cli.derive:measure",
    """\
Measure a cluster. It first prints what it will do: cells, hours, bytes. It never repeats finished work, so you can
interrupt it at any time and run it again to continue. At the end it derives the tables and prints the verdicts on the
claims.""",
    kept=_CONTINUE,
    level=_level_of_site,
)


def _interleave(parser: Parser) -> None:
    parser.add_argument(
        "--release",
        action="append",
        required=True,
        type=_fetched_release,
        metavar="R",
        help="a release (give two or more)",
    )
    add_data(parser, help="the start of the data sets' names: NAME-16, NAME-18, … (default: interleaved)")
    parser.add_argument(
        "--scale", choices=SCALES, default=SCALES[-1], help=f"how much to measure (default: {SCALES[-1]})"
    )
    add_experiment(parser)
    parser.add_argument("--blocks", type=_count, metavar="N", help="the number of repetitions (default: the scale's)")
    add_flag(parser, "--into-shipped", "measure into data sets that ship with the talk, without asking")
    add_flag(parser, "--dry-run", "print the order of the blocks; measure nothing")


INTERLEAVE = Command(
    "interleave",
    "measure several releases of Ceph in turns",
    _interleave,
    "replay.cli.derive:interleave",
    """\
Measure several releases of Ceph in turns on this machine, each in a sandbox and a data set of its own: block 1 of each
in random order, then block 2 of each. Only one sandbox runs at a time. Finished blocks are never repeated, so you can
interrupt it at any time and run it again to continue.""",
    kept=_CONTINUE,
)


def _clean(parser: Parser) -> None:
    add_site(parser)
    what = parser.add_mutually_exclusive_group()
    add_flag(what, "--yes", "do not ask")
    add_flag(what, "--record", "remove nothing; print as CSV what was made and removed, and when, as a change record")
    add_data(parser, help="with --record, only what was made for this data set")


CLEAN = Command(
    "clean",
    "remove what Replay created on a cluster",
    _clean,
    "replay.ownership.clean:run",
    "Remove what Replay created on a site, according to its ledger. Nothing else is touched.",
    kept="the ledger still lists the rest; run the same command again to continue",
    level=_level_of_site,
)


def _sandbox(parser: Parser) -> None:
    place = argparse.ArgumentParser(add_help=False)
    place.add_argument("--name", default="default", help="which sandbox of this project (default: %(default)s)")
    place.add_argument("--directory", metavar="DIR", help="its folder, instead of .replay/sandbox/NAME")
    commands = add_commands(parser, "up|status|down|link|conf|releases")
    default = SandboxOptions()

    up = commands.add_parser("up", parents=[place], help="create or start it; does nothing if it is running")
    up.add_argument("--left-osds", type=int, metavar="N", help=f"OSDs of left (default {default.left_osds})")
    up.add_argument(
        "--right", type=_right, metavar="N|none", help="OSDs of right, or none for no second cluster (default 1)"
    )
    for side, size in (("left", default.left_osd_bytes), ("right", default.right_osd_bytes)):
        up.add_argument(
            f"--{side}-osd-size", type=_size, metavar="SIZE", help=f"sparse, each (default {size_text(size)})"
        )
    up.add_argument(
        "--release",
        type=_release_or_host,
        metavar="RELEASE",
        help="the Ceph to run: 16, 18, 20 or its name, fetched if it is missing, or host (default: host, or where that "
        "has no Ceph, the newest one that is here)",
    )
    up.add_argument(
        "--image", metavar="IMAGE", help="with --release: take it from this container image (podman or docker)"
    )
    up.add_argument("--rtt", type=_rtt, metavar="TIME", help="join the sites by a line with this round trip: 20ms")
    up.add_argument("--rate", type=_rate, metavar="RATE", help="with --rtt, the line's rate: 100mbit, 1gbit")
    up.add_argument(
        "--stretch", action="store_true", default=None, help="one cluster over both sites, instead of two and mirroring"
    )
    add_flag(up, "--quiet", "print errors only")

    down = commands.add_parser("down", parents=[place], help="stop it and remove all its files")
    add_flag(down, "--keep", "stop it but keep its data for the next up")

    status = commands.add_parser("status", parents=[place], help="daemons, health, mirroring")
    add_flag(status, "--json", "for programs")

    link = commands.add_parser("link", parents=[place], help="change the line between the sites while it runs")
    link.add_argument("--rtt", type=_rtt, metavar="TIME", help="another round trip, such as 80ms")
    rate = link.add_mutually_exclusive_group()
    rate.add_argument("--rate", type=_rate, metavar="RATE", help="another rate, such as 100mbit")
    add_flag(rate, "--no-rate", "no limit of its own")

    releases = commands.add_parser("releases", help="list the releases of Ceph in this checkout")
    change = releases.add_mutually_exclusive_group()
    change.add_argument("--get", type=_fetched_release, metavar="RELEASE", help="get one without starting it")
    change.add_argument("--remove", type=_fetched_release, metavar="RELEASE", help="remove one that no sandbox uses")
    releases.add_argument("--image", metavar="IMAGE", help="with --get: take it from this container image")

    conf = commands.add_parser("conf", parents=[place], help="print the path of a cluster's ceph.conf")
    conf.add_argument("cluster", nargs="?", choices=("left", "right"), default="left")


def _level_of_sandbox(options: argparse.Namespace) -> str:
    """Return the level for `sandbox`: a fetched release brings what it needs."""
    if options.what != "up":
        return NOTHING
    release = options.release or _recorded_release(options.name, options.directory)
    return OWN_CLUSTER if release == HOST else NOTHING


SANDBOX = Command(
    "sandbox",
    "start and stop two small Ceph clusters of your own",
    _sandbox,
    "replay.sandbox.cli:run",
    "Run two real Ceph clusters, left and right, mirrored from left to right, as processes of this user. With --rtt "
    "the sites are as far apart as you say.",
    kept="everything that this command started has been stopped",
    level=_level_of_sandbox,
)


def _right(text: str) -> int:
    try:
        return 0 if text == "none" else int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor none") from error


def _release_or_host(text: str) -> str:
    number = _release(text)
    return HOST if number is None else str(number)


def _fetched_release(text: str) -> int:
    """Return the number of one of Replay's releases. Raises argparse.ArgumentTypeError for other text."""
    if (number := _release(text)) is None:
        raise argparse.ArgumentTypeError(
            "the host's own Ceph is not one of Replay's releases: name one, such as 18 or reef"
        )
    return number
