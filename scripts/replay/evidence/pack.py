"""The format of a pack, `block-<bb>-<plan>.tar.gz`: a gzip'd tar of plain files that any `tar` opens.

The first member is SHA256SUMS, which lists all others; they follow, sorted by folder and name. The same files always
give the same bytes (with the same zlib): members have no owner, no time and one mode, and gzip's header has no name.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from replay.base.errors import EvidenceError
from replay.evidence import durable
from replay.evidence.sums import RESTORE, SUMS, parse_sums, sums_text

PACK = re.compile(r"block-(?P<block>\d{2,})-(?P<plan>[0-9a-f]{12})\.tar\.gz", re.ASCII)
COMPRESSION_LEVEL = 9
_BLOCK_BYTES = 512
_END = bytes(_BLOCK_BYTES)
#: Tells zlib to expect a gzip file, with the largest window.
_GZIP = 16 + zlib.MAX_WBITS
#: How much is decompressed at a time.
_CHUNK_BYTES = 1 << 18


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
    with _Sink(path) as sink:
        with (
            gzip.GzipFile(filename="", mode="wb", compresslevel=COMPRESSION_LEVEL, fileobj=sink, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            _add(archive, SUMS, sums_text({name: sums[name] for name in names}))
            for name in names:
                content = content_of(name)
                if hashlib.sha256(content).hexdigest() != sums[name]:
                    raise EvidenceError(
                        f"altered: it does not match {SUMS}", where=f"{source}{name}", next_step=RESTORE
                    )
                _add(archive, name, content)
        return sink.finish()


def members(content: bytes, where: str) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of each file in a pack, including SHA256SUMS, in the pack's order, one at a time.

    It reads only what `write_pack` writes, because `tarfile` takes longer to parse a header than everything else takes
    for a file. Raises EvidenceError if the content is not such a pack.
    """
    unpacked = _Unpacked(content)
    try:
        long_name = ""
        while (header := unpacked.read(_BLOCK_BYTES)) != _END:
            size, kind = int(header[124:135], 8), header[156:157]
            inside = unpacked.read(-(-size // _BLOCK_BYTES) * _BLOCK_BYTES)[:size]
            if kind == b"x":
                long_name = _path_of_extended_header(inside)
            elif kind == b"0":
                yield long_name or _name_of(header), inside
                long_name = ""
            else:
                raise ValueError("it contains more than plain files")
    except (EOFError, ValueError, zlib.error) as error:
        raise EvidenceError(f"not a pack: {error}", where=where, next_step=RESTORE) from None


def verified_members(content: bytes, where: str, digest: str | None = None) -> Iterator[tuple[str, bytes, str]]:
    """Yield (name, bytes, digest) of each file except SHA256SUMS, after comparing it with the pack's own SHA256SUMS.

    If `digest` is given, the whole pack is compared with it first. Raises EvidenceError naming the pack or the member
    (`PACK:MEMBER`) that is altered, missing or not listed.
    """
    if digest is not None and hashlib.sha256(content).hexdigest() != digest:
        raise EvidenceError(
            f"altered: it does not match {SUMS}; {what_differs(content, where)}", where=where, next_step=RESTORE
        )
    files = members(content, where)
    expected = _listed(files, where)
    names = iter(expected)
    for name, inside in files:
        if name not in expected:
            raise EvidenceError(f"not listed in {SUMS} of its pack", where=f"{where}:{name}", next_step=RESTORE)
        if (next_name := next(names, None)) != name:
            raise _missing(where, next_name or name)
        found = hashlib.sha256(inside).hexdigest()
        if found != expected[name]:
            raise EvidenceError(
                f"altered: it does not match {SUMS} of its pack", where=f"{where}:{name}", next_step=RESTORE
            )
        yield name, inside, found
    if (lost := next(names, None)) is not None:
        raise _missing(where, lost)


def _missing(where: str, name: str) -> EvidenceError:
    return EvidenceError(f"listed in {SUMS} of its pack, but missing", where=f"{where}:{name}", next_step=RESTORE)


def listed_in(content: bytes, where: str) -> dict[str, str]:
    """Return the pack's own SHA256SUMS, path to digest. Raises EvidenceError if the pack does not begin with it."""
    return _listed(members(content, where), where)


def tar_members(content: bytes, where: str) -> dict[str, bytes]:
    """Return the files in any tar archive, name to bytes, such as a pack that a person packed again.

    Raises EvidenceError if it cannot be read, or contains links, devices or a name twice.
    """
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:*") as archive:
            for member in archive:
                name = os.path.normpath(member.name)
                if member.isdir():
                    continue
                if not member.isfile() or name in found or name.startswith(("/", "..")):
                    raise EvidenceError(
                        "a pack may only contain plain files, each once", where=f"{where}:{name}", next_step=RESTORE
                    )
                found[name] = archive.extractfile(member).read()
    except (tarfile.TarError, OSError, EOFError, ValueError, zlib.error) as error:
        raise EvidenceError(f"not a pack: {error}", where=where, next_step=RESTORE) from None
    return found


def what_differs(content: bytes, where: str) -> str:
    """Return in words how an altered pack differs from its own SHA256SUMS."""
    try:
        inside = tar_members(content, where)
        sums = parse_sums(inside.pop(SUMS, b""), f"{where}:{SUMS}")
    except EvidenceError as error:
        return f"{error.what}"
    differing = sorted(
        name
        for name in {*inside, *sums}
        if name not in inside or hashlib.sha256(inside[name]).hexdigest() != sums.get(name)
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


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o644
    archive.addfile(member, io.BytesIO(content))


def _name_of(header: bytes) -> str:
    name = header[:100].rstrip(b"\0").decode()
    prefix = header[345:500].rstrip(b"\0").decode()
    return f"{prefix}/{name}" if prefix else name


def _path_of_extended_header(content: bytes) -> str:
    while content:
        length = int(content.partition(b" ")[0])
        key, _, value = content[:length].partition(b" ")[2].rstrip(b"\n").partition(b"=")
        if key == b"path":
            return value.decode()
        content = content[length:]
    raise ValueError("an extended header names no path")


class _Unpacked:
    """The decompressed content of a gzip file, read from start to end.

    `gzip.GzipFile` would spend more time on each read than zlib spends on decompressing it.
    """

    def __init__(self, content: bytes) -> None:
        self._decompressor = zlib.decompressobj(wbits=_GZIP)
        self._packed = content
        self._fed = 0
        self._chunk = b""
        self._at = 0

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes. Raises EOFError if there are fewer, and zlib.error if this is not gzip."""
        end = self._at + size
        if end > len(self._chunk):
            self._fetch(size)
            end = size
        content = self._chunk[self._at : end]
        self._at = end
        return content

    def _fetch(self, size: int) -> None:
        """Decompress until at least `size` bytes are available, beginning with the next one."""
        parts = [self._chunk[self._at :]]
        missing = size - len(parts[0])
        while missing > 0:
            packed = self._decompressor.unconsumed_tail
            if not packed:
                packed = self._packed[self._fed : self._fed + _CHUNK_BYTES]
                self._fed += _CHUNK_BYTES
            if not packed:
                raise EOFError("it was cut off")
            part = self._decompressor.decompress(packed, max(missing, _CHUNK_BYTES))
            parts.append(part)
            missing -= len(part)
        self._chunk, self._at = b"".join(parts), 0


class _Sink:
    """A file that is written once, from start to end, and its digest."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        self._digest = hashlib.sha256()

    def __enter__(self) -> _Sink:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def write(self, content: bytes) -> int:
        durable.write_all(self._descriptor, content)
        self._digest.update(content)
        return len(content)

    def flush(self) -> None:
        """Do nothing: nothing is buffered. `gzip` calls this."""

    def finish(self) -> str:
        os.fsync(self._descriptor)
        return self._digest.hexdigest()
