"""The commands of `replay raw`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, EvidenceError
from replay.base.paths import benchmarks_directory
from replay.evidence.data_set import PACK, parse_json, verified_members
from replay.evidence.durable import SUMS, read_sums
from replay.evidence.read import ATTEMPT, SEAL, Folder, OpenBlock, Pack, list_raw, verify


def run(options: argparse.Namespace) -> int:
    """Run one command. Raises EvidenceError for evidence that is missing, altered or not listed."""
    programs = {"ls": _ls, "cat": _cat, "unpack": _unpack, "verify": _verify}
    programs[options.what](options)
    return 0


def _ls(options: argparse.Namespace) -> None:
    for block in _chosen(options):
        print(f"{block.raw}/{block.name}")
        for folder in block.folders():
            if ATTEMPT.fullmatch(folder.path):
                print(f"  {_attempt_line(folder)}")


def _attempt_line(folder: Folder) -> str:
    seal = parse_json(f"{folder.where}{SEAL}", folder.contents.get(SEAL, b""))
    validity = "valid" if seal.get("valid") else "invalid: " + "; ".join(map(_problem, seal.get("invalid") or [{}]))
    return f"{folder.path}  {len(folder.digests)} files  {validity}"


def _problem(invalid: Mapping[str, Any]) -> str:
    return f"{invalid.get('variant') or 'all'}: {invalid.get('reason', 'no reason given')}"


def _cat(options: argparse.Namespace) -> None:
    pack = _pack(options.pack)
    for name, content, _ in verified_members(pack.content(), str(options.pack), pack.digest):
        if name == options.member:
            sys.stdout.buffer.write(content)
            return
    raise ConfigurationError(
        f"this pack contains no file {options.member!r}",
        where=options.pack,
        next_step=f"list its files: tar -tzf {options.pack}",
    )


def _unpack(options: argparse.Namespace) -> None:
    into = options.into.resolve()
    if into.is_relative_to(benchmarks_directory().resolve()):
        raise ConfigurationError(
            "this folder is among the data sets, where unpacked files would pass for evidence",
            where=options.into,
            next_step="name a folder elsewhere",
        )
    if into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise ConfigurationError("this folder is not empty", where=options.into, next_step="name a new folder")
    blocks = list(_chosen(options))
    experiments = {block.raw: Path(block.raw).resolve().parent for block in blocks}
    above = os.path.commonpath(experiments.values()) if blocks else ""
    count = 0
    for block in blocks:
        # Several data sets get a folder each, and so do several experiments; a single one is unpacked as in its packs.
        root = into / experiments[block.raw].relative_to(above)
        sums: dict[str, str] = {}
        for folder in block.folders():
            (root / folder.path).mkdir(parents=True, exist_ok=True)
            for name, content in folder.contents.items():
                (root / folder.path / name).write_bytes(content)
                sums[f"{folder.path}/{name}"] = folder.digests[name]
        root.mkdir(parents=True, exist_ok=True)
        with (root / SUMS).open("a") as file:
            file.writelines(f"{digest}  {name}\n" for name, digest in sums.items())
        count += len(sums)
    print(f"unpacked {count} files of {len(blocks)} blocks into {options.into}")


def _verify(options: argparse.Namespace) -> None:
    blocks = files = 0
    for raw in [] if options.packs else _raw_directories(options):
        listing = list_raw(raw)
        blocks += len(listing.blocks)
        files += sum(len(folder.digests) for folder in verify(listing))
    for pack in options.packs:
        blocks += 1
        files += sum(len(folder.digests) for folder in _pack(pack).folders())
    print(f"{files} files of {blocks} blocks match their records")


def _chosen(options: argparse.Namespace) -> Iterator[Pack | OpenBlock]:
    if options.packs:
        yield from map(_pack, options.packs)
    else:
        for raw in _raw_directories(options):
            yield from list_raw(raw).blocks


def _pack(path: Path) -> Pack:
    """Return the pack at a path.

    Raises ConfigurationError if the name is not a pack's, and EvidenceError if there is no such pack or SHA256SUMS
    beside it does not list it.
    """
    if not PACK.fullmatch(path.name):
        raise ConfigurationError(
            "this is not a pack's name", where=path, next_step="name a file block-<number>-<plan>.tar.gz"
        )
    if not path.is_file():
        raise EvidenceError("there is no such pack", where=path, next_step=f"list what there is: ls {path.parent}")
    sums = read_sums(path.parent)
    if path.name not in sums:
        raise EvidenceError(f"not listed in {SUMS} beside it", where=path, next_step="look at it with tar -tzf")
    return Pack(str(path.parent), path.name, sums[path.name])


def _raw_directories(options: argparse.Namespace) -> list[Path]:
    if options.data is None:
        raise ConfigurationError("neither a pack nor a data set was named", next_step="name packs, or use --data NAME")
    folder = benchmarks_directory() / options.data
    directories = sorted(folder.glob(f"{options.experiment or '*'}/raw"))
    if not directories:
        raise EvidenceError("no raw output here", where=folder / (options.experiment or ""), next_step="check the name")
    return directories
