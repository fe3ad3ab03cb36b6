"""Where evidence is: the experiments of a data set, and the sealed blocks of an experiment."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from replay.base.errors import EvidenceError
from replay.base.invocation import after_missing, suggestion
from replay.evidence.sums import SUMS

#: The path of a sealed block relative to `evidence/`, for `str.format` with `block` (two digits or more) and `plan`.
SEALED_BLOCK = "block-{block}-{plan}.tar.gz"
_LISTED_BLOCK = re.compile(r"[0-9a-f]{64} [ *](block-\d{2,}-[0-9a-f]+\.tar\.gz)", re.ASCII)


def experiments_in(data_set: Path) -> list[str]:
    """Return the names of the experiments that have raw output."""
    return sorted(path.parent.name for path in data_set.glob("*/raw") if path.is_dir() and any(path.iterdir()))


def named_experiments(data_set: Path, experiments: Sequence[str] = ()) -> list[str]:
    """Return the named experiments, or all that have raw output.

    Raises EvidenceError if the data set or a named experiment has no raw output.
    """
    present = experiments_in(data_set)
    if not present:
        raise EvidenceError("there is no raw output here", where=data_set, next_step=after_missing(data_set))
    for name in experiments:
        if name not in present:
            raise EvidenceError(
                f"there is no raw output of experiment {name!r}", where=data_set, next_step=suggestion(name, present)
            )
    return list(experiments) or present


def data_sets_in(benchmarks: Path) -> list[str]:
    """Return the names of the data sets that have raw output."""
    found = {path.parents[1].name for path in benchmarks.glob("*/*/raw") if any(path.iterdir())}
    return sorted(name for name in found if not name.startswith("."))  # a leading dot: it is still being written


def sealed_block(raw: Path, block: int, plan: str) -> Path:
    """Return the path of the pack of a block that is complete for a plan."""
    return raw / SEALED_BLOCK.format(block=f"{block:02d}", plan=plan)


def sealed_blocks(raw: Path) -> list[Path]:
    """Return the paths of the sealed blocks that SHA256SUMS lists, including those that are missing now."""
    try:
        lines = (raw / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return sorted(raw / match[1] for line in lines if (match := _LISTED_BLOCK.fullmatch(line)))


def recorded_in(raw: Path) -> list[Path]:
    """Return the files that list what was recorded: SHA256SUMS of `raw/` and of its open blocks. Both may change."""
    return [path for path in [raw / SUMS, *sorted(raw.glob(f"block-*.open/{SUMS}"))] if path.exists()]


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Lock a data set's folder while files about the whole data set are written."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
