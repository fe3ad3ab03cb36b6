"""Derives one experiment: turns its evidence into tables, aggregates and its entry in the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from replay.base.errors import ReplayError
from replay.base.paths import JUDGING, config_directory, program_digest
from replay.base.tables import csv_text, level_text, write_if_changed
from replay.derive.aggregates import by_entity, by_two_factors, of_numbers, over_time
from replay.derive.cells import AttemptRecord, CellRow, Designs, host_of, load_evidence, of_one_host
from replay.derive.designs import Aggregate, CombinedDesign, combine, text_rows
from replay.derive.entry import entry, provenance
from replay.derive.facts import FACTS
from replay.derive.part import (
    KEYS,
    LONG_HEADER,
    RATIOS,
    REGISTERED_FILE,
    RUNS_FILE,
    RUNS_HEADER,
    Derived,
    write_part,
)
from replay.design.configuration import load_experiment
from replay.design.design import digest_of
from replay.evidence.durable import locked, sha256

ENTITIES_FILE = "entities.csv"


def derive_experiment(directory: Path) -> Derived:
    """Verify `directory/raw`, and write the tables, `aggregate/` and `experiment.json` beside it if they change.

    Nothing is written until every pack and file that SHA256SUMS lists has been found unaltered.
    Raises EvidenceError that names the file that is missing, altered or invalid.
    """
    raw = directory / "raw"
    designs, attempts, receipts = load_evidence(raw, _with_metrics)
    records = of_one_host(attempts)
    measured = (record for record in records if record.rows)
    last = max(measured, key=lambda record: (record.ended_at, *record.key), default=None)
    design = combine(designs, receipts, (last.ended_at, last.cell_ids) if last else None)
    design.check(f"{raw}/design")
    chosen = used_attempts(records, design).values()
    used = [(record, row) for record in chosen for row in record.rows if row.cell_id in design.cells]
    tidy = tidy_frame(records, design, used)
    drawn = [
        *of_numbers(tidy, design), *over_time(used, design), *by_entity(used, design), *by_two_factors(tidy, design),
    ]  # fmt: skip
    # All of them are made before any is written, so that an error leaves every file as it was.
    texts = {
        "tidy.csv": csv_text([[*tidy.columns], *text_rows(tidy, tidy.columns)]),
        RATIOS: ratios_csv(drawn),
        REGISTERED_FILE: registered_csv(record.claims for record in records if record.rows),
        f"aggregate/{RUNS_FILE}": runs_csv(drawn),
        **{f"aggregate/{name}": text for aggregate in drawn for name, text in aggregate.files().items()},
    }
    outputs = {name: sha256(text.encode()) for name, text in texts.items() if text}
    described = entry(directory.name, design, records, used, tidy, drawn)
    texts = {directory / name: text for name, text in texts.items() if text}
    with locked(directory.parent):
        derived = Derived(
            name=directory.name,
            entry=described,
            provenance=provenance(records),
            cells=len(tidy),
            notes=tuple(note for record in records for note in record.notes),
            outputs=outputs,
            program=program_digest(*JUDGING),
            written=tuple(path for path, text in texts.items() if write_if_changed(path, text))
            + _removed(directory, texts),
        )
        write_part(directory, derived)
    return derived


def write_entities(directory: Path) -> None:
    """Verify `directory/raw`, and write `entities.csv` beside it if a tool states anything about entities.

    It writes no other table: verdicts and manifest would not be made again. Raises EvidenceError like
    `derive_experiment`.
    """
    _, attempts, _ = load_evidence(directory / "raw", lambda recorded: recorded)
    if text := entities_csv(of_one_host(attempts)):
        with locked(directory.parent):
            write_if_changed(directory / ENTITIES_FILE, text)


def derive_experiments(directories: Iterable[Path]) -> Iterator[Derived]:
    """Derive one experiment after another, and yield each result.

    Raises the first ReplayError at the end: intact experiments are derived anyway.
    """
    failed = []
    for directory in directories:
        try:
            yield derive_experiment(directory)
        except ReplayError as error:
            failed.append(error)
    if failed:
        raise failed[0]


def _with_metrics(recorded: Designs) -> Designs:
    """Return the designs with the metrics that are configured today, or with their own if the experiment is not."""
    metrics = configured_metrics(next(iter(recorded.values())).get("experiment", ""))
    return {digest: {**design, "metrics": metrics} for digest, design in recorded.items()} if metrics else recorded


def configured_metrics(experiment: str) -> list[Mapping[str, Any]]:
    """Return the metrics of `config/experiments/<experiment>.yaml`; empty if there is no such file.

    Raises ConfigurationError if the file is invalid, so that a mistake in it cannot remove charts unnoticed.
    """
    if not (config_directory() / "experiments" / f"{experiment}.yaml").is_file():
        return []
    return load_experiment(experiment)["metrics"]


def _removed(directory: Path, texts: dict[Path, str]) -> tuple[Path, ...]:
    """Remove what an earlier derivation wrote and this one does not; return these files."""
    stale = sorted({*directory.glob(REGISTERED_FILE), *(directory / "aggregate").glob("*.csv")} - texts.keys())
    for path in stale:
        path.unlink()
    return tuple(stale)


# The tables of an experiment: which attempts count, tidy.csv, and those beside it ------------------------------------


_FIRST_METRICS = ("operations", "bytes", "duration_seconds", "operations_per_second", "bytes_per_second")
_LAST = ("cpu_idle_fraction", "disk_busy_fraction", "limiter", "host", "registration", "started_at", "ended_at")
_RATIOS = ("chart", "compared", "x", "ratio", "low", "high", "n")
_REGISTERED = ("registration", "claim", "digest")
_ENTITIES = ("experiment", "block", "cell", "attempt", "kind", "id", "moment", "metric", "value")


def used_attempts(records: Iterable[AttemptRecord], design: CombinedDesign) -> dict[tuple[int, str], AttemptRecord]:
    """Return the attempt of each set that counts, by (block, point).

    This is the first good attempt. If a design gained cells at a point, it is the first with the most of these cells.
    """
    chosen: dict[tuple[int, str], AttemptRecord] = {}
    coverage: dict[tuple[int, str], int] = {}
    for record in records:
        holds = sum(cell_id in design.cells for cell_id in record.cell_ids)
        key = (record.block, record.point)
        if record.good and holds > coverage.get(key, 0):
            chosen[key], coverage[key] = record, holds
    return chosen


def tidy_frame(
    records: Sequence[AttemptRecord], design: CombinedDesign, used: Iterable[tuple[AttemptRecord, CellRow]]
) -> pd.DataFrame:
    """Return tidy.csv as a table: a row per cell and attempt, sorted by block, point, variant and attempt.

    `used` says which rows aggregates use, and `valid` which are valid. What is not known is NaN or empty.
    """
    counts = {id(row) for _, row in used}
    factors = [name for name in design.factors if name not in KEYS]
    # A tool may state what is already a factor, such as the number of clients, but no two columns may share a name.
    stated_metrics = {name for record in records for row in record.rows for name in row.metrics}
    metrics = [*_FIRST_METRICS, *sorted(stated_metrics - {*_FIRST_METRICS, *KEYS, *_LAST})]
    metrics = [name for name in metrics if name not in factors]
    stated = {name for record in records for row in record.rows for name in row.facts}
    facts = [name for name in FACTS if name in stated - {*factors, *metrics, *_LAST}]
    columns = [*KEYS, *factors, "used", "valid", "invalid_reason", *metrics, *facts, *_LAST]
    rows = [
        {
            **row.facts,
            **row.metrics,
            **{name: row.levels.get(name) for name in factors},
            **_fields(record, row),
            "used": id(row) in counts,
        }
        for record in records
        for row in record.rows
    ]
    rows.sort(key=lambda row: (row["block"], row["point"], row["variant"], row["attempt"]))
    return pd.DataFrame(rows, columns=columns).astype({"used": bool})


def _fields(record: AttemptRecord, row: CellRow) -> dict[str, Any]:
    load = row.sidecar.get("load") or {}
    return {
        "experiment": str(row.sidecar.get("experiment", "")),
        "block": record.block,
        "cell": row.cell_id,
        "attempt": record.number,
        "point": record.point,
        "variant": row.variant,
        "label": row.label,
        "valid": row.valid,
        "invalid_reason": row.invalid_reason,
        "cpu_idle_fraction": load.get("cpu_idle_fraction"),
        "disk_busy_fraction": load.get("disk_busy_fraction"),
        "limiter": row.bottleneck.resource,
        "host": host_of(row.sidecar),
        "registration": registration_of(record.claims),
        "started_at": str(row.sidecar.get("started_at") or ""),
        "ended_at": str(row.sidecar.get("ended_at") or ""),
    }


def ratios_csv(drawn: Iterable[Aggregate]) -> str:
    """Return the text of `ratios.csv`, every paired ratio in one table; just a header if nothing is compared."""
    rows = (
        [aggregate.name, *fields]
        for aggregate in drawn
        if aggregate.is_ratio
        for fields in text_rows(aggregate.points, LONG_HEADER)
    )
    return csv_text([_RATIOS, *rows])


def runs_csv(drawn: Iterable[Aggregate]) -> str:
    """Return the text of `runs.csv`, the runs behind all charts, sorted by chart; "" if there are none."""
    rows = [
        [aggregate.name, *fields]
        for aggregate in sorted(drawn, key=lambda aggregate: aggregate.name)
        for fields in text_rows(aggregate.runs, RUNS_HEADER[1:])
    ]
    return csv_text([RUNS_HEADER, *rows]) if rows else ""


def registration_of(claims: Mapping[str, str]) -> str:
    """Return the name of what an attempt registered, a digest of it; "" if it registered nothing."""
    return digest_of(claims) if claims else ""


def registered_csv(registered: Iterable[Mapping[str, str]]) -> str:
    """Return registered.csv, the claims and digests of each different registration; "" if there is none."""
    registrations = {registration_of(claims): claims for claims in registered if claims}
    rows = sorted((name, *claim) for name, claims in registrations.items() for claim in claims.items())
    return csv_text([_REGISTERED, *rows]) if rows else ""


def entities_csv(records: Iterable[AttemptRecord]) -> str:
    """Return entities.csv, every value of every entity, daemon by daemon; "" if no output mentions entities."""
    rows = [
        (
            str(row.sidecar.get("experiment", "")),
            record.block,
            row.cell_id,
            record.number,
            entity.kind,
            entity.id,
            entity.moment,
            entity.metric,
            level_text(entity.value),
        )
        for record in records
        for row in record.rows
        for entity in row.entities
    ]
    return csv_text([_ENTITIES, *rows]) if rows else ""
