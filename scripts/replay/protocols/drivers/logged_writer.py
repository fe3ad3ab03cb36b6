"""A client that writes to one image while samplers run: fio with its latency log, and a log of steps."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from replay.cluster.site import Site
from replay.design.design import Cell
from replay.evidence.record import Measured, SampleTable
from replay.measure.protocol import Driver, WhileRunning
from replay.protocols.drivers.fio_run import ENTITY, jobs_text, log_options, run_fio, written_bytes
from replay.protocols.drivers.tool import StepLog, client_values, rbd_template

#: Time on top of ramp and runtime: for opening the image, writing the log, and a tool that ends slowly.
PATIENCE_SECONDS = 90.0


def lacking_flat_pool(site: Site) -> dict[str, str]:
    """Return why fio cannot write to mirrored images on a site; empty if it can."""
    if site.pools.data.namespace:
        return {"second_site": "fio's rbd engine, which writes here, does not support RADOS namespaces"}
    return {}


class LoggedWriter(Driver):
    """Runs one fio per cell on its image. `log` and `table` are further evidence; times count from `log.origin`."""

    def lacking(self, site: Site) -> dict[str, str]:
        """Return what is missing if fio cannot write to the images."""
        return lacking_flat_pool(site)

    def start(self, cell: Cell) -> None:
        """Begin the log of steps and the table of samples."""
        [self.made] = self.protocol.target.of(cell)
        values = {**client_values(self.bench), "image": self.made.spec, "image_name": self.made.name}
        self.log = StepLog(values, self.bench.slot, programs=self.bench.programs)
        self.table = SampleTable()
        self.rbd, self.written = rbd_template(self.bench.primary_cluster), 0

    def runtime_of(self, cell: Cell) -> float:
        """Return for how many seconds fio writes after its ramp."""
        return self.design.sizing.target_seconds

    def run(
        self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None, component: str = "tool"
    ) -> Measured:
        """Write for `runtime_of(cell)`, and log the step `write` with the origin of fio's times."""
        options: Mapping[str, Any] = self.protocol.job_options(cell)
        runtime, ramp = self.runtime_of(cell), float(options.get("ramp_seconds", 1))
        logged = {**log_options(options.get("log_every_seconds")), **options.get("fio_options", {})}
        text = jobs_text(cell.levels, {**options, "fio_options": logged}, 1)
        started = self.log.now()
        measured = run_fio(
            self.bench,
            text,
            [self.made],
            cell.variant.client_options,
            seed=seed,
            runtime_seconds=runtime,
            timeout_seconds=PATIENCE_SECONDS + 2 * (runtime + ramp),
            component=component,
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
        self.written = written_bytes(measured).get(ENTITY.format(1), 0)
        self.bench.account(self.protocol.target.write_of(cell, self.written * (1 + ramp / runtime)))
        return measured

    def ended(self, cell: Cell, measured: Measured) -> None:
        """Add the steps and the samples to the cell's results, now that both are complete."""
        keep_log(measured, self.log, self.table)


def keep_log(measured: Measured, log: StepLog, table: SampleTable) -> None:
    """Write the last line of a cell's log, and add the log and the samples to the cell's results."""
    log.add("end", log.now(), 0.0, steps=len(log.lines))
    measured.results["steps"] = ("steps.jsonl", log.content())
    measured.results["counters"] = ("counters.csv", table.content())
