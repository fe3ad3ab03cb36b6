"""The files of an imported experiment, in the formats of measured ones, without unknown facts. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from replay.design.design import digest_of
from replay.evidence.data_set import pretty_json
from replay.evidence.read import SEAL
from replay.exchange.importing.arrange import AXES, LOADS, Arranged, ImportedCell
from replay.exchange.importing.recognise import roles
from replay.exchange.importing.runs import TextPart
from replay.exchange.sides import IMPORTED

#: Options for the output of results. They do not affect the measurement, and may name a host or a person.
_NAMES = frozenset({
    "filename", "directory", "rbdname", "pool", "hostname", "opendir", "filename_format", "command target",
})  # fmt: skip
#: By the reader of its results: a tool in names of experiments, its name for a person, and the ending of its files.
_TOOLS = {
    "fio_report": ("fio", "fio", "result.json"),
    "fio_text": ("fio-text", "fio's text", "txt"),
    "rbd_bench_output": ("rbd-bench", "rbd bench", "stdout"),
    "rados_bench_output": ("rados-bench", "rados bench", "result"),
    "elbencho_row": ("elbencho", "elbencho", "csv"),
}
ORIGINALS = "originals"
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)
_METRICS: tuple[tuple[str, str, str, str, str, bool], ...] = (
    ("operations_per_second", "iops", "IOPS", "operations_per_second", "higher", True),
    ("bytes_per_second", "throughput", "Throughput", "bytes_per_second", "higher", False),
    ("latency_mean_seconds", "latency-mean", "Mean latency", "seconds", "lower", True),
    ("latency_p50_seconds", "latency-p50", "Median latency", "seconds", "lower", False),
    ("latency_p95_seconds", "latency-p95", "95th percentile of latency", "seconds", "lower", False),
    ("latency_p99_seconds", "latency-p99", "99th percentile of latency", "seconds", "lower", True),
    ("latency_p99_9_seconds", "latency-p99-9", "99.9th percentile of latency", "seconds", "lower", False),
)
#: Reads and writes of a mix are apart: a rate and a latency of both together say little of either.
_OF_A_MIX = tuple(
    (f"{which}_{metric}", f"{which}-{name}", f"{title} of {which}s", unit, better, False)
    for metric, name, title, unit, better, _ in _METRICS
    for which in ("read", "write")
)
#: Drawn over time if the outputs say what happened in between: in bins of a second.
_OVER_TIME: tuple[tuple[str, str, str, str, str], ...] = (
    ("operations_per_second", "iops-over-time", "IOPS over time", "operations_per_second", "higher"),
    ("latency_seconds", "latency-over-time", "Latency over time", "seconds", "lower"),
)


def experiment_name(tool: str) -> str:
    """Return the name of the experiment of a tool's results. No configured experiment begins like this."""
    return f"{IMPORTED}-{_TOOLS[tool][0]}"


