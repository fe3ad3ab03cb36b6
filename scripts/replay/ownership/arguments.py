"""The options of `replay clean`."""

from __future__ import annotations

from replay.base.command_line import Command, Parser, add_data, add_site


def _add_arguments(parser: Parser) -> None:
    add_site(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--yes", action="store_true", help="do not ask")
    what.add_argument(
        "--record",
        action="store_true",
        help="remove nothing; print as CSV what was made and removed, and when, as a change record",
    )
    add_data(parser, help="with --record, only what was made for this data set")


COMMAND = Command(
    "clean",
    "remove what Replay created on a cluster",
    _add_arguments,
    "replay.ownership.clean:run",
    "Remove what Replay created on a site, according to its ledger. Nothing else is touched.",
    kept="the ledger still lists the rest; run the same command again to continue",
)
