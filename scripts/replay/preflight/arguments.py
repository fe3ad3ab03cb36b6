"""The options of `replay preflight`."""

from __future__ import annotations

from replay.base.command_line import Command, Parser, add_data, add_site
from replay.design.design import SCALES

#: The forms of `cluster.admin_commands`, which completion need not load.
FORMATS = ("plain", "conf", "cephadm")


def _add_arguments(parser: Parser) -> None:
    add_site(parser)
    parser.add_argument(
        "--scale", choices=SCALES, default="talk", help="the scale for the estimates of hours and bytes"
    )
    add_data(parser, help="the data set to be measured (default: the site's name)")
    parser.add_argument(
        "--write-probe",
        action="store_true",
        help="also try to create, write, flatten, mirror and remove images of 8 MiB; the only option that writes",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the report as JSON")
    form.add_argument(
        "--format",
        choices=FORMATS,
        help="print only an administrator's commands and their undo: for a host of the cluster, with --conf for this "
        "machine, or through cephadm shell",
    )


COMMAND = Command(
    "preflight",
    "show what can be measured on a cluster; read-only unless you ask for a write probe",
    _add_arguments,
    "replay.preflight.command:run",
    "Show what can and cannot be measured on a site, and what an administrator must do. Read-only, unless you "
    "ask for a write probe.",
)
