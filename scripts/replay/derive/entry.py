"""An experiment's entry in the manifest: what was measured and drawn, bottlenecks, control and upper bounds. Pure."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from replay.base import stats as statistics
from replay.base.tables import level_text, rounded
from replay.derive.cells import AttemptRecord, CellRow, host_of, machines_by_block
from replay.derive.computed import sampling_entry
from replay.derive.designs import Aggregate, CombinedDesign
from replay.derive.part import LINES
from replay.design.design import within
from replay.evidence.record import ceph_versions

#: Facts of sidecars that are part of the set-up. The manifest states them if the design does not.
RECORDED_FACTS = ("snapshot_interval_seconds", "replicas", "osds_per_class")
#: The rate at which a cell's writes arrived, whatever became of them.
OFFERED = "offered_operations_per_second"
#: The name of the workload if an experiment has only one.
EVERY_WORKLOAD = "all"
#: Units that are not part of a key, because the chart says what they measure.
_UNITLESS = {"ratio", "count"}


def entry(
    name: str,
    design: CombinedDesign,
    records: Sequence[AttemptRecord],
    used: Sequence[tuple[AttemptRecord, CellRow]],
    tidy: pd.DataFrame,
    drawn: Sequence[Aggregate],
) -> dict[str, Any]:
    """Return the entry. `tidy` has a row per cell and attempt, and `used` those that aggregates use."""
    public, counted = design.public, tidy[tidy["used"]]
    bounds = upper_bounds(design, counted)
    return {
        "title": public["title"],
        "sources": public.get("sources", []),
        **{key: public[key] for key in ("scale", "protocol", "tool")},
        "blocks": counted["block"].nunique(),
        "cells": len(design.cells),
        "cells_measured": counted["cell"].nunique(),
        "attempts": len(records),
        "invalid": _counts(tidy.loc[~tidy["valid"], "invalid_reason"]),
        "skipped": public.get("skipped", []),
        "abandoned_cells": len({*tidy["cell"]} - design.cells.keys()),
        "factors": {factor: list(levels) for factor, levels in design.factors.items()},
        "variants": [
            {"name": variant["name"], "label": variant["label"], "reference": bool(variant.get("reference")),
             "control": bool(variant.get("control"))}
            for variant in design.variants
        ],
        "ratio_direction": design.ratio_direction if design.reference else None,
        "parameters": parameters(design, (row.sidecar for _, row in used)),
        **({"offered": offers} if (offers := offered(counted)) else {}),
        "limiters": _counts(counted["limiter"]),
        "limits": limits(design, counted, [row for _, row in used]),
        "control": control(design, drawn),
        "samplers": sampling_entry((row.sampler_seconds, row.sidecar) for _, row in used),
        **({"ceilings": bounds} if bounds else {}),
        "raw": {"path": f"{name}/raw", "blocks": sorted({record.block for record in records})},
        "charts": {
            aggregate.name: _chart(f"{name}/aggregate", aggregate, design, counted, records) for aggregate in drawn
        },
    }  # fmt: skip


def provenance(records: Sequence[AttemptRecord]) -> dict[str, Any]:
    """Return what the manifest also collects over all experiments: days, machines, commits, versions.

    They are those of the attempts that count: a block that was measured again is not said to be from both hosts.
    """
    records = [record for record in records if record.good] or records
    sidecars = [row.sidecar for record in records for row in record.rows]
    hosts = {host_of(sidecar): host for sidecar in sidecars if isinstance(host := sidecar.get("host"), dict)}
    blocks = machines_by_block(records)
    versions = [known for sidecar in sidecars if isinstance(known := sidecar.get("versions"), dict)]
    days = [_day(sidecar[key]) for sidecar in sidecars for key in ("started_at", "ended_at") if sidecar.get(key)]
    return {
        "measured_from": min(days, default=None),
        "measured_to": max(days, default=None),
        "machines": sorted(hosts),
        "machines_by_block": blocks,
        "hosts": [
            {
                "host": name,
                "cpu": host.get("cpu"),
                "kernel": host.get("kernel"),
                "blocks": [int(block) for block, names in blocks.items() if name in names],
            }
            for name, host in sorted(hosts.items())
        ],
        # Older sidecars may name several processors for one machine: its pseudonym did not depend on the processor.
        "processors": _named(sidecars, "cpu"),
        "kernels": _named(sidecars, "kernel"),
        "ceph_versions": sorted({version for known in versions for version in ceph_versions(known)}),
        "librbd_versions": sorted(filter(None, {known.get("librbd") for known in versions})),
        "git_commits": sorted({str(sidecar["git_commit"]) for sidecar in sidecars if sidecar.get("git_commit")}),
        "git_dirty": any(sidecar.get("git_dirty") for sidecar in sidecars),
    }


def _named(sidecars: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    """Return what the sidecars name as their host's processor or kernel."""
    return sorted({str(value) for sidecar in sidecars if (value := (sidecar.get("host") or {}).get(key))})


