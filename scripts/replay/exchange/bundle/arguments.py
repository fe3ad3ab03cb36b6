"""The options of `replay bundle`."""

from __future__ import annotations

import argparse
from pathlib import Path

from replay.base.command_line import Command, Parser, add_data

_DESCRIPTION = """\
Put what a data set found into one file that you can give away: its charts, its verdicts, and what was measured on.
Needs no cluster. Only what a list allows leaves: no raw output, no host, address, user, path, serial number or
identifier of a cluster. Without --out it only shows what would leave, value by value."""


def replacement(text: str) -> tuple[str, str]:
    """Return OLD and NEW of `OLD=NEW`. Raises argparse.ArgumentTypeError if the text is none."""
    old, sign, new = text.partition("=")
    if not (old and sign and new):
        raise argparse.ArgumentTypeError(f"{text!r} is not OLD=NEW")
    return old, new


def _add_arguments(parser: Parser) -> None:
    add_data(parser, required=True, help="the data set, a folder in benchmarks/")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the bundle to this file, such as mine.bundle")
    parser.add_argument("--label", metavar="TEXT", help="what charts call the data set, instead of its own label")
    parser.add_argument(
        "--replace",
        action="append",
        default=[],
        type=replacement,
        metavar="OLD=NEW",
        help="write NEW wherever a text says OLD (may be repeated)",
    )
    parser.add_argument("--list", action="store_true", help="show every value, the figures of tables as well")


COMMAND = Command(
    "bundle",
    "put what a data set found into one redacted file that a published talk can show",
    _add_arguments,
    "replay.exchange.bundle.command:run",
    _DESCRIPTION,
    kept="the bundle is complete, or as it was",
)
