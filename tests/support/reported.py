"""A small data set with each experiment that a report is about, written as derive writes it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from replay.base.tables import csv_text, json_text

HOST = "abcd1234"


def runs_of(
    experiment: str, variant: str, blocks: Iterable[Mapping[str, Any]], *, label: str = "", **all_of_them: Any
) -> list[dict[str, Any]]:
    """Return the rows of tidy.csv of one variant: one run for each block's figures, and what all runs share."""
    return [
        {
            "experiment": experiment, "block": number, "cell": f"{variant}-{number}", "attempt": 1, "point": "p",
            "variant": variant, "label": label or variant, "used": 1, "valid": 1, "limiter": "none",
            "cpu_idle_fraction": 0.4, "disk_busy_fraction": 0.3, "host": HOST,
            "started_at": "2026-01-01T00:00:00Z", "ended_at": "2026-01-01T00:00:05Z", **all_of_them, **figures,
        }
        for number, figures in enumerate(blocks, 1)
    ]  # fmt: skip


def entry_of(protocol: str, runs: list[dict[str, Any]], factors: Mapping[str, list], **changes: Any) -> dict[str, Any]:
    """Return an experiment's entry in the manifest; the first variant is the reference."""
    labels = {row["variant"]: row["label"] for row in runs}
    limiters = [row["limiter"] for row in runs]
    return {
        "title": f"Title of {protocol}", "protocol": protocol, "scale": "talk", "factors": factors, "skipped": [],
        "variants": [
            {"name": name, "label": label, "reference": not number, "control": False}
            for number, (name, label) in enumerate(labels.items())
        ],
        "ratio_direction": "variant/reference", "parameters": {}, "invalid": {}, "control": None, "charts": {},
        "limiters": {word: limiters.count(word) for word in limiters}, "limits": {"rule": "cpu when busy"},
        "provenance": {"machines_by_block": {}, "hosts": [{"host": HOST, "cpu": "a CPU", "blocks": [1]}]}, **changes,
    }  # fmt: skip


def write_experiment(
    data_set: Path, protocol: str, runs: list[dict[str, Any]], factors: Mapping[str, list], **changes: Any
) -> dict[str, Any]:
    """Write tidy.csv of an experiment below a data set; return its entry in the manifest."""
    columns = list(dict.fromkeys(name for row in runs for name in row))
    folder = data_set / runs[0]["experiment"]
    folder.mkdir(parents=True)
    with (folder / "tidy.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(runs)
    return entry_of(protocol, runs, factors, **changes)


def write_ratios(
    data_set: Path, entry: dict[str, Any], name: str, column: str, ratios: Mapping[str, tuple[float, float, float, int]]
) -> None:
    """Add a chart of ratios at 4096 bytes to an entry, and write its files below the data set."""
    path = f"write-latency/aggregate/{name}.csv"
    entry["charts"][name] = {
        "path": path, "companions": {"spread": path.replace(".csv", ".spread.csv")}, "kind": "wide", "metric": name,
        "column": column, "workload": {"load": "offered"}, "x": {"label": "I/O size", "factor": "io_size_bytes"},
        "y": {"label": name, "unit": "ratio", "better": None},
    }  # fmt: skip
    (data_set / path).parent.mkdir(exist_ok=True)
    rows = [["I/O size", "4096"], *([label, str(found[0])] for label, found in ratios.items())]
    (data_set / path).write_text(csv_text(rows))
    spread = [["series", "x", "low", "high", "min", "max", "n"]]
    spread += [[label, "4096", str(low), str(high), "", "", str(n)] for label, (_, low, high, n) in ratios.items()]
    (data_set / path.replace(".csv", ".spread.csv")).write_text(csv_text(spread))


def write_manifest(data_set: Path, experiments: Mapping[str, Any], **changes: Any) -> None:
    """Write manifest.json, and a claims.json with one claim on each experiment."""
    manifest = {
        "schema_version": 1, "data_set": data_set.name, "label": "A pair", "site": "mine", "altered": False,
        "setup": {"ceph_version": "20.2.4", "osds": 3, "replicas": 3, "clusters": 2}, "machines": [HOST],
        "measured_from": "2026-01-01", "measured_to": "2026-01-02", "experiments": experiments, **changes,
    }  # fmt: skip
    (data_set / "manifest.json").write_text(json_text(manifest))
    claims = {
        f"claim-{name}": {
            "sentence": f"A sentence about {name}.", "experiment": name, "verdict": "held", "exploratory": False,
            "reason": "2.00 (1.50 to 2.50), n = 3: inside above 1", "over_campaigns": "in this campaign",
            "exploratory_reason": None,
        }
        for name in experiments
    }  # fmt: skip
    (data_set / "claims.json").write_text(json.dumps({"claims": claims}))