def design_of(arranged: Arranged, variants: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of `design-<digest>.json`: everything that deriving needs. `variants` are labels by name."""
    present = {cell.variant for cell in arranged.cells}
    compared = [name for name in variants if name in present]
    x_label, x_unit = AXES.get(arranged.x_factor, (None, None))
    return {
        "schema_version": 1,
        "origin": IMPORTED,
        "experiment": experiment_name(arranged.tool),
        "title": f"Imported results of {_TOOLS[arranged.tool][1]}",
        "scale": IMPORTED,
        "protocol": IMPORTED,
        "tool": arranged.tool,
        "sources": [],
        "x_factor": arranged.x_factor,
        "x_label": x_label,
        "x_unit": x_unit,
        "workload_factors": list(arranged.workload_factors),
        "factors": {name: list(levels) for name, levels in arranged.factors.items()},
        "options": _public(arranged.shared),
        "variants": [
            {
                "name": name,
                "label": variants[name],
                "reference": len(compared) > 1 and index == 0,
                "control": False,
                **({"options": own} if (own := _public(arranged.of_variant.get(name, {}))) else {}),
            }
            for index, name in enumerate(compared)
        ],
        "metrics": _metrics(arranged),
        **({"notes": notes} if (notes := notes_of(arranged)) else {}),
        "ratio_direction": "variant/reference",
        "cells": {
            cell.cell_id: {"point": cell.point, "variant": cell.variant, "levels": dict(cell.levels)}
            for cell in arranged.cells
        },
        "levels": {name: dict(texts) for name, texts in arranged.words.items()},
        "skipped": [],
    }


def _public(options: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in options.items() if name not in _NAMES}


def _metrics(arranged: Arranged) -> list[dict[str, Any]]:
    """Return the metrics to draw. A chart of which no run states anything is left out."""
    stated = {name for cell in arranged.cells for name in cell.run.metrics}
    over_time = {name for cell in arranged.cells for name in cell.run.series}
    keys = ("metric", "name", "title", "unit", "better")
    metrics = [
        {**dict(zip(keys, row[:5], strict=True)), "ratio": row[5]}
        for row in (*_METRICS, *_OF_A_MIX)
        if row[0] in stated
    ]
    metrics += [
        {**dict(zip(keys, row, strict=True)), "series": True, "bin_seconds": 1, "x_label": "Time"}
        for row in _OVER_TIME
        if row[0] in over_time
    ]
    swept = [row[:5] for row in _METRICS if row[0] in stated]
    pairs = _pairs(arranged)
    told = [rows for _, rows in pairs]
    return metrics + [
        _by_two(row, along, rows, again=rows in told[:place])
        for place, (along, rows) in enumerate(pairs)
        for row in swept
    ]


def _by_two(row: Sequence[str], along: str, rows: str, *, again: bool) -> dict[str, Any]:
    """Return a metric that is drawn along one factor, with a series for each level of another.

    `again`: another factor has the same series. Then the name says along which one it is drawn, since a level of both
    may be the same number.
    """
    column, name, title, unit, better = row
    (x_label, x_unit), (row_label, row_unit) = AXES[along], AXES[rows]
    words = row_label.removeprefix("I/O ").lower() + (f" along {x_label.lower()}" if again else "")
    return {
        "metric": column, "name": f"{name}-by-{words.replace(' ', '-')}", "title": f"{title} by {words}", "unit": unit,
        "better": better, "x_factor": along, "x_label": x_label, "x_unit": x_unit,
        "rows": rows, "row_label": row_label, "row_unit": row_unit,
    }  # fmt: skip


def _pairs(arranged: Arranged) -> list[tuple[str, str]]:
    """Return along which factors a sweep is drawn besides the charts' axis, each with the one whose levels are series.

    What each job had in flight is drawn with a series for each number of jobs; any other factor with a series for each
    level of the charts' axis.
    """
    numbers = {name for name, levels in arranged.factors.items() if len(levels) > 1 and set(map(type, levels)) == {int}}
    swept = [name for name in AXES if name in numbers]
    load = [name for name in swept if name in LOADS][:2]
    pairs = [(load[0], load[1])] if len(load) == 2 else []
    told = {arranged.x_factor, *(load if pairs else ())}
    return [*pairs, *((name, str(arranged.x_factor)) for name in swept if name not in told)]


def options_by_label(arranged: Arranged, variants: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the options of each variant that has runs that are no factor and not the same in all, by its label."""
    present = {cell.variant for cell in arranged.cells}
    return {label: _public(arranged.of_variant.get(name, {})) for name, label in variants.items() if name in present}


def notes_of(arranged: Arranged) -> list[dict[str, Any]]:
    """Return what a person should know about runs, and at which points: each note once."""
    by_note: dict[str, Counter[str]] = {}
    for cell in arranged.cells:
        for note in cell.run.notes:
            by_note.setdefault(note, Counter())[cell.point] += 1
    return [{"note": note, "runs": points.total(), "points": list(points)} for note, points in by_note.items()]


def plan_of(block: int, cells: Iterable[ImportedCell]) -> str:
    """Return the digest that names a block's pack; it covers the block's number, its cells and the originals."""
    of_cells = [[cell.cell_id, [[part.sha256, list(part.ranges)] for part in cell.run.parts]] for cell in cells]
    return digest_of({"block": block, "origin": IMPORTED, "cells": sorted(of_cells)})


def _head(cell: ImportedCell) -> dict[str, Any]:
    experiment = experiment_name(cell.run.tool)
    return {"schema_version": 1, "origin": IMPORTED, "experiment": experiment, "block": cell.block}


def _sidecar(cell: ImportedCell, label: str, files: Mapping[str, str], folders: Sequence[str]) -> dict[str, Any]:
    """Return a cell's sidecar. `files`: names by role; `folders`: the names of the folders that were given."""
    run = cell.run
    return {
        **_head(cell),
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
                **({} if part.whole else {"byte_ranges": [list(span) for span in part.ranges]}),
                **({} if part.encoding == "utf-8" else {"encoding": part.encoding}),
            }
            for part in run.parts
        ],
        "valid": True,
        "invalid": None,
        **({"job": run.job} if run.job else {}),
        **({"job_in_a_row": run.place} if run.place else {}),
        **({"notes": list(run.notes)} if run.notes else {}),
        **({"ended_at": run.reported_at} if run.reported_at else {}),
        **({"versions": {"tool": run.version}} if run.version else {}),
    }


