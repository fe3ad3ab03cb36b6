"""Writes to `evidence/`: adds attempts, pilots and a receipt to an open block.

`seal` then packs the complete block, and `recover` finishes what an earlier run left.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from replay.evidence import durable
from replay.evidence.data_set import design_file, pretty_json
from replay.evidence.durable import Store
from replay.evidence.history import History
from replay.evidence.pack import pack_name
from replay.evidence.read import SEAL


def record_design(raw: Path, public: Mapping[str, Any], digest: str) -> Path:
    """Record a design beside the packs, once for all blocks that are measured with it; return its path.

    Raises EvidenceError if that file exists with other content.
    """
    return Store(raw, raw).add_file(*design_file(public, digest))


class BlockWriter:
    """A block that is being measured, in `raw/block-<bb>.open/`. The first record creates that folder."""

    def __init__(self, raw: Path, block: int) -> None:
        self.raw = raw
        self.block = block
        self.folder = raw / f"block-{block:02d}.open"
        self.history = History(raw)
        self._store = Store(self.folder, raw)

    def pack(self, plan: str) -> Path:
        """Return the path of the block's pack for a plan, whether or not it exists yet."""
        return self.raw / pack_name(self.block, plan)

    def is_measured(self, point: str, cells: Mapping[str, str], host: Mapping[str, Any] | None = None) -> bool:
        """Return whether a set has a valid attempt for exactly these cells (variant to cell id), by `host` or any."""
        return self.history.is_measured(self.block, point, cells, host)

    def next_attempt(self, point: str) -> int:
        """Return the number of a set's next attempt."""
        return 1 + max((number for number, _ in self.history.attempts(self.block, point)), default=0)

    def registered(self) -> list[Mapping[str, str] | None]:
        """Return what each valid attempt of the block registered (claim to digest); None if it registered nothing."""
        return [seal.get("claims") for seal in self.history.seals() if seal["block"] == self.block and seal["valid"]]

    def begin_attempt(self, point: str, number: int) -> Attempt:
        """Begin an attempt of a set. Raises FileExistsError if the set already has an attempt of that number."""
        return Attempt(self._store, f"block-{self.block:02d}/{point}/attempt-{number}", number)

    def record_pilot(
        self, host: str, cell: str, number: int, results: Mapping[str, tuple[str, bytes]], note: Mapping[str, Any]
    ) -> Path:
        """Record a pilot's output (role to (suffix, content)) and its note, in one step; return its folder."""
        name = f"pilot/{host}/{cell}/round-{number}"
        working = self._store.begin_folder(name)
        for suffix, content in results.values():
            durable.write_synced(working / f"round-{number}.{suffix}", content)
        durable.write_synced(working / f"round-{number}.json", pretty_json(note))
        return self._store.finish_folder(name)

    def record_receipt(self, plan: str, receipt: Mapping[str, Any]) -> Path:
        """Record that the block is complete for a plan; return the receipt's path."""
        return self._store.add_file(f"block-{self.block:02d}/receipt-{plan}.json", pretty_json(receipt))


class Attempt:
    """One run of a set that is being written. Readers do not see it before it is sealed."""

    def __init__(self, store: Store, name: str, number: int) -> None:
        self.number = number
        self._store = store
        self._name = name
        self.directory = store.begin_folder(name)

    def write_cell(self, variant: str, results: Mapping[str, tuple[str, bytes]], sidecar: Mapping[str, Any]) -> None:
        """Write a cell's files (role to (suffix, content)) and then its sidecar, each synced to disk."""
        for suffix, content in results.values():
            self._write(f"{variant}.{suffix}", content)
        self._write(f"{variant}.json", pretty_json(sidecar))

    def seal(self, facts: Mapping[str, Any]) -> None:
        """Write `attempt.json`, list every file of the attempt, and make it visible to readers."""
        self._write(SEAL, pretty_json(facts))
        self.directory = self._store.finish_folder(self._name)

    def _write(self, name: str, content: bytes) -> None:
        path = self.directory / name
        durable.write_synced(durable.working_name(path), content)
        durable.working_name(path).rename(path)
