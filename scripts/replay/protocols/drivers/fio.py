"""fio on an image or a file, from one job file on several images, or as clients that start together."""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.cluster.cluster import write_client_conf
from replay.cluster.fio_clients import fio_servers, spread
from replay.cluster.site import missing
from replay.design.design import Cell
from replay.evidence.record import Measured
from replay.measure.bench import Bench
from replay.measure.protocol import Driver, WhileRunning
from replay.ownership.images import BlockImage
from replay.protocols.drivers.tool import bytes_written, client_values, cluster_values, hidden, run_observed, runtime_of
from replay.tools import OutputError, Result, render
from replay.tools.fio import TOOL, client_argv, job_file
from replay.tools.fio_report import ALL_CLIENTS, read_clients

#: Time on top of ramp and runtime: for opening files and images, merging reports, writing logs, and ending.
PATIENCE_SECONDS = 90.0
#: The name of an image in jobs, samples and steps, counted from 1.
ENTITY = "image-{}"
JOB_FILE_ARGV = ("fio", "--output-format=json+", "--output={output}", "{jobs}")
#: fio appends this to the name of its logs. Completion latency is `clat_ns` in its report.
_LOG_ENDING = "_clat.log"


def ramp_of(options: Mapping[str, Any]) -> float:
    """Return how many seconds a job with these options runs before its report begins."""
    return float(options.get("ramp_seconds", 1))


def timeout_of(ramp_seconds: float, runtime_seconds: float) -> float:
    """Return after how many seconds fio is killed."""
    return PATIENCE_SECONDS + 2 * (ramp_seconds + runtime_seconds)


def refuse_namespace(site: Any, experiment: str) -> None:
    """Raise ConfigurationError if the site's data pool has a namespace, which fio's rbd engine does not support."""
    if site.pools.data.namespace:
        raise ConfigurationError(
            "fio's rbd engine does not support RADOS namespaces",
            where=f"config/sites/{site.name}.yaml, pools.data.namespace",
            next_step=f"measure {experiment} on a site whose data pool has no namespace",
        )


@contextlib.contextmanager
def _client_folder(bench: Bench, client_options: Mapping[str, str]) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield a folder, and the environment that makes librbd read the configuration in it."""
    with tempfile.TemporaryDirectory(prefix="replay-fio-") as name:
        conf = write_client_conf(Path(name) / "ceph.conf", bench.primary_cluster, client_options)
        yield Path(name), {"CEPH_CONF": str(conf)}


class FioDriver(Driver):
    """Charges a cell for what fio wrote."""

    def written_bytes(self, cell: Cell, result: Result) -> float:
        """Return the bytes written. fio's report leaves out the ramp, which is added at the reported rate."""
        ramp = ramp_of(self.protocol.job_options(cell))
        return bytes_written(cell, result.metrics) * (1 + ramp / result.metrics["duration_seconds"])


class FioProcess(FioDriver):
    """Runs fio with the protocol's `job_options` on the file or image that the target names, past the page cache."""

    def run(self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None) -> Measured:
        """Run fio for the scale's `target_seconds`."""
        runtime, options = self.design.sizing.target_seconds, self.protocol.job_options(cell)
        place = self.protocol.target.names(cell)
        values = {"seed": str(seed), "runtime_seconds": runtime_of(runtime), **place}
        with contextlib.ExitStack() as stack:
            environment: dict[str, str] = {}
            if "image" in place:
                values |= cluster_values(self.bench.primary_cluster)
                _, environment = stack.enter_context(_client_folder(self.bench, cell.variant.client_options))
            measured = run_observed(
                self.bench,
                TOOL.argv_template(cell.levels, options),
                values,
                timeout_seconds=timeout_of(ramp_of(options), runtime),
                result_files=TOOL.result_files,
                environment=environment,
                while_running=while_running,
            )
        return hidden(measured, {place[key]: f"{{{key}}}" for key in ("image", "file") if key in place})


# One job file on several images ---------------------------------------------------------------------------------------


def jobs_text(levels: Mapping[str, Any], options: Mapping[str, Any], images: int) -> str:
    """Return the text of a job file with one job per image, named `image-N`, on the placeholder `{image_N}`."""
    return job_file(levels, options, {ENTITY.format(n): f"{{image_{n}}}" for n in range(1, images + 1)})


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
    while_running: WhileRunning | None = None,
) -> Measured:
    """Run a job file on the images, and return its files: `output` (the report), `jobs`, `latency` if it logs.

    In all of them, placeholders replace this machine's paths and the names of images.
    """
    with _client_folder(bench, client_options) as (folder, environment):
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
            JOB_FILE_ARGV,
            {"jobs": str(jobs)},
            timeout_seconds=timeout_seconds,
            component=component,
            result_files=TOOL.result_files,
            while_running=while_running,
            environment=environment,
        )
        log = folder / f"log{_LOG_ENDING}"
        if log.exists():
            measured.results["latency"] = ("latency.log", log.read_bytes())
        hidden(measured, {str(folder): "{folder}", **{value: f"{{{key}}}" for key, value in names.items()}})
        measured.results["jobs"] = ("jobs.fio", text.encode())
    return measured


