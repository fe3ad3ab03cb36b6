"""The options of `replay derive`."""

from __future__ import annotations

from replay.base.command_line import Command, Parser, add_data, add_experiment

_DESCRIPTION = """\
Derive a data set's tidy.csv, aggregates, manifest.json and datapackage.json from its raw output. Needs no cluster.
Every raw file is compared with raw/SHA256SUMS first; one that is missing or altered is an error that names it, and
then nothing of its experiment is written. What has not changed is not derived again, and a file is written only where
its content changes. Several experiments are derived side by side, by Snakemake.

To see what other figures would say, alter raw files in a copy of a data set, and name the copy with --reseal: it is
stamped as altered, and all that is derived from it says so."""


def _add_arguments(parser: Parser) -> None:
    named = parser.add_mutually_exclusive_group(required=True)
    add_data(named, help="the data set, a folder of benchmarks/")
    add_data(
        named,
        option="--reseal",
        metavar="COPY",
        help="a copy of a data set whose raw files were altered or removed: list them anew in SHA256SUMS, stamp the "
        "copy as altered (altered.json), and derive it; an original is refused",
    )
    add_experiment(parser, "only this experiment (may be repeated)")
    parser.add_argument(
        "--entities",
        action="store_true",
        help="also write entities.csv, what is known of each OSD and placement group (git ignores it)",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="derive again whenever raw output arrives, at the lowest priority, until standard input closes or SIGTERM",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="derive nothing: compare every derived file with its digest, and name those that were altered (status 1)",
    )


COMMAND = Command(
    "derive",
    "make a data set's tables from its raw output",
    _add_arguments,
    "replay.workflow.command:run",
    _DESCRIPTION,
    kept="every file that was written is whole; the same command derives the rest",
)
