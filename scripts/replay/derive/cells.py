"""From evidence to rows: verifies, parses and judges the files of each attempt, and makes a row for each of its cells.

A block is measured by one host. Ratios compare cells of one block, because what differs from block to block cancels
out; that does not hold for a block that was begun on one host and finished on another. The host that measured last
keeps the block, and what another one measured in it is invalid; `measure` repeats it there.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from replay.base.errors import EvidenceError
from replay.derive.computed import (
    Entity,
    computed_metrics,
    latency_entities,
    ledger_entities,
    of_whole_run,
    sampler_seconds,
    sampling_metrics,
)
from replay.derive.facts import Value, facts_of
from replay.evidence.data_set import parse_json
from replay.evidence.read import ATTEMPT, RECEIPT, SEAL, SIDECAR, Folder, OpenBlock, Pack, SealedMeanwhile, list_raw
from replay.evidence.record import UNKNOWN, Bottleneck, bottleneck_of
from replay.tools import OutputError, Result, find_reader, judge

Designs = dict[str, dict[str, Any]]
#: (metric, width of its bins in seconds) for each metric of a design with `series: true`.
Wanted = frozenset[tuple[str, float]]
#: For each (metric, width), the mean of the samples in each bin, by the bin's number.
Binned = Mapping[tuple[str, float], Mapping[int, float]]
#: A pseudonym and a processor: older pseudonyms did not depend on the processor.
Host = tuple[str, str]

#: The reason of invalidity of a cell that another host measured than the rest of its block.
HOST_CHANGED = "host_changed"
#: A sample within this share of a bin below an edge counts as on it: 0.3 / 0.1 is a little less than 3 in binary.
_EDGE = 1e-9


@dataclass(frozen=True, slots=True)
class CellRow:
    """One cell of one attempt.

    `metrics` are in base units, and empty if the output states none. `series` holds only what charts draw. `sidecar`
    lacks its samples, which are most of it: what they say is in the other fields.
    """

    cell_id: str
    variant: str
    label: str
    levels: Mapping[str, Any]
    valid: bool
    invalid_reason: str
    metrics: Mapping[str, float]
    sidecar: Mapping[str, Any]
    series: Binned = field(default_factory=dict)
    #: What the reader and the ledger of daemons say about OSDs, other daemons and placement groups.
    entities: tuple[Entity, ...] = ()
    #: What each sampler cost, in seconds: see `sampler_seconds`.
    sampler_seconds: Mapping[str, float] = field(default_factory=dict)
    #: The cell's facts, by the names of FACTS. A fact that the evidence does not state is left out.
    facts: Mapping[str, Value] = field(default_factory=dict)
    bottleneck: Bottleneck = UNKNOWN


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One sealed attempt. It is `good` if it is complete and valid, and all of its outputs could be parsed.

    `claims` are those that were registered when its measuring began, id to digest.
    """

    block: int
    point: str
    number: int
    ended_at: str
    good: bool
    rows: tuple[CellRow, ...]
    notes: tuple[str, ...] = ()
    claims: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[int, str, int]:
        """What distinguishes the attempt from all others of its experiment."""
        return self.block, self.point, self.number

    @property
    def cell_ids(self) -> frozenset[str]:
        return frozenset(row.cell_id for row in self.rows)


def load_evidence(
    raw: Path, prepare: Callable[[Designs], Designs]
) -> tuple[Designs, list[AttemptRecord], list[Mapping[str, Any]]]:
    """Verify and read the evidence of an experiment; return its prepared designs, its attempts and its receipts.

    `prepare` is applied to the recorded designs. Rows hold only the series that the prepared designs draw. Attempts
    that are not sealed yet are left out, and the others are sorted by block, point and number.
    Raises EvidenceError that names the pack, member or file that is missing, altered, malformed or not listed.
    """
    while True:
        with contextlib.suppress(SealedMeanwhile):
            listing = list_raw(raw)
            recorded = listing.designs()
            if not recorded:
                raise EvidenceError("no design-<digest>.json", where=raw, next_step="measure the experiment again")
            designs = prepare(recorded)
            return designs, *_load_blocks(listing.blocks, wanted_series(designs.values()))


