"""Writes a data set of imported results: packs, designs, the account of every file. It appears whole or not at all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from replay.base.errors import ConfigurationError, EvidenceError
from replay.base.invocation import replay_command
from replay.base.paths import csv_text
from replay.design.design import digest_of
from replay.evidence import durable
from replay.evidence.data_set import CAMPAIGN, design_file, pack_name, pretty_json, write_pack
from replay.evidence.durable import SUMS, sha256, sums_text
from replay.evidence.read import SEAL
from replay.exchange.importing.arrange import Arranged, Cell
from replay.exchange.importing.collect import Collected
from replay.exchange.importing.documents import (
    IMPORTED,
    Variant,
    campaign_of,
    design_of,
    experiment_name,
    plan_of,
    receipt_of,
    seal_of,
    sidecar_of,
)
from replay.exchange.importing.files import in_order
from replay.exchange.importing.recognise import roles
from replay.exchange.importing.runs import Part

#: A table, not JSON: the deck publishes the JSON files of a data set, and names of files may reveal too much.
ACCOUNT = "imported.csv"
ACCOUNT_HEADER = ("folder", "path", "sha256", "bytes", "experiment", "runs", "left_out", "notes")
ORIGINALS = "originals"
#: The last file that deriving makes.
MANIFEST = "manifest.json"
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
_SUFFIXES = {
    "fio_report": "result.json", "fio_text": "txt", "rbd_bench_output": "stdout", "rados_bench_output": "result",
    "elbencho_row": "csv",
}  # fmt: skip


def write_data_set(
    data_set: Path,
    label: str,
    variants: Sequence[Variant],
    experiments: Sequence[Arranged],
    collected: Collected,
) -> None:
    """Write the data set. Raises ConfigurationError if there is already one of this name.

    Raises EvidenceError naming a file that changed while it was imported.
    """
    working = data_set.with_name(f".{data_set.name}.{IMPORTED}")
    try:
        data_set.parent.mkdir(parents=True, exist_ok=True)
        # Imports into one folder write one after the other.
        with durable.locked(data_set.parent):
            _require_new(data_set)
            # What an import left that was killed.
            durable.remove_tree(working)
            try:
                working.mkdir()
                for one in experiments:
                    _write_experiment(working / experiment_name(one.tool), one, variants, collected)
                durable.write_synced(working / ACCOUNT, _account(variants, experiments, collected).encode())
                durable.write_synced(working / CAMPAIGN, pretty_json(campaign_of(data_set.name, label, experiments)))
                durable.put_in_place(working, data_set)
            finally:
                durable.remove_tree(working)
    except OSError as error:
        raise ConfigurationError(
            f"cannot be written: {error.strerror}", where=data_set, next_step="check the space and the permissions"
        ) from error


def _require_new(data_set: Path) -> None:
    """Refuse a name that is taken. An import that was interrupted after its evidence was whole lacks only tables."""
    if not data_set.exists():
        return
    if (data_set / ACCOUNT).exists() and not (data_set / MANIFEST).exists():
        raise ConfigurationError(
            "this was imported, but its tables were not made",
            where=data_set,
            next_step=f"make them: {replay_command('derive', '--data', data_set.name)}",
        )
    raise ConfigurationError(
        "there is already a data set of this name, and evidence is never overwritten",
        where=data_set,
        next_step="choose another name with --data, or move that folder away",
    )


def _write_experiment(directory: Path, arranged: Arranged, variants: Sequence[Variant], collected: Collected) -> None:
    raw = directory / "raw"
    raw.mkdir(parents=True)
    public = design_of(arranged, variants)
    digest = digest_of(public)
    name, content = design_file(public, digest)
    durable.write_synced(raw / name, content)
    sums = {name: sha256(content)}
    packed: set[str] = set()
    cells = sorted(arranged.cells, key=lambda cell: (cell.block, cell.point))
    for block, here in groupby(cells, key=lambda cell: cell.block):
        of_block = list(here)
        plan = plan_of(block, of_block)
        files = _files_of_block(of_block, digest, plan, variants, packed)
        pack = pack_name(block, plan)
        sums[pack] = _pack(raw / pack, files, collected)
    durable.write_synced(raw / SUMS, sums_text(sums))


Content = bytes | Part


def _files_of_block(
    cells: Sequence[Cell], design: str, plan: str, variants: Sequence[Variant], packed: set[str]
) -> dict[str, Content]:
    """Return the members of a block's pack: documents, and parts of the originals. `packed` gets whole originals."""
    experiment = experiment_name(cells[0].run.tool)
    labels = {one.name: one.label for one in variants}
    folders = [one.label for one in variants]
    found: dict[str, Content] = {}
    for point, several in groupby(cells, key=lambda cell: cell.point):
        of_set = sorted(several, key=lambda cell: cell.run.folder)
        folder = f"block-{of_set[0].block:02d}/{point}/attempt-1"
        for cell in of_set:
            files = {}
            outputs = roles()
            for part in cell.run.parts:
                role = part.role or next(outputs)
                middle = part.role or role.removeprefix("output").removeprefix("-") or "1"
                name = f"{cell.variant}.{middle}.{'log' if part.role else _SUFFIXES[cell.run.tool]}"
                files[role] = name
                found[f"{folder}/{name}"] = part
                if not part.whole and part.sha256 not in packed:
                    packed.add(part.sha256)
                    found[_original(part)] = replace(part, ranges=((0, part.size),), encoding="utf-8")
            sidecar = sidecar_of(cell, experiment, labels[cell.variant], files, folders)
            found[f"{folder}/{cell.variant}.json"] = pretty_json(sidecar)
        found[f"{folder}/{SEAL}"] = pretty_json(seal_of(of_set, experiment))
    block = cells[0].block
    found[f"block-{block:02d}/receipt-{plan}.json"] = pretty_json(receipt_of(cells, experiment, design, plan))
    return found


