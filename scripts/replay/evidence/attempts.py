"""The attempts of an experiment: those that exist, and the block that is being written.

`seal` packs the complete block, and `recover` finishes what an earlier run left.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from replay.design.design import CellSet, Design, plan_digest
from replay.evidence import durable
from replay.evidence.data_set import design_file, parse_json, pretty_json, sealed_block
from replay.evidence.durable import Store
from replay.evidence.read import ATTEMPT, RECEIPT, SEAL, SIDECAR, Folder, OpenBlock, Pack, SealedMeanwhile, list_raw
from replay.evidence.record import host

#: The path of a pilot's note, either in its cell's folder or in a folder of its own below it.
PILOT = re.compile(r"pilot/(?P<host>[^/]+)/(?P<cell>[^/]+)/(?:round-\d+/)?round-(?P<number>\d+)\.json", re.ASCII)
_VERSIONS = "versions"
_HOST = "host"
#: A virtual machine that moved to another processor is another host; older pseudonyms do not show it.
_NAMES_A_HOST = ("id", "cpu")
Documents = Mapping[str, Mapping[str, Any]]


class History:
    """The documents in an experiment's `raw/`: attempts, receipts, pilots. Each pack is read only once.

    All methods raise EvidenceError naming a pack or file that is missing or altered, so that nothing is measured on top
    of it.
    """

    def __init__(self, raw: Path) -> None:
        self.raw = raw
        self._of_open: dict[tuple[Any, ...], Documents] = {}

    def attempts(self, block: int, point: str) -> list[tuple[int, Mapping[str, Any]]]:
        """Return (number, attempt.json) of each attempt of a set, in order."""
        return [(number, seal) for number, _, seal in _attempts(self._documents(block), point)]

    def is_measured(self, block: int, point: str, cells: Mapping[str, str]) -> bool:
        """Return whether this host, as far as sidecars tell, has a valid attempt of exactly these cells of a set.

        `cells` maps variants to cell ids.
        """
        documents, here = self._documents(block), {key: host()[key] for key in _NAMES_A_HOST}
        hosts = {path.rpartition("/")[0]: document[_HOST] for path, document in documents if _HOST in document}
        return any(
            seal["valid"] and cells.items() <= seal.get("cells", {}).items() and (hosts.get(folder) or here) == here
            for _, folder, seal in _attempts(documents, point)
        )

    def missing_sets(self, design: Design, block: int) -> list[CellSet]:
        """Return the sets of a block that this host still has to measure."""
        if sealed_block(self.raw, block, plan_digest(design, block)).exists():
            return []
        return [cell_set for cell_set in design.sets if self.lacks(block, cell_set)]

    def lacks(self, block: int, cell_set: CellSet) -> bool:
        """Return whether this host still has to measure a set: no attempt of its own is valid for exactly its cells."""
        cells = {cell.variant.name: cell.cell_id for cell in cell_set.cells}
        return not self.is_measured(block, cell_set.point, cells)

    def seals(self) -> list[Mapping[str, Any]]:
        """Return attempt.json of every attempt."""
        return [document for path, document in self._documents() if path.endswith(f"/{SEAL}")]

    def receipts(self) -> list[Mapping[str, Any]]:
        return [document for path, document in self._documents() if RECEIPT.fullmatch(path)]

    def versions(self) -> list[Mapping[str, Any]]:
        """Return the distinct `versions` of all attempts, those of an attempt's first cell."""
        versions = [document[_VERSIONS] for _, document in self._documents() if document.get(_VERSIONS)]
        return list({json.dumps(each, sort_keys=True): each for each in versions}.values())

    def pilots(self, host: str, cell: str) -> dict[int, Mapping[str, Any]]:
        """Return the notes of a cell's pilots on a machine, number to note, in order."""
        return dict(sorted((number, note) for number, of, note in self._pilots(host) if of == cell))

    def pilots_of_block(self, host: str, block: int) -> list[Mapping[str, Any]]:
        """Return the notes of a block's pilots on a machine, as they ran."""
        return sorted((note for _, _, note in self._pilots(host, block)), key=lambda note: str(note["started_at"]))

    def _pilots(self, host: str, block: int | None = None) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
        """Yield the (number, cell id, note) of each pilot on a machine, in a block or in all of them."""
        for path, note in self._documents(block):
            if (match := PILOT.fullmatch(path)) and match["host"] == host:
                yield int(match["number"]), match["cell"], note

    def _documents(self, number: int | None = None) -> list[tuple[str, Mapping[str, Any]]]:
        """Return (path, document) of everything in a block, or in all of them."""
        while self.raw.is_dir():
            with contextlib.suppress(SealedMeanwhile):
                return [
                    pair
                    for block in list_raw(self.raw).blocks
                    if number in (None, block.block)
                    for pair in (_of_pack(block) if isinstance(block, Pack) else self._of_open_block(block)).items()
                ]
        return []

    def _of_open_block(self, block: OpenBlock) -> Documents:
        """Return an open block's documents, without reading unchanged folders again."""
        documents: dict[str, Mapping[str, Any]] = {}
        for path, digests in block.listed():
            key = (block.name, path, *digests.items())
            if key not in self._of_open:
                self._of_open[key] = _documents_in(block.read(path, digests))
            documents |= self._of_open[key]
        return documents


def _attempts(documents: list[tuple[str, Mapping[str, Any]]], point: str) -> list[tuple[int, str, Mapping[str, Any]]]:
    """Return (number, folder, attempt.json) of each attempt of a set, in order."""
    attempts = []
    for path, document in documents:
        folder, _, name = path.rpartition("/")
        if name == SEAL and (match := ATTEMPT.fullmatch(folder)) and match["point"] == point:
            attempts.append((int(match["number"]), folder, document))
    return sorted(attempts, key=lambda attempt: attempt[0])


@cache
def _of_pack(pack: Pack) -> Documents:
    return {path: document for folder in pack.folders() for path, document in _documents_in(folder).items()}


def _documents_in(folder: Folder) -> Documents:
    documents = {}
    for name, content in folder.contents.items():
        path = f"{folder.path}/{name}"
        if name == SEAL or RECEIPT.fullmatch(path) or PILOT.fullmatch(path):
            documents[path] = parse_json(f"{folder.where}{name}", content)
    if ATTEMPT.fullmatch(folder.path) and (name := min(filter(SIDECAR.fullmatch, folder.contents), default="")):
        # Keep only the versions and the host, and of one cell only: sidecars are many and long.
        sidecar = parse_json(f"{folder.where}{name}", folder.contents[name])
        host = sidecar.get(_HOST)
        named = host and {key: host.get(key) for key in _NAMES_A_HOST}
        documents[f"{folder.path}/{name}"] = {_VERSIONS: sidecar.get(_VERSIONS), _HOST: named}
    return documents


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

    def lacks(self, cell_set: CellSet) -> bool:
        """Return whether this host still has to measure a set. A block that moved to another host begins anew there."""
        return self.history.lacks(self.block, cell_set)

    def next_attempt(self, point: str) -> int:
        return 1 + max((number for number, _ in self.history.attempts(self.block, point)), default=0)

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