def _load_blocks(
    blocks: Iterable[Pack | OpenBlock], wanted: Wanted
) -> tuple[list[AttemptRecord], list[Mapping[str, Any]]]:
    attempts, receipts = [], []
    for block in blocks:
        for folder in block.folders():
            if ATTEMPT.fullmatch(folder.path):
                attempts.append(_load(folder, wanted))
            for name, content in folder.contents.items():
                if RECEIPT.fullmatch(f"{folder.path}/{name}"):
                    receipts.append(parse_json(f"{folder.where}{name}", content))
    attempts.sort(key=lambda record: record.key)
    for record, following in pairwise(attempts):
        if record.key == following.key:
            raise EvidenceError(
                "two packs hold this attempt",
                where=f"block {record.block}, {record.point}, attempt {record.number}",
                next_step="restore the packs from git or from a copy",
            )
    return attempts, receipts


def _load(folder: Folder, wanted: Wanted) -> AttemptRecord:
    if SEAL not in folder.contents:
        raise EvidenceError(f"there is no {SEAL}", where=folder.where, next_step="restore it from a copy")
    match = ATTEMPT.fullmatch(folder.path)
    identity = int(match["block"]), match["point"], int(match["number"])
    seal = _document(folder, SEAL, identity)
    rows, notes = [], []
    for name in sorted(filter(SIDECAR.fullmatch, folder.contents)):
        row, note = _row(_document(folder, name, identity), folder, f"{folder.where}{name}", wanted)
        rows.append(row)
        notes += [note] if note else []
    complete = seal.get("status") == "complete"
    if complete and (lost := set(seal.get("order", ())) - {row.variant for row in rows}):
        what = f"no sidecar of {', '.join(sorted(lost))}"
        raise EvidenceError(what, where=f"{folder.where}{SEAL}", next_step="restore it")
    good = complete and bool(seal.get("valid")) and all(row.valid for row in rows)
    claims = seal.get("claims") or {}
    return AttemptRecord(*identity, str(seal.get("ended_at") or ""), good, tuple(rows), tuple(notes), claims)


def _document(folder: Folder, name: str, identity: tuple[int, str, int]) -> dict[str, Any]:
    """Return a JSON file of an attempt. Raises EvidenceError unless it says itself that it belongs to it."""
    where = f"{folder.where}{name}"
    document = parse_json(where, folder.contents[name])
    if (document.get("block"), document.get("point"), document.get("attempt")) != identity:
        raise EvidenceError("it belongs to another attempt than its folder says", where=where, next_step="restore it")
    return document


