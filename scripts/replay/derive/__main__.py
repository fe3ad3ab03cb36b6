"""`python -m replay.derive`: the command line of derive."""

from __future__ import annotations

import argparse
import sys
import time

from replay.derive.dataset import derive_data_set
from replay.derive.watch import watch
from replay.errors import ReplayError
from replay.paths import benchmarks_directory

DESCRIPTION = """\
Derive a data set's tidy.csv, aggregates, manifest.json and datapackage.json from its raw output. Needs no cluster.
Every raw file is compared with raw/SHA256SUMS first; one that is missing or altered is an error that names it, and
then nothing of its experiment is written. A file is written only where its content changes."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status (3: raw output that is missing, altered or unreadable)."""
    parser = argparse.ArgumentParser(
        prog="python -m replay.derive", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, metavar="NAME", help="the data set, a folder of benchmarks/")
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
    data_set = benchmarks_directory() / options.data
    try:
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


if __name__ == "__main__":
    sys.exit(main())
