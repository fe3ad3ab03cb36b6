"""A data set on disk: where its evidence is, the name it was measured under, its packs and JSON documents."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, EvidenceError
from replay.base.paths import DATA_SET_NAME, after_missing, benchmarks_directory, suggestion
from replay.design.design import Design, canonical_json
from replay.evidence.durable import MISMATCH, RESTORE, SUMS, parse_sums, sha256, sums_text, write_synced

CAMPAIGN = "campaign.json"
MANIFEST = "manifest.json"
#: The path of a sealed block relative to `raw/`, for `str.format` with `block` (two digits or more) and `plan`.
SEALED_BLOCK = "block-{block}-{plan}.tar.gz"
_LISTED_BLOCK = re.compile(r"[0-9a-f]{64} [ *](block-\d{2,}-[0-9a-f]+\.tar\.gz)", re.ASCII)


def raw_directory(data_set: str, experiment: str) -> Path:
    return benchmarks_directory() / data_set / experiment / "raw"


def experiments_in(data_set: Path) -> list[str]:
    """Return the names of the experiments that have raw output."""
    return sorted(path.parent.name for path in data_set.glob("*/raw") if path.is_dir() and any(path.iterdir()))


def named_experiments(data_set: Path, experiments: Sequence[str] = ()) -> list[str]:
    """Return the named experiments, or all that have raw output.

    Raises EvidenceError if the data set or a named experiment has no raw output.
    """
    present = experiments_in(data_set)
    if not present:
        raise EvidenceError("there is no raw output here", where=data_set, next_step=after_missing(data_set))
    for name in experiments:
        if name not in present:
            raise EvidenceError(
                f"there is no raw output of experiment {name!r}", where=data_set, next_step=suggestion(name, present)
            )
    return list(experiments) or present


def data_sets_in(benchmarks: Path) -> list[str]:
    """Return the names of the data sets that have raw output.

    A folder with a name that no command takes is none, such as `mine (copy)`, or `.mine` that is still being written.
    """
    names = {path.parents[1].name for path in benchmarks.glob("*/*/raw") if any(path.iterdir())}
    return sorted(filter(DATA_SET_NAME.fullmatch, names))


def sealed_block(raw: Path, block: int, plan: str) -> Path:
    """Return the path of a block's pack for a plan, whether or not it exists yet."""
    return raw / pack_name(block, plan)


def sealed_blocks(raw: Path) -> list[Path]:
    """Return the paths of the sealed blocks that SHA256SUMS lists, including those that are missing now."""
    try:
        lines = (raw / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    return sorted(raw / match[1] for line in lines if (match := _LISTED_BLOCK.fullmatch(line)))


def recorded_in(raw: Path) -> list[Path]:
    """Return the files that list what was recorded: SHA256SUMS of `raw/` and of its open blocks. Both may change."""
    return [path for path in [raw / SUMS, *sorted(raw.glob(f"block-*.open/{SUMS}"))] if path.exists()]


def read_campaign(data_set: Path) -> dict[str, Any]:
    """Return the content of a data set's `campaign.json`; empty without that file.

    Raises EvidenceError naming the file if it is not a JSON object.
    """
    path, next_step = data_set / CAMPAIGN, "restore it, or copy the data set again"
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise EvidenceError(f"not JSON: {error}", where=path, next_step=next_step) from None
    if not isinstance(data, dict):
        raise EvidenceError("not a JSON object", where=path, next_step=next_step)
    return data


def refuse_copies(data_set: str) -> None:
    """Raise ConfigurationError if a data set was measured under another name: two campaigns must not mix."""
    folder = benchmarks_directory() / data_set
    # A copied or renamed folder has another name than `campaign.json` says, if that says anything.
    origin = read_campaign(folder).get("data_set")
    if isinstance(origin, str) and origin not in ("", folder.name):
        raise ConfigurationError(
            f"Replay does not measure into a copy: this was measured as {origin!r}",
            where=folder / CAMPAIGN,
            next_step=f"continue with --data {origin}, or choose a new name (or rename the folder back)",
        )


def refuse_mixed_scales(data_set: str, design: Design) -> None:
    """Raise ConfigurationError if the data set holds this experiment at another scale.

    A quick cell and a talk cell of the same point have different durations, so a median over both means nothing.
    """
    for path in sorted(raw_directory(data_set, design.name).glob("design-*.json")):
        recorded = parse_json(str(path), path.read_bytes())
        scale = recorded["scale"]
        # A design without cells only says that everything was skipped.
        if scale != design.scale and recorded["cells"]:
            raise ConfigurationError(
                f"this data set contains {design.name} at scale {scale}, not {design.scale}",
                where=path.parent.parent,
                next_step=f"measure into another data set, for example --data {data_set}-{design.scale}",
            )


def pretty_json(value: Any) -> bytes:
    """Return JSON for people: sorted keys, one entry a line, a final newline."""
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False) + "\n").encode()


def design_file(public: Mapping[str, Any], digest: str) -> tuple[str, bytes]:
    """Return the name and content of the file that records a design."""
    return f"design-{digest}.json", (canonical_json(public) + "\n").encode()


def parse_json(path: str, content: bytes) -> dict[str, Any]:
    """Return the JSON object in a file. Raises EvidenceError unless it is an object of schema version 1."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"not JSON: {error}", where=path, next_step=RESTORE) from None
    if not isinstance(data, dict) or data.get("schema_version") != 1:
        raise EvidenceError(
            "not an object of schema_version 1", where=path, next_step="use the version of Replay that wrote it"
        )
    return data


# The format of a pack, `block-<bb>-<plan>.tar.gz`: a gzip'd tar of plain files that any `tar` opens.
#
# The first member is SHA256SUMS, which lists all others; they follow, sorted by folder and name. The same files always
# give the same bytes (with the same zlib): members have no owner, no time and one mode, and gzip's header has no name.


PACK = re.compile(r"block-(?P<block>\d{2,})-(?P<plan>[0-9a-f]{12})\.tar\.gz", re.ASCII)
COMPRESSION_LEVEL = 9


def pack_name(block: int, plan: str) -> str:
    return SEALED_BLOCK.format(block=f"{block:02d}", plan=plan)


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
        raise EvidenceError(f"{MISMATCH}; {_what_differs(content, where)}", where=where, next_step=RESTORE)
    files = members(content, where)
    first, listed = next(files, ("", b""))
    if first != SUMS:
        raise EvidenceError(f"not a pack: it does not begin with {SUMS}", where=where, next_step=RESTORE)
    left = parse_sums(listed, f"{where}:{SUMS}")
    for name, inside in files:
        if name not in left:
            raise EvidenceError(f"not listed in {SUMS} of its pack", where=f"{where}:{name}", next_step=RESTORE)
        if (expected := next(iter(left))) != name:
            raise _missing(where, expected)
        if (own := left.pop(name)) != sha256(inside):
            raise EvidenceError(f"{MISMATCH} of its pack", where=f"{where}:{name}", next_step=RESTORE)
        yield name, inside, own
    for name in left:
        raise _missing(where, name)


def _missing(where: str, name: str) -> EvidenceError:
    return EvidenceError(f"listed in {SUMS} of its pack, but missing", where=f"{where}:{name}", next_step=RESTORE)


def _what_differs(content: bytes, where: str) -> str:
    """Return in words how an altered pack differs from its own SHA256SUMS; it names the first such file."""
    try:
        for _ in verified_members(content, where):
            pass
    except EvidenceError as error:
        return f"{error.where}: {error.what}"
    return "all files in it match its own list"
