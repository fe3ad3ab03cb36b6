"""Runs one tool of a cell: fills in its arguments, observes it, limits its time, collects its result files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.cluster.cluster import Cluster
from replay.cluster.running.process import run_tool
from replay.evidence.record import Measured
from replay.measure.bench import Bench
from replay.tools import render


def client_values(bench: Bench) -> dict[str, str | None]:
    """Return the values of `{conf} {client} {keyring} {pool} {namespace}` on this site."""
    cluster, data = bench.primary_cluster, bench.site.pools.data
    return {
        "conf": str(cluster.conf),
        "client": cluster.client,
        "keyring": str(cluster.keyring) if cluster.keyring else None,
        "pool": data.name,
        "namespace": data.namespace or None,
    }


def rbd_template(cluster: Cluster, prefix: str = "") -> list[str]:
    """Return the start of an `rbd` command on a cluster, with the placeholders `{conf} {client} {keyring}`."""
    keyring = ["--keyring", f"{{{prefix}keyring}}"] if cluster.keyring else []
    return ["rbd", "--conf", f"{{{prefix}conf}}", "--name", f"{{{prefix}client}}", *keyring]


def tool_options(bench: Bench, options: Mapping[str, Any], client_options: Mapping[str, str]) -> dict[str, Any]:
    """Return an adapter's options: the design's, the variant's client options, and those that this site needs."""
    return {
        **options,
        "client_options": dict(client_options),
        "keyring": bench.primary_cluster.keyring is not None,
        "namespace": bool(bench.site.pools.data.namespace),
    }


def run_observed(
    bench: Bench,
    template: Sequence[str],
    values: Mapping[str, str | None],
    *,
    timeout_seconds: float,
    component: str = "tool",
    result_files: Mapping[str, str] | None = None,
    while_running: Callable[[float], None] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Measured:
    """Run a tool, read the machine's counters right before and after it, and return the results.

    `result_files` maps a role to a suffix; the tool writes to the path that replaces `{role}` in the template. The
    sidecar's argv is the template with `{io_total_bytes}` and `{seed}` filled in, but nothing that names this site.
    `environment` adds to the runner's environment; it is not recorded.
    """
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        paths = {role: Path(folder) / f"{role}.{suffix}" for role, suffix in (result_files or {}).items()}
        argv = render(list(template), {**values, **{role: str(path) for role, path in paths.items()}})
        with bench.costs.measure(component):
            before = bench.sampler.read()
            run = run_tool(
                argv,
                timeout_seconds=timeout_seconds,
                programs=bench.programs,
                slot=bench.slot,
                environment=environment,
                while_running=while_running,
            )
            after = bench.sampler.read()
        results = {"stdout": ("stdout", run.stdout), "stderr": ("stderr", run.stderr)}
        for role, path in paths.items():
            if path.exists():
                results[role] = (result_files[role], path.read_bytes())
    public = {"io_total_bytes", "seed"} & values.keys()
    shown = [_fill_public(argument, {name: str(values[name]) for name in public}) for argument in template]
    measured = Measured(
        argv=shown,
        results=results,
        exit_status=run.exit_status,
        started_at=run.started_at,
        ended_at=run.ended_at,
        tool_seconds=run.seconds,
        load=bench.sampler.load(before, after),
        tool_cpu_seconds=run.cpu_seconds,
    )
    if run.exit_status is None:
        measured.invalid = ("timed_out", f"killed after {timeout_seconds:.0f} s")
    elif run.exit_status != 0:
        last = run.stderr.decode(errors="replace").strip().splitlines()
        measured.invalid = ("failed", f"exit status {run.exit_status}: {last[-1][:200] if last else 'silent'}")
    return measured


def hidden(measured: Measured, words: Mapping[str, str]) -> Measured:
    """Replace words that name this machine or an image with placeholders in a cell's results; return the cell."""
    for word, placeholder in words.items():
        for role, (name, content) in measured.results.items():
            measured.results[role] = (name, content.replace(word.encode(), placeholder.encode()))
    return measured


def runtime_of(seconds: float) -> str:
    """Return a runtime for fio: in milliseconds, with their unit, because fio takes only whole numbers."""
    return f"{seconds * 1000:.0f}ms"


def _fill_public(argument: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        argument = argument.replace(f"{{{name}}}", value)
    return argument
