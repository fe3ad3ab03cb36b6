"""Names that tell whose cluster it was, and the files of a data set that repeat them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from replay.sandbox import Sandbox
from support.evidence import members_of


def names_of(sandbox: Sandbox, user: str, *folders: Path) -> set[str]:
    """Return what data must not repeat: user, clusters, monitors' addresses, host, and folders of files."""
    clusters = sandbox.clusters.values()
    addresses = {match for one in clusters for match in re.findall(r"127\.0\.0\.1:\d+", Path(one.conf).read_text())}
    assert addresses, "the monitors have addresses, or this search proves nothing"
    files = {str(path) for one in clusters for path in (one.conf, one.keyring)}
    return {user, os.uname().nodename, *sandbox.fsids, *addresses, *files, *map(str, folders)}


def names_told(benchmarks: Path, names: set[str]) -> list[str]:
    """Return `file: name` for each file below a folder that contains one of the names as a word, in packs, too."""
    words = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})(?![\w-])")
    searched, found = 0, []
    for name, content in _files(benchmarks):
        searched += 1
        found += [f"{name}: {one}" for one in sorted(set(words.findall(content.decode(errors="replace"))))]
    assert searched > 0, f"there is no file in {benchmarks}"
    return found


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        name = str(path.relative_to(folder))
        if name.endswith(".tar.gz"):
            for member, content in members_of(path).items():
                yield f"{name}: {member}", content
        else:
            yield name, path.read_bytes()
