"""`replay derive`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from replay.base.paths import benchmarks_directory
from replay.derive.arguments import COMMAND
from replay.derive.dataset import derive_data_set
from replay.derive.reseal import reseal
from replay.derive.watch import watch
from replay.raw.copies import ALTERED, AlteredFile, read_stamp

SHOWN_FILES = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status (3: raw output that is missing, altered or unreadable)."""
    return COMMAND.main(arguments)


def run(options: argparse.Namespace) -> int:
    """Derive what the options name; return the exit status."""
    if options.reseal is not None and (options.watch or options.experiment):
        COMMAND.parser().refuse("--reseal takes the whole copy: it goes with neither --watch nor --experiment")
    data_set = benchmarks_directory() / (options.data if options.reseal is None else options.reseal)
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
