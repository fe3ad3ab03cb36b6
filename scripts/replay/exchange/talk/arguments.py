"""The options of `replay talk`."""

from __future__ import annotations

from pathlib import Path

from replay.base.command_line import Command, Parser, add_experiment, data_set_name

_DESCRIPTION = """\
Start a talk from a data set, measured or imported. Needs no cluster. DIR becomes the folder of the talk: a title, the
set-up, one slide for each metric, and the method, each with notes; the claims that choose the words on the slides; and
a copy of the data. From then on, the folder is yours to edit: docs/your-own-talk.md says how."""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("data", type=data_set_name, metavar="NAME", help="the data set, a folder in benchmarks/")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder of the talk, which is new")
    parser.add_argument("--title", metavar="TEXT", help="the title of the talk")
    add_experiment(parser, "only this experiment (may be repeated)")
    parser.add_argument(
        "--metric",
        metavar="NAME",
        action="append",
        default=[],
        help="a slide for this metric, for example iops or latency-p99 (may be repeated; default: those that are "
        "drawn as ratios)",
    )


COMMAND = Command(
    "talk",
    "start a talk from a data set: slides, notes, claims and data in a folder of their own",
    _add_arguments,
    "replay.exchange.talk.command:run",
    _DESCRIPTION,
    kept="the folder of the talk does not exist, or is complete",
)
