"""Files of this machine that Replay makes: in the ledger before they exist, removed by what identifies them."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from replay.base.errors import ReplayError
from replay.base.invocation import replay_command
from replay.ownership.ledger import Entry, unique_name
from replay.ownership.open_site import OpenSite

KIND = "file"
_OWN_NAME = re.compile(r"replay-[0-9a-f]{8}-[a-z0-9-]+")


def create_file(bench: OpenSite, folder: Path, suffix: str, *, size_bytes: int) -> Path:
    """Create a file of `size_bytes` in `folder`, all of it a hole; return its path.

    It has its size from the start: a tool that finds a file too small may put a new one in its place, as fio does, and
    nobody could tell any more that it is Replay's.
    """
    path = folder / unique_name(suffix)
    entry = bench.ledger.intend(
        KIND, "", "", str(path), site=bench.site.name, data_set=bench.data_set, details={"size_bytes": size_bytes}
    )
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(descriptor, size_bytes)
        found = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    bench.ledger.confirm(entry, {"device": found.st_dev, "inode": found.st_ino})
    return path


def remove_file(entry: Entry) -> tuple[str, str]:
    """Remove the file of an entry; return `removed`, `absent` or `left`, and why it is left."""
    path = Path(entry.name)
    try:
        found = path.lstat()
    except FileNotFoundError:
        return "absent", ""
    except OSError as error:
        return "left", str(error.strerror)
    if not stat.S_ISREG(found.st_mode) or not _OWN_NAME.fullmatch(path.name):
        return "left", "it is not a file of Replay"
    if entry.facts and (found.st_dev, found.st_ino) != (entry.facts["device"], entry.facts["inode"]):
        return "left", "it is another file than the one Replay made"
    try:
        path.unlink()
    except OSError as error:
        return "left", str(error.strerror)
    return "removed", ""


def remove_leftover_files(bench: OpenSite) -> int:
    """Remove this site's files, including those of an interrupted run; return how many there were.

    Raises ReplayError naming one that could not be removed: it stays in the ledger for `replay clean`.
    """
    mine = [one for one in bench.ledger.owned() if one.kind == KIND and one.site == bench.site.name]
    for entry in mine:
        status, why = remove_file(entry)
        if status == "left":
            raise ReplayError(
                f"a file could not be removed: {why}",
                where=entry.name,
                next_step=f"it is still in the ledger; run: {replay_command('clean', '--site', bench.site.name)}",
            )
        bench.ledger.removed(entry.id)
    return len(mine)
