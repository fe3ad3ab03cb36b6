"""A client that writes to one mirrored image beside samplers: fio with its latency log, and the log of its steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from replay.design.design import Cell
from replay.measure.bench import Bench
from replay.owned.images import BlockImage
from replay.procedures.parts.fio_run import jobs_text, log_options, run_fio
from replay.procedures.parts.tool_run import client_values
from replay.procedures.trial.steps import StepLog
from replay.raw.record import Measured
from replay.raw.samples import SampleTable
from replay.tools.base import connection

#: On top of ramp and runtime: opening the image, writing the log, and a tool that ends slowly.
PATIENCE_SECONDS = 90.0


class LoggedWriter:
    """One run of fio on one image. `log` and `table` are its evidence besides fio's; times count from `log.origin`."""

    def __init__(self, bench: Bench, made: BlockImage) -> None:
        self.bench = bench
        self.made = made
        values = {**client_values(bench), "image": made.spec, "image_name": made.name}
        self.log = StepLog(values, bench.slot)
        self.table = SampleTable()

    @property
    def rbd(self) -> list[str]:
        """The start of every command of the `rbd` program on the first cluster, with placeholders."""
        return ["rbd", *connection({"keyring": self.bench.primary_cluster.keyring is not None})]

    def run(
        self,
        cell: Cell,
        options: Mapping[str, Any],
        *,
        seed: int,
        runtime_seconds: float,
        log_every_seconds: float | None,
        fio_options: Mapping[str, Any],
        while_running: Callable[[float], None],
    ) -> Measured:
        """Write for so long and write it down as the step `write`, with what its log's times mean."""
        more = {**log_options(log_every_seconds), **fio_options}
        text = jobs_text(cell.levels, {**options, "fio_options": more}, 1)
        started = self.log.now()
        measured = run_fio(
            self.bench,
            text,
            [self.made],
            cell.variant.client_options,
            seed=seed,
            runtime_seconds=runtime_seconds,
            timeout_seconds=PATIENCE_SECONDS + 2 * (runtime_seconds + float(options.get("ramp_seconds", 1))),
            while_running=while_running,
        )
        _, latencies = measured.results.get("latency", ("", b""))
        self.log.add(
            "write",
            started,
            self.log.now() - started,
            argv=measured.argv,
            exit_status=measured.exit_status,
            unix_seconds_at_origin=round(time.time() - self.log.now(), 6),
            log_lines=latencies.count(b"\n"),
        )
        return measured

    def keep(self, measured: Measured) -> None:
        """Put the steps and the samples among the cell's results; nothing may be added to them afterwards."""
        self.log.add("end", self.log.now(), 0.0, steps=len(self.log.lines))
        measured.results["steps"] = ("steps.jsonl", self.log.content())
        measured.results["counters"] = ("counters.csv", self.table.content())
