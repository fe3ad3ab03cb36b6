"""A small design that measures in seconds."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from pathlib import Path

from support.campaign import Campaign
from support.evidence import evidence_of

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
    "image": {"size_bytes": 4194304, "object_size_bytes": 1048576, "features": ["layering", "exclusive-lock"]},
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
class Bench(Campaign):
    """A campaign with the small design. Nothing in it needs more than the rate, which is a fraction of the peak."""

    rate_bytes_per_second: int | None = 2 << 20
    design: dict = field(default_factory=lambda: copy.deepcopy(TINY))

    @property
    def tiny(self) -> Path:
        return self.raw("tiny")

    def write_config(self) -> None:
        self.write_experiment(self.design)

    def files(self) -> dict[str, bytes]:
        """Every file of raw output that stays, by name."""
        return evidence_of(self.tiny)
