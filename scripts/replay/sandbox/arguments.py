"""The options of `replay sandbox`."""

from __future__ import annotations

import argparse

from replay.base.command_line import Command, Parser
from replay.base.errors import ReplayError
from replay.base.releases import HOST, parse_release
from replay.cluster.sandbox_options import SandboxOptions, parse_rate, parse_rtt, parse_size, show_size

COMMANDS = ("up", "status", "down", "link", "conf", "releases")


def _add_arguments(parser: Parser) -> None:
    place = argparse.ArgumentParser(add_help=False)
    place.add_argument("--name", default="default", help="which sandbox of this project (default: %(default)s)")
    place.add_argument("--directory", metavar="DIR", help="its folder, instead of .replay/sandbox/NAME")
    commands = parser.add_subparsers(
        title="commands", required=True, metavar="|".join(COMMANDS), dest="what", parser_class=Parser
    )
    default = SandboxOptions()

    up = commands.add_parser("up", parents=[place], help="create or start it; does nothing if it is running")
    up.add_argument("--left-osds", type=int, metavar="N", help=f"OSDs of left (default {default.left_osds})")
    up.add_argument(
        "--right", type=_right, metavar="N|none", help="OSDs of right, or none for no second cluster (default 1)"
    )
    for side, size in (("left", default.left_osd_bytes), ("right", default.right_osd_bytes)):
        up.add_argument(
            f"--{side}-osd-size", type=_size, metavar="SIZE", help=f"sparse, each (default {show_size(size)})"
        )
    up.add_argument(
        "--release",
        type=_release,
        metavar="RELEASE",
        help="the Ceph to run: 16, 18, 20 or its name, fetched if it is missing, or host (default: host, or where that "
        "has no Ceph, the newest one that is here)",
    )
    up.add_argument("--image", metavar="IMAGE", help="take the release from this container image (podman or docker)")
    up.add_argument("--rtt", type=_rtt, metavar="TIME", help="join the sites by a line with this round trip: 20ms")
    up.add_argument("--rate", type=_rate, metavar="RATE", help="with --rtt, the line's rate: 100mbit, 1gbit")
    up.add_argument(
        "--stretch", action="store_true", default=None, help="one cluster over both sites, instead of two and mirroring"
    )
    up.add_argument("--quiet", action="store_true", help="print errors only")

    down = commands.add_parser("down", parents=[place], help="stop it and remove all its files")
    down.add_argument("--keep", action="store_true", help="stop it but keep its data for the next up")

    status = commands.add_parser("status", parents=[place], help="daemons, health, mirroring")
    status.add_argument("--json", action="store_true", help="for programs")

    link = commands.add_parser("link", parents=[place], help="change the line between the sites while it runs")
    link.add_argument("--rtt", type=_rtt, metavar="TIME", help="another round trip, such as 80ms")
    rate = link.add_mutually_exclusive_group()
    rate.add_argument("--rate", type=_rate, metavar="RATE", help="another rate, such as 100mbit")
    rate.add_argument("--no-rate", action="store_true", help="no limit of its own")

    releases = commands.add_parser("releases", help="list the releases of Ceph in this checkout")
    change = releases.add_mutually_exclusive_group()
    change.add_argument("--get", type=_number, metavar="RELEASE", help="get one without starting it")
    change.add_argument("--remove", type=_number, metavar="RELEASE", help="remove one that no sandbox uses")
    releases.add_argument("--image", metavar="IMAGE", help="with --get: take it from this container image")

    conf = commands.add_parser("conf", parents=[place], help="print the path of a cluster's ceph.conf")
    conf.add_argument("cluster", nargs="?", choices=("left", "right"), default="left")


def _rtt(text: str) -> float:
    try:
        return parse_rtt(text)
    except ReplayError as error:
        raise argparse.ArgumentTypeError(f"{error.what}; {error.next_step}") from error


def _rate(text: str) -> float:
    try:
        return parse_rate(text)
    except ReplayError as error:
        raise argparse.ArgumentTypeError(f"{error.what}; {error.next_step}") from error


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ReplayError as error:
        raise argparse.ArgumentTypeError(error.what) from error


def _release(text: str) -> str:
    number = _parsed(text)
    return HOST if number is None else str(number)


def _number(text: str) -> int:
    if (number := _parsed(text)) is None:
        raise argparse.ArgumentTypeError(
            "the host's own Ceph is not one of Replay's releases: name one, such as 18 or reef"
        )
    return number


def _parsed(text: str) -> int | None:
    try:
        return parse_release(text)
    except ReplayError as error:
        raise argparse.ArgumentTypeError(f"{error.what}; {error.next_step}") from error


def _right(text: str) -> int:
    try:
        return 0 if text == "none" else int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor none") from error


COMMAND = Command(
    "sandbox",
    "start and stop two small Ceph clusters of your own",
    _add_arguments,
    "replay.sandbox.cli:run",
    "Run two real Ceph clusters, left and right, mirrored from left to right, as processes of this user. With --rtt "
    "the sites are as far apart as you say.",
)
