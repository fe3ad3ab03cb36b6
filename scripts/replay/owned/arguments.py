"""The options of `replay clean`."""

from __future__ import annotations

from replay.base.command_line import Command, Parser, add_site


def _add_arguments(parser: Parser) -> None:
    add_site(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask")


COMMAND = Command(
    "clean",
    "remove from a cluster what Replay made there",
    _add_arguments,
    "replay.owned.clean:run",
    "Remove from a site what Replay made there, as its ledger names it. Nothing else is touched.",
    kept="what is left stands in the ledger; the same command goes on from there",
)
