"""A real sandbox for the pipeline's tests, and a small design that measures in seconds."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from replay.ceph.cluster import Cluster
from replay.paths import ROOT
from replay.sandbox import down, load, up

TINY = {
    "name": "tiny",
    "title": "A small design for tests",
    "sources": ["S0.2"],
    "protocol": "single_tool",
    "tool": "rbd-bench",
    "factors": {"io_type": ["write", "read"], "io_pattern": ["rand"], "io_size_bytes": [4096, 16384, 65536]},
    "x_factor": "io_size_bytes",
    "x_label": "I/O size",
    "x_unit": "bytes",
    "workload_factors": ["io_type", "io_pattern"],
    "options": {"io_threads": 4},
    "client_options": {"rbd_cache": "false", "rados_osd_op_timeout": "6"},
    "image": {"size_bytes": 16777216, "object_size_bytes": 4194304, "features": ["layering", "exclusive-lock"]},
    "variants": [
        {"name": "without-journal", "label": "Without journal", "reference": True},
        {"name": "with-journal", "label": "With journal", "features": ["journaling"]},
    ],
    "metrics": [
        {
            "metric": "bytes_per_second",
            "name": "throughput",
            "title": "Throughput",
            "unit": "bytes_per_second",
            "better": "higher",
            "ratio": True,
        }
    ],
    "scales": {
        scale: {
            "blocks": 1,
            "target_seconds": 1,
            "minimum_seconds": 0.1,
            "factors": {"io_type": ["write"], "io_size_bytes": [4096, 65536]},
        }
        for scale in ("smoke", "quick", "talk")
    },
}


@dataclass
class Bench:
    """One campaign's folders and environment, and the sandbox that it measures."""

    folder: Path
    sandbox_directory: Path
    #: Where the measuring code looks for a sandbox of its own; a foreign cluster's tests point it elsewhere.
    sandbox_directory_seen: Path | None = None
    design: dict = field(default_factory=lambda: copy.deepcopy(TINY))

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "REPLAY_BENCHMARKS": str(self.folder / "benchmarks"),
            "REPLAY_CONFIG": str(self.folder / "config"),
            "REPLAY_STATE": str(self.folder / "state"),
            "REPLAY_SANDBOX_DIR": str(self.sandbox_directory_seen or self.sandbox_directory),
        }

    @property
    def raw(self) -> Path:
        return self.folder / "benchmarks" / "trial" / "tiny" / "raw"

    def write_config(self) -> None:
        config = self.folder / "config"
        (config / "sites").mkdir(parents=True, exist_ok=True)
        (config / "experiments").mkdir(exist_ok=True)
        shutil.copy(ROOT / "config" / "sites" / "sandbox.yaml", config / "sites")
        (config / "experiments" / "tiny.yaml").write_text(yaml.safe_dump(self.design, sort_keys=False))

    def command(self, module: str, *arguments: str) -> list[str]:
        return [sys.executable, "-m", f"replay.{module}", *arguments]

    def run(self, module: str, *arguments: str, timeout: float = 240) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(module, *arguments),
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def measure(self, *arguments: str, site: str = "sandbox") -> subprocess.CompletedProcess[str]:
        return self.run("measure", "--site", site, "--data", "trial", "--scale", "smoke", *arguments)

    def files(self) -> dict[str, bytes]:
        """Every file of raw output that stays, by name."""
        return {
            path.relative_to(self.raw).as_posix(): path.read_bytes()
            for path in self.raw.rglob("*")
            if path.is_file() and path.name != "SHA256SUMS"
        }

    def images(self) -> list[str]:
        cluster = self.cluster("left")
        return cluster.json("rbd", "ls", "replay")

    def cluster(self, name: str) -> Cluster:
        one = load(self.sandbox_directory).clusters[name]
        return Cluster(conf=Path(one.conf), client=one.client, keyring=Path(one.keyring))


@pytest.fixture(scope="session")
def sandbox_directory():
    """A sandbox that all tests of this folder share; taken down, and its files removed, at the end."""
    folder = Path(tempfile.mkdtemp(prefix="replay-pipeline-"))
    try:
        up(folder / "sandbox", left_osd_bytes=8 << 30, right_osd_bytes=8 << 30)
        yield folder / "sandbox"
    finally:
        down(folder / "sandbox")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def bench(tmp_path, sandbox_directory):
    made = Bench(tmp_path, sandbox_directory)
    made.write_config()
    before = made.images()
    yield made
    assert [name for name in made.images() if name not in before] == [], "a test left an image behind"
