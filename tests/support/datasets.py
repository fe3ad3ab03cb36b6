"""Whole data sets for tests: measured, altered, derived."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.evidence import pack_again
from support.rawtree import RawTree

POINT = "write-seq-4096"
STDOUT = f"rbd-journaling/raw/block-01/{POINT}/attempt-1/with-journal.stdout"


def measured(data_set: Path, experiment: str = "rbd-journaling", blocks: int = 1, **options: Any) -> RawTree:
    """Make a data set as measuring would, with its campaign."""
    tree = RawTree(data_set / experiment, **options).measure(blocks)
    campaign = {"schema_version": 1, "data_set": data_set.name, "label": "A sandbox", "site": "sandbox"}
    (data_set / "campaign.json").write_text(json.dumps(campaign))
    return tree


def pack_of(data_set: Path, name: str) -> Path:
    """Return the pack that contains a file, or did before it was removed; named as in an unpacked `raw/`."""
    experiment, _, path = name.partition("/raw/")
    (pack,) = (data_set / experiment / "raw").glob(f"{path.partition('/')[0]}-*.tar.gz")
    return pack


def alter(data_set: Path, name: str, change: Callable[[bytes], bytes | None]) -> None:
    """Alter a file of a pack; `change` returns None to remove it."""
    member = name.partition("/raw/")[2]
    pack_again(pack_of(data_set, name), lambda one, content: change(content) if one == member else content)


def append(path: Path) -> None:
    """Alter a file."""
    path.write_bytes(path.read_bytes() + b"x")


def append_raw(data_set: Path, name: str = STDOUT) -> None:
    """Alter a file of a pack."""
    alter(data_set, name, lambda content: content + b"x")


def manifest_of(data_set: Path) -> dict[str, Any]:
    """Return what manifest.json says."""
    return json.loads((data_set / "manifest.json").read_text())


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def spread_of(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Return the rows of the spread beside a wide aggregate, by series and level of the axis as it is written."""
    return {(row["series"], row["x"]): row for row in rows_of(path.with_suffix(".spread.csv"))}


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each file by its path in the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
