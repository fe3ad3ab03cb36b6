"""Verifies, parses and judges the files of an attempt, and makes a row for each of its cells."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from replay.base.errors import EvidenceError
from replay.derive.bins import Binned, Wanted, binned, wanted_series
from replay.derive.computed import Entity, computed_metrics, ledger_entities, of_whole_run
from replay.derive.facts import Value, facts_of
from replay.derive.kept import compact, kept_sidecar, shared
from replay.derive.sampling import sampler_seconds, sampling_metrics
from replay.evidence.documents import parse_json, plain
from replay.evidence.read import ATTEMPT, RECEIPT, SEAL, SIDECAR, Folder, OpenBlock, Pack, SealedMeanwhile, list_raw
from replay.tools import OutputError, Result, find_adapter, judge

Designs = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CellRow:
    """One cell of one attempt.

    `metrics` are in base units, and empty if the output states none. `series` holds only what charts draw. `sidecar`
    holds the parts that later steps need: see `kept_sidecar`.
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
    #: What the adapter and the ledger of daemons say about OSDs, other daemons and placement groups.
    entities: tuple[Entity, ...] = ()
    #: What each sampler cost, in seconds: see `sampler_seconds`.
    sampler_seconds: Mapping[str, float] = field(default_factory=dict)
    #: The value of a series after its last sample, by metric: see `Result.after_end`.
    after_end: Mapping[str, float] = field(default_factory=dict)
    #: The cell's facts, by the names of `fact_vocabulary`. A fact that the evidence does not state is left out.
    facts: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One sealed attempt. It is `good` if it is complete and valid, and all of its outputs could be parsed."""

    block: int
    point: str
    number: int
    ended_at: str
    good: bool
    rows: tuple[CellRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[int, str, int]:
        """What distinguishes the attempt from all others of its experiment."""
        return self.block, self.point, self.number

    @property
    def cell_ids(self) -> frozenset[str]:
        """The cells that the attempt holds."""
        return frozenset(row.cell_id for row in self.rows)


@dataclass
class Loaded:
    """The content of an experiment's evidence: its attempts, sorted by block, point and number, and its receipts."""

    attempts: list[AttemptRecord] = field(default_factory=list)
    receipts: list[Mapping[str, Any]] = field(default_factory=list)


class Cache:
    """Keeps what a long-lived process has read. It recognises changes by the digests of packs and files."""

    def __init__(self) -> None:
        self._blocks: dict[str, tuple[Any, Loaded]] = {}
        self._attempts: dict[str, tuple[Any, AttemptRecord]] = {}

    def block(self, block: Pack | OpenBlock, wanted: Wanted) -> Loaded:
        """Return the content of a block, which is read only if it is new or has changed."""
        state, known = (wanted, block.state), self._blocks.get(block.name)
        if known is None or known[0] != state:
            known = self._blocks[block.name] = (state, _load_block(block, wanted, self))
        return known[1]

    def attempt(self, folder: Folder, wanted: Wanted) -> AttemptRecord:
        """Return the attempt in a folder. The folder of a known attempt comes without contents."""
        if folder.contents:
            self._attempts[folder.path] = (_state_of(folder.digests, wanted), _load(folder, wanted))
        return self._attempts[folder.path][1]

    def knows(self, wanted: Wanted) -> Callable[[str, Mapping[str, str]], bool]:
        """Return a function that tells by the digests of a folder's files whether they were read before."""

        def is_known(folder: str, digests: Mapping[str, str]) -> bool:
            return folder in self._attempts and self._attempts[folder][0] == _state_of(digests, wanted)

        return is_known


def _state_of(digests: Mapping[str, str], wanted: Wanted) -> tuple[Wanted, tuple[tuple[str, str], ...]]:
    return wanted, tuple(sorted(digests.items()))


def load_evidence(raw: Path, cache: Cache | None, prepare: Callable[[Designs], Designs]) -> tuple[Designs, Loaded]:
    """Verify and read the evidence of an experiment; return its prepared designs, attempts and receipts.

    `prepare` is applied to the recorded designs. Rows hold only the series that the prepared designs draw. Attempts
    that are not sealed yet are left out. What the `cache` holds is not read again. Without a cache, no digests are kept
    in memory; they would take as much as the rows.
    Raises EvidenceError that names the pack, member or file that is missing, altered, malformed or not listed.
    """
    while True:
        with contextlib.suppress(SealedMeanwhile):
            listing = list_raw(raw)
            recorded = listing.designs()
            if not recorded:
                raise EvidenceError("no design-<digest>.json", where=raw, next_step="measure the experiment again")
            designs = prepare(recorded)
            return designs, _load_blocks(listing.blocks, cache, wanted_series(designs.values()))


def _load_blocks(blocks: Iterable[Pack | OpenBlock], cache: Cache | None, wanted: Wanted) -> Loaded:
    loaded = Loaded()
    for block in blocks:
        here = _load_block(block, wanted) if cache is None else cache.block(block, wanted)
        loaded.attempts += here.attempts
        loaded.receipts += here.receipts
    loaded.attempts.sort(key=lambda one: one.key)
    for one, other in pairwise(loaded.attempts):
        if one.key == other.key:
            raise EvidenceError(
                "two packs hold this attempt",
                where=f"block {one.block}, {one.point}, attempt {one.number}",
                next_step="restore the packs from git or from a copy",
            )
    return loaded


