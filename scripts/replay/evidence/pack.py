"""The format of a pack, `block-<bb>-<plan>.tar.gz`: a gzip'd tar of plain files that any `tar` opens.

The first member is SHA256SUMS, which lists all others; they follow, sorted by folder and name. The same files always
give the same bytes (with the same zlib): members have no owner, no time and one mode, and gzip's header has no name.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from replay.base.errors import EvidenceError
from replay.evidence.durable import MISMATCH, RESTORE, SUMS, parse_sums, sha256, sums_text, write_synced

PACK = re.compile(r"block-(?P<block>\d{2,})-(?P<plan>[0-9a-f]{12})\.tar\.gz", re.ASCII)
COMPRESSION_LEVEL = 9


def pack_name(block: int, plan: str) -> str:
    """Return the name of the pack for a block and a plan."""
    return f"block-{block:02d}-{plan}.tar.gz"


def in_pack_order(path: str) -> tuple[str, str]:
    """Return the sort key of a member: its folder, then its name. This keeps the files of a folder together."""
    folder, _, name = path.rpartition("/")
    return folder, name


def write_pack(path: Path, sums: Mapping[str, str], content_of: Callable[[str], bytes], source: str) -> str:
    """Write a pack of the files in `sums` (path to digest), sync it to disk, and return its digest.

    `content_of(path)` returns a file's bytes. Errors name a file as `source` followed by its path. Raises EvidenceError
    if a file does not match `sums`: altered files are never packed.
    """
    names = sorted(sums, key=in_pack_order)
    pack = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", compresslevel=COMPRESSION_LEVEL, fileobj=pack, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        _add(archive, SUMS, sums_text({name: sums[name] for name in names}))
        for name in names:
            content = content_of(name)
            if sha256(content) != sums[name]:
                raise EvidenceError(MISMATCH, where=f"{source}{name}", next_step=RESTORE)
            _add(archive, name, content)
    write_synced(path, pack.getvalue())
    return sha256(pack.getvalue())


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o644
    archive.addfile(member, io.BytesIO(content))


def members(content: bytes, where: str) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of each file in a pack, including SHA256SUMS, in the pack's order, one at a time.

    It also reads a pack that a person packed again, with folders and names that begin with `./`. Raises EvidenceError
    if the content is not such an archive.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
            for member in archive:
                if member.isdir():
                    continue
                name = os.path.normpath(member.name)
                if not member.isfile() or name.startswith(("/", "..")):
                    raise EvidenceError(
                        "a pack may only contain plain files", where=f"{where}:{name}", next_step=RESTORE
                    )
                yield name, archive.extractfile(member).read()
    except (tarfile.TarError, OSError, EOFError, ValueError, zlib.error) as error:
        raise EvidenceError(f"not a pack: {error}", where=where, next_step=RESTORE) from None


def verified_members(content: bytes, where: str, digest: str | None = None) -> Iterator[tuple[str, bytes, str]]:
    """Yield (name, bytes, digest) of each file except SHA256SUMS, after comparing it with the pack's own SHA256SUMS.

    If `digest` is given, the whole pack is compared with it first. Raises EvidenceError naming the pack or the member
    (`PACK:MEMBER`) that is altered, missing or not listed.
    """
    if digest is not None and sha256(content) != digest:
        raise EvidenceError(f"{MISMATCH}; {what_differs(content, where)}", where=where, next_step=RESTORE)
    files = members(content, where)
    sums = _listed(files, where)
    names = iter(sums)
    for name, inside in files:
        if name not in sums:
            raise EvidenceError(f"not listed in {SUMS} of its pack", where=f"{where}:{name}", next_step=RESTORE)
        if (next_name := next(names, None)) != name:
            raise _missing(where, next_name or name)
        if sha256(inside) != sums[name]:
            raise EvidenceError(f"{MISMATCH} of its pack", where=f"{where}:{name}", next_step=RESTORE)
        yield name, inside, sums[name]
    if (lost := next(names, None)) is not None:
        raise _missing(where, lost)


def listed_in(content: bytes, where: str) -> dict[str, str]:
    """Return the pack's own SHA256SUMS, path to digest. Raises EvidenceError if the pack does not begin with it."""
    return _listed(members(content, where), where)


def what_differs(content: bytes, where: str) -> str:
    """Return in words how an altered pack differs from its own SHA256SUMS."""
    try:
        inside = dict(members(content, where))
        sums = parse_sums(inside.pop(SUMS, b""), f"{where}:{SUMS}")
    except EvidenceError as error:
        return f"{error.what}"
    differing = sorted(
        name for name in {*inside, *sums} if name not in inside or sha256(inside[name]) != sums.get(name)
    )
    if not differing:
        return "all files in it match its own list"
    more = f" and {len(differing) - 3} more" if len(differing) > 3 else ""
    return f"these files in it differ: {', '.join(differing[:3])}{more}"


def _listed(files: Iterator[tuple[str, bytes]], where: str) -> dict[str, str]:
    name, content = next(files, ("", b""))
    if name != SUMS:
        raise EvidenceError(f"not a pack: it does not begin with {SUMS}", where=where, next_step=RESTORE)
    return parse_sums(content, f"{where}:{SUMS}")


def _missing(where: str, name: str) -> EvidenceError:
    return EvidenceError(f"listed in {SUMS} of its pack, but missing", where=f"{where}:{name}", next_step=RESTORE)
