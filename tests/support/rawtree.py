"""Makes a whole `raw/` as measuring would, for tests: designs, open blocks, packs, SHA256SUMS. No cluster, no clock.

tree = RawTree(tmp_path / "demo" / "rbd-journaling")
tree.measure(blocks=2)              # every set of every block, with receipts, a pack each
tree.attempt(1, "write-seq-4096")   # one more attempt of a set, in an open block

With `sealed=False` blocks stay open, and `tree.path("block-01/…")` is a file that a test can alter in place.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.evidence.attempts import History
from replay.evidence.data_set import write_pack
from replay.evidence.durable import read_sums

VARIANTS = (
    {"name": "without-journal", "label": "Without journal", "reference": True, "control": False},
    {"name": "with-journal", "label": "With journal", "reference": False, "control": False},
    {"name": "control", "label": "Without journal, again", "reference": False, "control": True},
)
METRICS = (
    {"metric": "bytes_per_second", "name": "throughput", "title": "Throughput", "unit": "bytes_per_second",
     "better": "higher", "ratio": True},
    {"metric": "operations_per_second", "name": "iops", "title": "IOPS", "unit": "operations_per_second",
     "better": "higher"},
)  # fmt: skip
#: What makes an experiment one of trials: it has no axis, and its figures are its protocol's facts, not a tool's.
TRIALS = {
    "experiment": "trials", "protocol": "failover", "tool": "no-tool", "factors": {"kind": ["planned"]},
    "variants": ({"name": "journal", "label": "Journal"}, {"name": "snapshot", "label": "Snapshot"}),
    "x_factor": None, "x_label": None, "x_unit": None, "workload_factors": ["kind"],
}  # fmt: skip
HOST = {"id": "host-0", "kernel": "6.1.0", "cpu": "A CPU", "cores": 2, "memory_bytes": 2**34}
_PATTERN_WORDS = {"seq": "sequential", "rand": "random"}

Rate = Callable[[int, str, Mapping[str, Any]], float]


def digest(value: Any) -> str:
    """Return the digest of the canonical JSON of a value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:12]


def default_rate(block: int, variant: str, levels: Mapping[str, Any]) -> float:
    """Operations per second: journaling costs small writes most, and every cell has its own noise."""
    size = levels.get("io_size_bytes", 4096)
    base = 40000 / (1 + size / 16384)
    cost = 1 + 9 * math.exp(-size / 65536) if variant == "with-journal" and levels.get("io_type") == "write" else 1
    noise = random.Random(digest([block, variant, dict(levels)])).gauss(0, 0.05)
    return base / cost * math.exp(noise)


def rbd_bench_output(levels: Mapping[str, Any], rate: float, seconds: float = 2.0, old: bool = False) -> str:
    """Return what `rbd bench` prints for a run, in the form of an old or a new release."""
    size = levels["io_size_bytes"]
    operations = max(1, round(rate * seconds))
    shown = f"{rate:.2f}" if old else f"{rate:.6g}"
    per_second = f"{float(shown) * size:.2f}" if old else _rounded(float(shown) * size)
    lines = [
        f"bench  type {levels['io_type']} io_size {size} io_threads 16 bytes {operations * size} "
        f"pattern {_PATTERN_WORDS[levels['io_pattern']]}",
        "  SEC       OPS   OPS/SEC   BYTES/SEC",
    ]
    for second in range(1, math.ceil(operations / float(shown))):
        lines.append(f"{second:5d}  {min(operations, int(rate * second)):8d}  {shown:>8}  {per_second:>8}")
    elapsed = math.floor(operations / float(shown))
    lines.append(f"elapsed: {elapsed}   ops: {operations}   ops/sec: {shown}   bytes/sec: {per_second}")
    return "\n".join(lines) + "\n"


