"""What drivers share: the tools' options and factors, one observed run of a tool, and the log of a cell's steps."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from replay.base.clock import utc_text
from replay.base.programs import Programs
from replay.cluster.cluster import Cluster
from replay.cluster.running import ToolRun, last_line, run_tool
from replay.design import sizing
from replay.design.design import Cell
from replay.design.needs import NUMBER, TEXT, WHOLE, Factor, Option
from replay.design.sizing import Write
from replay.evidence.record import Measured
from replay.measure.bench import Bench
from replay.measure.protocol import Driver, WhileRunning
from replay.ownership.locks import SlotLock
from replay.tools import Result, render
from replay.tools.by_level import levels_of

IO_SIZE = Factor("io_size_bytes", "bytes of each operation", required=True)
IO_PATTERN = Factor("io_pattern", "where operations go", words=("rand", "seq"))
RW_MIX = Factor("rw_mix_read", "percent of reads in a mix", can_be_zero=True)

FIO_TYPES = ("read", "write", "rw", "randread", "randwrite", "randrw")
FIO_FACTORS = (
    Factor("io_type", "what operations do, as fio names it", words=FIO_TYPES, required=True),
    IO_PATTERN,
    IO_SIZE,
    RW_MIX,
)
IO_DEPTH = Option("io_depth", WHOLE, "operations", "operations in flight per client", default=16, varies=True)
RAMP = Option(
    "ramp_seconds", NUMBER, "seconds", "how long the load runs before fio's report begins", default=1, can_be_zero=True
)
FIO_OPTIONS = (IO_DEPTH, RAMP)
RATE_IO_DEPTH = Option(
    "rate_io_depth", WHOLE, "operations", "the most operations in flight at an offered rate", default=128
)
CLIENTS = Factor("clients", "how many clients start together, each with an image of its own", required=True)

FIO_FILE_OPTION = Option(
    "file_size_bytes", WHOLE, "bytes", "the size of the file, or of the part of an image, that is used"
)
ENGINE = Option("engine", TEXT, "", "fio's engine for files, such as libaio or psync")


class ByLevel(Driver):
    """One driver for each value of a level. Each is asked only about its own cells."""

    def __init__(self, level: str, drivers: Mapping[str, Driver]) -> None:
        self.level, self.drivers = level, drivers

    def begin(self) -> None:
        self.drivers = {value: driver.bound_to(self.protocol) for value, driver in self.drivers.items()}

    def check(self) -> None:
        """Refuse what a driver that has cells refuses."""
        for value in {str(cell.levels[self.level]) for cell_set in self.design.sets for cell in cell_set.cells}:
            self.drivers[value].check()

    def driver_of(self, cell: Cell) -> Driver:
        return self.drivers[str(cell.levels[self.level])]

    def run(self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None) -> Measured:
        return self.driver_of(cell).run(in_words_of_tool(cell), seed, while_running=while_running)

    def expected_writes(self, cell: Cell) -> list[Write]:
        return self.driver_of(cell).expected_writes(in_words_of_tool(cell))

    def written_bytes(self, cell: Cell, result: Result) -> float:
        return self.driver_of(cell).written_bytes(in_words_of_tool(cell), result)


def in_words_of_tool(cell: Cell) -> Cell:
    return replace(cell, levels=levels_of(cell.levels))


def cluster_values(cluster: Cluster, prefix: str = "") -> dict[str, str | None]:
    """Return the values of `{conf} {client} {keyring}` for a cluster; `prefix` begins these names."""
    return {
        f"{prefix}conf": str(cluster.conf),
        f"{prefix}client": cluster.client,
        f"{prefix}keyring": str(cluster.keyring) if cluster.keyring else None,
    }


def client_values(bench: Bench) -> dict[str, str | None]:
    """Return the values of `{conf} {client} {keyring} {pool} {namespace}` on this site."""
    data = bench.site.pools.data
    return {**cluster_values(bench.primary_cluster), "pool": data.name, "namespace": data.namespace or None}


#: Placeholders that a sidecar's argv has the values of.
_PUBLIC = ("io_total_bytes", "operations", "seed")


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
    sidecar's argv is the template with `{io_total_bytes}`, `{operations}` and `{seed}` filled in, but nothing that
    names this site. `environment` adds to the runner's environment; it is not recorded.
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
    shown = {name: values[name] if name in _PUBLIC else f"{{{name}}}" for name in {**values, **paths}}
    measured = Measured(
        argv=render(list(template), shown),
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
        measured.invalid = ("failed", f"exit status {run.exit_status}: {last_line(run.stderr)[:200] or 'silent'}")
    return measured


def hidden(measured: Measured, words: Mapping[str, str]) -> Measured:
    """Replace words that name this machine or an image with placeholders; return the cell.

    They may be in a cell's results, and in what a program said when it failed.
    """
    for word, placeholder in words.items():
        for role, (name, content) in measured.results.items():
            measured.results[role] = (name, content.replace(word.encode(), placeholder.encode()))
        if measured.invalid is not None:
            reason, detail = measured.invalid
            measured.invalid = (reason, detail.replace(word, placeholder))
    return measured


def writes(cell: Cell) -> bool:
    return sizing.writes(cell.levels)


def bytes_written(cell: Cell, metrics: Mapping[str, float]) -> float:
    """Return how many bytes a cell's clients wrote, from a tool's metrics: of a mix with reads, only the writes."""
    return metrics.get("write_bytes", metrics.get("bytes", 0.0)) if writes(cell) else 0.0


def is_journaled(cell: Cell) -> bool:
    return "journaling" in cell.variant.image.features


def longest_gap(seconds: Iterable[float]) -> float | None:
    """Return for how long a client stood still: the longest time between two of these moments; None without any."""
    return max((round(later - earlier, 6) for earlier, later in pairwise(sorted(seconds))), default=None)


def runtime_of(seconds: float) -> str:
    """Return a runtime for fio: in milliseconds, with their unit, because fio takes only whole numbers."""
    return f"{seconds * 1000:.0f}ms"


MOST_SAID = 2000


class StepLog:
    """Runs commands and logs each as a step. Times are seconds of the monotonic clock since `origin`.

    `values` fill the placeholders of argv. In the log, placeholders stay in place of names and paths of this site.
    `programs` says which installation's programs the commands run.
    """

    def __init__(
        self,
        values: Mapping[str, str | None],
        slot: SlotLock | None = None,
        *,
        programs: Programs,
    ) -> None:
        self.origin = time.monotonic()
        self.values = dict(values)
        self.slot = slot
        self.programs = programs
        self.lines: list[dict[str, Any]] = []

    def now(self) -> float:
        """Return the seconds since `origin`."""
        return time.monotonic() - self.origin

    def rbd(self, prefix: str = "") -> list[str]:
        """Return the start of an `rbd` command on the cluster whose values' names begin with `prefix`."""
        keyring = ["--keyring", f"{{{prefix}keyring}}"] if self.values.get(f"{prefix}keyring") else []
        return ["rbd", "--conf", f"{{{prefix}conf}}", "--name", f"{{{prefix}client}}", *keyring]

    def command(
        self,
        step: str,
        template: Sequence[str],
        *,
        timeout_seconds: float = 60.0,
        while_running: Callable[[], None] | None = None,
        programs: Programs | None = None,
        **more: Any,
    ) -> ToolRun:
        """Run a command as a step and return its run. Any exit status is accepted.

        `while_running` is called again and again; what it raises ends the command. `programs` are those of another
        site, if it runs there.
        """
        started = self.now()
        argv = render(list(template), self.values)
        run = run_tool(
            argv,
            timeout_seconds=timeout_seconds,
            programs=programs or self.programs,
            slot=self.slot,
            while_running=while_running and (lambda elapsed: while_running()),
        )
        said = (run.stdout + run.stderr).decode(errors="replace")
        self.add(step, started, run.seconds, argv=template, exit_status=run.exit_status, said=said, **more)
        return run

    def add(
        self,
        step: str,
        started_seconds: float,
        seconds: float,
        *,
        argv: Sequence[str] = (),
        exit_status: int | None = 0,
        said: str = "",
        **more: Any,
    ) -> None:
        """Log a step; `more` are further keys of its line."""
        began = datetime.now(UTC).timestamp() - (self.now() - started_seconds)
        self.lines.append(
            {
                "step": step,
                "argv": list(argv),
                "started_at": utc_text(datetime.fromtimestamp(began, UTC)),
                "started_seconds": round(started_seconds, 6),
                "seconds": round(seconds, 6),
                "exit_status": exit_status,
                "said": self.hide(said.strip())[:MOST_SAID],
                **more,
            }
        )

    def hide(self, text: str) -> str:
        """Return `text` with placeholders instead of this site's names and paths. The longest are replaced first."""
        named = [
            (value, name)
            for name, value in self.values.items()
            if value and (name in _HIDDEN or name.startswith("image"))
        ]
        for value, name in sorted(named, key=lambda pair: -len(pair[0])):
            text = text.replace(value, f"{{{name}}}")
        return text

    def content(self) -> bytes:
        """Return the log as JSON lines, in the order in which the steps started."""
        ordered = sorted(self.lines, key=lambda line: line["started_seconds"])
        return "".join(json.dumps(line, sort_keys=True) + "\n" for line in ordered).encode()


_HIDDEN = ("conf", "keyring", "second_conf", "second_keyring", "copy")
