"""Objects written by `rados bench` on a fast and on a capped device class."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.cluster.site import Site
from replay.design.design import Cell, CellSet
from replay.design.media import Write
from replay.design.sizing import ASSUMED_BYTES_PER_SECOND
from replay.measure.procedure import Protocol, parse_and_judge
from replay.procedures.parts.device_classes import DeviceClasses, check_options, lacking
from replay.procedures.parts.rados_objects import BenchObjects
from replay.procedures.parts.rados_rounds import run_rounds
from replay.raw.record import Measured, Wait
from replay.tools import adapter

RUN_NAME = "replay-write"
_WHOLE_OPTIONS = ("threads", "write_most_objects", "write_most_bytes")


class DeviceClassObjects(Protocol):
    """Writes objects of `levels["object_size_bytes"]` in the pool of the variant's level `device_class`."""

    overhead_seconds = 8.0

    def __init__(self, bench, design) -> None:
        super().__init__(bench, design)
        self.adapter = adapter(design.configuration["tool"])
        self.program = self.adapter.program
        self._check()
        self.options: dict[str, Any] = {
            **design.options,
            "client_options": dict(design.configuration.get("client_options", {})),
            "keyring": bench.primary_cluster.keyring is not None,
            "namespace": False,
        }
        self.classes = DeviceClasses(bench, design.options, application="rados")
        self.objects = BenchObjects(bench, self.adapter, self.options)

    @classmethod
    def lacking(cls, site: Site) -> dict[str, str]:
        """Say why this machine cannot cap an OSD's I/O."""
        return lacking(site)

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Make the classes and their pools, and cap the OSDs."""
        self.classes.open()
        self.classes.cap()

    def close_block(self) -> None:
        """Lift the caps, then remove the pools with all that is in them, then set the classes back."""
        self.classes.close()

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what a write may write at the most."""
        seconds = math.ceil(self.design.sizing.target_seconds)
        return [self._write(cell, min(self._most(cell)[1], ASSUMED_BYTES_PER_SECOND * seconds))]

    def run(self, cell: Cell, seed: int) -> Measured:
        """Run the tool, which takes no seed; see that the cap held while it ran."""
        most, _ = self._most(cell)
        of_client = {"client_options": dict(cell.variant.client_options)}
        template = self.adapter.argv_template(cell.levels, {**self.options, **of_client, "max_objects": most})
        seconds = math.ceil(self.design.sizing.target_seconds)  # it takes whole seconds only
        before = self.classes.read()
        with self.bench.costs.measure("tool"):
            rounds = run_rounds(
                self.adapter,
                cell.levels,
                template,
                [self.objects.values(self._pool(cell), RUN_NAME)],
                seconds=seconds,
                target_seconds=self.design.sizing.target_seconds,
                slot=self.bench.slot,
                sampler=self.bench.sampler,
                between=lambda: None,
            )
        measured = Measured(
            argv=[argument.replace("{seconds}", str(seconds)) for argument in template],
            results={**rounds.printed(), **rounds.results},
            exit_status=rounds.exit_status,
            started_at=rounds.all[0].started_at,
            ended_at=rounds.all[-1].ended_at,
            tool_seconds=rounds.tool_seconds,
            load=rounds.load(),
            invalid=rounds.failure(),
        )
        self.classes.observe(measured, before)
        self._judge(cell, measured)
        return measured

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove what the cell wrote, see that it is gone, and wait until the capped OSDs rest."""
        started = time.monotonic()
        with self.bench.costs.measure("wait"):
            removed = self.objects.remove(self._pool(cell), [RUN_NAME])
        seconds = time.monotonic() - started
        gone = Wait("objects_removed", seconds, removed.outcome, {"objects": removed.objects})
        return [gone, self.classes.await_quiet()]

    def _most(self, cell: Cell) -> tuple[int, int]:
        """Return how many objects a cell may write, and their bytes."""
        size, options = int(cell.levels["object_size_bytes"]), self.design.options
        objects = max(1, min(options["write_most_objects"], options["write_most_bytes"] // size))
        return objects, objects * size

    def _write(self, cell: Cell, size_bytes: float) -> Write:
        return Write(size_bytes, pool=self._pool(cell), adds=True)

    def _pool(self, cell: Cell) -> str:
        return self.classes.pools[str(cell.levels["device_class"])].name

    def _judge(self, cell: Cell, measured: Measured) -> None:
        """Set `measured.invalid` where the output cannot stand; charge what was written to the account."""
        if measured.invalid:
            return
        result = parse_and_judge(self.adapter, cell, measured, self.design.sizing.minimum_seconds)
        if result is None:
            return
        if result.complete:
            measured.headline = f"{result.metrics['bytes_per_second'] / 2**20:,.1f} MiB/s"
            self.bench.account(self._write(cell, result.metrics["bytes"]))

    def _check(self) -> None:
        """Refuse what this protocol cannot do, before anything is created."""
        where = f"config/experiments/{self.design.name}.yaml"
        if self.adapter.name != "rados_bench":
            raise ConfigurationError(f"device_class_objects runs rados-bench, not {self.adapter.name}", where=where)
        if set(self.design.factors.get("mode", ())) != {"write"}:
            raise ConfigurationError("device_class_objects needs the factor `mode`: write", where=where)
        for key in _WHOLE_OPTIONS:
            if not isinstance(self.design.options.get(key), int):
                raise ConfigurationError(f"options.{key} is {self.design.options.get(key)!r}", where=where)
        check_options(self.design, where)
        if self.bench.site.ceilings.rate_bytes_per_second is not None:
            raise ConfigurationError("rados bench cannot be held to the site's rate", where=where)


PROTOCOL = DeviceClassObjects