def _load_block(block: Pack | OpenBlock, wanted: Wanted, cache: Cache | None = None) -> Loaded:
    loaded = Loaded()
    for folder in block.folders(cache and cache.knows(wanted)):
        if ATTEMPT.fullmatch(folder.path):
            loaded.attempts.append(_load(folder, wanted) if cache is None else cache.attempt(folder, wanted))
        for name, content in folder.contents.items():
            if match := RECEIPT.fullmatch(f"{folder.path}/{name}"):
                said = parse_json(f"{folder.where}{name}", content)
                loaded.receipts.append({**said, "block": block.block, "plan": match["plan"]})
    return loaded


def _load(files: Folder, wanted: Wanted) -> AttemptRecord:
    contents: dict[str, bytes] = {}
    stored: dict[str, str] = {}
    for name, content in sorted(files.contents.items()):
        plain_name = name.removesuffix(".gz")
        stored[plain_name] = f"{files.where}{name}"
        contents[plain_name] = plain(stored[plain_name], content)
    if SEAL not in contents:
        raise EvidenceError(f"there is no {SEAL}", where=files.where, next_step="restore it from a copy")
    identity = _identity(files.path)
    seal = parse_json(stored[SEAL], contents[SEAL])
    _check_identity(seal, identity, stored[SEAL])
    rows, notes = [], []
    for name in sorted(contents):
        if not SIDECAR.fullmatch(name):
            continue
        sidecar = parse_json(stored[name], contents[name])
        _check_identity(sidecar, identity, stored[name])
        row, note = _row(sidecar, contents, stored, stored[name], wanted)
        rows.append(row)
        notes += [note] if note else []
    complete = seal.get("status") == "complete"
    if complete and (lost := set(seal.get("order", ())) - {row.variant for row in rows}):
        raise EvidenceError(f"no sidecar of {', '.join(sorted(lost))}", where=stored[SEAL], next_step="restore it")
    good = complete and bool(seal.get("valid")) and all(row.valid for row in rows)
    return AttemptRecord(*identity, str(seal.get("ended_at") or ""), good, tuple(rows), tuple(notes))


def _identity(folder: str) -> tuple[int, str, int]:
    """Return the block, point and number of an attempt from the name of its folder."""
    match = ATTEMPT.fullmatch(folder)
    return int(match["block"]), match["point"], int(match["number"])


def _check_identity(said: Mapping[str, Any], identity: tuple[int, str, int], where: str) -> None:
    if (said.get("block"), said.get("point"), said.get("attempt")) != identity:
        raise EvidenceError("it belongs to another attempt than its folder says", where=where, next_step="restore it")


def _row(
    sidecar: Mapping[str, Any],
    contents: Mapping[str, bytes],
    stored: Mapping[str, str],
    where: str,
    wanted: Wanted,
) -> tuple[CellRow, str]:
    """Return a cell's row, and a note if the runner accepted output that cannot be used."""
    try:
        valid, levels, facts = bool(sidecar["valid"]), sidecar["levels"], sidecar.get("facts") or {}
        reason = "" if valid else str((sidecar.get("invalid") or {}).get("reason") or "failed")
        files = sidecar["files"]
        if lost := sorted(set(files.values()) - contents.keys()):
            raise EvidenceError(
                f"this sidecar names files that are missing: {', '.join(lost)}",
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
        measured |= computed_metrics(sidecar, measured)
        counted = {**measured, **of_whole_run(measured)}
        row = CellRow(
            cell_id=shared(sidecar["cell_id"]),
            variant=shared(sidecar["variant"]),
            label=shared(sidecar["label"]),
            levels=shared(levels),
            valid=valid,
            invalid_reason=reason,
            metrics=compact(measured | sampling_metrics(costs, sidecar)),
            sidecar=kept_sidecar(sidecar),
            series=binned(result.series, wanted) if valid and wanted else shared({}),
            entities=(*(Entity(*one) for one in result.entities), *ledger_entities(sidecar, counted)),
            sampler_seconds=compact(costs),
            after_end=compact(result.after_end),
            facts=compact(facts_of(sidecar, outputs, measured)) if valid else shared({}),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise EvidenceError(f"not a sidecar: {error!r}", where=where, next_step="restore it from a copy") from None
    return row, note


def _parse(
    tool: str, outputs: Mapping[str, str], exit_status: int | None, levels: Mapping[str, Any], names: Mapping[str, str]
) -> tuple[Result, str, str]:
    """Return the result, the reason why it cannot be used (or ""), and the error in words (or "").

    A tool without an adapter has no output to parse: its metrics are the facts of its sidecars.
    """
    adapter = find_adapter(tool)
    if adapter is None:
        return Result(), "", ""
    try:
        result = adapter.parse(outputs, exit_status, levels, names=names)
    except OutputError as error:
        return Result(), error.reason, str(error)
    verdict = judge(result, minimum_seconds=0)
    return result, *((verdict[0], f"{names.get('stdout')}: {verdict[1]}") if verdict else ("", ""))
