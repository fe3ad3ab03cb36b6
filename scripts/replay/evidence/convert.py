"""Packs the blocks that an earlier version of Replay left unpacked. Removes nothing before every file is verified.

It reads every file in the old SHA256SUMS back from the packs on disk and compares the digests. Only then does it
replace SHA256SUMS, and only after that does it remove the old files. If it is stopped at any point, run it again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from replay.base.errors import EvidenceError
from replay.evidence import durable
from replay.evidence.documents import parse_json
from replay.evidence.history import PILOT
from replay.evidence.pack import PACK, pack_name, verified_members, write_pack
from replay.evidence.read import DESIGN, OPEN, RECEIPT, UNPACKED, read_file
from replay.evidence.sums import RESTORE, SUMS, locked, read_sums, sha256, sums_text

_OF_BLOCK = re.compile(r"block-(\d{2,})/.+", re.ASCII)
_OF_PILOT = re.compile(r"(pilot/[^/]+/[^/]+)/(?:round-\d+/)?(round-\d+)\..+", re.ASCII)


@dataclass(frozen=True)
class Converted:
    """The result for one experiment.

    `files` is how many files SHA256SUMS listed before. They are now in `packs` packs, `beside` them, and `unfinished`
    of them in open blocks. Sizes are in bytes.
    """

    experiment: str
    files: int
    packs: int
    beside: int
    unfinished: int
    bytes_before: int
    bytes_after: int

    def sentence(self) -> str:
        """Return the result in words."""
        where = f"{self.packs} packs, {self.beside} beside them"
        where += f", {self.unfinished} in unfinished blocks" if self.unfinished else ""
        return (
            f"{self.experiment}: {self.files} files listed before, {self.files} found again with the same SHA-256 "
            f"({where}); {self.bytes_before:,} bytes before, {self.bytes_after:,} now"
        )


def unpacked(raw: Path) -> list[Path]:
    """Return an experiment's unpacked folders: those of its blocks, and of its pilots."""
    return [path for path in raw.iterdir() if UNPACKED.fullmatch(path.name)]


def convert(raw: Path) -> Converted:
    """Pack the unpacked blocks of `evidence/`, verify the packs, and remove what was packed.

    Raises EvidenceError naming a file that is missing, altered or not listed. No file is removed then.
    """
    old = read_sums(raw)
    if all(DESIGN.fullmatch(name) or PACK.fullmatch(name) for name in old):
        # An earlier run was stopped while it removed the old files.
        where = _where(raw, old)
        before, count = _remove(raw, where)
        return _converted(raw, count, before)
    before = _check_old(raw, old)
    packs, unfinished = _assign(raw, old)
    new = {name: digest for name, digest in old.items() if DESIGN.fullmatch(name)}
    for name, paths in sorted(packs.items()):
        working = durable.working_name(raw / name)
        sums = {path: old[path] for path in paths}
        new[name] = write_pack(working, sums, lambda path: read_file(f"{raw}/{path}"), f"{raw}/")
        durable.put_in_place(working, raw / name)
    for block, paths in sorted(unfinished.items()):
        _open_block(raw, block, {path: old[path] for path in paths})
    where = _where(raw, new)
    _prove(raw, old, where)
    with locked(raw):
        durable.replace(raw / SUMS, sums_text(new))
    _remove(raw, where)
    return _converted(raw, len(old), before)


def _check_old(raw: Path, old: Mapping[str, str]) -> int:
    """Return the size of the old files in bytes. Raises EvidenceError unless SHA256SUMS lists exactly these files."""
    found = {path.relative_to(raw).as_posix() for path in _files(raw)}
    for name in sorted(found - old.keys()):
        raise EvidenceError(
            f"not listed in {SUMS}: nothing measured it, or a run was stopped before it recorded it",
            where=raw / name,
            next_step="move it out of the data set, and convert again",
        )
    total = 0
    for name, digest in old.items():
        content = read_file(f"{raw}/{name}")
        if sha256(content) != digest:
            raise EvidenceError(f"altered: it does not match {SUMS}", where=raw / name, next_step=RESTORE)
        total += len(content)
    return total


