"""`replay look`, the command that needs no site's file, and only reads."""

from __future__ import annotations

import argparse
from pathlib import Path

from replay.cli.cluster_commands import a_release, level_of_site
from replay.cli.grammar import CLIENT, DERIVED, Command, Parser, site_name


def _look(parser: Parser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--conf", type=Path, metavar="FILE", default=Path("/etc/ceph/ceph.conf"), help="(default: %(default)s)"
    )
    which.add_argument("--sandbox", action="store_true", help="look at the sandbox of this project, both clusters")
    parser.add_argument("--second", type=Path, metavar="FILE", help="the ceph.conf of the cluster that mirrors it")
    parser.add_argument("--client", metavar="NAME", default="client.admin", help="who asks (default: %(default)s)")
    parser.add_argument(
        "--keyring",
        type=Path,
        metavar="FILE",
        help="its keyring on the first cluster (default: the one beside each ceph.conf, else where Ceph looks)",
    )
    parser.add_argument(
        "--client-release", type=a_release, metavar="RELEASE", help="the Ceph to ask with, instead of this machine's"
    )
    parser.add_argument(
        "--write-site", type=site_name, metavar="NAME", help="also write config/sites/NAME.yaml, with limits"
    )


def _level_of_look(options: argparse.Namespace) -> str:
    """Return the level for `look`: what the sandbox needs, or a client that comes with a fetched release."""
    if options.sandbox:
        return level_of_site(argparse.Namespace(site="sandbox"))
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
