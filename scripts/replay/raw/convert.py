"""Packs blocks that lie unpacked, as an earlier version wrote them. Nothing is removed before everything is proved.

Every file that the old SHA256SUMS lists is read again from the packs on disk and compared
with its old line. Only then does the new SHA256SUMS replace the old one, and only then are old files removed. If it is
stopped at any point, running it again completes it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from replay.base.errors import EvidenceError
from replay.raw import durable
from replay.raw.documents import parse_json
from replay.raw.history import PILOT
from replay.raw.pack import PACK, pack_name, verified_members, write_pack
from replay.raw.read import DESIGN, OPEN, RECEIPT, UNPACKED, read_file
from replay.raw.sums import RESTORE, SUMS, locked, read_sums, sha256, sums_text

_OF_BLOCK = re.compile(r"block-(\d{2,})/.+", re.ASCII)
_OF_PILOT = re.compile(r"(pilot/[^/]+/[^/]+)/(?:round-\d+/)?(round-\d+)\..+", re.ASCII)


@dataclass(frozen=True)
class Converted:
    """What became of an experiment's files: how many there were, and where they are now."""

    experiment: str
    files: int
    packs: int
    beside: int
    unfinished: int
    bytes_before: int
    bytes_after: int

    def sentence(self) -> str:
        """Return what a person reads."""
        where = f"{self.packs} packs, {self.beside} beside them"
        where += f", {self.unfinished} in unfinished blocks" if self.unfinished else ""
        return (
            f"{self.experiment}: {self.files} files listed before, {self.files} found again with the same SHA-256 "
            f"({where}); {self.bytes_before:,} bytes before, {self.bytes_after:,} now"
        )


def unpacked(raw: Path) -> list[Path]:
    """Return the folders of an experiment's blocks, and of its pilots, that lie unpacked."""
    return [path for path in raw.iterdir() if UNPACKED.fullmatch(path.name)]


def convert(raw: Path) -> Converted:
    """Pack the blocks of `raw/` that lie unpacked, prove it, and remove what was packed.

    Raises EvidenceError naming a file that is missing, altered, or not listed: such data are not touched.
    """
    old = read_sums(raw)
    if all(DESIGN.fullmatch(name) or PACK.fullmatch(name) for name in old):
        # Stopped while it removed what had been packed.
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
    """Return the bytes of the old files. Raises EvidenceError unless they are what SHA256SUMS lists, all and only."""
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
            raise EvidenceError(f"altered: it is not what {SUMS} says", where=raw / name, next_step=RESTORE)
        total += len(content)
    return total


def _assign(raw: Path, old: Mapping[str, str]) -> tuple[dict[str, list[str]], dict[int, list[str]]]:
    """Return the files of each pack, and of each block that is not whole.

    A pack is named after its block's newest receipt. A pilot belongs to the block that ran it: of one experiment the
    blocks run one after another, so that it is the first that ended after it.
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
            raise EvidenceError("it belongs to no block", where=raw / path, next_step=RESTORE)
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
    """Return the digest of each file in a pack, in an unfinished block, or beside them, read from the disk."""
    found: dict[str, str] = {}
    for name, digest in listed.items():
        content = read_file(f"{raw}/{name}")
        files = verified_members(content, f"{raw}/{name}", digest) if PACK.fullmatch(name) else [(name, content, None)]
        for path, inside, _ in files:
            if found.setdefault(path, sha256(inside)) != sha256(inside):
                raise EvidenceError("it stands in two packs", where=f"{raw}/{name}:{path}", next_step=RESTORE)
    for opened in raw.iterdir():
        if OPEN.fullmatch(opened.name):
            for path in read_sums(opened):
                found[path] = sha256(read_file(f"{opened}/{path}"))
    return found


def _prove(raw: Path, old: Mapping[str, str], where: Mapping[str, str]) -> None:
    """Raise EvidenceError unless exactly the files that were listed are there again, byte for byte."""
    for path in sorted({*old, *where}):
        if old.get(path) != where.get(path):
            raise EvidenceError(
                "it is not in the packs as it was recorded", where=raw / path, next_step="nothing was removed"
            )


def _remove(raw: Path, where: Mapping[str, str]) -> tuple[int, int]:
    """Remove what lies unpacked, every file of which must stand elsewhere with the same digest; return bytes, files."""
    total = count = 0
    folders = unpacked(raw)
    for folder in folders:
        for path in _files(folder):
            content = path.read_bytes()
            if where.get(path.relative_to(raw).as_posix()) != sha256(content):
                raise EvidenceError("it is in no pack", where=path, next_step="move it out of the data set")
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
    """Return the files below a folder, without SHA256SUMS, packs and unfinished blocks that convert itself made."""
    found = []
    for here, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if not one.startswith(".") and not OPEN.fullmatch(one)]
        found += [
            Path(here, name) for name in names if not name.startswith(".") and name != SUMS and not PACK.fullmatch(name)
        ]
    return found
