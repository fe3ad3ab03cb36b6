"""The options of `replay derive`."""

from __future__ import annotations

from replay.base.command_line import Command, Parser, add_data, add_experiment

_DESCRIPTION = """\
Derive a data set's tidy.csv, aggregates, manifest.json and datapackage.json from its raw output. Needs no cluster. It
first compares every raw file with raw/SHA256SUMS. A missing or altered file is an error that names it, and nothing is
written for its experiment. Unchanged experiments are not derived again, and a file is written only if its content
changes. Snakemake derives several experiments in parallel."""


def _add_arguments(parser: Parser) -> None:
    add_data(parser, required=True, help="the data set, a folder in benchmarks/")
    add_experiment(parser, "only this experiment (may be repeated)")
    parser.add_argument(
        "--entities",
        action="store_true",
        help="also write entities.csv, the values of each OSD and placement group (git ignores it)",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="derive again whenever raw output arrives, at the lowest priority, until standard input closes or SIGTERM",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="derive nothing: compare every derived file with its digest, and list altered files (status 1)",
    )
    parser.add_argument(
        "--outliers",
        action="store_true",
        help="derive nothing: list the runs that lie far from the median of their point (modified z above 3.5); "
        "none of them is dropped",
    )


COMMAND = Command(
    "derive",
    "make a data set's tables from its raw output",
    _add_arguments,
    "replay.cli.derive_command:run",
    _DESCRIPTION,
    kept="every written file is complete; run the same command again to derive the rest",
)
