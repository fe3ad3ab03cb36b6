"""One fio process on an image or on a file, in both cases without the page cache."""

from __future__ import annotations

import tempfile
from pathlib import Path

from replay.cluster.client_conf import write_client_conf
from replay.design.design import Cell
from replay.evidence.record import Measured
from replay.measure.protocol import Driver, WhileRunning, bytes_written
from replay.protocols.drivers.tool import client_values, hidden, run_observed, runtime_of
from replay.tools import Result, fio

#: Time on top of ramp and runtime: for opening the file or image, and for ending.
PATIENCE_SECONDS = 90.0


class FioProcess(Driver):
    """Runs fio with the protocol's `job_options`, on the target's `file_of`, or on the image if that is None."""

    def run(self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None) -> Measured:
        """Run fio for the scale's `target_seconds`."""
        runtime, options = self.design.sizing.target_seconds, self.protocol.job_options(cell)
        ramp, file = float(options.get("ramp_seconds", 1)), self.protocol.target.file_of(cell)
        values: dict[str, str | None] = {"seed": str(seed), "runtime_seconds": runtime_of(runtime)}
        environment: dict[str, str] = {}
        with tempfile.TemporaryDirectory(prefix="replay-fio-") as folder:
            if file is not None:
                values["file"] = str(file)
            else:
                [made] = self.protocol.target.of(cell)
                values |= {**client_values(self.bench), "image": made.name}
                conf = Path(folder) / "ceph.conf"
                write_client_conf(conf, self.bench.primary_cluster, cell.variant.client_options)
                environment["CEPH_CONF"] = str(conf)
            measured = run_observed(
                self.bench,
                fio.TOOL.argv_template(cell.levels, options),
                values,
                timeout_seconds=PATIENCE_SECONDS + 2 * (ramp + runtime),
                result_files=fio.TOOL.result_files(cell.levels, options),
                environment=environment,
                while_running=while_running,
            )
        return hidden(measured, {value: f"{{{key}}}" for key in ("image", "file") if (value := values.get(key))})

    def written_bytes(self, cell: Cell, result: Result) -> float:
        """Return the bytes written. fio's report leaves out the ramp, which is added at the reported rate."""
        ramp = float(self.protocol.job_options(cell).get("ramp_seconds", 1))
        return bytes_written(cell, result.metrics) * (1 + ramp / self.design.sizing.target_seconds)
