"""Finds out how the evidence of a copy differs from its record, and records it again, for `derive --reseal`.

Paths are those of an unpacked `evidence/`, whichever pack a file is in; packs and designs go by their own names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from replay.base.errors import EvidenceError
from replay.evidence import durable
from replay.evidence.pack import PACK, tar_members, write_pack
from replay.evidence.read import OPEN, read_file, refuse_unpacked, visible
from replay.evidence.sums import RESTORE, SUMS, locked, parse_sums, read_sums, sha256, sums_text


@dataclass
class Alterations:
    """The differences. `files` maps a path to (recorded digest, digest found), the latter None if the file is gone.

    `sums` maps each SHA256SUMS to replace to its new content (path to digest). `packs` are the altered packs. Each is
    already packed again under its working name, with a list of what it holds now.
    """

    raw: Path
    files: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    sums: dict[Path, dict[str, str]] = field(default_factory=dict)
    packs: list[Path] = field(default_factory=list)

    def apply(self) -> None:
        """Replace the lists, then the packs. If it stops in between, derive refuses the copy as altered."""
        with locked(self.raw):
            for path, sums in self.sums.items():
                durable.replace(path, sums_text(sums))
            for pack in self.packs:
                durable.put_in_place(durable.working_name(pack), pack)


def find_alterations(raw: Path, known: Mapping[str, str]) -> Alterations:
    """Compare `evidence/` with its record, and pack altered packs again beside the old ones.

    `known` maps files that were once recorded and later dropped to their digests; a file that is back is reported too.
    An attempt in progress is skipped. Raises EvidenceError if SHA256SUMS is missing or malformed, and naming a file
    that cannot be read or was never listed, because nothing measured it.
    """
    found = Alterations(raw)
    with locked(raw, shared=True):
        refuse_unpacked(raw)
        recorded = read_sums(raw)
        present = set(visible(raw)) - {SUMS}
        for name in sorted(present):
            if name in recorded or name in known:
                continue
            if not OPEN.fullmatch(name):
                raise _unlisted(raw / name)
            _of_open_block(found, raw / name, known)
        now = {}
        for name in [*recorded, *sorted(known.keys() & present - recorded.keys())]:
            was = recorded.get(name) or known[name]
            digest = _of_file(found, name, was, known) if name in present else None
            if digest is None or name not in recorded:
                found.files[name] = (was, digest)
            if digest is not None:
                now[name] = digest
        if now != recorded:
            found.sums[raw / SUMS] = now
    return found


def _of_file(found: Alterations, name: str, was: str, known: Mapping[str, str]) -> str:
    """Return the digest that a file of `evidence/` will have, and note how it differs from its record."""
    path = found.raw / name
    content = read_file(str(path))
    digest = sha256(content)
    if digest == was:
        return digest
    if not PACK.fullmatch(name):
        found.files[name] = (was, digest)
        return digest
    inside = tar_members(content, str(path))
    if SUMS not in inside:
        raise EvidenceError(f"this pack has no {SUMS}", where=f"{path}:{SUMS}", next_step=RESTORE)
    listed = parse_sums(inside.pop(SUMS), f"{path}:{SUMS}")
    for member in sorted(inside.keys() - listed.keys() - known.keys()):
        raise _unlisted(f"{path}:{member}")
    now = {member: sha256(content) for member, content in inside.items()}
    altered = _differing(listed, now, known)
    digest = write_pack(durable.working_name(path), now, inside.__getitem__, f"{path}:")
    found.packs.append(path)
    # If every file matches its line but the pack does not, the pack itself was altered.
    found.files |= altered or ({name: (was, digest)} if digest != was else {})
    return digest


def _of_open_block(found: Alterations, opened: Path, known: Mapping[str, str]) -> None:
    present = {
        path.relative_to(opened).as_posix(): path
        for path in opened.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(opened).parts)
    }
    if not present:
        return
    listed = read_sums(opened)
    present.pop(SUMS)
    for path in sorted(present.keys() - listed.keys() - known.keys()):
        raise _unlisted(present[path])
    now = {path: sha256(read_file(str(full))) for path, full in present.items()}
    if altered := _differing(listed, now, known):
        found.files |= altered
        found.sums[opened / SUMS] = now


def _differing(
    listed: Mapping[str, str], now: Mapping[str, str], known: Mapping[str, str]
) -> dict[str, tuple[str, str | None]]:
    paths = sorted({*listed, *now})
    return {
        path: (listed.get(path) or known[path], now.get(path)) for path in paths if listed.get(path) != now.get(path)
    }


def _unlisted(where: Path | str) -> EvidenceError:
    return EvidenceError(
        f"not listed in {SUMS}: nothing measured it",
        where=where,
        next_step="remove it: --reseal records altered and removed files, but adds none",
    )
