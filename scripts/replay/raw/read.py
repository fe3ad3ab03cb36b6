"""Reads `raw/`: lists it, and compares every file with SHA256SUMS. Writes nothing.

Evidence lies in packs, one per block, and in open blocks, which are being measured. Both hold the same tree of files,
and readers need not know which one they read.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from replay.base.errors import EvidenceError
from replay.base.invocation import replay_command
from replay.raw.documents import parse_json
from replay.raw.durable import is_working
from replay.raw.pack import ALTERED, PACK, in_pack_order, pack_name, verified_members
from replay.raw.sums import RESTORE, SUMS, locked, read_sums, sha256

SEAL = "attempt.json"
OPEN = re.compile(r"block-(?P<block>\d{2,})\.open", re.ASCII)
DESIGN = re.compile(r"design-(?P<digest>[0-9a-f]+)\.json", re.ASCII)
ATTEMPT = re.compile(r"block-(?P<block>\d{2,})/(?P<point>[^/]+)/attempt-(?P<number>\d+)", re.ASCII)
# A variant's name is a slug without a dot: `<variant>.json` is a sidecar, `<variant>.result.json` a tool's file.
SIDECAR = re.compile(r"(?!attempt\.json)[^.]+\.json", re.ASCII)
RECEIPT = re.compile(r"block-\d{2,}/receipt-(?P<plan>[0-9a-f]+)\.json", re.ASCII)
#: Folders of a data set from before blocks were packed.
UNPACKED = re.compile(r"pilot|block-\d{2,}", re.ASCII)


class SealedMeanwhile(Exception):
    """An open block was sealed while it was read: list `raw/` again."""


@dataclass(frozen=True)
class Folder:
    """The verified files of one folder: their digests by name, and their contents unless the reader knows them.

    `where` plus a file's name is how an error names the file: `PACK:FOLDER/` or `OPEN BLOCK/FOLDER/`.
    """

    path: str
    where: str
    digests: Mapping[str, str]
    contents: Mapping[str, bytes]


@dataclass(frozen=True)
class Pack:
    """A sealed block. `digest` is what SHA256SUMS says."""

    raw: str
    name: str
    digest: str

    @property
    def state(self) -> str:
        """What changes where the content does."""
        return self.digest

    @property
    def block(self) -> int:
        """The block's number."""
        return int(PACK.fullmatch(self.name)["block"])

    def content(self) -> bytes:
        """Return the pack's bytes. Raises EvidenceError naming it when it is missing."""
        return read_file(f"{self.raw}/{self.name}")

    def folders(self, is_known: Callable[[str, Mapping[str, str]], bool] | None = None) -> Iterator[Folder]:
        """Yield each folder of the pack; only one is held at a time.

        Every file is compared with its digest; raises EvidenceError naming the pack or its member.
        """
        path = f"{self.raw}/{self.name}"
        verified = verified_members(self.content(), path, self.digest)
        for folder, files in groupby(verified, lambda file: in_pack_order(file[0])[0]):
            contents, digests = {}, {}
            for member, content, digest in files:
                name = member[len(folder) + 1 :]
                contents[name], digests[name] = content, digest
            where = f"{path}:{folder}/"
            yield Folder(folder, where, digests, {} if is_known and is_known(folder, digests) else contents)


@dataclass(frozen=True)
class OpenBlock:
    """A block that is being measured, or whose measuring was stopped. `sums`: the files that can be read."""

    raw: str
    name: str
    sums: Mapping[str, str]

    @property
    def state(self) -> tuple[tuple[str, str], ...]:
        """What changes where the content does."""
        return tuple(self.sums.items())

    @property
    def block(self) -> int:
        """The block's number."""
        return int(OPEN.fullmatch(self.name)["block"])

    def folders(self, is_known: Callable[[str, Mapping[str, str]], bool] | None = None) -> Iterator[Folder]:
        """Yield each folder of the block; files of folders that are known are not read.

        Raises EvidenceError naming a file that is missing or altered, and SealedMeanwhile.
        """
        names = sorted(self.sums, key=in_pack_order)
        for folder, paths in groupby(names, lambda path: in_pack_order(path)[0]):
            digests = {path[len(folder) + 1 :]: self.sums[path] for path in paths}
            where, contents = f"{self.raw}/{self.name}/{folder}/", {}
            if not (is_known and is_known(folder, digests)):
                contents = {name: self._read(f"{where}{name}", digest) for name, digest in digests.items()}
            yield Folder(folder, where, digests, contents)

    def _read(self, path: str, digest: str) -> bytes:
        try:
            content = read_file(path)
        except EvidenceError:
            if not Path(self.raw, self.name).is_dir():
                raise SealedMeanwhile from None
            raise
        if sha256(content) != digest:
            raise EvidenceError(f"altered: it is not what {SUMS} says", where=path, next_step=ALTERED)
        return content


@dataclass(frozen=True)
class Listing:
    """The content of `raw/` at one moment. `sums`: its SHA256SUMS. `passed_over`: what is incomplete."""

    raw: str
    sums: Mapping[str, str]
    packs: list[Pack] = field(default_factory=list)
    open_blocks: list[OpenBlock] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)

    @property
    def blocks(self) -> list[Pack | OpenBlock]:
        """Everything that holds attempts, packs first."""
        return [*self.packs, *self.open_blocks]

    def designs(self) -> dict[str, dict]:
        """Return the recorded designs by digest. Raises EvidenceError naming one that is missing or altered."""
        return {match["digest"]: self._document(name) for name in self.sums if (match := DESIGN.fullmatch(name))}

    def _document(self, name: str) -> dict:
        path = f"{self.raw}/{name}"
        content = read_file(path)
        if sha256(content) != self.sums[name]:
            raise EvidenceError(f"altered: it is not what {SUMS} says", where=path, next_step=ALTERED)
        return parse_json(path, content)


