"""Several clients at once, started together inside one cell by fio's own client/server mode."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.cluster.capabilities import LOCAL_HOSTS, missing
from replay.design.design import Cell, CellSet, Image
from replay.design.media import Write
from replay.measure.procedure import Protocol, is_journaled, parse_and_judge
from replay.owned.image_sets import create_images
from replay.owned.images import BlockImage, create_image, remove_images
from replay.procedures.parts.tool_run import client_values, run_observed
from replay.raw.record import Measured, Wait
from replay.tools import Result, adapter, render
from replay.tools.fio import client_argv, job_file
from replay.tools.running.fio_clients import fio_clients

ALL_CLIENTS = "All clients"
#: On top of ramp and runtime: opening the images, merging, and tools that end slowly.
PATIENCE_SECONDS = 90.0


class MultiClient(Protocol):
    """Runs `levels["clients"]` fio clients at once, each against an image of its own."""

    overhead_seconds = 2.7

    def __init__(self, bench, design) -> None:
        super().__init__(bench, design)
        self.adapter = adapter(design.configuration["tool"])
        self.program = self.adapter.program
        self.images: dict[str, list[BlockImage]] = {}
        self._check()
        #: Where clients run: the site's hosts where its file allows that, else this machine.
        self._hosts = bench.site.client_hosts if not missing(["client_hosts"], bench.site) else ("localhost",)

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Create and fill the images of each variant: as many as the most clients of the sets that are to run."""
        create_images(self.bench, sets, "clients", self.images, create=self._create_image)

    def close_block(self) -> None:
        """Remove this block's images."""
        images = [made for several in self.images.values() for made in several]
        self.images.clear()
        remove_images(self.bench, images)

    def run(self, cell: Cell, seed: int) -> Measured:
        """Start all clients together; assert that each of them took part to the end."""
        count = int(cell.levels["clients"])
        runtime = self.design.sizing.target_seconds
        ramp = float(self.design.options.get("ramp_seconds", 1))
        options_of_job = self._options(cell)
        texts = [job_file(cell.levels, options_of_job, f"client-{number}") for number in range(1, count + 1)]
        jobs = [self._filled(cell, text, number, seed, runtime) for number, text in enumerate(texts)]
        cluster, options = self.bench.primary_cluster, cell.variant.client_options
        with contextlib.ExitStack() as stack:
            with self.bench.costs.measure("prepare"):
                clients = stack.enter_context(
                    fio_clients(cluster, options, jobs, slot=self.bench.slot, **self._elsewhere)
                )
            measured = self._observe(
                client_argv((f"{{server_{n}}}", f"{{job_{n}}}") for n in range(1, count + 1)),
                {"seed": str(seed), **clients.values},
                timeout_seconds=PATIENCE_SECONDS + 2 * (ramp + runtime),
                result_files={"output": "result.json"},
            )
        measured.results = {role: (name, clients.hide(content)) for role, (name, content) in measured.results.items()}
        measured.results["jobs"] = ("jobs.fio", "\n".join(texts).encode())
        measured.facts |= {
            "clients_expected": count,
            "clients_seen": len(clients_in(measured.results.get("output", ("", b""))[1])),
            "client_hosts": min(count, len(self._hosts)),
            "ramp_seconds": ramp,
            "runtime_seconds": runtime,
            "client_seeds": [seed + number for number in range(count)],
        }
        result = self._judge(cell, measured)
        if result is not None:
            self._account(cell, result, ramp)
            measured.headline = f"{result.metrics['operations_per_second']:,.0f} operations/s"
        return measured

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Nothing stays: the servers have ended, the images belong to the block."""
        return []

    @property
    def _elsewhere(self) -> dict[str, Any]:
        """What `fio_clients` has to know where clients run on other hosts than this machine."""
        return {} if set(self._hosts) <= LOCAL_HOSTS else {"hosts": self._hosts, "say": self.bench.say}

    def _create_image(self, suffix: str, image: Image, image_name: str) -> BlockImage:
        """Create and fill one image of the variants that share `image_name`."""
        return create_image(self.bench, suffix, image)

    def _options(self, cell: Cell) -> dict[str, Any]:
        """Return fio's options of a cell's jobs, see `job_options`; a protocol built on this one adds its own."""
        return dict(self.design.options)

    def _observe(self, template: Sequence[str], values: Mapping[str, str | None], **how: Any) -> Measured:
        """Run the controller, as `run_observed` does; a protocol built on this one may look on while it runs."""
        return run_observed(self.bench, template, values, **how)

    def _check(self) -> None:
        """Refuse what this protocol cannot do, before anything is created."""
        where = f"config/experiments/{self.design.name}.yaml"
        if self.adapter.name != "fio":
            raise ConfigurationError(f"multi_client runs fio, not {self.adapter.name}", where=where)
        if "clients" not in self.design.factors:
            raise ConfigurationError("multi_client needs the factor `clients`", where=where)
        mirrored = [variant.name for variant in self.design.variants if variant.image.mirroring]
        if mirrored:
            raise ConfigurationError(f"multi_client has no mirrored variants: {', '.join(mirrored)}", where=where)
        if self.bench.site.pools.data.namespace:
            raise ConfigurationError(
                "fio's rbd engine knows no RADOS namespace",
                where=f"config/sites/{self.bench.site.name}.yaml, pools.data.namespace",
                next_step=f"measure {self.design.name} on a site whose data pool has none",
            )

    def _filled(self, cell: Cell, text: str, number: int, seed: int, runtime: float) -> str:
        values: Mapping[str, str | None] = {
            **client_values(self.bench),
            "image": self.images[cell.variant.image_name][number].name,
            "seed": str(seed + number),
            # fio takes whole seconds, or milliseconds by their unit.
            "runtime_seconds": f"{runtime * 1000:.0f}ms",
        }
        return render([text], values)[0]

    def _judge(self, cell: Cell, measured: Measured) -> Result | None:
        """Set `measured.invalid` where the output cannot stand; return the result where it can."""
        expected, seen = measured.facts["clients_expected"], measured.facts["clients_seen"]
        if seen != expected and (measured.invalid is None or measured.invalid[0] != "timed_out"):
            # fio ends with status 0 when a client is missing, and with 1 when one was lost on the way.
            besides = f"; {measured.invalid[1]}" if measured.invalid else ""
            measured.invalid = ("client_lost", f"{seen} of {expected} clients took part{besides}")
        if measured.invalid:
            return None
        return parse_and_judge(self.adapter, cell, measured, self.design.sizing.minimum_seconds)

    def _account(self, cell: Cell, result: Result, ramp_seconds: float) -> None:
        """Charge what was written to the account; the ramp, which fio leaves out, at the rate of what it reports."""
        if "write" not in str(cell.levels["io_type"]) and "rw" not in str(cell.levels["io_type"]):
            return
        metrics = result.metrics
        written = metrics.get("write_bytes", metrics["bytes"])
        share = 1 + ramp_seconds / metrics["duration_seconds"]
        self.bench.account(Write(written * share, journaled=is_journaled(cell)))


def clients_in(output: bytes) -> set[str]:
    """Return the names of the clients in fio's JSON; none where it is not whole."""
    text = output.decode(errors="replace")
    start = re.search(r"^\{", text, re.MULTILINE)
    if start is None:
        return set()
    try:
        data, _ = json.JSONDecoder().raw_decode(text, start.start())
        return {entry["jobname"] for entry in data["client_stats"]} - {ALL_CLIENTS}
    except (ValueError, KeyError, TypeError):
        return set()


PROTOCOL = MultiClient
