"""The documents of an imported experiment, in the formats of measured ones, without unknown facts. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, EvidenceError
from replay.base.tables import csv_text
from replay.design.design import digest_of
from replay.evidence import durable
from replay.evidence.copies import CAMPAIGN
from replay.evidence.documents import design_file, pretty_json
from replay.evidence.pack import pack_name, write_pack
from replay.evidence.read import SEAL
from replay.evidence.sums import SUMS, sha256, sums_text
from replay.exchange.importing.arrange import Arranged, Cell
from replay.exchange.importing.collect import Collected
from replay.exchange.importing.files import in_order
from replay.exchange.importing.found import Part
from replay.exchange.importing.recognise import FAMILIES, roles

#: The protocol of everything that Replay did not measure itself; receipts and sidecars name it as their `origin`.
IMPORTED = "imported"
#: Options for the output of results. They do not affect the measurement, and may name a host or a person.
_NAMES = frozenset(["filename", "directory", "rbdname", "pool", "hostname", "opendir", "filename_format"])
_TITLES = {"fio": "fio", "rbd-bench": "rbd bench", "rados-bench": "rados bench", "elbencho": "elbencho"}
_METRICS: tuple[tuple[str, str, str, str, str, bool], ...] = (
    ("operations_per_second", "iops", "IOPS", "operations_per_second", "higher", True),
    ("bytes_per_second", "throughput", "Throughput", "bytes_per_second", "higher", False),
    ("latency_mean_seconds", "latency-mean", "Mean latency", "seconds", "lower", True),
    ("latency_p50_seconds", "latency-p50", "Median latency", "seconds", "lower", False),
    ("latency_p95_seconds", "latency-p95", "95th percentile of latency", "seconds", "lower", False),
    ("latency_p99_seconds", "latency-p99", "99th percentile of latency", "seconds", "lower", True),
    ("latency_p99_9_seconds", "latency-p99-9", "99.9th percentile of latency", "seconds", "lower", False),
)


@dataclass(frozen=True)
class Variant:
    """A folder that was named: its slug and its label."""

    name: str
    label: str


def experiment_name(tool: str) -> str:
    """Return the name of the experiment of a tool's results. No configured experiment begins like this."""
    return f"{IMPORTED}-{FAMILIES[tool]}"


def design_of(arranged: Arranged, variants: Sequence[Variant]) -> dict[str, Any]:
    """Return the content of `design-<digest>.json`: everything that deriving needs."""
    present = {cell.variant for cell in arranged.cells}
    compared = [one for one in variants if one.name in present]
    stated = {name for cell in arranged.cells for name in cell.run.metrics}
    shared = {name: text for name, text in arranged.shared.items() if name not in _NAMES}
    return {
        "schema_version": 1,
        "origin": IMPORTED,
        "experiment": experiment_name(arranged.tool),
        "title": f"Imported results of {_TITLES[FAMILIES[arranged.tool]]}",
        "scale": IMPORTED,
        "protocol": IMPORTED,
        "tool": arranged.tool,
        "sources": [],
        "x_factor": arranged.x_factor,
        "x_label": arranged.x_label,
        "x_unit": arranged.x_unit,
        "workload_factors": list(arranged.workload_factors),
        "factors": {name: list(levels) for name, levels in arranged.factors.items()},
        "options": shared,
        "variants": [
            {
                "name": one.name,
                "label": one.label,
                "reference": len(compared) > 1 and index == 0,
                "control": False,
                **_options_of(arranged.of_variant.get(one.name, {})),
            }
            for index, one in enumerate(compared)
        ],
        "metrics": [
            {"metric": metric, "name": name, "title": title, "unit": unit, "better": better, "ratio": ratio}
            for metric, name, title, unit, better, ratio in _METRICS
            if metric in stated
        ],
        "ratio_direction": "variant/reference",
        "cells": {
            cell.cell_id: {"point": cell.point, "variant": cell.variant, "levels": dict(cell.levels)}
            for cell in arranged.cells
        },
        "levels": {name: dict(found) for name, found in arranged.words.items()},
        "skipped": [],
    }


def _options_of(options: Mapping[str, str]) -> dict[str, Any]:
    told = {name: text for name, text in options.items() if name not in _NAMES}
    return {"options": told} if told else {}


def plan_of(block: int, cells: Iterable[Cell]) -> str:
    """Return the digest that names a block's pack; it covers the block's number, its cells and the originals."""
    of_cells = [[cell.cell_id, [[one.sha256, list(one.ranges)] for one in cell.run.parts]] for cell in cells]
    return digest_of({"block": block, "origin": IMPORTED, "cells": sorted(of_cells)})


