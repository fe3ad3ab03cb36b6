"""Reads `raw/`: lists it, and compares every file with SHA256SUMS. Writes nothing.

Evidence is in packs, one per block, and in open blocks, which are being measured. Both hold the same tree of files,
so readers need not know which one they read.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, starmap
from pathlib import Path

from replay.base.errors import EvidenceError, ReplayError
from replay.evidence.data_set import PACK, in_pack_order, pack_name, parse_json, verified_members
from replay.evidence.durable import MISMATCH, RESTORE, SUMS, locked, read_sums, sha256

SEAL = "attempt.json"
OPEN = re.compile(r"block-(?P<block>\d{2,})\.open", re.ASCII)
DESIGN = re.compile(r"design-(?P<digest>[0-9a-f]+)\.json", re.ASCII)
ATTEMPT = re.compile(r"block-(?P<block>\d{2,})/(?P<point>[^/]+)/attempt-(?P<number>\d+)", re.ASCII)
# A variant's name is a slug without a dot: `<variant>.json` is a sidecar, `<variant>.result.json` a tool's file.
SIDECAR = re.compile(r"(?!attempt\.json)[^.]+\.json", re.ASCII)
RECEIPT = re.compile(r"block-\d{2,}/receipt-(?P<plan>[0-9a-f]+)\.json", re.ASCII)


class SealedMeanwhile(ReplayError):
    """An open block was sealed while it was read: list `raw/` again."""


@dataclass(frozen=True)
class Folder:
    """The verified files of one folder: their digests and contents by name.

    Errors name a file as `where` followed by its name; `where` is `PACK:FOLDER/` or `OPEN BLOCK/FOLDER/`.
    """

    path: str
    where: str
    digests: Mapping[str, str]
    contents: Mapping[str, bytes]


@dataclass(frozen=True)
class Pack:
    """A sealed block. `digest` is the one in SHA256SUMS."""

    raw: str
    name: str
    digest: str

    @property
    def block(self) -> int:
        return int(PACK.fullmatch(self.name)["block"])

    def content(self) -> bytes:
        """Return the pack's bytes. Raises EvidenceError naming it when it is missing."""
        return read_file(f"{self.raw}/{self.name}")

    def folders(self) -> Iterator[Folder]:
        """Yield the folders of the pack, one at a time.

        Compares every file with its digest. Raises EvidenceError naming the pack or the member that differs.
        """
        path = f"{self.raw}/{self.name}"
        verified = verified_members(self.content(), path, self.digest)
        for folder, files in groupby(verified, lambda file: in_pack_order(file[0])[0]):
            contents, digests = {}, {}
            for member, content, digest in files:
                name = member[len(folder) + 1 :]
                contents[name], digests[name] = content, digest
            yield Folder(folder, f"{path}:{folder}/", digests, contents)


