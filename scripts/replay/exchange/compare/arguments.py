"""The options of `replay compare`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from replay.base.command_line import Command, Parser, data_set_name

_DESCRIPTION = """\
Compare data sets, measured or imported. Needs no cluster. Every point that two data sets share gets the ratio of the
second to the first, with its 95 % interval. Blocks are paired if they ran next to each other on one host; otherwise the
runs are two independent samples (Welch). Each row says which, and what cannot be said.

The first NAME is what the others are divided by. NAME:VARIANT takes one variant of a data set."""

_PAIR = re.compile(r"([^=]+)(?:=([^=]+))?")
_LEVEL = re.compile(r"[^=]+=.+")
_CONDITION = re.compile(r"\s*([A-Za-z0-9_-]+)\s*([<>])\s*([0-9]+(?:\.[0-9]+)?)\s*")


def side_name(text: str) -> str:
    """Return `NAME` or `NAME:VARIANT` as it is. Raises argparse.ArgumentTypeError if it is neither."""
    name, colon, variant = text.partition(":")
    data_set_name(name)
    if colon and not variant:
        raise argparse.ArgumentTypeError(f"{text!r} names no variant after the colon")
    return text


def experiments(text: str) -> tuple[str, str]:
    """Return the experiments of `NAME` or `NAME=OTHER`. Raises argparse.ArgumentTypeError if the text is neither."""
    found = _PAIR.fullmatch(text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is neither the name of an experiment nor NAME=OTHER")
    return found[1], found[2] or found[1]


def level(text: str) -> str:
    """Return `FACTOR=LEVEL` as it is. Raises argparse.ArgumentTypeError if the text is something else."""
    if not _LEVEL.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not FACTOR=LEVEL, such as 'io_size_bytes=4096'")
    return text


def condition(text: str) -> tuple[str, str, float]:
    """Return metric, `<` or `>`, and ratio of a condition. Raises argparse.ArgumentTypeError if the text is none."""
    found = _CONDITION.fullmatch(text)
    if not found or not float(found[3]) > 0:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a condition: write a metric and a ratio, such as 'iops<0.95'"
        )
    return found[1], found[2], float(found[3])


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("first", type=side_name, metavar="NAME", help="the data set that the others are divided by")
    parser.add_argument("others", nargs="+", type=side_name, metavar="OTHER", help="a data set to compare with it")
    parser.add_argument(
        "--experiment",
        action="append",
        default=[],
        type=experiments,
        metavar="NAME[=OTHER]",
        help="only this experiment; with =OTHER, compare it with experiment OTHER of the other data sets (may be "
        "repeated)",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        type=level,
        metavar="FACTOR=LEVEL",
        help="only the points at this level (may be repeated)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report, one HTML page, to this file")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--fail-if",
        action="append",
        default=[],
        type=condition,
        metavar="CONDITION",
        help="exit with status 1 if the interval of a ratio lies wholly there, for example 'iops<0.95' "
        "(may be repeated)",
    )


COMMAND = Command(
    "compare",
    "compare data sets with one another, and write the report as one page",
    _add_arguments,
    "replay.exchange.compare.command:run",
    _DESCRIPTION,
    kept="the report is complete, or as it was",
)