def _chart(
    folder: str,
    aggregate: Aggregate,
    design: CombinedDesign,
    counted: pd.DataFrame,
    records: Sequence[AttemptRecord],
) -> dict[str, Any]:
    factors = design.workload_factors if aggregate.factors is None else aggregate.factors
    workload = dict(zip(factors, aggregate.workload, strict=True))
    if aggregate.level is not None:
        workload[design.x_factor] = aggregate.level
    for factor, level in workload.items():
        counted = counted[counted[factor] == level]
    at = [record for record in records if any(workload.items() <= row.levels.items() for row in record.rows)]
    limiters, hosts = counted["limiter"].unique(), sorted({*counted["host"]})
    spread, runs = aggregate.spread_file, not aggregate.runs.empty
    return {
        "title": aggregate.title,
        "path": f"{folder}/{aggregate.name}.csv",
        "companions": {"spread": f"{folder}/{spread}"} if spread else {},
        "runs": LINES if runs and aggregate.runs_are_lines else runs,
        "kind": "long" if aggregate.wide is None else "wide",
        "metric": aggregate.metric,
        **({"column": aggregate.column} if aggregate.column else {}),
        "workload": workload,
        "x": aggregate.x or _axis(design),
        "y": {"label": aggregate.y_label, "unit": aggregate.unit, "better": aggregate.better},
        "series": list(aggregate.series),
        **({"rows": aggregate.rows} if aggregate.rows else {}),
        **({"sparse": list(aggregate.sparse)} if aggregate.sparse else {}),
        "n": {"min": aggregate.n[0], "max": aggregate.n[1]},
        **({"zero_pairs": aggregate.zero_pairs} if aggregate.zero_pairs else {}),
        "attempts": {
            "all": len(at),
            "used": len(counted[["block", "point", "attempt"]].drop_duplicates()),
            "invalid": sum(not record.good for record in at),
        },
        "limiter": None if counted.empty else limiters[0] if len(limiters) == 1 else "mixed",
        **({"hosts": hosts} if len(hosts) > 1 else {}),
        "measured_to": None if counted.empty else _day(counted["ended_at"].max()),
        **(
            {"summary": _trials(aggregate, design)}
            if design.kind == "trials" and aggregate.column and not aggregate.points.empty
            else {}
        ),
    }


def _axis(design: CombinedDesign) -> dict[str, str]:
    """Return the label, unit and factor of the design's axis. `factor` is the column of tidy.csv along the axis."""
    if design.x_factor is None:
        return {"label": "Trial", "unit": "count", "factor": "block"}
    return {
        "label": design.public.get("x_label") or design.x_factor,
        "unit": design.public.get("x_unit") or "count",
        "factor": design.x_factor,
    }


def _trials(aggregate: Aggregate, design: CombinedDesign) -> dict[str, dict[str, Any]]:
    """Return median, smallest value, largest value and n of each variant's trials. Keys end with the chart's unit.

    A trial of which only a lower bound is known lies above all others; a figure that it decides is left out.
    """
    unit = "" if aggregate.unit in _UNITLESS else f"_{aggregate.unit}"
    names = [*design.labels]
    summary = {}
    for number, values in aggregate.points.groupby("variant")["y"]:
        known = values.fillna(math.inf)
        figures = {"median": known.median(), "min": known.min(), "max": known.max()}
        summary[names[number]] = {
            **{f"{name}{unit}": rounded(value) for name, value in figures.items() if math.isfinite(value)},
            "n": len(values),
        }
    return summary


