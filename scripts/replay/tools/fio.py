"""fio: its argv, its job file for client/server mode, whether it did what was asked for, and its metrics. Pure.

Its engine is rbd, or one that reads and writes a file (`options["engine"]`: libaio, psync).

fio cannot pass Ceph options to its rbd engine. librbd reads `{conf}` (from the environment variable CEPH_CONF), so the
keyring and options such as `rbd cache = false` belong there. fio 3.33's rbd engine does not support RADOS namespaces.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn

from replay.tools.base import OutputError, Result, Run, Tool, bytes_of, option_text
from replay.tools.fio_report import (
    DIRECTIONS,
    Client,
    Direction,
    merge,
    percentiles_seconds,
    reported_clients,
)

PERCENTILES = (50.0, 95.0, 99.0, 99.9)
#: Operations in flight at the end of the ramp count in `io_bytes` but not in `total_ios`. At least so many may.
_IN_FLIGHT = 1024
_RW = {
    ("read", "seq"): "read", ("write", "seq"): "write", ("rw", "seq"): "rw",
    ("read", "rand"): "randread", ("write", "rand"): "randwrite", ("rw", "rand"): "randrw",
}  # fmt: skip


class Fio(Tool):
    """fio, alone or in client/server mode."""

    name = "fio"
    program = package = "fio"
    result_files: ClassVar[Mapping[str, str]] = {"output": "result.json"}

    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the argv of one job on one image. `job_options` lists the levels and options."""
        job = [f"--{name}={value}" for name, value in job_options(levels, options).items()]
        image = [] if "engine" in options else ["--rbdname={image}"]
        return ["fio", "--output-format=json+", "--output={output}", "--name=cell", *job, *image]

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
        # How many entries a report of others has depends on how it was printed, so only this one counts them.
        return Result(metrics={"clients": float(len(clients)), **metrics(clients)})


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


def job_file(levels: Mapping[str, Any], options: Mapping[str, Any], images: Mapping[str, str]) -> str:
    """Return the text of a job file with a job on each image. `images` maps a job's name to its image's placeholder."""
    lines = ["[global]", *(f"{name}={value}" for name, value in job_options(levels, options).items())]
    for name, image in images.items():
        lines += ["", f"[{name}]", f"rbdname={image}"]
    return "\n".join([*lines, ""])


def server_argv(server: str) -> list[str]:
    """Return the argv of one client's server, which listens on `server`, in fio's notation (`sock:PATH`).

    It runs any job that reaches it, and a job may run commands. So let it listen on a socket in a private folder, and
    use SSH between hosts.
    """
    return ["fio", f"--server={server}"]


def client_argv(servers: Iterable[tuple[str, str]]) -> list[str]:
    """Return the argv of the controller. `servers` has (server, path of the client's job file) for each client."""
    argv = ["fio", "--output-format=json+", "--output={output}"]
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


# What was asked for --------------------------------------------------------------------------------------------------


def check_levels(client: Client, levels: Mapping[str, Any]) -> None:
    """Raise OutputError if fio's options, or what it did, contradict the requested levels."""
    size, echoed = levels.get("io_size_bytes"), bytes_of(str(client.options.get("bs")))
    if None not in (size, echoed) and echoed != size:
        client.place.refuse(f"{client.name}: bs is {echoed}, expected {size}")
    for level, option in (("io_depth", "iodepth"), ("rw", "rw"), ("rw_mix_read", "rwmixread")):
        echo = client.options.get(option)
        if level in levels and echo is not None and str(echo) != str(levels[level]):
            client.place.refuse(f"{client.name}: {option} is {echo}, expected {levels[level]}")
    check_done(client, levels)


def check_done(client: Client, levels: Mapping[str, Any]) -> None:
    """Raise OutputError if what a job did contradicts the requested levels."""

    def refuse(what: str) -> NoReturn:
        client.place.refuse(f"{client.name}: {what}")

    size = levels.get("io_size_bytes")
    in_flight = max(_IN_FLIGHT, int(levels.get("io_depth", 1)) * int(levels.get("jobs", 1)))
    for which, direction in client.directions.items() if size is not None else ():
        # Bytes and latencies count what was completed, operations what was begun after the ramp.
        counts = direction.operations, direction.latency.samples
        if min(abs(direction.io_bytes - count * size) for count in counts) > max(
            in_flight * size, 0.01 * direction.io_bytes
        ):
            refuse(f"{which}s moved {direction.io_bytes:.0f} bytes in {direction.operations:.0f} operations of {size}")
    kind = levels.get("rw", levels.get("io_type"))
    if kind is None or "mixed" in client.directions:
        return
    allowed, needed = _directions_of(str(kind).removeprefix("rand"), levels.get("rw_mix_read"), client)
    if not needed <= set(client.directions) <= allowed:
        refuse(f"it did {' and '.join(sorted(client.directions))}, expected {' and '.join(sorted(needed or allowed))}")


