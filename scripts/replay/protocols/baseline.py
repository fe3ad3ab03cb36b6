"""What the disk under the OSDs and the network can do without Ceph: the upper bounds of other experiments.

The disk is measured through a file of Replay's own on the file system that holds a sandbox's OSDs, the network on
loopback or between a site's client hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.cluster.site import Site
from replay.design.design import Cell
from replay.design.media import Write
from replay.design.needs import WHOLE, Factor, Needs, Option
from replay.evidence.record import Measured
from replay.measure.protocol import Driver, Protocol, WhileRunning, throughput
from replay.protocols.drivers.fio_process import FioProcess
from replay.protocols.drivers.network import TwoEnds
from replay.protocols.drivers.tool import ENGINE, FIO_FILE_OPTION, IO_DEPTH, IO_SIZE
from replay.protocols.targets.images import OsdFile
from replay.tools import Result, iperf3
from replay.tools.baseline import MEDIA, NETWORK


class ByResource(Driver):
    """One driver for each resource."""

    drivers: Mapping[str, Driver] = {MEDIA: FioProcess(), NETWORK: TwoEnds(iperf3.TOOL)}

    def begin(self) -> None:
        """Bind the drivers to the block."""
        self.drivers = {resource: driver.bound_to(self.protocol) for resource, driver in self.drivers.items()}

    def lacking(self, site: Site) -> dict[str, str]:
        """Return what the network lacks; the target reports what the disk lacks."""
        return self.drivers[NETWORK].lacking(site)

    def run(self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None) -> Measured:
        """Run the tool of the cell's resource."""
        measured = self.drivers[cell.levels["resource"]].run(cell, seed, while_running=while_running)
        if cell.levels["resource"] == MEDIA:
            measured.facts["file_size_bytes"] = self.protocol.option("file_size_bytes")
        return measured

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what the tool may write."""
        return self.drivers[cell.levels["resource"]].expected_writes(cell)

    def written_bytes(self, cell: Cell, result: Result) -> float:
        """Return how many bytes the tool wrote."""
        return self.drivers[cell.levels["resource"]].written_bytes(cell, result)


class Baseline(Protocol):
    """Runs fio on a file of the OSDs' file system (`resource` media), or iperf3 (`resource` network)."""

    needs = Needs(
        tools=("baseline",),
        factors=(
            Factor("resource", "what is measured", words=(MEDIA, NETWORK), required=True),
            Factor("io_type", "what operations do, as fio names it; only media have one"),
            IO_SIZE,
        ),
        options=(
            ENGINE,
            IO_DEPTH,
            FIO_FILE_OPTION,
            Option("most_bytes", WHOLE, "bytes", "the most that a cell may move"),
        ),
        programs=("fio", "iperf3", "timeout"),
        programs_elsewhere=("ssh",),
    )
    target = OsdFile()
    driver = ByResource()
    #: iperf3 says why it failed on stdout only.
    read_after = ("failed",)

    def job_options(self, cell: Cell) -> dict[str, Any]:
        """Return the tool's options, without a ramp: these tools need none."""
        return {**self.design.options, "ramp_seconds": 0}

    def headline(self, metrics: Mapping[str, float]) -> str:
        """Return the rate in bytes."""
        return throughput(metrics)

    def check(self) -> None:
        """Refuse a network variant with an io_type, and a media variant without one."""
        for cell in (cell for one in self.design.sets for cell in one.cells):
            if (cell.levels["resource"] == MEDIA) != ("io_type" in cell.levels):
                self.refuse(f"{cell.variant.name}: only media have an io_type")


PROTOCOL = Baseline
