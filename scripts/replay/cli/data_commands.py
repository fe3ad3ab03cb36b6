"""The commands that need no cluster: derive, claims, report, import, compare, talk, bundle, raw."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from replay.cli.grammar import Command, Parser, add_commands, add_data, add_experiment, add_flag, data_set_name


def _derive(parser: Parser) -> None:
    add_data(parser, required=True)
    add_experiment(parser)
    add_flag(parser, "--force", "derive everything again, also what has not changed")
    add_flag(
        parser, "--entities", "also write entities.csv, the values of each OSD and placement group (git ignores it)"
    )
    add_flag(
        parser,
        "--watch",
        "derive again whenever raw output arrives, at the lowest priority, until standard input closes or SIGTERM",
    )
    add_flag(
        parser,
        "--verify",
        "derive nothing: compare every derived file with its digest, and list altered files (status 1)",
    )
    add_flag(
        parser,
        "--outliers",
        "derive nothing: list the runs that lie far from the median of their point (modified z above 3.5); "
        "none of them is dropped",
    )


DERIVE = Command(
    "derive",
    "make a data set's tables from its raw output",
    _derive,
    "replay.cli.derive:run",
    """\
Derive a data set's tidy.csv, aggregates, manifest.json and datapackage.json from its raw output. Needs no cluster. It
first compares every raw file with raw/SHA256SUMS. A missing or altered file is an error that names it, and nothing is
written for its experiment. Unchanged experiments are not derived again, and a file is written only if its content
changes. Snakemake decides what is due, and derives several experiments in parallel.""",
    kept="every written file is complete; run the same command again to derive the rest",
)


def _claims(parser: Parser) -> None:
    add_data(parser, required=True)
    add_data(parser, option="--against", help="compare with another data set: what differs by more than noise?")
    add_experiment(parser, "only the claims of this experiment (may be repeated)")
    add_flag(parser, "--measured", "leave out claims whose cells are not measured")
    shape = parser.add_mutually_exclusive_group()
    add_flag(shape, "--brief", "print a few plain sentences; with --against, both data sets")
    add_flag(parser, "--ratios", "with --brief: print the ratios of throughput first")
    add_flag(shape, "--json", "print JSON")
    parser.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="VERDICT:ID",
        help="exit with status 1 unless the claim gets this verdict, for example refuted:journal-4k-seq-write",
    )


CLAIMS = Command(
    "claims", "print the verdict on every claim, or compare two data sets", _claims, "replay.claims.command:run"
)


def _report(parser: Parser) -> None:
    add_data(parser, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="write the page to this file")


REPORT = Command(
    "report",
    "write what a data set says about mirroring as one page",
    _report,
    "replay.exchange.report.page:run",
    """\
Write what a data set says about mirroring as one HTML page that opens anywhere. Needs no cluster. The page says what a
write pays, what a lost site takes with it, how many images of which write rate were mirrored, what ran out, and which
setting bounded what, each with its number of runs. What was not measured is a line with the command that measures it.
A data set whose raw output or tables are altered is refused.""",
    kept="the page is complete, or as it was",
)


def _import(parser: Parser) -> None:
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="DIR", help="a folder of results, or an archive of one"
    )
    add_data(parser, required=True, help="the name of the new data set, a folder in benchmarks/")
    parser.add_argument("--label", metavar="TEXT", help="what charts call the data set (default: its name)")
    meaning = parser.add_mutually_exclusive_group()
    add_flag(meaning, "--variants", "each folder (or else archive) in DIR is a variant")
    add_flag(meaning, "--repetitions", "runs of a point are repetitions, whatever their names")
    add_flag(parser, "--dry-run", "only say what would be imported")
    add_flag(parser, "--left-out", "list every file that is left out, and why")


IMPORT = Command(
    "import",
    "import results of fio, rbd bench, rados bench, CBT or elbencho as a data set",
    _import,
    "replay.exchange.importing.command:run",
    """\