def list_raw(raw: str | os.PathLike[str]) -> Listing:
    """List `raw/` under a shared lock, so that no writer is seen halfway through a step.

    A record that SHA256SUMS lists and that still has its working name is passed over, and so is what it does not list
    and has its working name: these are in progress, or were stopped. Raises EvidenceError when SHA256SUMS is missing
    or malformed, and naming what is there and not listed: nothing measured it.
    """
    raw = str(raw)
    try:
        with locked(raw, shared=True):
            return _list(raw)
    except FileNotFoundError as error:
        raise EvidenceError("there is no such file", where=error.filename or raw, next_step=RESTORE) from None


def verify(listing: Listing) -> Iterator[Folder]:
    """Read everything that is listed, folder by folder. Raises EvidenceError naming what is not as recorded."""
    listing.designs()
    for block in listing.blocks:
        yield from block.folders()


def verify_all(raw: str | os.PathLike[str]) -> int:
    """Verify everything that is recorded; return how many files of blocks that is. Raises as `verify` does."""
    while True:
        with contextlib.suppress(SealedMeanwhile):
            return sum(len(folder.digests) for folder in verify(list_raw(raw)))


def verify_packs(raw: str | os.PathLike[str]) -> None:
    """Compare packs and designs with SHA256SUMS without unpacking them. Raises EvidenceError as `list_raw` does, and
    naming one that is missing or altered."""
    listing = list_raw(raw)
    listing.designs()
    for pack in listing.packs:
        if sha256(pack.content()) != pack.digest:
            where = f"{pack.raw}/{pack.name}"
            raise EvidenceError(f"altered: it is not what {SUMS} says", where=where, next_step=ALTERED)


def visible(raw: str | os.PathLike[str]) -> list[str]:
    """Return the names in `raw/` that do not begin with a dot, sorted."""
    return sorted(path.name for path in Path(raw).iterdir() if not path.name.startswith("."))


def refuse_unpacked(raw: str | os.PathLike[str]) -> None:
    """Raise EvidenceError if blocks lie unpacked, as they did before there were packs."""
    if any(UNPACKED.fullmatch(name) for name in visible(raw)):
        raise EvidenceError(
            "its blocks lie unpacked, as an earlier version of Replay wrote them",
            where=raw,
            next_step=f"pack them, which loses nothing: {replay_command('raw', 'convert', '--data', 'NAME')}",
        )


def read_file(path: str) -> bytes:
    """Return a listed file's bytes. Raises EvidenceError naming one that is gone or cannot be read."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise EvidenceError(f"listed in {SUMS}, but not there", where=path, next_step=ALTERED) from None
    except OSError as error:
        raise EvidenceError(f"cannot be read: {error.strerror}", where=path, next_step=RESTORE) from None


def _list(raw: str) -> Listing:
    present = visible(raw)
    # The first record of all may have been cut short before it was listed.
    listing = Listing(raw, {} if all(map(OPEN.fullmatch, present)) else read_sums(raw))
    refuse_unpacked(raw)
    opened = [name for name in present if OPEN.fullmatch(name)]
    held = {name: list_open(raw, name, listing.passed_over) for name in opened}
    # The plans for which an open block is whole: it is being sealed, or what is left of it was not removed yet.
    whole = {
        pack_name(block.block, match["plan"]): name
        for name, block in held.items()
        for path in block.sums
        if (match := RECEIPT.fullmatch(path))
    }
    for name in present:
        if name not in listing.sums and name not in opened and name not in whole and name != SUMS:
            raise EvidenceError(
                f"not listed in {SUMS}: nothing measured it", where=f"{raw}/{name}", next_step="remove it"
            )
    for name in listing.sums:
        if PACK.fullmatch(name):
            listing.packs.append(Pack(raw, name, listing.sums[name]))
            opened = [one for one in opened if one != whole.get(name)]
        elif not DESIGN.fullmatch(name):
            raise EvidenceError("it is neither a pack nor a design", where=f"{raw}/{name}", next_step=RESTORE)
    listing.packs.sort(key=lambda pack: pack.name)
    listing.open_blocks.extend(held[name] for name in opened)
    return listing


def list_open(raw: str, name: str, passed_over: list[str]) -> OpenBlock:
    """List an open block, adding what is not whole to `passed_over`.

    Raises EvidenceError naming a file in it that is not listed.
    """
    root = f"{raw}/{name}"
    found = set()
    for folder, folders, names in os.walk(root):
        here = folder[len(root) + 1 :]
        passed_over += [f"{name}/{here}/{one}" for one in folders if is_working(one)]
        folders[:] = [one for one in folders if not one.startswith(".")]
        found.update(f"{here}/{one}" if here else one for one in names if not one.startswith("."))
    if not found:
        return OpenBlock(raw, name, {})
    sums = read_sums(root)
    for path in sorted(found - {SUMS}):
        if path not in sums:
            raise EvidenceError(
                f"not listed in {SUMS}: nothing measured it", where=f"{root}/{path}", next_step="remove it"
            )
    waiting = {path for path in sums if path not in found and _is_in_progress(root, path)}
    return OpenBlock(raw, name, {path: digest for path, digest in sums.items() if path not in waiting})


def _is_in_progress(root: str, path: str) -> bool:
    """Tell whether a listed file still stands under its record's working name."""
    folder, _, name = path.rpartition("/")
    above, _, last = folder.rpartition("/")
    return Path(root, folder, f".{name}.partial").exists() or Path(root, above, f".{last}.partial").is_dir()
