"""Derives one experiment: turns `evidence/` into its tables, its aggregates and its entry in the manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from replay.base.tables import LongTable, write_if_changed
from replay.derive.aggregate import charts, used_frame
from replay.derive.cells import AttemptRecord, Cache, CellRow, Designs, load_evidence
from replay.derive.chart import Chart
from replay.derive.designs import Design, combine, configured_metrics, with_added
from replay.derive.entities import entities_csv, entity_charts
from replay.derive.limits import limiters, limits
from replay.derive.one_host import machines_by_block, of_one_host
from replay.derive.part import RATIOS, REGISTERED_FILE, Derived, evidence_digest, sources_of, write_part
from replay.derive.ratios import ratios_csv
from replay.derive.registered import registered_csv
from replay.derive.runs import LINES, RUNS_FILE, runs_rows
from replay.derive.sampling import sampling_entry
from replay.derive.series import series_charts
from replay.derive.summary import control, parameters, trials_entry
from replay.derive.tidy import tidy_rows, used_attempts, used_rows
from replay.derive.upper_bounds import upper_bounds
from replay.evidence.sums import sha256
from replay.evidence.versions import ceph_versions, client_version

#: Earlier versions wrote this file. Its columns are in tidy.csv now.
_FORMER_FACTS = "facts.csv"


def derive_experiment(directory: Path, cache: Cache | None = None, *, entities: bool = False) -> Derived:
    """Verify `directory/raw`, and write the tables, `aggregate/` and `derived.json` beside it if they change.

    With `entities`, also write `entities.csv` if a tool states anything about entities. Nothing is written until every
    pack and file that SHA256SUMS lists has been found unaltered. Packs that the `cache` holds are not read again.
    Raises EvidenceError that names the file that is missing, altered or invalid.
    """
    evidence = evidence_digest(directory)  # taken first: the next run reads what is sealed from now on
    raw = directory / "raw"
    designs, loaded = load_evidence(raw, cache, _with_metrics)
    sources = {**sources_of(directory, _experiment_of(designs)), "evidence": evidence}
    records = of_one_host(loaded.attempts)
    last = max(records, key=lambda one: (one.ended_at, *one.key), default=None)
    design = combine(designs, loaded.receipts, (last.ended_at, last.cell_ids) if last else None)
    design.check(f"{raw}/design")
    chosen = used_attempts(records, design)
    used = used_rows(chosen, design)
    drawn = charts(used_frame(used, design), design) + series_charts(used, design) + entity_charts(used, design)
    # All of them are made before any is written, so that an error leaves every file as it was.
    tables = [LongTable(directory / "tidy.csv", tidy_rows(records, design, chosen))]
    if runs := {chart.name: chart.runs for chart in drawn if chart.runs}:
        tables.append(LongTable(directory / "aggregate" / RUNS_FILE, runs_rows(runs)))
    texts = {directory / RATIOS: ratios_csv(drawn, design)}
    if registered := registered_csv(loaded.receipts):
        texts |= {directory / REGISTERED_FILE: registered}
    texts |= {directory / "aggregate" / name: text for chart in drawn for name, text in chart.files.items()}
    if entities and (text := entities_csv(records)):
        texts |= {directory / "entities.csv": text}
    written = [table.path for table in tables if table.write_if_changed()]
    written += [path for path, text in texts.items() if write_if_changed(path, text)]
    outputs = {table.path: table.digest for table in tables}
    outputs |= {path: sha256(text.encode()) for path, text in texts.items()}
    former = [path for path in (directory / REGISTERED_FILE, directory / _FORMER_FACTS) if path.exists()]
    for stale in sorted({*former, *(directory / "aggregate").glob("*.csv")} - set(outputs)):
        stale.unlink()
        written.append(stale)
    derived = Derived(
        name=directory.name,
        entry=_entry(directory.name, design, records, used, drawn),
        facts=_facts(records),
        cells=sum(len(record.rows) for record in records),
        notes=tuple(note for record in records for note in record.notes),
        written=tuple(written),
    )
    write_part(directory, derived, sources, outputs)
    return derived


def _experiment_of(designs: Designs) -> str:
    """Return the name of the configuration from which the designs come."""
    return next(iter(designs.values())).get("experiment", "")


def _with_metrics(recorded: Designs) -> Designs:
    """Return the designs with the metrics that the configuration has gained since."""
    metrics = configured_metrics(_experiment_of(recorded))
    return {digest: with_added(one, metrics) for digest, one in recorded.items()}


def _entry(
    name: str,
    design: Design,
    records: list[AttemptRecord],
    used: list[tuple[AttemptRecord, CellRow]],
    drawn: list[Chart],
) -> dict[str, Any]:
    public = design.public
    invalid = Counter(row.invalid_reason for record in records for row in record.rows if not row.valid)
    measured = {row.cell_id for record in records for row in record.rows}
    return {
        "title": public["title"],
        "sources": public.get("sources", []),
        "scale": public["scale"],
        "protocol": public["protocol"],
        "tool": public["tool"],
        "blocks": len({record.block for record, _ in used}),
        "cells": len(design.cells),
        "cells_measured": len({row.cell_id for _, row in used}),
        "attempts": len(records),
        "invalid": dict(sorted(invalid.items())),
        "skipped": public.get("skipped", []),
        "abandoned_cells": len(measured - design.cells.keys()),
        "factors": {factor: list(levels) for factor, levels in design.factors.items()},
        "variants": [
            {"name": one["name"], "label": one["label"], "reference": bool(one.get("reference")),
             "control": bool(one.get("control"))}
            for one in design.variants
        ],
        "ratio_direction": design.ratio_direction if design.reference else None,
        "parameters": parameters(design, (row.sidecar for _, row in used)),
        "limiters": limiters(row for _, row in used),
        "limits": limits(design, used),
        "control": control(design, drawn),
        "samplers": sampling_entry((row.sampler_seconds, row.sidecar) for _, row in used),
        **({"ceilings": found} if (found := upper_bounds(design, used)) else {}),
        "raw": {"path": f"{name}/raw", "blocks": sorted({record.block for record in records})},
        "charts": {chart.name: _chart_entry(name, chart, design, used, records) for chart in drawn},
    }  # fmt: skip


def _chart_entry(
    experiment: str,
    chart: Chart,
    design: Design,
    used: list[tuple[AttemptRecord, CellRow]],
    records: list[AttemptRecord],
) -> dict[str, Any]:
    workload = dict(zip(design.workload_factors, chart.workload, strict=True))
    if chart.level is not None:
        workload[design.x_factor] = chart.level
    taken = [(record, row) for record, row in used if workload.items() <= design.cells[row.cell_id].levels.items()]
    here = [row for _, row in taken]
    found = list(limiters(here))
    return {
        "title": chart.title,
        "path": f"{experiment}/aggregate/{chart.name}.csv",
        "companions": {part: f"{experiment}/aggregate/{file}" for part, file in chart.companions.items()},
        "runs": bool(chart.runs) and (LINES if chart.runs_are_lines else True),
        "kind": chart.kind,
        "metric": chart.metric,
        **({"column": chart.column} if chart.column else {}),
        "workload": workload,
        "x": chart.x or _axis(design),
        "y": {"label": chart.y_label, "unit": chart.unit, "better": chart.better},
        "series": list(chart.series),
        **({"sparse": list(chart.sparse)} if chart.sparse else {}),
        "n": {"min": chart.n[0], "max": chart.n[1]},
        "attempts": _attempts(workload, taken, records),
        "limiter": (found[0] if len(found) == 1 else "mixed") if found else None,
        "measured_to": max((_day(row.sidecar.get("ended_at")) for row in here), default=None),
        **({"summary": trials_entry(chart)} if chart.summary else {}),
    }


def _axis(design: Design) -> dict[str, str]:
    """Return the label, unit and factor of the design's axis. `factor` is the column of tidy.csv along the axis."""
    if design.x_factor is None:
        return {"label": "Trial", "unit": "count", "factor": "block"}
    return {
        "label": design.public.get("x_label") or design.x_factor,
        "unit": design.public.get("x_unit") or "count",
        "factor": design.x_factor,
    }


