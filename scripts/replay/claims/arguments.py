"""The options of `replay claims`."""

from __future__ import annotations

from replay.base.command_line import Command, Parser, add_data, add_experiment


def _add_arguments(parser: Parser) -> None:
    add_data(parser, required=True, help="the data set, a folder in benchmarks/")
    add_data(parser, option="--against", help="compare with another data set: what differs by more than noise?")
    add_experiment(parser, "only the claims of this experiment (may be repeated)")
    parser.add_argument("--measured", action="store_true", help="leave out claims whose cells are not measured")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument(
        "--brief", action="store_true", help="print a few plain sentences; with --against, both data sets"
    )
    parser.add_argument("--ratios", action="store_true", help="with --brief: print the ratios of throughput first")
    shape.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="VERDICT:ID",
        help="exit with status 1 unless the claim gets this verdict, for example refuted:journal-4k-seq-write",
    )


COMMAND = Command(
    "claims",
    "print the verdict on every claim, or compare two data sets",
    _add_arguments,
    "replay.claims.command:run",
)