def sidecar_of(
    cell: Cell, experiment: str, label: str, files: Mapping[str, str], folders: Sequence[str]
) -> dict[str, Any]:
    """Return a cell's sidecar. `files`: names by role; `folders`: the names of the folders that were given."""
    run = cell.run
    return {
        "schema_version": 1,
        "origin": IMPORTED,
        "experiment": experiment,
        "block": cell.block,
        "point": cell.point,
        "variant": cell.variant,
        "label": label,
        "attempt": 1,
        "cell_id": cell.cell_id,
        "levels": dict(cell.levels),
        "options": dict(run.options),
        "protocol": IMPORTED,
        "tool": run.tool,
        "files": dict(files),
        "sources": [
            {
                "folder": folders[part.folder],
                "path": part.path,
                "sha256": part.sha256,
                "bytes": part.size,
                **({} if part.whole else {"byte_ranges": [list(one) for one in part.ranges]}),
            }
            for part in run.parts
        ],
        "valid": True,
        "invalid": None,
        **({"job": run.job} if run.job else {}),
        **({"ended_at": run.reported_at} if run.reported_at else {}),
        **({"versions": {"tool": run.version}} if run.version else {}),
    }


def seal_of(cells: Sequence[Cell], experiment: str) -> dict[str, Any]:
    """Return `attempt.json` of the variants of a point that make one repetition."""
    first = cells[0]
    return {
        "schema_version": 1,
        "origin": IMPORTED,
        "experiment": experiment,
        "block": first.block,
        "point": first.point,
        "attempt": 1,
        "order": [cell.variant for cell in cells],
        "cells": {cell.variant: cell.cell_id for cell in cells},
        "status": "complete",
        "valid": True,
        "invalid": [],
        **_latest(cells),
    }


def receipt_of(cells: Sequence[Cell], experiment: str, design: str, plan: str) -> dict[str, Any]:
    """Return the receipt of a block: that it was imported, and by which design and plan."""
    return {
        "schema_version": 1,
        "origin": IMPORTED,
        "experiment": experiment,
        "block": cells[0].block,
        "design": design,
        "plan": plan,
        "sets": sorted({cell.point for cell in cells}),
        "skipped": [],
        **_latest(cells),
    }


def _latest(cells: Iterable[Cell]) -> dict[str, str]:
    moments = [cell.run.reported_at for cell in cells if cell.run.reported_at]
    return {"ended_at": max(moments)} if moments else {}


def campaign_of(data_set: str, label: str, experiments: Iterable[Arranged]) -> dict[str, Any]:
    """Return `campaign.json`: what a person should know about the whole data set."""
    versions = sorted({cell.run.version for one in experiments for cell in one.cells if cell.run.version})
    return {
        "schema_version": 1,
        "origin": IMPORTED,
        "data_set": data_set,
        "label": label,
        "limitation": "Imported, not measured by Replay: what the files do not say is not known.",
        "setup": {"tool_versions": ", ".join(versions)} if versions else {},
    }


#: A table, not JSON: the deck publishes the JSON files of a data set, and names of files may reveal too much.
ACCOUNT = "imported.csv"
ACCOUNT_HEADER = ("folder", "path", "sha256", "bytes", "experiment", "runs", "left_out")
ORIGINALS = "originals"
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
_SUFFIXES = {
    "fio_report": "result.json", "rbd_bench_output": "stdout", "rados_bench_output": "result", "elbencho_row": "csv",
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
    if data_set.exists():
        raise ConfigurationError(
            "there is already a data set of this name, and evidence is never overwritten",
            where=data_set,
            next_step="choose another name with --data, or move that folder away",
        )
    working = data_set.with_name(f".{data_set.name}.{IMPORTED}")
    durable.remove_tree(working)
    try:
        working.mkdir(parents=True)
        for one in experiments:
            _write_experiment(working / experiment_name(one.tool), one, variants, collected)
        durable.write_synced(working / ACCOUNT, _account(variants, experiments, collected).encode())
        durable.write_synced(working / CAMPAIGN, pretty_json(campaign_of(data_set.name, label, experiments)))
        durable.put_in_place(working, data_set)
    except OSError as error:
        raise ConfigurationError(
            f"cannot be written: {error.strerror}", where=data_set, next_step="check the space and the permissions"
        ) from error
    finally:
        durable.remove_tree(working)


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
            for role, part in zip(roles(), cell.run.parts, strict=False):
                name = (
                    f"{cell.variant}.{role.removeprefix('output').removeprefix('-') or '1'}.{_SUFFIXES[cell.run.tool]}"
                )
                files[role] = name
                found[f"{folder}/{name}"] = part
                if not part.whole and part.sha256 not in packed:
                    packed.add(part.sha256)
                    found[_original(part)] = Part(part.folder, part.path, part.sha256, part.size, ((0, part.size),))
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
    runs: Counter[tuple[int, str]] = Counter()
    for arranged in experiments:
        for cell in arranged.cells:
            for part in cell.run.parts:
                key = (part.folder, part.path)
                runs[key] += 1
                taken[key] = [part.sha256, str(part.size), experiment_name(arranged.tool)]
    rows = [
        *((*key, *facts, str(runs[key]), "") for key, facts in taken.items()),
        *((one.folder, one.path, "", "", "", "0", one.why) for one in collected.left_out),
    ]
    rows.sort(key=lambda row: (row[0], in_order(row[1]), row[6]))
    return csv_text([ACCOUNT_HEADER, *([variants[row[0]].label, *row[1:]] for row in rows)])
