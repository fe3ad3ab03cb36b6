"""Several fio clients that start together in one cell, each on its own image, in fio's client/server mode."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from replay.base.errors import ConfigurationError
from replay.cluster.capabilities import LOCAL_HOSTS, missing
from replay.cluster.running.fio_clients import fio_clients
from replay.cluster.running.fio_ssh import spread
from replay.design.design import Cell
from replay.evidence.record import Measured
from replay.measure.protocol import Driver, WhileRunning, bytes_written
from replay.protocols.drivers.tool import client_values, run_observed, runtime_of
from replay.tools import Result, render
from replay.tools.fio import client_argv, job_file

ALL_CLIENTS = "All clients"
#: Time on top of ramp and runtime: for opening images, merging reports, and tools that end slowly.
PATIENCE_SECONDS = 90.0


class FioClients(Driver):
    """Runs `levels["clients"]` clients. The cell is void unless each of them took part to the end."""

    def begin(self) -> None:
        """Find out where clients run: on the site's hosts if its file allows that, else on this machine."""
        site = self.bench.site
        self.hosts = site.client_hosts if not missing(["client_hosts"], site) else ("localhost",)

    def check(self) -> None:
        """Refuse a site whose images fio cannot reach."""
        refuse_namespace(self.bench.site, self.design.name)

    @property
    def elsewhere(self) -> dict[str, Any]:
        """Return what `fio_clients` needs to know if clients run on other hosts."""
        return {} if set(self.hosts) <= LOCAL_HOSTS else {"hosts": self.hosts, "say": self.bench.say}

    def run(
        self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None, component: str = "tool"
    ) -> Measured:
        """Start all clients together, and return their combined report."""
        count, runtime = int(cell.levels["clients"]), self.design.sizing.target_seconds
        ramp, options = float(self.protocol.option("ramp_seconds", cell)), self.protocol.job_options(cell)
        texts = [job_file(cell.levels, options, client_name(number)) for number in range(1, count + 1)]
        jobs = [self._filled(cell, text, number, seed, runtime) for number, text in enumerate(texts)]
        cluster, client_options = self.bench.primary_cluster, cell.variant.client_options
        with contextlib.ExitStack() as stack:
            with self.bench.costs.measure("prepare"):
                clients = stack.enter_context(
                    fio_clients(cluster, client_options, jobs, slot=self.bench.slot, **self.elsewhere)
                )
            measured = run_observed(
                self.bench,
                client_argv((f"{{server_{n}}}", f"{{job_{n}}}") for n in range(1, count + 1)),
                {"seed": str(seed), **clients.values},
                timeout_seconds=PATIENCE_SECONDS + 2 * (ramp + runtime),
                result_files={"output": "result.json"},
                component=component,
                while_running=while_running,
            )
        measured.results = {role: (name, clients.hide(content)) for role, (name, content) in measured.results.items()}
        measured.results["jobs"] = ("jobs.fio", "\n".join(texts).encode())
        seen = clients_in(measured.results.get("output", ("", b""))[1])
        lost = [number for number in range(1, count + 1) if client_name(number) not in seen]
        measured.facts |= {
            "clients_expected": count,
            "clients_seen": count - len(lost),
            "clients_lost": lost,
            "client_hosts": min(count, len(self.hosts)),
            "ramp_seconds": ramp,
            "runtime_seconds": runtime,
            "client_seeds": [seed + number for number in range(count)],
        }
        if lost and (measured.invalid is None or measured.invalid[0] != "timed_out"):
            # fio's exit status is 0 if a client was missing from the start, and 1 if one was lost on the way.
            besides = f"; {measured.invalid[1]}" if measured.invalid else ""
            measured.invalid = ("client_lost", f"{who_was_lost(lost, count, self.hosts)}{besides}")
            if silent := hosts_of(lost, count, self.hosts):
                self.bench.say(f"lost: {', '.join(f'client host {n} is {self.hosts[n - 1]}' for n in silent)}")
        if measured.invalid is not None:
            measured.invalid = (measured.invalid[0], clients.hide(measured.invalid[1].encode()).decode())
        return measured

    def written_bytes(self, cell: Cell, result: Result) -> float:
        """Return the bytes written. fio's report leaves out the ramp, which is added at the reported rate."""
        ramp = float(self.protocol.option("ramp_seconds", cell))
        return bytes_written(cell, result.metrics) * (1 + ramp / result.metrics["duration_seconds"])

    def _filled(self, cell: Cell, text: str, number: int, seed: int, runtime: float) -> str:
        values: Mapping[str, str | None] = {
            **client_values(self.bench),
            "image": self.protocol.target.of(cell)[number].name,
            "seed": str(seed + number),
            "runtime_seconds": runtime_of(runtime),
        }
        return render([text], values)[0]


def refuse_namespace(site: Any, experiment: str) -> None:
    """Raise ConfigurationError if the site's data pool has a namespace, which fio's rbd engine does not support."""
    if site.pools.data.namespace:
        raise ConfigurationError(
            "fio's rbd engine does not support RADOS namespaces",
            where=f"config/sites/{site.name}.yaml, pools.data.namespace",
            next_step=f"measure {experiment} on a site whose data pool has no namespace",
        )


def client_name(number: int) -> str:
    """Return the name of a client's job in fio's report; clients are numbered from 1."""
    return f"client-{number}"


def who_was_lost(lost: Sequence[int], count: int, hosts: Sequence[str]) -> str:
    """Return the sentence about clients that did not take part to the end. It names hosts by number only."""
    numbers = ", ".join(map(str, lost))
    said = f"{count - len(lost)} of {count} clients took part, without client{'s' * (len(lost) > 1)} {numbers}"
    on = hosts_of(lost, count, hosts)
    return said + (f" on client host{'s' * (len(on) > 1)} {', '.join(map(str, on))}" if on else "")


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
