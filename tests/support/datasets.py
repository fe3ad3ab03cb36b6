"""Whole data sets for tests: measured, copied, altered, and what is derived from them."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

from support.rawtree import RawTree, rbd_bench_output

POINT = "write-seq-4096"
STDOUT = f"rbd-journaling/raw/block-01/{POINT}/attempt-1/with-journal.stdout"
SUMS = "rbd-journaling/raw/SHA256SUMS"


def measured(data_set: Path, experiment: str = "rbd-journaling", blocks: int = 1, **options: Any) -> RawTree:
    """Make a data set as measuring would, with its campaign."""
    tree = RawTree(data_set / experiment, **options).measure(blocks)
    campaign = {"schema_version": 1, "data_set": data_set.name, "label": "A sandbox", "site": "sandbox"}
    (data_set / "campaign.json").write_text(json.dumps(campaign))
    return tree


def copied(original: Path, target: Path) -> Path:
    """Copy a data set as `cp -r` does."""
    return Path(shutil.copytree(original, target))


def append(path: Path) -> None:
    """Alter a file."""
    path.write_bytes(path.read_bytes() + b"x")


def set_ratio(data_set: Path, ratio: float) -> list[Path]:
    """Write what rbd bench would have said, had journaling divided the rate of sequential 4 KiB writes by `ratio`."""
    paths = sorted(data_set.glob(f"rbd-journaling/raw/block-*/{POINT}/attempt-*/with-journal.stdout"))
    for path in paths:
        levels = json.loads(path.with_suffix(".json").read_text())["levels"]
        said = re.search(r"^elapsed.* ops/sec: +(\S+)", path.with_name("without-journal.stdout").read_text(), re.M)
        path.write_text(rbd_bench_output(levels, float(said[1]) / ratio))
    return paths


def manifest_of(data_set: Path) -> dict[str, Any]:
    """Return what manifest.json says."""
    return json.loads((data_set / "manifest.json").read_text())


def claims_of(data_set: Path) -> dict[str, Any]:
    """Return what claims.json says."""
    return json.loads((data_set / "claims.json").read_text())


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file by its path in the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
