"""The options of `replay measure`."""

from __future__ import annotations

from replay.base.command_line import Command, Parser, add_data, add_experiment, add_site
from replay.design.design import SCALES

_DESCRIPTION = """\
Measure a cluster. It says first what it will do: cells, hours, bytes. What was measured before is never measured again:
interrupt it at any time, and run it again to go on. At the end it derives the tables and prints the verdicts of the
claims."""


def _add_arguments(parser: Parser) -> None:
    add_site(parser)
    add_data(parser, help="the data set to write, benchmarks/NAME/ (default: the site's name)")
    parser.add_argument("--scale", choices=SCALES, default="quick", help="how much (default: quick)")
    add_experiment(parser, "only this experiment (may be repeated)")
    parser.add_argument("--blocks", type=int, metavar="N", help="so many repetitions in all, instead of the scale's")
    parser.add_argument("--dry-run", action="store_true", help="say cells, hours and bytes; measure nothing")


COMMAND = Command(
    "measure",
    "measure a cluster",
    _add_arguments,
    "replay.measure.command:run",
    _DESCRIPTION,
    kept="every finished set is kept; the same command goes on from there",
)