def _original(part: Part) -> str:
    """Return the path of a whole original of which a run is only a part."""
    return f"{ORIGINALS}/{part.sha256[:12]}-{_NOT_PLAIN.sub('-', part.path.rpartition('/')[2])[-60:]}"


def _pack(path: Path, files: Mapping[str, Content], collected: Collected) -> str:
    """Write a pack and return its digest. Each original is read again and compared with the first reading."""
    content_of = _reader(collected)
    sums = {name: sha256(content_of(one)) for name, one in files.items()}
    return write_pack(path, sums, lambda name: content_of(files[name]), f"{path}:")


def _reader(collected: Collected) -> Callable[[Content], bytes]:
    last: dict[str, bytes] = {}

    def content_of(one: Content) -> bytes:
        if isinstance(one, bytes):
            return one
        if one.sha256 not in last:
            last.clear()  # the parts of one file are requested one after another
            last[one.sha256] = _read_again(one, collected)
        return one.cut(last[one.sha256])

    return content_of


def _read_again(part: Part, collected: Collected) -> bytes:
    try:
        content = collected.content((part.folder, part.path))
    except OSError as error:
        raise EvidenceError(
            f"it cannot be read again: {error.strerror}", where=part.path, next_step="import once more"
        ) from error
    if sha256(content) != part.sha256:
        raise EvidenceError("it changed while it was imported", where=part.path, next_step="import once more")
    return content


def _account(variants: Sequence[Variant], experiments: Sequence[Arranged], collected: Collected) -> str:
    """Return the content of `imported.csv`: a row for every imported file, and for every reason to leave one out."""
    taken: dict[tuple[int, str], list[str]] = {}
    notes: dict[tuple[int, str], dict[str, None]] = {}
    runs: Counter[tuple[int, str]] = Counter()
    for arranged in experiments:
        for cell in arranged.cells:
            for part in cell.run.parts:
                key = (part.folder, part.path)
                runs[key] += 1
                taken[key] = [part.sha256, str(part.size), experiment_name(arranged.tool)]
                notes.setdefault(key, {}).update(dict.fromkeys(() if part.role else cell.run.notes))
    rows = [
        *((*key, *facts, str(runs[key]), "", "; ".join(notes[key])) for key, facts in taken.items()),
        *((one.folder, one.path, "", "", "", "0", one.why, "") for one in collected.left_out),
    ]
    rows.sort(key=lambda row: (row[0], in_order(row[1]), row[6]))
    return csv_text([ACCOUNT_HEADER, *([variants[row[0]].label, *row[1:]] for row in rows)])
