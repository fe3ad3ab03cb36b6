"""The options of `replay import`."""

from __future__ import annotations

from pathlib import Path

from replay.base.command_line import Command, Parser, add_data

_DESCRIPTION = """\
Import results that you have already as a data set. Needs no cluster. It finds in the folders: fio JSON and JSON+,
output of rbd bench and rados bench, elbencho's CSV, and the folders of CBT and of bench-fio, also in .zip, .tar.gz and
.gz. Of fio's text it reads the headline figures. What each run was asked to do, such as its block size and queue depth,
is read from the results themselves. The originals are packed as raw output with their digests, and tables are derived
from them.

Each DIR is a variant; the others are compared with the first. Within a DIR, several runs of one point are repetitions,
also in folders whose names differ in digits only; it prints which."""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="DIR", help="a folder of results, or an archive of one"
    )
    add_data(parser, required=True, help="the name of the new data set, a folder in benchmarks/")
    parser.add_argument("--label", metavar="TEXT", help="what charts call the data set (default: its name)")
    meaning = parser.add_mutually_exclusive_group()
    meaning.add_argument("--variants", action="store_true", help="each folder in DIR is a variant")
    meaning.add_argument(
        "--repetitions", action="store_true", help="runs of a point are repetitions, whatever their names"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be imported")
    parser.add_argument("--left-out", action="store_true", help="list every file that is left out, and why")


COMMAND = Command(
    "import",
    "import results of fio, rbd bench, rados bench, CBT or elbencho as a data set",
    _add_arguments,
    "replay.exchange.importing.command:run",
    _DESCRIPTION,
    kept="the data set does not exist, or is complete except for tables, which replay derive makes",
)