Import results that you have already as a data set. Needs no cluster. It finds in the folders: fio JSON and JSON+,
output of rbd bench and rados bench, elbencho's CSV, and the folders of CBT and of bench-fio, also in .zip, .tar.gz and
.gz. Of fio's text it reads the headline figures. What each run was asked to do, such as its block size and queue depth,
is read from the results themselves. The originals are packed as raw output with their digests, and tables are derived
from them.

Each DIR is a variant; the others are compared with the first. Within a DIR, several runs of one point are repetitions,
also in folders whose names differ in digits only; it prints which.""",
    kept="the data set does not exist, or is complete except for tables, which replay derive makes",
)


def _side(text: str) -> str:
    """Return `NAME` or `NAME:VARIANT` as it is. Raises argparse.ArgumentTypeError if it is neither."""
    name, colon, variant = text.partition(":")
    data_set_name(name)
    if colon and not variant:
        raise argparse.ArgumentTypeError(f"{text!r} names no variant after the colon")
    return text


def _experiments(text: str) -> tuple[str, str]:
    """Return the experiments of `NAME` or `NAME=OTHER`. Raises argparse.ArgumentTypeError if the text is neither."""
    match = re.fullmatch(r"([^=]+)(?:=([^=]+))?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is neither the name of an experiment nor NAME=OTHER")
    return match[1], match[2] or match[1]


def _level(text: str) -> str:
    """Return `FACTOR=LEVEL` as it is. Raises argparse.ArgumentTypeError if the text is something else."""
    if not re.fullmatch(r"[^=]+=.+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not FACTOR=LEVEL, such as 'io_size_bytes=4096'")
    return text


def _condition(text: str) -> tuple[str, str, float]:
    """Return metric, `<` or `>`, and ratio of a condition. Raises argparse.ArgumentTypeError if the text is none."""
    match = re.fullmatch(r"\s*([A-Za-z0-9_-]+)\s*([<>])\s*([0-9]+(?:\.[0-9]+)?)\s*", text)
    if not match or not float(match[3]) > 0:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a condition: write a metric and a ratio, such as 'iops<0.95'"
        )
    return match[1], match[2], float(match[3])


def _compare(parser: Parser) -> None:
    repeated: dict[str, Any] = {"action": "append", "default": []}
    parser.add_argument("first", type=_side, metavar="NAME", help="the data set that the others are divided by")
    parser.add_argument("others", nargs="+", type=_side, metavar="OTHER", help="a data set to compare with it")
    parser.add_argument(
        "--experiment",
        **repeated,
        type=_experiments,
        metavar="NAME[=OTHER]",
        help="only this experiment; with =OTHER, compare it with experiment OTHER of the other data sets (may be "
        "repeated)",
    )
    parser.add_argument(
        "--only",
        **repeated,
        type=_level,
        metavar="FACTOR=LEVEL",
        help="only the points at this level (may be repeated)",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the report, one HTML page, to this file")
    add_flag(parser, "--json", "print JSON")
    parser.add_argument(
        "--fail-if",
        **repeated,
        type=_condition,
        metavar="CONDITION",
        help="exit with status 1 if the interval of a ratio lies wholly there, for example 'iops<0.95' "
        "(may be repeated)",
    )


COMPARE = Command(
    "compare",
    "compare data sets with one another, and write the report as one page",
    _compare,
    "replay.exchange.compare:run",
    """\
Compare data sets, measured or imported. Needs no cluster. Every point that two data sets share gets the ratio of the
second to the first, with its 95 % interval. Blocks are paired if they ran next to each other on one host; otherwise the
runs are two independent samples (Welch). Each row says which, and what cannot be said.