def bytes_by_job(measured: Measured) -> dict[str, int]:
    """Return how many bytes each job wrote, from fio's report. Sets `measured.invalid` if that is incomplete."""
    if measured.invalid is not None:
        return {}
    text = measured.results.get("output", ("", b""))[1].decode(errors="replace")
    try:
        clients = read_clients(text, "output", measured.exit_status or 0)
    except OutputError as error:
        measured.invalid = (error.reason, str(error).splitlines()[0])
        return {}
    return {client.name: int(client.directions["write"].io_bytes) for client in clients if "write" in client.directions}


# Several clients ------------------------------------------------------------------------------------------------------


class FioClients(FioDriver):
    """Runs `levels["clients"]` clients, each on its own image. The cell is invalid unless each took part to the end."""

    def begin(self) -> None:
        """Find out where clients run: on the site's hosts if its file allows that, else on this machine."""
        site = self.bench.site
        self.hosts = site.client_hosts if not missing(["client_hosts"], site) else ("localhost",)

    def check(self) -> None:
        """Refuse a site whose images fio cannot reach."""
        refuse_namespace(self.bench.site, self.design.name)

    def run(
        self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None, component: str = "tool"
    ) -> Measured:
        """Start all clients together, and return their combined report."""
        numbers, runtime = range(1, int(cell.levels["clients"]) + 1), self.design.sizing.target_seconds
        options = self.protocol.job_options(cell)
        ramp = ramp_of(options)
        texts = [job_file(cell.levels, options, {client_name(number): "{image}"}) for number in numbers]
        jobs = [self._filled(cell, text, number, seed) for number, text in zip(numbers, texts, strict=True)]
        cluster, client_options = self.bench.primary_cluster, cell.variant.client_options
        with contextlib.ExitStack() as stack:
            with self.bench.costs.measure("prepare"):
                how = {"slot": self.bench.slot, "hosts": self.hosts, "say": self.bench.say}
                servers = stack.enter_context(fio_servers(cluster, client_options, jobs, **how))
            measured = run_observed(
                self.bench,
                client_argv((f"{{server_{n}}}", f"{{job_{n}}}") for n in numbers),
                {"seed": str(seed), **servers.values},
                timeout_seconds=timeout_of(ramp, runtime),
                result_files=TOOL.result_files,
                component=component,
                while_running=while_running,
            )
        hidden(measured, servers.words)
        measured.results["jobs"] = ("jobs.fio", "\n".join(texts).encode())
        seen = clients_in(measured.results.get("output", ("", b""))[1])
        lost = [number for number in numbers if client_name(number) not in seen]
        measured.facts |= {
            "clients_expected": len(numbers),
            "clients_seen": len(numbers) - len(lost),
            "clients_lost": lost,
            "client_hosts": min(len(numbers), len(self.hosts)),
            "ramp_seconds": ramp,
            "runtime_seconds": runtime,
            "client_seeds": [seed + number - 1 for number in numbers],
        }
        self._check_lost(measured, lost, len(numbers))
        return measured

    def _filled(self, cell: Cell, text: str, number: int, seed: int) -> str:
        values: Mapping[str, str | None] = {
            **client_values(self.bench),
            "image": self.protocol.target.of(cell)[number - 1].name,
            "seed": str(seed + number - 1),
            "runtime_seconds": runtime_of(self.design.sizing.target_seconds),
        }
        return render([text], values)[0]

    def _check_lost(self, measured: Measured, lost: Sequence[int], count: int) -> None:
        """Mark a cell that lost clients as invalid, and tell the person on which hosts they ran."""
        if not lost or (measured.invalid is not None and measured.invalid[0] == "timed_out"):
            return
        # fio's exit status is 0 if a client was missing from the start, and 1 if one was lost on the way.
        besides = f"; {measured.invalid[1]}" if measured.invalid else ""
        measured.invalid = ("client_lost", f"{who_was_lost(lost, count, self.hosts)}{besides}")
        if silent := hosts_of(lost, count, self.hosts):
            self.bench.say(f"lost: {', '.join(f'client host {n} is {self.hosts[n - 1]}' for n in silent)}")


def client_name(number: int) -> str:
    """Return the name of a client's job in fio's report; clients are numbered from 1."""
    return f"client-{number}"


def who_was_lost(lost: Sequence[int], count: int, hosts: Sequence[str]) -> str:
    """Return the sentence about clients that did not take part to the end. It names hosts by number only."""
    numbers = ", ".join(map(str, lost))
    sentence = f"{count - len(lost)} of {count} clients took part, without client{'s' * (len(lost) > 1)} {numbers}"
    on = hosts_of(lost, count, hosts)
    return sentence + (f" on client host{'s' * (len(on) > 1)} {', '.join(map(str, on))}" if on else "")


def hosts_of(clients: Sequence[int], count: int, hosts: Sequence[str]) -> list[int]:
    """Return the numbers of the hosts, in the order of the site's file, that these clients ran on.

    It is empty if there is one host, which then needs no number.
    """
    if len(hosts) < 2:
        return []
    placed = spread(count, hosts)
    return [n for n, host in enumerate(hosts, start=1) if set(clients) & set(placed.get(host, []))]


def clients_in(output: bytes) -> set[str]:
    """Return the names of the clients in fio's JSON, or an empty set if it is incomplete."""
    text = output.decode(errors="replace")
    start = re.search(r"^\{", text, re.MULTILINE)
    if start is None:
        return set()
    try:
        data, _ = json.JSONDecoder().raw_decode(text, start.start())
        return {entry["jobname"] for entry in data["client_stats"]} - {ALL_CLIENTS}
    except (ValueError, KeyError, TypeError):
        return set()