def parameters(design: CombinedDesign, sidecars: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the measurement's parameters were, as they were recorded, never from today's configuration.

    These are the numbers of the recorded design itself, its options, the smallest and largest level of each numeric
    factor (`smallest_io_size_bytes`), the bytes a second that these ask for (`largest_write_bytes_per_second`), and the
    facts on which all sidecars that state them agree. What was not recorded is left out.
    """
    numbers = {key: value for key, value in design.public.items() if _is_number(value) and key != "schema_version"}
    numbers |= design.public.get("options", {})
    for name, levels in design.factors.items():
        if levels and all(_is_number(level) for level in levels):
            numbers |= {f"smallest_{name}": min(levels), f"largest_{name}": max(levels)}
    for end in ("smallest", "largest"):
        rate, size = (numbers.get(f"{end}_{name}") for name in ("writes_per_second", "io_size_bytes"))
        if rate and size:
            numbers[f"{end}_write_bytes_per_second"] = rate * size
    stated: dict[str, set[Any]] = {}
    for sidecar in sidecars:
        for name in RECORDED_FACTS:
            if (value := (sidecar.get("facts") or {}).get(name)) is not None:
                stated.setdefault(name, set()).add(value)
    numbers |= {name: values.pop() for name, values in stated.items() if len(values) == 1}
    return {name: numbers[name] for name in sorted(numbers)}


def offered(counted: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return the rates at which writes arrived, by their size in bytes: the median, lowest and highest of the cells."""
    if OFFERED not in counted or "io_size_bytes" not in counted:
        return {}
    figures = counted.dropna(subset=[OFFERED]).groupby("io_size_bytes")[OFFERED].agg(["median", "min", "max"])
    return {
        level_text(size): {f"{name}_operations_per_second": rounded(value) for name, value in each.items()}
        for size, each in figures.to_dict("index").items()
    }


def control(design: CombinedDesign, drawn: Iterable[Aggregate]) -> dict[str, Any] | None:
    """Return what the A/A control found: how many intervals its ratios have, and how many of these exclude 1.

    If nothing differs, about one in twenty 95 % intervals excludes 1. `geometric_mean` is that of all its ratios.
    Returns None if the experiment has no control, or if none of it is measured.
    """
    controls = [number for number, variant in enumerate(design.variants) if variant.get("control")]
    ratios = [
        point
        for aggregate in drawn
        if aggregate.is_ratio
        for point in aggregate.points[aggregate.points["variant"].isin(controls)].itertuples()
    ]
    if not ratios:
        return None
    intervals = [point for point in ratios if point.n > 1]
    excluding = sum(not point.low <= 1 <= point.high for point in intervals)
    mean = math.exp(math.fsum(math.log(point.y) for point in ratios) / len(ratios))
    return {
        "intervals": len(intervals),
        "excluding_one": excluding,
        "share": rounded(excluding / len(intervals)) if intervals else None,
        "geometric_mean": rounded(mean),
    }


def limits(design: CombinedDesign, counted: pd.DataFrame, rows: Iterable[CellRow]) -> dict[str, Any]:
    """Return `rule` and `over`, each None if cells differ, and `points`: each workload's, variant's and x's bottleneck.

    A point reads `cpu` if all of its runs agree, otherwise `cpu 4, none 2`. Without an axis, there is no level of x.
    Workloads are sorted by name, variants and levels of the axis as in the design.
    """
    bottlenecks = [row.bottleneck for row in rows]
    names, axis = [*design.labels], design.factors.get(design.x_factor or "", (None,))
    counts: dict[tuple[str, int, int], Counter[str]] = defaultdict(Counter)
    for each in counted[[*design.factors, "variant", "limiter"]].to_dict("records"):
        workload = "-".join(map(level_text, design.workload(each))) or EVERY_WORKLOAD
        counts[workload, names.index(each["variant"]), axis.index(design.x(each))][each["limiter"]] += 1
    points: dict[str, Any] = {}
    for (workload, variant, x), resources in sorted(counts.items()):
        of_workload, name, words = points.setdefault(workload, {}), names[variant], _words(resources)
        if design.x_factor is None:
            of_workload[name] = words
        else:
            of_workload.setdefault(name, {})[level_text(axis[x])] = words
    return {
        "rule": _only({bottleneck.rule for bottleneck in bottlenecks}),
        "over": _only({bottleneck.over for bottleneck in bottlenecks}),
        "points": points,
    }


def upper_bounds(design: CombinedDesign, counted: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the design's upper bounds by name: the most that a baseline reached, which charts of others draw.

    A bound is the largest median of the cells at its levels, with n, unit, point, variant and limiter. `low` and `high`
    bound the 95 % interval of that cell's geometric mean, and are None for a single block. The keys of figures end with
    the unit. What was not measured is left out. Experiments and the manifest list bounds under the key `ceilings`.
    """
    bounds = {}
    for bound in design.public.get("ceilings", ()):
        metric = bound["metric"]
        cells = [name for name, cell in design.cells.items() if within(cell.levels, bound["levels"])]
        rows = counted[counted["cell"].isin(cells) & (counted[metric] > 0)] if metric in counted else counted.iloc[:0]
        if not rows.empty:
            # The id decides between equal medians, so that the same raw output always gives the same bytes.
            medians = rows.groupby("cell")[metric].median()
            best = max(medians.index, key=lambda cell: (medians[cell], cell))
            bounds[bound["name"]] = _bound(design, best, rows[rows["cell"] == best], metric)
    return bounds


def _bound(design: CombinedDesign, cell: str, rows: pd.DataFrame, metric: str) -> dict[str, Any]:
    unit = next(each["unit"] for each in design.public["metrics"] if each["metric"] == metric)
    values, limiters = rows[metric].tolist(), rows["limiter"].unique()
    interval = statistics.exponentiate(statistics.mean_with_interval([math.log(value) for value in values]))
    figures = {"median": statistics.median(values), "low": interval.low, "high": interval.high}
    return {
        "n": len(values),
        "unit": unit,
        "point": design.cells[cell].point,
        "variant": design.cells[cell].variant,
        "limiter": limiters[0] if len(limiters) == 1 else "mixed",
        **{f"{name}_{unit}": None if value is None else float(rounded(value)) for name, value in figures.items()},
    }


def _words(counts: Counter[str]) -> str:
    """Return `cpu`, or `cpu 4, none 2` with the most frequent first."""
    if len(counts) == 1:
        return next(iter(counts))
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{name} {count}" for name, count in ranked)


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _only(values: set[Any]) -> Any:
    return next(iter(values)) if len(values) == 1 else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _day(moment: Any) -> str:
    return str(moment or "")[:10]