def _row(sidecar: Mapping[str, Any], folder: Folder, where: str, wanted: Wanted) -> tuple[CellRow, str]:
    """Return a cell's row, and a note if the runner accepted output that cannot be used."""
    try:
        valid, levels, facts = bool(sidecar["valid"]), sidecar["levels"], sidecar.get("facts") or {}
        reason = "" if valid else str((sidecar.get("invalid") or {}).get("reason") or "failed")
        files = sidecar["files"]
        if lost := sorted(set(files.values()) - folder.contents.keys()):
            raise EvidenceError(
                f"this sidecar names files that are missing: {', '.join(lost)}",
                where=where,
                next_step="restore them from a copy",
            )
        outputs = {role: folder.contents[name].decode("utf-8", errors="replace") for role, name in files.items()}
        names = {role: f"{folder.where}{name}" for role, name in files.items()}
        result, problem, note = _parse(str(sidecar["tool"]), outputs, sidecar.get("exit_status"), levels, names)
        if valid and problem:
            valid, reason = False, problem
        else:
            note = ""
        values = {name: float(value) for name, value in facts.items() if isinstance(value, int | float)}
        measured = {**values, **result.metrics}
        measured |= computed_metrics(sidecar, measured)
        counted = {**measured, **of_whole_run(measured)}
        costs, bottleneck = sampler_seconds(sidecar, outputs), bottleneck_of(sidecar)
        row = CellRow(
            cell_id=sidecar["cell_id"],
            variant=sidecar["variant"],
            label=sidecar["label"],
            levels=levels,
            valid=valid,
            invalid_reason=reason,
            metrics=measured | sampling_metrics(costs, sidecar),
            sidecar={key: value for key, value in sidecar.items() if key != "samples"},
            series=binned(result.series, wanted) if valid else {},
            entities=(
                *(Entity(*entity) for entity in result.entities),
                *ledger_entities(sidecar, counted),
                *latency_entities(sidecar),
            ),
            sampler_seconds=costs,
            facts=facts_of(sidecar, outputs, measured, bottleneck) if valid else {},
            bottleneck=bottleneck,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(f"not a sidecar: {error!r}", where=where, next_step="restore it from a copy") from None
    return row, note


def _parse(
    tool: str, outputs: Mapping[str, str], exit_status: int | None, levels: Mapping[str, Any], names: Mapping[str, str]
) -> tuple[Result, str, str]:
    """Return the result, the reason why it cannot be used (or ""), and the error in words (or "").

    A tool without a reader has no output to parse: its metrics are the facts of its sidecars.
    """
    reader = find_reader(tool)
    if reader is None:
        return Result(), "", ""
    try:
        result = reader.parse(outputs, exit_status, levels, names=names)
    except OutputError as error:
        return Result(), error.reason, str(error)
    verdict = judge(result, minimum_seconds=0)
    return result, *((verdict[0], f"{names.get('stdout')}: {verdict[1]}") if verdict else ("", ""))


# Samples over time, in bins, so that memory grows with the bins and not with the samples that tools logged ------------


def wanted_series(designs: Iterable[Mapping[str, Any]]) -> Wanted:
    """Return which series these designs (as evidence holds them) draw, with the widths of their bins."""
    return frozenset(
        (metric["metric"], float(metric["bin_seconds"]))
        for design in designs
        for metric in design.get("metrics", ())
        if metric.get("series")
    )


def binned(series: Iterable[tuple[float, str, float]], wanted: Wanted) -> dict[tuple[str, float], dict[int, float]]:
    """Return the wanted part of a series of (elapsed_seconds, metric, value), each bin the mean of its samples.

    Bin `k` holds the samples from `k` up to, but not including, `k + 1` widths. `k` may be negative if time is counted
    from an event within the cell. A bin without samples is left out. The series itself is not kept.
    """
    widths: dict[str, list[float]] = {}
    for metric, width in wanted:
        widths.setdefault(metric, []).append(width)
    sums: dict[tuple[str, float], dict[int, list[float]]] = {}
    for elapsed, metric, value in series:
        for width in widths.get(metric, ()):
            bin_number = math.floor(elapsed / width + _EDGE)
            entry = sums.setdefault((metric, width), {}).setdefault(bin_number, [0.0, 0.0])
            entry[0] += value
            entry[1] += 1
    return {key: {number: total / count for number, (total, count) in bins.items()} for key, bins in sums.items()}


def middle_seconds(bin_number: int, width: float) -> float:
    return (bin_number + 0.5) * width


# One host a block -----------------------------------------------------------------------------------------------------


def of_one_host(records: Sequence[AttemptRecord]) -> list[AttemptRecord]:
    """Return the attempts, with those invalid that another host measured than the one that measured its block last."""
    last: dict[int, tuple[str, frozenset[Host]]] = {}
    for record in records:
        # Sidecars may not say which host it was.
        if record.good and len(hosts := hosts_of(record)) <= 1:
            latest = last.get(record.block, ("", hosts))
            last[record.block] = max(latest, (record.ended_at, hosts), key=lambda ended: ended[0])
    return [
        record if record.block in last and hosts_of(record) == last[record.block][1] else _invalid(record)
        for record in records
    ]


def host_of(sidecar: Mapping[str, Any]) -> str:
    """Return the pseudonym of the host that measured a cell, else its processor and kernel; "" if neither is known."""
    host = sidecar.get("host") or {}
    return str(host.get("id") or ", ".join(str(host[key]) for key in ("cpu", "kernel") if host.get(key)))


def hosts_of(record: AttemptRecord) -> frozenset[Host]:
    """Return the hosts that an attempt's sidecars name; empty if they name none."""
    sidecars = (row.sidecar for row in record.rows)
    return frozenset((host_of(sidecar), str(sidecar["host"].get("cpu"))) for sidecar in sidecars if sidecar.get("host"))


def machines_by_block(records: Iterable[AttemptRecord]) -> dict[str, list[str]]:
    """Return the hosts whose cells count, by block."""
    machines: dict[int, set[str]] = {}
    for record in records:
        if record.good:
            machines.setdefault(record.block, set()).update(name for name, _ in hosts_of(record))
    return {str(block): sorted(names) for block, names in sorted(machines.items()) if names}


def _invalid(record: AttemptRecord) -> AttemptRecord:
    """Return an attempt whose valid cells are invalid; one that was not good stays as it is."""
    if not record.good:
        return record
    rows = tuple(replace(row, valid=False, invalid_reason=HOST_CHANGED) if row.valid else row for row in record.rows)
    return replace(record, good=False, rows=rows)