def _directions_of(kind: str, mix: Any, client: Client) -> tuple[set[str], set[str]]:
    """Return which directions a job may have, and which it must have.

    Of a mix, `mix` % are reads. A direction of which only a few operations are expected may have none.
    """
    if kind not in ("rw", "readwrite"):
        return {kind}, {kind}
    both = set(DIRECTIONS)
    if mix is None:
        return both, set()
    operations = math.fsum(direction.operations for direction in client.directions.values())
    shares = {"read": int(mix) / 100, "write": 1 - int(mix) / 100}
    return {which for which in both if shares[which]}, {which for which in both if shares[which] * operations >= 10}


# Metrics -------------------------------------------------------------------------------------------------------------


def metrics(clients: Sequence[Client]) -> dict[str, float]:
    """Return totals over all clients, and also `read_…` and `write_…` if both directions did I/O.

    Rates are the total divided by the longest client's time, as in fio's own "All clients". Without bins, percentiles
    are given only for one client and one direction, where fio's own are the run's. A percentile in the highest bin is
    given as `latency_p99_at_least_seconds`, the bin's start.
    """
    present = _by_direction(clients)
    everything = [direction for several in present.values() for direction in several]
    result = _summary(everything)
    if len(present) > 1:
        for which, several in present.items():
            result |= {f"{which}_{key}": value for key, value in _summary(several).items()}
    return result


def notes(clients: Sequence[Client]) -> tuple[str, ...]:
    """Return what a person should know about the latencies: why percentiles are missing, what is a lower bound."""
    present, measured = _by_direction(clients), metrics(clients)
    everything = [direction for several in present.values() for direction in several if direction.latency.samples]
    if not everything:
        return ("no latency: fio did not measure it",)
    texts = [] if [*_merged_percentiles(everything)] else [_why_no_percentiles(present)]
    bounds = {
        percent: value
        for percent in PERCENTILES
        for name, value in measured.items()
        if name.endswith(_percentile_name(percent, "at_least_"))
    }
    if bounds:
        names, least = ", ".join(f"p{percent:g}" for percent in bounds), math.floor(10 * min(bounds.values())) / 10
        texts.append(f"{names} ≥ {least:g} s: fio's last bin has no upper end")
    for kind in sorted({direction.latency.total for direction in everything} - {""}):
        texts.append(f"its {kind} of latency are those of lat, since those of clat were not measured")
    return tuple(texts)


def _why_no_percentiles(present: Mapping[str, Sequence[Direction]]) -> str:
    if not any(
        direction.latency.percentiles or direction.latency.bins for several in present.values() for direction in several
    ):
        return "no percentiles of latency: the report states none"
    if any(len(several) > 1 for several in present.values()):
        return "no percentiles of latency: several jobs have no bins to merge, which only JSON+ has"
    return "no percentiles of reads and writes together: there are no bins to merge, so they are charted apart"


def _by_direction(clients: Iterable[Client]) -> dict[str, list[Direction]]:
    present: dict[str, list[Direction]] = {}
    for client in clients:
        for which, direction in client.directions.items():
            present.setdefault(which, []).append(direction)
    return {which: present[which] for which in (*DIRECTIONS, "mixed") if which in present}


def _summary(several: Sequence[Direction]) -> dict[str, float]:
    operations = sum(direction.operations for direction in several)
    io_bytes = sum(direction.io_bytes for direction in several)
    seconds = max(direction.seconds for direction in several)
    result = {
        "operations": operations,
        "bytes": io_bytes,
        "duration_seconds": seconds,
        "operations_per_second": operations / seconds,
        "bytes_per_second": io_bytes / seconds,
    }
    samples = sum(direction.latency.samples for direction in several)
    if samples:
        result["latency_mean_seconds"] = (
            math.fsum(direction.latency.mean * direction.latency.samples for direction in several) / samples
        )
        result["latency_min_seconds"] = min(direction.latency.low for direction in several)
        result["latency_max_seconds"] = max(direction.latency.high for direction in several)
        last_bin = min(direction.latency.last_bin for direction in several)
        for percent, value in _merged_percentiles(several):
            name = _percentile_name(percent, "at_least_" if value >= last_bin else "")
            result[name] = min(value, last_bin)
    return result


def _percentile_name(percent: float, bound: str = "") -> str:
    return f"latency_p{percent:g}_{bound}seconds".replace(".", "_")


def _merged_percentiles(several: Sequence[Direction]) -> Iterable[tuple[float, float]]:
    if several and all(direction.latency.bins for direction in several):
        merged = merge(one.latency.bins for one in several)
        return zip(PERCENTILES, percentiles_seconds(merged, PERCENTILES), strict=True)
    if len(several) == 1:
        printed = several[0].latency.percentiles
        return [(percent, printed[percent]) for percent in PERCENTILES if percent in printed]
    return []
