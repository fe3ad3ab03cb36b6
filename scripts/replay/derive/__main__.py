"""`python -m replay.derive`: the command line of derive."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from replay.base.errors import ReplayError
from replay.base.paths import benchmarks_directory
from replay.derive.dataset import derive_data_set
from replay.derive.reseal import reseal
from replay.derive.watch import watch
from replay.raw.copies import ALTERED, AlteredFile, read_stamp

DESCRIPTION = """\
Derive a data set's tidy.csv, aggregates, manifest.json and datapackage.json from its raw output. Needs no cluster.
Every raw file is compared with raw/SHA256SUMS first; one that is missing or altered is an error that names it, and
then nothing of its experiment is written. A file is written only where its content changes.

To see what other figures would say, alter raw files in a copy of a data set, and name the copy with --reseal: it is
stamped as altered, and all that is derived from it says so."""
SHOWN_FILES = 10


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status (3: raw output that is missing, altered or unreadable)."""
    parser = argparse.ArgumentParser(
        prog="python -m replay.derive", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    named = parser.add_mutually_exclusive_group(required=True)
    named.add_argument("--data", metavar="NAME", help="the data set, a folder of benchmarks/")
    named.add_argument(
        "--reseal",
        metavar="COPY",
        help="a copy of a data set whose raw files were altered or removed: list them anew in SHA256SUMS, stamp the "
        f"copy as altered ({ALTERED}), and derive it; an original is refused",
    )
    parser.add_argument(
        "--experiment", action="append", default=[], metavar="NAME", help="only this experiment (may be repeated)"
    )
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
    options = parser.parse_args(arguments)
    if options.reseal is not None and (options.watch or options.experiment):
        parser.error("--reseal takes the whole copy: it goes with neither --watch nor --experiment")
    data_set = benchmarks_directory() / (options.data if options.reseal is None else options.reseal)
    try:
        if options.reseal is not None:
            _say_resealed(data_set, reseal(data_set))
        if stamp := read_stamp(data_set):
            print(f"ALTERED DATA: {data_set.name} is {stamp.sentence()}", flush=True)
        if options.watch:
            watch(data_set, tuple(options.experiment))
            return 0
        started = time.perf_counter()
        for one in derive_data_set(data_set, options.experiment, entities=options.entities):
            for note in one.notes:
                print(f"{one.name}: void, its output cannot stand: {note}", file=sys.stderr)
            print(f"{one.name}: {one.cells} cells, {len(one.written)} files changed")
        print(f"derived {data_set} in {time.perf_counter() - started:.1f} s")
    except ReplayError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        return 130
    return 0


def _say_resealed(data_set: Path, altered: Sequence[AlteredFile]) -> None:
    if not altered:
        print(f"every raw file of {data_set.name} is as SHA256SUMS says: there is nothing to reseal")
        return
    for one in altered[:SHOWN_FILES]:
        print(f"{'removed' if one.found_sha256 is None else 'altered'}: {one.path}")
    if len(altered) > SHOWN_FILES:
        print(f"and {len(altered) - SHOWN_FILES} more, see {data_set / ALTERED}")


if __name__ == "__main__":
    sys.exit(main())
