"""The options of `replay interleave`."""

from __future__ import annotations

import argparse

from replay.base.command_line import Command, Parser, add_data, add_experiment
from replay.base.errors import ReplayError
from replay.base.releases import parse_release
from replay.design.design import SCALES

DEFAULT_SCALE = SCALES[-1]

_DESCRIPTION = """\
Measure several releases of Ceph in turns on this machine, each in a sandbox and a data set of its own: block 1 of each
in random order, then block 2 of each. Only one sandbox runs at a time. Finished blocks are never repeated, so you can
interrupt it at any time and run it again to continue."""


def _release(text: str) -> int:
    try:
        number = parse_release(text)
    except ReplayError as error:
        raise argparse.ArgumentTypeError(error.what) from None
    if number is None:
        raise argparse.ArgumentTypeError("name the release by its number or name, such as 18 or reef")
    return number


def _add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--release", action="append", required=True, type=_release, metavar="R", help="a release (give two or more)"
    )
    add_data(parser, help="the start of the data sets' names: NAME-16, NAME-18, … (default: interleaved)")
    parser.add_argument(
        "--scale", choices=SCALES, default=DEFAULT_SCALE, help=f"how much to measure (default: {DEFAULT_SCALE})"
    )
    add_experiment(parser, "only this experiment (may be repeated)")
    parser.add_argument("--blocks", type=int, metavar="N", help="the number of repetitions (default: the scale's)")
    parser.add_argument(
        "--into-shipped", action="store_true", help="measure into data sets that ship with the talk, without asking"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the order of the blocks; measure nothing")


COMMAND = Command(
    "interleave",
    "measure several releases of Ceph in turns",
    _add_arguments,
    "replay.measure.interleave:run",
    _DESCRIPTION,
    kept="every finished set is kept; run the same command again to continue",
)