def _assign(raw: Path, old: Mapping[str, str]) -> tuple[dict[str, list[str]], dict[int, list[str]]]:
    """Return the paths in each pack, by the pack's name, and in each unfinished block, by the block's number.

    The newest receipt of a block gives its pack the name. A pilot belongs to the block that ran it. The blocks of an
    experiment run one after another, so that is the first block that ended after the pilot. Raises EvidenceError for a
    file that belongs to no block.
    """
    receipts: dict[int, tuple[str, str]] = {}
    for path in old:
        if match := RECEIPT.fullmatch(path):
            said = parse_json(f"{raw}/{path}", read_file(f"{raw}/{path}"))
            block = int(_OF_BLOCK.fullmatch(path)[1])
            receipts[block] = max(receipts.get(block, ("", "")), (str(said["ended_at"]), match["plan"]))
    pilots = _ends_of_pilots(raw, old)
    blocks: dict[int, list[str]] = {}
    for path in old:
        if DESIGN.fullmatch(path):
            continue
        if match := _OF_BLOCK.fullmatch(path):
            block = int(match[1])
        elif match := _OF_PILOT.fullmatch(path):
            block = _block_of(pilots.get((match[1], match[2])), receipts)
        else:
            raise EvidenceError("this file belongs to no block", where=raw / path, next_step=RESTORE)
        blocks.setdefault(block, []).append(path)
    packs = {pack_name(block, receipts[block][1]): paths for block, paths in blocks.items() if block in receipts}
    return packs, {block: paths for block, paths in blocks.items() if block not in receipts}


def _ends_of_pilots(raw: Path, old: Mapping[str, str]) -> dict[tuple[str, str], str]:
    ends = {}
    for path in old:
        if PILOT.fullmatch(path):
            match = _OF_PILOT.fullmatch(path)
            ends[match[1], match[2]] = str(parse_json(f"{raw}/{path}", read_file(f"{raw}/{path}"))["ended_at"])
    return ends


def _block_of(ended_at: str | None, receipts: Mapping[int, tuple[str, str]]) -> int:
    later = [(end, block) for block, (end, _) in receipts.items() if ended_at is None or end >= ended_at]
    return min(later)[1] if later else max(receipts, default=0) + 1


def _open_block(raw: Path, block: int, sums: Mapping[str, str]) -> None:
    opened = raw / f"block-{block:02d}.open"
    durable.remove_tree(opened)
    working = durable.working_name(opened)
    durable.remove_tree(working)
    for path in sums:
        durable.make_directory((working / path).parent)
        durable.write_synced(working / path, read_file(f"{raw}/{path}"))
    durable.write_synced(working / SUMS, sums_text(sums))
    durable.put_in_place(working, opened)


def _where(raw: Path, listed: Mapping[str, str]) -> dict[str, str]:
    """Read the files in packs, in unfinished blocks and beside them from the disk; return path to digest."""
    found: dict[str, str] = {}
    for name, digest in listed.items():
        content = read_file(f"{raw}/{name}")
        files = verified_members(content, f"{raw}/{name}", digest) if PACK.fullmatch(name) else [(name, content, None)]
        for path, inside, _ in files:
            if found.setdefault(path, sha256(inside)) != sha256(inside):
                raise EvidenceError("this file is in two packs", where=f"{raw}/{name}:{path}", next_step=RESTORE)
    for opened in raw.iterdir():
        if OPEN.fullmatch(opened.name):
            for path in read_sums(opened):
                found[path] = sha256(read_file(f"{opened}/{path}"))
    return found


def _prove(raw: Path, old: Mapping[str, str], where: Mapping[str, str]) -> None:
    """Raise EvidenceError unless exactly the listed files were found again, byte for byte."""
    for path in sorted({*old, *where}):
        if old.get(path) != where.get(path):
            raise EvidenceError(
                "the packs do not hold this file as it was recorded; nothing was removed",
                where=raw / path,
                next_step="check the disk, and convert again",
            )


def _remove(raw: Path, where: Mapping[str, str]) -> tuple[int, int]:
    """Remove the unpacked folders; return the size of their files in bytes, and how many there were.

    Raises EvidenceError, before it removes anything, if `where` does not have one of them with the same digest.
    """
    total = count = 0
    folders = unpacked(raw)
    for folder in folders:
        for path in _files(folder):
            content = path.read_bytes()
            if where.get(path.relative_to(raw).as_posix()) != sha256(content):
                raise EvidenceError("no pack has this file", where=path, next_step="move it out of the data set")
            total, count = total + len(content), count + 1
    for folder in folders:
        durable.remove_tree(folder)
    durable.sync_directory(raw)
    return total, count


def _converted(raw: Path, files: int, before: int) -> Converted:
    names = read_sums(raw)
    packs = [name for name in names if PACK.fullmatch(name)]
    unfinished = [opened for opened in raw.iterdir() if OPEN.fullmatch(opened.name)]
    return Converted(
        raw.parent.name,
        files,
        len(packs),
        len(names) - len(packs),
        sum(len(read_sums(opened)) for opened in unfinished),
        before,
        sum(path.stat().st_size for path in raw.rglob("*") if path.is_file()),
    )


def _files(folder: Path) -> list[Path]:
    """Return the files below a folder, except SHA256SUMS and what convert itself made: packs and open blocks."""
    found = []
    for here, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if not one.startswith(".") and not OPEN.fullmatch(one)]
        found += [
            Path(here, name) for name in names if not name.startswith(".") and name != SUMS and not PACK.fullmatch(name)
        ]
    return found
