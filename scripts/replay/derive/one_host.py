"""A block is measured by one host: what another host measured in it is void. Pure.

Ratios compare cells of one block, because what differs from block to block cancels out. That does not hold for a block
that was begun on one host and finished on another. The host that measured last keeps the block; `measure` repeats there
what the earlier one had measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from replay.derive.cells import AttemptRecord

#: The reason of invalidity of a cell that another host measured than the rest of its block.
HOST_CHANGED = "host_changed"

#: A pseudonym and a processor: older pseudonyms did not depend on the processor.
Host = tuple[str, str]


def of_one_host(records: Sequence[AttemptRecord]) -> list[AttemptRecord]:
    """Return the attempts, with those void that another host measured than the one that measured its block last."""
    last: dict[int, tuple[str, frozenset[Host]]] = {}
    for record in records:
        if record.good and _is_of_one(hosts := hosts_of(record)):
            last[record.block] = max(last.get(record.block, ("", hosts)), (record.ended_at, hosts), key=_ended)
    return [
        record if record.block in last and hosts_of(record) == last[record.block][1] else _void(record)
        for record in records
    ]


def hosts_of(record: AttemptRecord) -> frozenset[Host]:
    """Return the hosts that an attempt's sidecars name; empty if they name none."""
    hosts = (row.sidecar.get("host") for row in record.rows)
    return frozenset((str(one.get("id")), str(one.get("cpu"))) for one in hosts if one)


def machines_by_block(records: Iterable[AttemptRecord]) -> dict[str, list[str]]:
    """Return the pseudonyms of the machines whose cells count, by block."""
    found: dict[int, set[str]] = {}
    for record in records:
        if record.good:
            found.setdefault(record.block, set()).update(name for name, _ in hosts_of(record))
    return {str(block): sorted(names) for block, names in sorted(found.items()) if names}


def _is_of_one(hosts: frozenset[Host]) -> bool:
    """Return whether at most one host measured; sidecars may not say which."""
    return len(hosts) <= 1


def _ended(pair: tuple[str, frozenset[Host]]) -> str:
    return pair[0]


def _void(record: AttemptRecord) -> AttemptRecord:
    """Return an attempt whose valid cells are void; one that was not good stays as it is."""
    if not record.good:
        return record
    rows = tuple(replace(row, valid=False, invalid_reason=HOST_CHANGED) if row.valid else row for row in record.rows)
    return replace(record, good=False, rows=rows)
