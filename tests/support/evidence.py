"""Reads evidence for tests, from packs or from open blocks, and alters a pack as a person would."""

from __future__ import annotations

import contextlib
import io
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

from replay.evidence.durable import SUMS
from replay.evidence.read import SealedMeanwhile, list_raw


def evidence_of(raw: Path) -> dict[str, bytes]:
    """Return every recorded file of an experiment except SHA256SUMS, verified, by its path in an unpacked `raw/`."""
    while raw.is_dir():
        with contextlib.suppress(SealedMeanwhile):
            listing = list_raw(raw)
            found = {path.name: path.read_bytes() for path in raw.glob("design-*.json")}
            for block in listing.blocks:
                for folder in block.folders():
                    found |= {f"{folder.path}/{name}": content for name, content in folder.contents.items()}
            return found
    return {}


def pack_again(
    pack: Path, change: Callable[[str, bytes], bytes | None], added: Mapping[str, bytes] | None = None
) -> None:
    """Unpack a pack, change its files (None removes one), and pack them as `tar -C FOLDER -czf PACK .` does."""
    files = members_of(pack) | dict(added or {})
    with tarfile.open(pack, "w:gz") as archive:
        folder = tarfile.TarInfo(".")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(folder)
        for name, content in files.items():
            altered = change(name, content)
            if altered is not None:
                member = tarfile.TarInfo(f"./{name}")
                member.size, member.mtime = len(altered), 1_800_000_000
                archive.addfile(member, io.BytesIO(altered))


def members_of(pack: Path) -> dict[str, bytes]:
    """Return the files of a pack by name, read with the library's tar."""
    with tarfile.open(pack) as archive:
        files = {member.name.removeprefix("./"): archive.extractfile(member) for member in archive}
        return {name: file.read() for name, file in files.items() if file is not None}


def sums_match(folder: Path) -> bool:
    """Return whether sha256sum finds every file that a folder's SHA256SUMS lists, as it is listed."""
    argv = ["sha256sum", "--check", "--strict", SUMS]
    return subprocess.run(argv, cwd=folder, capture_output=True, check=False).returncode == 0