The first NAME is what the others are divided by. NAME:VARIANT takes one variant of a data set.""",
    kept="the report is complete, or as it was",
)


def _talk(parser: Parser) -> None:
    parser.add_argument("data", type=data_set_name, metavar="NAME", help="the data set, a folder in benchmarks/")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder of the talk, which is new")
    parser.add_argument("--title", metavar="TEXT", help="the title of the talk")
    parser.add_argument("--look", type=Path, metavar="DIR", help="copy this look (docs/my-look.md)")
    add_experiment(parser, "the experiment that the talk is about (default: the one with the most runs)")
    parser.add_argument(
        "--metric",
        metavar="NAME",
        action="append",
        default=[],
        help="compare this metric, for example iops or latency-p99 (may be repeated; default: what was done, and the "
        "highest percentile of latency that every run has the operations for)",
    )
    parser.add_argument(
        "--layers",
        type=lambda text: text.split(","),
        default=[],
        metavar="A,B,…",
        help="variants of which each lies on the one before, for example disk,rados,rbd: a slide says what they cost",
    )


TALK = Command(
    "talk",
    "start a talk from a data set: slides, notes, claims and data in a folder of their own",
    _talk,
    "replay.exchange.talk:run",
    """\
Start a talk from a data set, measured or imported. Needs no cluster. DIR becomes the folder of the talk: a question,
the answer as far as the figures decide it, a slide for each finding, what to measure next, each with notes, and an
appendix; the claims that the titles rest on; and a copy of the data. From then on, the folder is yours to edit:
docs/your-own-talk.md says how.""",
    kept="the folder of the talk does not exist, or is complete",
)


def _replacement(text: str) -> tuple[str, str]:
    """Return OLD and NEW of `OLD=NEW`. Raises argparse.ArgumentTypeError if the text is not OLD=NEW."""
    old, sign, new = text.partition("=")
    if not (old and sign and new):
        raise argparse.ArgumentTypeError(f"{text!r} is not OLD=NEW")
    return old, new


def _bundle(parser: Parser) -> None:
    add_data(parser, required=True)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the bundle to this file, such as mine.bundle")
    parser.add_argument("--label", metavar="TEXT", help="what charts call the data set, instead of its own label")
    parser.add_argument(
        "--replace",
        action="append",
        default=[],
        type=_replacement,
        metavar="OLD=NEW",
        help="write NEW wherever a text says OLD (may be repeated)",
    )
    add_flag(parser, "--list", "show every figure as well, except those of the tables")


BUNDLE = Command(
    "bundle",
    "put what a data set found into one redacted file that a published talk can show",
    _bundle,
    "replay.exchange.bundle:run",
    """\
Put what a data set found into one file that you can give away: its charts, its verdicts, and what was measured on.
Needs no cluster. Only what a list allows leaves: no raw output, no host, address, user, path, serial number or
identifier of a cluster. Without --out it only shows what would leave, value by value.""",
    kept="the bundle is complete, or as it was",
)


def _raw(parser: Parser) -> None:
    commands = add_commands(parser, "ls|cat|unpack|verify")

    def command(name: str, help_text: str) -> Parser:
        return commands.add_parser(name, help=help_text, description=help_text)

    def several(parser: Parser) -> None:
        parser.add_argument("packs", nargs="*", type=Path, metavar="PACK", help="packs")
        add_data(parser, help="all packs and open blocks of a data set")
        parser.add_argument("--experiment", metavar="NAME", help="with --data: only this experiment")

    several(command("ls", "List attempts, with whether each is valid."))
    cat = command("cat", "Print one file of a pack, unchanged.")
    cat.add_argument("pack", type=Path, metavar="PACK")
    cat.add_argument("member", metavar="MEMBER", help="its path in the pack, as `ls` and `tar -t` show it")
    unpack = command("unpack", "Unpack verified files into a folder outside the data sets.")
    several(unpack)
    unpack.add_argument("--into", required=True, type=Path, metavar="FOLDER", help="a new or empty folder")
    several(command("verify", "Compare every pack and every file in it with what was recorded."))


RAW = Command(
    "raw",
    "inspect raw output",
    _raw,
    "replay.evidence.command:run",
    """\
Inspect evidence: list, print, unpack and verify packs.

PACK is a file benchmarks/<data set>/<experiment>/raw/block-<number>-<plan>.tar.gz. Any tar opens it as well:
tar -tzf PACK lists it, and tar -xzOf PACK MEMBER prints one of its files.""",
)
