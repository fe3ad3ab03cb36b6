"""From the files of an attempt to rows: verified, parsed, judged. One row per cell and attempt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from replay.base.errors import EvidenceError
from replay.derive.amplification import Entity, ledger_entities
from replay.derive.bins import Binned, Wanted, binned
from replay.derive.computed import computed_metrics
from replay.derive.sampling import sampler_seconds, sampling_metrics
from replay.raw.read import SEAL, AttemptFiles, Listing, parse_json, plain, read_verified
from replay.tools import OutputError, Result, find_adapter, judge

# A variant's name is a slug without a dot: `<variant>.json` is a sidecar, `<variant>.result.json` a tool's file.
_SIDECAR = re.compile(r"[^.]+\.json", re.ASCII)


@dataclass(frozen=True)
class CellRow:
    """One cell of one attempt. `metrics` in base units; empty where the output gives none. `series`: what is drawn."""

    cell_id: str
    variant: str
    label: str
    levels: Mapping[str, Any]
    valid: bool
    invalid_reason: str
    metrics: Mapping[str, float]
    sidecar: Mapping[str, Any]
    series: Binned = field(default_factory=dict)
    #: Of OSDs, other daemons and placement groups: what the adapter says, and the ledger of daemons.
    entities: tuple[Entity, ...] = ()
    #: By sampler what it took, in seconds: see `sampler_seconds`.
    sampler_seconds: Mapping[str, float] = field(default_factory=dict)
    #: By metric of a series its value after the last sample: see `Result.after_end`.
    after_end: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class AttemptRecord:
    """One sealed attempt. `good`: complete, valid, and every output parsed."""

    block: int
    point: str
    number: int
    ended_at: str
    good: bool
    rows: tuple[CellRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def cell_ids(self) -> frozenset[str]:
        """The cells that the attempt holds."""
        return frozenset(row.cell_id for row in self.rows)


@dataclass
class Cache:
    """What a long-lived process has read: attempts by folder with their digests, and other files found unaltered."""

    attempts: dict[str, tuple[tuple[Wanted, tuple[str, ...]], AttemptRecord]] = field(default_factory=dict)
    verified: dict[str, str] = field(default_factory=dict)


def load_attempts(listing: Listing, cache: Cache, wanted: Wanted = frozenset()) -> list[AttemptRecord]:
    """Return all sealed attempts, in order of block, point and number, verifying every file that SHA256SUMS lists.

    Of series over time the rows hold those that are `wanted`.

    Raises EvidenceError naming a file that is missing, altered or malformed.
    """
    records, of_attempts = [], set()
    for files in listing.attempts:
        paths = [f"{files.directory}/{name}" for name in files.names]
        of_attempts.update(paths)
        state = (wanted, tuple(listing.sums[path] for path in paths))
        known = cache.attempts.get(files.directory)
        if known is None or known[0] != state:
            known = (state, _load(listing, files, wanted))
            cache.attempts[files.directory] = known
        records.append(known[1])
    for path, digest in listing.sums.items():
        if path not in of_attempts and cache.verified.get(path) != digest:
            read_verified(listing.raw, path, digest)
            cache.verified[path] = digest
    return records


def _load(listing: Listing, files: AttemptFiles, wanted: Wanted) -> AttemptRecord:
    contents: dict[str, bytes] = {}
    stored: dict[str, str] = {}
    for name in files.names:
        path = f"{files.directory}/{name}"
        plain_name = name.removesuffix(".gz")
        contents[plain_name] = plain(f"{listing.raw}/{path}", read_verified(listing.raw, path, listing.sums[path]))
        stored[plain_name] = f"{listing.raw}/{path}"
    seal = parse_json(stored[SEAL], contents[SEAL])
    _check_identity(seal, files, stored[SEAL])
    rows, notes = [], []
    for name in sorted(contents):
        if name == SEAL or not _SIDECAR.fullmatch(name):
            continue
        sidecar = parse_json(stored[name], contents[name])
        _check_identity(sidecar, files, stored[name])
        row, note = _row(sidecar, contents, stored, stored[name], wanted)
        rows.append(row)
        notes += [note] if note else []
    complete = seal.get("status") == "complete"
    if complete and (lost := set(seal.get("order", ())) - {row.variant for row in rows}):
        raise EvidenceError(f"no sidecar of {', '.join(sorted(lost))}", where=stored[SEAL], next_step="restore it")
    good = complete and bool(seal.get("valid")) and all(row.valid for row in rows)
    return AttemptRecord(
        files.block, files.point, files.number, str(seal.get("ended_at") or ""), good, tuple(rows), tuple(notes)
    )


def _check_identity(said: Mapping[str, Any], files: AttemptFiles, where: str) -> None:
    if (said.get("block"), said.get("point"), said.get("attempt")) != (files.block, files.point, files.number):
        raise EvidenceError("it belongs to another attempt than its folder says", where=where, next_step="restore it")


def _row(
    sidecar: Mapping[str, Any],
    contents: Mapping[str, bytes],
    stored: Mapping[str, str],
    where: str,
    wanted: Wanted,
) -> tuple[CellRow, str]:
    """Return a cell's row, and a note where output that the runner took for valid cannot stand."""
    try:
        valid, levels, facts = bool(sidecar["valid"]), sidecar["levels"], sidecar.get("facts") or {}
        reason = "" if valid else str((sidecar.get("invalid") or {}).get("reason") or "failed")
        files = sidecar["files"]
        if lost := sorted(set(files.values()) - contents.keys()):
            raise EvidenceError(
                f"it names files that are not there: {', '.join(lost)}",
                where=where,
                next_step="restore them from a copy",
            )
        outputs = {role: contents[name].decode("utf-8", errors="replace") for role, name in files.items()}
        names = {role: stored[name] for role, name in files.items()}
        result, problem, note = _parse(str(sidecar["tool"]), outputs, sidecar.get("exit_status"), levels, names)
        if valid and problem:
            valid, reason = False, problem
        else:
            note = ""
        values = {name: float(value) for name, value in facts.items() if isinstance(value, int | float)}
        measured = {**values, **result.metrics}
        costs = sampler_seconds(sidecar, outputs)
        row = CellRow(
            cell_id=sidecar["cell_id"],
            variant=sidecar["variant"],
            label=sidecar["label"],
            levels=levels,
            valid=valid,
            invalid_reason=reason,
            metrics=measured | computed_metrics(sidecar, measured) | sampling_metrics(costs, sidecar),
            sidecar=sidecar,
            series=binned(result.series, wanted) if valid and wanted else {},
            entities=(*(Entity(*one) for one in result.entities), *ledger_entities(sidecar, measured)),
            sampler_seconds=costs,
            after_end=result.after_end,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(f"not a sidecar: {error!r}", where=where, next_step="restore it from a copy") from None
    return row, note


def _parse(
    tool: str, outputs: Mapping[str, str], exit_status: int | None, levels: Mapping[str, Any], names: Mapping[str, str]
) -> tuple[Result, str, str]:
    """Return (result, reason it cannot stand or "", the error). A protocol without a tool has its facts alone."""
    adapter = find_adapter(tool)
    if adapter is None:
        return Result(), "", ""
    try:
        result = adapter.parse(outputs, exit_status, levels, names=names)
    except OutputError as error:
        return Result(), error.reason, str(error)
    verdict = judge(result, minimum_seconds=0)
    return result, *((verdict[0], f"{names.get('stdout')}: {verdict[1]}") if verdict else ("", ""))