@dataclass(frozen=True)
class OpenBlock:
    """A block that is being measured, or was stopped. `sums` maps the files that can be read to their digests."""

    raw: str
    name: str
    sums: Mapping[str, str]

    @property
    def block(self) -> int:
        return int(OPEN.fullmatch(self.name)["block"])

    def listed(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the path of each folder of the block, with the digests of its files by name."""
        names = sorted(self.sums, key=in_pack_order)
        for folder, paths in groupby(names, lambda path: in_pack_order(path)[0]):
            yield folder, {path[len(folder) + 1 :]: self.sums[path] for path in paths}

    def read(self, folder: str, digests: Mapping[str, str]) -> Folder:
        """Return one folder of those `listed`.

        Raises EvidenceError naming a file that is missing or altered, and SealedMeanwhile if the block is gone.
        """
        where = f"{self.raw}/{self.name}/{folder}/"
        try:
            contents = {name: _read_verified(f"{where}{name}", digest) for name, digest in digests.items()}
        except EvidenceError:
            if not Path(self.raw, self.name).is_dir():
                raise SealedMeanwhile(
                    "it was sealed while it was read", where=f"{self.raw}/{self.name}", next_step="run this again"
                ) from None
            raise
        return Folder(folder, where, digests, contents)

    def folders(self) -> Iterator[Folder]:
        """Yield the folders of the block, one at a time. Raises what `read` raises."""
        return starmap(self.read, self.listed())


@dataclass(frozen=True)
class Listing:
    """The content of `raw/` at one moment. `sums`: its SHA256SUMS."""

    raw: str
    sums: Mapping[str, str]
    packs: list[Pack]
    open_blocks: list[OpenBlock]

    @property
    def blocks(self) -> list[Pack | OpenBlock]:
        """Everything that holds attempts, packs first."""
        return [*self.packs, *self.open_blocks]

    def designs(self) -> dict[str, dict]:
        """Return the recorded designs by digest. Raises EvidenceError naming one that is missing or altered."""
        by_digest = {}
        for name, digest in self.sums.items():
            if match := DESIGN.fullmatch(name):
                path = f"{self.raw}/{name}"
                by_digest[match["digest"]] = parse_json(path, _read_verified(path, digest))
        return by_digest


def list_raw(raw: str | os.PathLike[str]) -> Listing:
    """List `raw/` under a shared lock, so that no writer is seen halfway through a step.

    Records with a working name are passed over, whether or not SHA256SUMS lists them: they are in progress, or were
    stopped. Raises EvidenceError if SHA256SUMS is missing or malformed, and naming any other path that is not listed,
    because nothing measured it.
    """
    raw = str(raw)
    try:
        with locked(raw, shared=True):
            return _list(raw)
    except FileNotFoundError as error:
        raise EvidenceError("there is no such file", where=error.filename or raw, next_step=RESTORE) from None


def verify(listing: Listing) -> Iterator[Folder]:
    """Read everything that is listed, folder by folder. Raises EvidenceError naming what differs from its record."""
    listing.designs()
    for block in listing.blocks:
        yield from block.folders()


def verify_packs(raw: str | os.PathLike[str]) -> None:
    """Compare designs, packs and the files of open blocks with SHA256SUMS, without unpacking packs.

    Raises EvidenceError like `list_raw`, and naming what is missing or altered.
    """
    while True:
        with contextlib.suppress(SealedMeanwhile):
            listing = list_raw(raw)
            listing.designs()
            for pack in listing.packs:
                _read_verified(f"{pack.raw}/{pack.name}", pack.digest)
            for block in listing.open_blocks:
                deque(block.folders(), maxlen=0)
            return


def read_file(path: str) -> bytes:
    """Return a listed file's bytes. Raises EvidenceError naming the file if it is missing or cannot be read."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise EvidenceError(f"listed in {SUMS}, but missing", where=path, next_step=RESTORE) from None
    except OSError as error:
        raise EvidenceError(f"cannot be read: {error.strerror}", where=path, next_step=RESTORE) from None


def _read_verified(path: str, digest: str) -> bytes:
    """Return a listed file's bytes, as `read_file`. Raises EvidenceError also if it is altered."""
    content = read_file(path)
    if sha256(content) != digest:
        raise EvidenceError(MISMATCH, where=path, next_step=RESTORE)
    return content


def _list(raw: str) -> Listing:
    present = sorted(path.name for path in Path(raw).iterdir() if not path.name.startswith("."))
    # There is no SHA256SUMS yet if the very first record was interrupted before it was listed.
    sums = {} if all(map(OPEN.fullmatch, present)) else read_sums(raw)
    open_blocks = {name: list_open(raw, name) for name in present if OPEN.fullmatch(name)}
    # The packs of complete open blocks. These are being sealed, or were sealed and not removed yet.
    whole = {
        pack_name(block.block, match["plan"]): name
        for name, block in open_blocks.items()
        for path in block.sums
        if (match := RECEIPT.fullmatch(path))
    }
    for name in present:
        if name not in {SUMS, *sums, *open_blocks, *whole}:
            raise EvidenceError(
                f"not listed in {SUMS}: nothing measured it", where=f"{raw}/{name}", next_step="remove it"
            )
    for name in sums:
        if not (PACK.fullmatch(name) or DESIGN.fullmatch(name)):
            raise EvidenceError("it is neither a pack nor a design", where=f"{raw}/{name}", next_step=RESTORE)
    packs = [Pack(raw, name, sums[name]) for name in sorted(filter(PACK.fullmatch, sums))]
    sealed = {whole.get(pack.name) for pack in packs}
    return Listing(raw, sums, packs, [block for name, block in open_blocks.items() if name not in sealed])


def list_open(raw: str, name: str) -> OpenBlock:
    """List an open block; what has a working name is left out.

    Raises EvidenceError if its SHA256SUMS is missing or malformed, and naming a file that is not listed.
    """
    root = f"{raw}/{name}"
    present = set()
    for folder, subfolders, files in os.walk(root):
        path = folder[len(root) + 1 :]
        subfolders[:] = [subfolder for subfolder in subfolders if not subfolder.startswith(".")]
        present.update(f"{path}/{file}" if path else file for file in files if not file.startswith("."))
    if not present:
        return OpenBlock(raw, name, {})
    sums = read_sums(root)
    for path in sorted(present - {SUMS}):
        if path not in sums:
            raise EvidenceError(
                f"not listed in {SUMS}: nothing measured it", where=f"{root}/{path}", next_step="remove it"
            )
    in_progress = {path for path in sums if path not in present and _is_in_progress(root, path)}
    return OpenBlock(raw, name, {path: digest for path, digest in sums.items() if path not in in_progress})


def _is_in_progress(root: str, path: str) -> bool:
    """Return whether the record of a listed file still has its working name."""
    folder, _, name = path.rpartition("/")
    above, _, last = folder.rpartition("/")
    return Path(root, folder, f".{name}.partial").exists() or Path(root, above, f".{last}.partial").is_dir()
