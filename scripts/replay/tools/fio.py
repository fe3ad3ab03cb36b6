"""fio: its argv, its job file for client/server mode, and what its JSON must say.

Its engine is rbd, or one that reads and writes a file (`options["engine"]`: libaio, psync).

fio cannot pass Ceph options to its rbd engine. librbd reads `{conf}` (from the environment variable CEPH_CONF), so the
keyring and options such as `rbd cache = false` belong there. fio 3.33's rbd engine does not support RADOS namespaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from replay.tools.base import OutputError, Result, Run, Tool, option_text
from replay.tools.fio_report import Client, check_levels, histogram, metrics, reported_clients

_RW = {
    ("read", "seq"): "read", ("write", "seq"): "write", ("rw", "seq"): "rw",
    ("read", "rand"): "randread", ("write", "rand"): "randwrite", ("rw", "rand"): "randrw",
}  # fmt: skip


class Fio(Tool):
    """fio, alone or in client/server mode."""

    name = "fio"
    program = package = "fio"

    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the argv of one job on one image. `job_options` lists the levels and options."""
        job = [f"--{name}={value}" for name, value in job_options(levels, options).items()]
        image = [] if "engine" in options else ["--rbdname={image}"]
        return ["fio", "--output-format=json+", "--output={output}", "--name=cell", *job, *image]

    def result_files(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
        """Return the JSON file that `--output` names."""
        return {"output": "result.json"}

    def read(self, run: Run) -> Result:
        """Parse the JSON (`output`, else stdout) of a single job or of client/server mode.

        `levels["clients"]`, if given, is how many clients must have taken part. Latencies are completion latencies
        (`clat`). Percentiles come from merged bins if the report has bins.
        """
        role = "output" if run.text("output").strip() or "stdout" not in run.texts else "stdout"
        clients = reported_clients(run, role)
        _check_took_part(clients, run.levels, run.file(role))
        for client in clients:
            check_levels(client, run.levels)
        return Result(metrics=metrics(clients), histogram=lambda: histogram(clients))


TOOL = Fio()


def job_options(levels: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
    """Return fio's options for a job: without the image, or with `{file}` if `options["engine"]` names an engine.

    `levels`: `rw` or `io_type` in fio's words, or `io_type` (read, write, rw) with `io_pattern`; `io_size_bytes`;
    `rw_mix_read` for mixed workloads; `io_depth`. `options`: `io_depth` (16), `ramp_seconds` (1), `fio_options` (any
    others). The runtime is the placeholder `{runtime_seconds}`, the seed is `{seed}`. Without `randrepeat=0`, fio 3.33
    would repeat the same offsets. The job is a thread. A job that is a process would outlive a fio that is killed, and
    would run forever if fio had not told it to start yet. Raises KeyError if a level is missing.
    """
    job = {
        **_target(options),
        "thread": "1",
        "rw": rw_of(levels),
        "bs": str(levels["io_size_bytes"]),
        "iodepth": str(levels.get("io_depth", options.get("io_depth", 16))),
        **_length(options),
        "randrepeat": "0",
        "randseed": "{seed}",
    }
    if "rw_mix_read" in levels:
        job["rwmixread"] = str(levels["rw_mix_read"])
    more = options.get("fio_options") or {}
    return job | {name: option_text(value) for name, value in more.items()}


def _target(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the options for the target: an image, or the file `{file}`, read and written past the page cache."""
    if "engine" in options:
        size = str(options["file_size_bytes"])
        return {"ioengine": str(options["engine"]), "filename": "{file}", "direct": "1", "size": size}
    # A cluster name makes fio take the client's full name (`client.x`) instead of its id.
    return {"ioengine": "rbd", "clustername": "ceph", "clientname": "{client}", "pool": "{pool}"}


def _length(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the options for the job's length. With `options["most_bytes"]` it ends once it transferred that many.

    fio applies `io_size` only to jobs that are not `time_based`, and counts the ramp's bytes towards it.
    """
    runtime = {"runtime": "{runtime_seconds}", "ramp_time": str(options.get("ramp_seconds", 1))}
    if "most_bytes" in options:
        return {**runtime, "io_size": str(options["most_bytes"])}
    return {"time_based": "1", **runtime}


def rw_of(levels: Mapping[str, Any]) -> str:
    """Return fio's word for the workload: `randread`, `write`, `randrw`, …"""
    word = str(levels.get("rw", levels.get("io_type")))
    return _RW[word, str(levels["io_pattern"])] if "io_pattern" in levels else word


def job_file(levels: Mapping[str, Any], options: Mapping[str, Any], client: str) -> str:
    """Return the text of one client's job file. The job is named `client`; the image is the placeholder `{image}`."""
    lines = ["[global]", *(f"{name}={value}" for name, value in job_options(levels, options).items())]
    return "\n".join([*lines, "", f"[{client}]", "rbdname={image}", ""])


def server_argv(server: str) -> list[str]:
    """Return the argv of one client's server, which listens on `server`, in fio's notation (`sock:PATH`).

    It runs any job that reaches it, and a job may run commands. So let it listen on a socket in a private folder, and
    use SSH between hosts.
    """
    return ["fio", f"--server={server}"]


def client_argv(servers: Iterable[tuple[str, str]], output: str = "{output}") -> list[str]:
    """Return the argv of the controller. `servers` has (server, path of the client's job file) for each client."""
    argv = ["fio", "--output-format=json+", f"--output={output}"]
    for server, job in servers:
        argv += [f"--client={server}", job]
    return argv


def _check_took_part(clients: list[Client], levels: Mapping[str, Any], file: str) -> None:
    """Refuse a run that lost a client: fio still exits with 0, and lists fewer clients or one that did nothing."""
    idle = [client for client in clients if not client.directions]
    if idle:
        what = f"no I/O was done by {', '.join(client.name for client in idle)}"
        idle[0].place.refuse(what, reason="client_lost" if len(clients) > 1 else "failed")
    expected = levels.get("clients")
    if expected is not None and len(clients) != expected:
        raise OutputError(f"{len(clients)} of {expected} clients took part", file=file, reason="client_lost")
