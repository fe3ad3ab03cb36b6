"""The options of `replay measure`."""

from __future__ import annotations

from pathlib import Path

from replay.base.command_line import Command, Parser, add_data, add_experiment, add_site
from replay.design.design import SCALES

_DESCRIPTION = """\
Measure a cluster. It first prints what it will do: cells, hours, bytes. It never repeats finished work, so you can
interrupt it at any time and run it again to continue. At the end it derives the tables and prints the verdicts on the
claims."""
DEFAULT_SCALE = "quick"


def _add_arguments(parser: Parser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    add_site(which, required=False)
    which.add_argument(
        "--plan", metavar="FILE", type=Path, help="measure exactly what this file of --plan-only says, and nothing else"
    )
    add_data(parser, help="the data set to write into, benchmarks/NAME/ (default: the site's name)")
    parser.add_argument("--scale", choices=SCALES, help=f"how much to measure (default: {DEFAULT_SCALE})")
    add_experiment(parser, "only this experiment (may be repeated)")
    parser.add_argument(
        "--only",
        metavar="FACTOR=LEVEL",
        action="append",
        default=[],
        help="with --experiment, only the sets at this level (may be repeated); the others can follow later",
    )
    parser.add_argument(
        "--blocks", type=int, metavar="N", help="the total number of repetitions (default: the scale's)"
    )
    parser.add_argument(
        "--into-shipped",
        action="store_true",
        help="measure into a data set that ships with the talk, without asking",
    )
    parser.add_argument(
        "--profile",
        metavar="NAME",
        help="where blocks run: `slurm`, or the folder of a Snakemake profile of your own (default: on this machine)",
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--dry-run", action="store_true", help="print cells, hours and bytes; measure nothing")
    instead.add_argument(
        "--plan-only",
        action="store_true",
        help="write the run as a file to sign: its commands, rights, limits and undo; measure nothing",
    )


COMMAND = Command(
    "measure",
    "measure a cluster",
    _add_arguments,
    "replay.measure.command:run",
    _DESCRIPTION,
    kept="every finished set is kept; run the same command again to continue",
)
