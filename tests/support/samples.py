"""Verbatim output of real tools, from tests/fixtures: files of several samples, and cells of several files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from replay.tools import Result, reader

FOLDER = Path(__file__).resolve().parents[1] / "fixtures"
HEADING = re.compile(rb"(?:\A|\n)==> (.+) <==\n")


@cache
def fixtures(name: str) -> Mapping[str, bytes]:
    """Return the files that `tests/fixtures/NAME.txt` holds, by name."""
    before, *parts = HEADING.split((FOLDER / f"{name}.txt").read_bytes())
    assert not before, f"{name}.txt begins without a heading"
    names = [heading.decode() for heading in parts[::2]]
    assert len(set(names)) == len(names), f"{name}.txt has a name twice"
    return MappingProxyType(dict(zip(names, parts[1::2], strict=True)))


def fixture_json(collection: str, name: str) -> Any:
    """Return a JSON file of a collection, parsed."""
    return json.loads(fixtures(collection)[name])


def output(name: str) -> bytes:
    """Return a sample of a tool's output, with the notes on it, by a name that begins with the tool's."""
    tools = ("fio", "iperf3", "rados-bench", "rbd-bench")
    (tool,) = (tool for tool in tools if name.startswith(f"{tool}-"))
    return fixtures(tool)[name]


def sample(name: str) -> tuple[str, int]:
    """Return (output, exit status) of a sample; its first line (`$ …`) and its last (`# rc=…`) are notes on it."""
    text = output(name).decode()
    status = re.search(r"^# rc=(\d+)", text, re.MULTILINE)
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith(("$ ", "# rc="))]
    return "".join(lines), int(status[1]) if status else 0


MIRROR = {"output": "result.json", "steps": "steps.jsonl", "counters": "counters.csv", "latency": "latency.log"}
FAILOVER = {"stdout": "steps.jsonl", "acknowledgements": "acknowledgements.csv"}


@dataclass(frozen=True)
class MeasuredCell:
    """A cell: its tool, its levels, and its files by role."""

    tool: str
    files: Mapping[str, str]
    levels: Mapping[str, Any] = field(default_factory=dict)

    def parse(self, **changed: str) -> Result:
        """Parse the cell with some of its files changed. A file's name, in errors, is its role."""
        names = {role: role for role in self.files}
        return reader(self.tool).parse({**self.files, **changed}, 0, self.levels, names=names)


def files_of(collection: str, name: str, suffixes: Mapping[str, str]) -> dict[str, str]:
    """Return the existing files of a cell by role."""
    files, names = fixtures(collection), {role: f"{name}.{suffix}" for role, suffix in suffixes.items()}
    return {role: files[file].decode() for role, file in names.items() if file in files}


def mirror_cell(tool: str, name: str, **levels: Any) -> MeasuredCell:
    """Return a cell in which images were mirrored; without more levels its writer wrote 64 KiB at random."""
    given = {"io_type": "randwrite", "io_size_bytes": 65536, **levels}
    return MeasuredCell(tool, files_of("mirroring", name, MIRROR), given)


def measured_cells() -> dict[str, MeasuredCell]:
    """Return one cell of each kind, by name."""
    return {
        "failover, planned": MeasuredCell("failover", files_of("mirroring", "planned", FAILOVER), {"kind": "planned"}),
        "failover, forced": MeasuredCell("failover", files_of("mirroring", "forced", FAILOVER), {"kind": "forced"}),
        "lag, journal": mirror_cell("mirror-lag", "lag-journal", mode="journal"),
        "lag, snapshot": mirror_cell("mirror-lag", "lag-snapshot", mode="snapshot"),
        "replay, journal": mirror_cell("mirror-replay", "replay-journal", mode="journal", images=1),
        "replay, snapshot": mirror_cell("mirror-replay", "replay-snapshot", mode="snapshot", images=1),
        "interval": mirror_cell(
            "snapshot-interval", "interval-every-3-seconds", io_size_bytes=4096, snapshot_interval_seconds=3
        ),
    }
