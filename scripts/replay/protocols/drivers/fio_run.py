"""One fio process on one or several images: its job file, the configuration of its librbd, its latency log."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.cluster.client_conf import write_client_conf
from replay.evidence.record import Measured
from replay.measure.bench import Bench
from replay.ownership.images import BlockImage
from replay.protocols.drivers.tool import client_values, hidden, run_observed, runtime_of
from replay.tools import OutputError, render
from replay.tools.fio import job_options
from replay.tools.output.fio_output import read_clients

#: The name of an image in jobs, samples and steps, counted from 1.
ENTITY = "image-{}"
ARGV = ("fio", "--output-format=json+", "--output={output}", "{jobs}")
#: fio appends this to the name of its logs. Completion latency is `clat_ns` in its report.
_LOG_ENDING = "_clat.log"


def log_options(every_seconds: float | None = None) -> dict[str, Any]:
    """Return fio's options for a log of completion latencies with times of the wall clock.

    The log has a line for each operation, or one with the mean for each window of `every_seconds`.
    """
    options: dict[str, Any] = {"write_lat_log": "{logs}", "per_job_logs": 0, "log_unix_epoch": 1}
    return options | ({} if every_seconds is None else {"log_avg_msec": round(1000 * every_seconds)})


def jobs_text(levels: Mapping[str, Any], options: Mapping[str, Any], images: int) -> str:
    """Return the text of a job file with one job per image, named `image-N`, on the placeholder `{image_N}`."""
    lines = ["[global]", *(f"{name}={value}" for name, value in job_options(levels, options).items())]
    for number in range(1, images + 1):
        lines += ["", f"[{ENTITY.format(number)}]", f"rbdname={{image_{number}}}"]
    return "\n".join([*lines, ""])


def run_fio(
    bench: Bench,
    text: str,
    images: Sequence[BlockImage],
    client_options: Mapping[str, str],
    *,
    seed: int,
    runtime_seconds: float,
    timeout_seconds: float,
    component: str = "tool",
    while_running: Callable[[float], None] | None = None,
) -> Measured:
    """Run a job file on the images, and return its files: `output` (the report), `jobs`, `latency` if it logs.

    In all of them, placeholders replace this machine's paths and the names of images.
    """
    with tempfile.TemporaryDirectory(prefix="replay-fio-") as name:
        folder = Path(name)
        conf = write_client_conf(folder / "ceph.conf", bench.primary_cluster, client_options)
        names = {f"image_{number}": made.name for number, made in enumerate(images, start=1)}
        values: dict[str, str | None] = {
            **client_values(bench),
            **names,
            "seed": str(seed),
            "logs": str(folder / "log"),
            "runtime_seconds": runtime_of(runtime_seconds),
        }
        jobs = folder / "jobs.fio"
        jobs.write_text(render([text], values)[0])
        measured = run_observed(
            bench,
            ARGV,
            {"jobs": str(jobs)},
            timeout_seconds=timeout_seconds,
            component=component,
            result_files={"output": "result.json"},
            while_running=while_running,
            environment={"CEPH_CONF": str(conf)},
        )
        log = folder / f"log{_LOG_ENDING}"
        if log.exists():
            measured.results["latency"] = ("latency.log", log.read_bytes())
        hidden(measured, {str(folder): "{folder}", **{value: f"{{{key}}}" for key, value in names.items()}})
        measured.results["jobs"] = ("jobs.fio", text.encode())
    return measured


def written_bytes(measured: Measured) -> dict[str, int]:
    """Return how many bytes each job wrote, from fio's report. Sets `measured.invalid` if that is incomplete."""
    if measured.invalid is not None:
        return {}
    text = measured.results.get("output", ("", b""))[1].decode(errors="replace")
    try:
        clients = read_clients(text, "output", measured.exit_status or 0)
    except OutputError as error:
        measured.invalid = (error.reason, str(error).splitlines()[0])
        return {}
    return {one.name: int(one.directions["write"].io_bytes) for one in clients if "write" in one.directions}