def _seal(cells: Sequence[ImportedCell]) -> dict[str, Any]:
    """Return `attempt.json` of the variants of a point that make one repetition."""
    first = cells[0]
    return {
        **_head(first),
        "point": first.point,
        "attempt": 1,
        "order": [cell.variant for cell in cells],
        "cells": {cell.variant: cell.cell_id for cell in cells},
        "status": "complete",
        "valid": True,
        "invalid": [],
        **_latest(cells),
    }


def _receipt(cells: Sequence[ImportedCell], design: str, plan: str) -> dict[str, Any]:
    """Return the receipt of a block: that it was imported, and by which design and plan."""
    return {
        **_head(cells[0]),
        "design": design,
        "plan": plan,
        "sets": sorted({cell.point for cell in cells}),
        "skipped": [],
        **_latest(cells),
    }


def _latest(cells: Iterable[ImportedCell]) -> dict[str, str]:
    moments = [cell.run.reported_at for cell in cells if cell.run.reported_at]
    return {"ended_at": max(moments)} if moments else {}


#: A document, or the place of a part of an original.
Content = bytes | TextPart


def members_of(
    cells: Sequence[ImportedCell], design: str, plan: str, variants: Mapping[str, str], packed: set[str]
) -> dict[str, Content]:
    """Return the members of a block's pack: documents, and parts of the originals. `packed` gets whole originals."""
    folders = [*variants.values()]
    members: dict[str, Content] = {}
    for point, several in groupby(cells, key=lambda cell: cell.point):
        of_set = sorted(several, key=lambda cell: cell.run.folder)
        folder = f"block-{of_set[0].block:02d}/{point}/attempt-1"
        for cell in of_set:
            files = {}
            outputs = roles()
            for part in cell.run.parts:
                role = part.role or next(outputs)
                middle = part.role or role.removeprefix("output").removeprefix("-") or "1"
                name = f"{cell.variant}.{middle}.{'log' if part.role else _TOOLS[cell.run.tool][2]}"
                files[role] = name
                members[f"{folder}/{name}"] = part
                if not part.whole and part.sha256 not in packed:
                    packed.add(part.sha256)
                    members[_original(part)] = replace(part, ranges=((0, part.size),), encoding="utf-8")
            sidecar = _sidecar(cell, variants[cell.variant], files, folders)
            members[f"{folder}/{cell.variant}.json"] = pretty_json(sidecar)
        members[f"{folder}/{SEAL}"] = pretty_json(_seal(of_set))
    block = cells[0].block
    members[f"block-{block:02d}/receipt-{plan}.json"] = pretty_json(_receipt(cells, design, plan))
    return members


def _original(part: TextPart) -> str:
    """Return the path of a whole original of which a run is only a part."""
    return f"{ORIGINALS}/{part.sha256[:12]}-{_NOT_PLAIN.sub('-', part.path.rpartition('/')[2])[-60:]}"


def campaign_of(data_set: str, label: str, experiments: Iterable[Arranged]) -> dict[str, Any]:
    """Return `campaign.json`: what a person should know about the whole data set."""
    versions = sorted({cell.run.version for experiment in experiments for cell in experiment.cells if cell.run.version})
    return {
        "schema_version": 1,
        "origin": IMPORTED,
        "data_set": data_set,
        "label": label,
        "limitation": "Imported, not measured by Replay: what the files do not say is not known.",
        "setup": {"tool_versions": ", ".join(versions)} if versions else {},
    }
