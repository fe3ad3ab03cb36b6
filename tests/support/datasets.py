"""Whole data sets for tests: measured, copied, altered, derived."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.evidence import members_of, pack_again
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


def pack_of(data_set: Path, name: str) -> Path:
    """Return the pack that contains a file, or did before it was removed; named as in an unpacked `evidence/`."""
    experiment, _, path = name.partition("/raw/")
    (pack,) = (data_set / experiment / "raw").glob(f"{path.partition('/')[0]}-*.tar.gz")
    return pack


def content_of(data_set: Path, name: str) -> bytes:
    """Return a file of a pack."""
    return members_of(pack_of(data_set, name))[name.partition("/raw/")[2]]


def alter(data_set: Path, name: str, change: Callable[[bytes], bytes | None]) -> None:
    """Alter a file of a pack, or remove it if `change` returns None."""
    member = name.partition("/raw/")[2]
    pack_again(pack_of(data_set, name), lambda one, content: change(content) if one == member else content)


def append(path: Path) -> None:
    """Alter a file."""
    path.write_bytes(path.read_bytes() + b"x")


def append_raw(data_set: Path, name: str = STDOUT) -> None:
    """Alter a file of a pack."""
    alter(data_set, name, lambda content: content + b"x")


def remove(data_set: Path, name: str = STDOUT) -> None:
    """Remove a file from a pack."""
    alter(data_set, name, lambda content: None)


def put_back(data_set: Path, content: bytes, name: str = STDOUT) -> None:
    """Put a file that was removed back into its pack."""
    pack_again(pack_of(data_set, name), lambda one, inside: inside, added={name.partition("/raw/")[2]: content})


def set_ratio(data_set: Path, ratio: float) -> list[str]:
    """Write the output of rbd bench as if journaling had divided the rate of sequential 4 KiB writes by `ratio`."""
    changed = []
    for pack in sorted((data_set / "rbd-journaling" / "raw").glob("block-*.tar.gz")):
        files = members_of(pack)
        said = {}
        for name in files:
            if re.fullmatch(rf"block-\d+/{POINT}/attempt-\d+/with-journal\.stdout", name):
                levels = json.loads(files[name.removesuffix("stdout") + "json"])["levels"]
                other = files[name.replace("with-journal.stdout", "without-journal.stdout")].decode()
                rate = float(re.search(r"^elapsed.* ops/sec: +(\S+)", other, re.M)[1])
                said[name] = rbd_bench_output(levels, rate / ratio).encode()
        pack_again(pack, lambda name, content, said=said: said.get(name, content))
        changed += said
    return changed


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