def _attempts(
    workload: Mapping[str, Any], taken: list[tuple[AttemptRecord, CellRow]], records: list[AttemptRecord]
) -> dict[str, int]:
    """Return how many attempts there are at a chart's sets, how many the chart draws, and how many are invalid."""
    at = [record for record in records if any(workload.items() <= row.levels.items() for row in record.rows)]
    return {
        "all": len(at),
        "used": len({(record.block, record.point, record.number) for record, _ in taken}),
        "invalid": sum(not record.good for record in at),
    }


def _day(moment: Any) -> str:
    return str(moment or "")[:10]


def _facts(records: list[AttemptRecord]) -> dict[str, Any]:
    """Return what the manifest collects over all experiments: days, machines, commits, versions."""
    sidecars = [row.sidecar for record in records for row in record.rows]
    hosts = [host for sidecar in sidecars if isinstance(host := sidecar.get("host"), dict)]
    versions = [found for sidecar in sidecars if isinstance(found := sidecar.get("versions"), dict)]
    days = [_day(sidecar.get(key)) for sidecar in sidecars for key in ("started_at", "ended_at") if sidecar.get(key)]
    return {
        "measured_from": min(days, default=None),
        "measured_to": max(days, default=None),
        "machines": sorted({str(host.get("id")) for host in hosts}),
        "machines_by_block": machines_by_block(records),
        # Older sidecars may name several processors for one machine: its pseudonym did not depend on the processor.
        "processors": sorted({str(host["cpu"]) for host in hosts if host.get("cpu")}),
        "kernels": sorted({str(host["kernel"]) for host in hosts if host.get("kernel")}),
        "ceph_versions": sorted({version for one in versions for version in ceph_versions(one)}),
        "librbd_versions": sorted(filter(None, {client_version(one) for one in versions})),
        "git_commits": sorted({str(s["git_commit"]) for s in sidecars if s.get("git_commit")}),
        "git_dirty": any(s.get("git_dirty") for s in sidecars),
    }