def _rounded(value: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{value:.1f} {unit}/s" if value < 10 else f"{value:.0f} {unit}/s"
        value /= 1024
    raise AssertionError


class RawTree:
    """One experiment's `raw/`. The same arguments give the same files."""

    def __init__(
        self,
        directory: Path,
        *,
        factors: Mapping[str, Sequence[Any]] | None = None,
        variants: Sequence[Mapping[str, Any]] = VARIANTS,
        metrics: Sequence[Mapping[str, Any]] = METRICS,
        rate: Rate = default_rate,
        old_release: bool = False,
        tool: str = "rbd_bench",
        sealed: bool = True,
        registers: Mapping[str, str] | None = None,
        **public: Any,
    ) -> None:
        self.directory = Path(directory)
        self.raw = self.directory / "raw"
        self.rate, self.old_release, self.tool = rate, old_release, tool
        self.sealed, self.registers = sealed, registers
        factors = factors or {"io_type": ["read", "write"], "io_pattern": ["seq"], "io_size_bytes": [4096, 65536]}
        self.factors = {name: list(levels) for name, levels in factors.items()}
        self.variants = [dict(one) for one in variants]
        self.moments = 0
        self.points = {
            "-".join(str(level) for level in levels): dict(zip(self.factors, levels, strict=True))
            for levels in itertools.product(*self.factors.values())
        }
        self.public = {
            "schema_version": 1, "experiment": self.directory.name, "title": "rbd bench with and without journaling",
            "scale": "talk", "protocol": "single_tool", "tool": tool, "sources": ["S0.1"], "x_factor": "io_size_bytes",
            "x_label": "I/O size", "x_unit": "bytes", "workload_factors": ["io_type", "io_pattern"],
            "factors": self.factors, "variants": self.variants, "metrics": [dict(one) for one in metrics],
            "ratio_direction": "reference/variant", "skipped": [], **public,
        }  # fmt: skip
        self.public["cells"] = {
            self.cell_id(point, one["name"]): {"point": point, "variant": one["name"], "levels": levels}
            for point, levels in self.points.items()
            for one in self.variants
        }
        self.raw.mkdir(parents=True, exist_ok=True)
        (self.raw / "SHA256SUMS").touch()
        self.write_design()

    def cell_id(self, point: str, variant: str) -> str:
        """Return the id of a cell of this tree's design."""
        return digest([self.tool, self.public.get("target_seconds", 2), point, variant])

    @property
    def design_digest(self) -> str:
        """Return the digest that names the design's file."""
        return digest(self.public)

    def write_design(self) -> None:
        """Write the design's file."""
        self.record(f"design-{self.design_digest}.json", self.public)

    def measure(self, blocks: int = 1, first: int = 1) -> RawTree:
        """Measure every set of these blocks once, without failures, and seal each block with its receipt."""
        for block in range(first, first + blocks):
            for point in self.points:
                self.attempt(block, point)
            self.receipt(block)
        return self

    def moment(self) -> str:
        """Return the next moment, a second after the last."""
        self.moments += 1
        minutes, seconds = divmod(self.moments, 60)
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        return f"2026-01-{1 + days:02d}T{hours:02d}:{minutes:02d}:{seconds:02d}.000Z"

    def attempt(
        self,
        block: int,
        point: str,
        *,
        number: int | None = None,
        invalid: Mapping[str, str] | None = None,
        outputs: Mapping[str, Mapping[str, str]] | None = None,
        facts: Mapping[str, Mapping[str, Any]] | None = None,
        seal: bool = True,
        status: str = "complete",
        limiter: str = "cpu",
    ) -> Path:
        """Write one attempt of a set. By variant: `invalid` reasons, `outputs` (role to text) and `facts`."""
        invalid, outputs, facts = invalid or {}, outputs or {}, facts or {}
        root = self.opened(block)
        set_folder = root / f"block-{block:02d}" / point
        number = number or 1 + self._attempts(block, point, set_folder)
        folder = set_folder / (f"attempt-{number}" if seal else f".attempt-{number}.partial")
        started, names = self.moment(), []
        for position, one in enumerate(self.variants):
            name, levels = one["name"], self.points[point]
            texts = dict(outputs.get(name) or {"stdout": self._output(block, name, levels)})
            sidecar = {
                "schema_version": 1, "experiment": self.directory.name, "block": block, "set_index": 0, "point": point,
                "variant": name, "attempt": number, "cell_id": self.cell_id(point, name), "position": position,
                "label": one["label"], "levels": levels, "protocol": self.public["protocol"], "tool": self.tool,
                "argv": ["rbd", "bench"], "files": {role: f"{name}.{role}" for role in (*texts, "stderr")}, "seed": 1,
                "exit_status": 110 if invalid.get(name) == "failed" else 0, "started_at": started,
                "ended_at": self.moment(), "tool_seconds": 2.1, "valid": name not in invalid,
                "invalid": {"reason": invalid[name], "detail": "as the test says"} if name in invalid else None,
                "versions": {"tool": "16.2.15", "librbd": "16.2.15", "osd": ["16.2.15"], "mon": ["16.2.15"]},
                "git_commit": "0" * 40, "git_dirty": False, "host": HOST,
                "health": {"before": {"status": "HEALTH_OK"}, "after": {"status": "HEALTH_OK"}},
                "load": {"load_1min": 2.0, "cpu_idle_fraction": 0.08, "disk_busy_fraction": None},
                "limiter": limiter, "limiter_rule": "idle CPU below 0.1", "waits": [], "samples": {},
                "facts": dict(facts.get(name) or {}),
            }  # fmt: skip
            for role, text in {**texts, "stderr": ""}.items():
                names.append(self._write(folder / f"{name}.{role}", text.encode(), root))
            names.append(self._write(folder / f"{name}.json", _json(sidecar), root))
        if seal:
            problems = [{"variant": name, "reason": reason, "detail": ""} for name, reason in invalid.items()]
            facts_of_seal = {
                "schema_version": 1, "experiment": self.directory.name, "block": block, "point": point,
                "attempt": number, "set_index": 0, "seed": 1, "order": [one["name"] for one in self.variants],
                "cells": {one["name"]: self.cell_id(point, one["name"]) for one in self.variants}, "status": status,
                "valid": not invalid and status == "complete", "invalid": problems, "started_at": started,
                "ended_at": self.moment(), **({"claims": self.registers} if self.registers else {}),
            }  # fmt: skip
            names.append(self._write(folder / "attempt.json", _json(facts_of_seal), root))
            self._append(names, root)
        return folder

    def receipt(self, block: int) -> None:
        """Write a block's receipt, and seal the block unless it is already sealed for this plan."""
        plan = digest([block, sorted(self.public["cells"])])
        content = {"schema_version": 1, "experiment": self.directory.name, "block": block, "plan": plan,
                   "design": self.design_digest, "ended_at": self.moment()}  # fmt: skip
        self.record(f"block-{block:02d}/receipt-{plan}.json", content)
        if self.sealed and not (self.raw / f"block-{block:02d}-{plan}.tar.gz").exists():
            self.seal(block, plan)

    def seal(self, block: int, plan: str) -> Path:
        """Pack an open block; return the pack."""
        root = self.opened(block)
        pack = self.raw / f"block-{block:02d}-{plan}.tar.gz"
        write_pack(pack, read_sums(root), lambda name: (root / name).read_bytes(), "")
        self._append([pack.name], self.raw)
        shutil.rmtree(root)
        return pack

    def opened(self, block: int) -> Path:
        """Return the folder of a block that is not sealed."""
        return self.raw / f"block-{block:02d}.open"

    def path(self, name: str) -> Path:
        """Return a file of an open block by its path, which begins with the block."""
        return self.raw / f"{name.partition('/')[0]}.open" / name

    def files(self, pattern: str) -> list[Path]:
        """Return the files of open blocks that match a pattern."""
        return sorted(self.raw.glob(f"block-*.open/{pattern}"))

    def packs(self) -> list[Path]:
        """Return the packs."""
        return sorted(self.raw.glob("block-*.tar.gz"))

    def _attempts(self, block: int, point: str, folder: Path) -> int:
        """Return how many attempts of a set there are."""
        sealed = 0
        if any(self.raw.glob(f"block-{block:02d}-*.tar.gz")):
            sealed = max((number for number, _ in History(self.raw).attempts(block, point)), default=0)
        return max(sealed, len(list(folder.glob("attempt-*"))))

    def record(self, name: str, content: Mapping[str, Any]) -> Path:
        """Write one listed JSON file that belongs to no attempt; a pilot's belongs to block 1."""
        block = int(name[6:8]) if name.startswith("block-") else 1
        root = self.raw if name.startswith("design-") else self.opened(block)
        path = root / name
        if not path.exists():
            self._append([self._write(path, _json(content), root)], root)
        return path

    def reseal(self) -> None:
        """Update the list of all files of open blocks."""
        for root in sorted(self.raw.glob("block-*.open")):
            paths = sorted(path for path in root.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
            (root / "SHA256SUMS").write_text("")
            self._append([path.relative_to(root).as_posix() for path in paths], root)

    def change_sidecars(self, pattern: str, change: Callable[[dict[str, Any]], Mapping[str, Any]]) -> None:
        """Update sidecars of open blocks with what `change` says of each, and list all files anew."""
        sidecars = [path for path in self.files(pattern) if path.name != "attempt.json"]
        assert sidecars
        for path in sidecars:
            told = json.loads(path.read_text())
            path.write_text(json.dumps(told | change(told)))
        self.reseal()

    def _output(self, block: int, variant: str, levels: Mapping[str, Any]) -> str:
        if self.tool != "rbd_bench":
            return "steps"
        return rbd_bench_output(levels, self.rate(block, variant, levels), old=self.old_release)

    def _write(self, path: Path, content: bytes, root: Path) -> str:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path.relative_to(root).as_posix()

    def _append(self, names: Sequence[str], root: Path) -> None:
        lines = [f"{hashlib.sha256((root / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
        with (root / "SHA256SUMS").open("a") as file:
            file.write("".join(lines))


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()
