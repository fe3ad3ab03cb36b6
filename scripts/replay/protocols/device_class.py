"""A fast and a capped device class: the same disks, of which some are limited to a number of operations a second.

Images and objects are measured on either, and with the journal on the other. The OSDs with the lowest numbers are fast,
and as many with the highest numbers are capped. If there is an odd number, the middle one takes no part. The ledger
names classes and caps before they are set; foreign clusters are refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, ReplayError, cleaning_up
from replay.cluster import sandbox_record
from replay.cluster.site import Site
from replay.design.design import Cell, CellSet, Variant
from replay.design.needs import WHOLE, Factor, Needs, Option
from replay.evidence.record import Measured, Wait
from replay.measure.bench import Bench
from replay.measure.protocol import Observer, Protocol
from replay.ownership.daemon_settings import Osd, OsdSettings
from replay.ownership.pools import PoolSpec, await_pools, create_pool, remove_leftover_pools
from replay.ownership.removal import remove_owned_leftovers
from replay.protocols.drivers.rados_bench import RADOS_FACTORS, RADOS_OPTIONS, RadosRounds
from replay.protocols.observers.daemons import await_quiet
from replay.protocols.single_tool import SingleTool
from replay.protocols.targets.images import Images
from replay.protocols.targets.objects import ObjectPools
from replay.sandbox import daemons
from replay.sandbox.interventions import IoCap, device_of, find_hierarchy
from replay.tools import Result

#: Values of the level `device_class`.
FAST, CAPPED = "fast", "capped"
#: The kernel applies a cap in slices of time, so a cell may exceed it by this many seconds' worth.
SLICE_SECONDS = 0.5
#: The capped OSDs have finished their work if they did fewer than this many reads and writes in this many seconds.
QUIET_OPERATIONS, QUIET_SECONDS, QUIET_WITHIN_SECONDS = 5, 0.5, 120.0


@dataclass(frozen=True)
class CappedReading:
    """The reads and writes of each capped OSD so far, in operations that reached the disk."""

    at: float
    counts: tuple[tuple[int, int], ...]

    @property
    def operations(self) -> int:
        """The reads and writes of all capped OSDs so far."""
        return sum(map(sum, self.counts))


class DeviceClasses:
    """The classes of one block: created by `open`, slowed by `cap`, removed by `close`."""

    def __init__(self, bench: Bench, options: Mapping[str, Any], *, application: str) -> None:
        self.bench, self.options, self.application = bench, options, application
        self.cap_iops = int(options["cap_iops"])
        self.settings = OsdSettings(bench)
        #: Names of pools, by the class.
        self.pools: dict[str, str] = {}
        self.replicas = 0
        self.capped: list[Osd] = []
        self.caps: dict[int, IoCap] = {}

    @property
    def facts(self) -> dict[str, int]:
        """Facts about the classes for a sidecar."""
        return {
            "replicas": self.replicas,
            "osds_per_class": len(self.capped),
            "cap_iops": self.cap_iops,
        }

    def open(self) -> None:
        """Assign the classes, and create a pool on each. Raises ConfigurationError with fewer than two OSDs."""
        osds = self.settings.osds()
        each = len(osds) // 2
        if not each:
            raise ConfigurationError("two device classes need at least two OSDs", where=f"site {self.bench.site.name}")
        fast, self.capped = osds[:each], osds[-each:]
        self.replicas = min(int(self.options["most_replicas"]), each)
        self.bench.say(f"creating two device classes of {each} OSD{'s'[: each != 1]} each, with a pool on each")
        with self.bench.costs.measure("prepare"):
            for name, members in ((FAST, fast), (CAPPED, self.capped)):
                for osd in members:
                    self.settings.set_device_class(osd, f"replay-{name}")
        for name in (FAST, CAPPED):
            spec = PoolSpec(self.replicas, int(self.options["pg_num"]), device_class=f"replay-{name}")
            self.pools[name] = create_pool(self.bench, name, spec, application=self.application)
        await_pools(self.bench, self.pools.values())

    def cap(self) -> None:
        """Cap the OSDs of the capped class. Call this after filling, which is not measured."""
        with self.bench.costs.measure("prepare"):
            for osd in self.capped:
                pid, data = osd_process(self.bench, osd.number)
                self.caps[osd.number] = self.settings.cap_io(osd, pid, data, self.cap_iops)

    def close(self, *, before_pools: Callable[[], None] = lambda: None) -> None:
        """Lift the caps, call `before_pools`, remove images and pools, and restore the classes.

        Each step is done even if another fails.
        """
        with cleaning_up(self._lift, before_pools, self._remove_pools, self._restore):
            pass

    def _lift(self) -> None:
        with self.bench.costs.measure("prepare"):
            self.settings.lift_caps()

    def _remove_pools(self) -> None:
        # An image whose creation was cut short would keep its pool from being removed.
        remove_owned_leftovers(self.bench)
        remove_leftover_pools(self.bench)

    def _restore(self) -> None:
        with self.bench.costs.measure("prepare"):
            self.settings.restore()

    def read(self) -> CappedReading:
        """Return what the capped OSDs have done so far. Raises ReplayError if one runs without its cap."""
        for osd in self.capped:
            pid, _ = osd_process(self.bench, osd.number)
            if not self.caps[osd.number].holds(pid):
                raise ReplayError(
                    f"{osd.name} is running without its cap: it was restarted while the block ran",
                    where=self.caps[osd.number].folder,
                    next_step="run measure again: finished sets are kept",
                )
        return CappedReading(time.monotonic(), tuple(cap.counts() for cap in self.caps.values()))

    def observe(self, measured: Measured, before: CappedReading) -> None:
        """Add what the capped OSDs' disks did to a cell's facts; mark the cell as invalid if the cap did not hold."""
        after = self.read()
        seconds = after.at - before.at
        done = [
            tuple(last - first for first, last in zip(*pair, strict=True))
            for pair in zip(before.counts, after.counts, strict=True)
        ]
        measured.facts |= self.facts | {
            "capped_disk_reads_per_second": round(sum(reads for reads, _ in done) / seconds, 1),
            "capped_disk_writes_per_second": round(sum(writes for _, writes in done) / seconds, 1),
        }
        most = max(max(reads, writes) for reads, writes in done)
        if most > self.cap_iops * (seconds + SLICE_SECONDS) and measured.invalid is None:
            measured.invalid = (
                "failed",
                f"a capped OSD did {most / seconds:.0f} operations/s on its disk, but its cap is {self.cap_iops}",
            )

    def await_quiet(self) -> Wait:
        """Wait until the capped OSDs have finished the work that a cell left them."""
        wait, _ = await_quiet(
            self.bench,
            self.read,
            lambda before, after: after.operations - before.operations,
            fewer_than=QUIET_OPERATIONS,
            detail="operations_at_the_end",
            what="the capped OSDs to be quiet",
            reason="capped_osds_quiet",
            outcomes=("quiet", "still_busy"),
            seconds=QUIET_WITHIN_SECONDS,
            every=QUIET_SECONDS,
        )
        return wait


def osd_process(bench: Bench, number: int) -> tuple[int, Path]:
    """Return the pid of a sandbox's OSD and its data folder. Raises ReplayError if it is not running."""
    conf = bench.primary_cluster.conf
    owned = sandbox_record.load(conf.parent.parent)
    name = next(cluster.name for cluster in owned.clusters.values() if Path(cluster.conf) == Path(conf))
    role = daemons.Role(name, "osd", str(number))
    process = daemons.running(owned.layout, role)
    if process is None:
        up = sandbox_record.sandbox_command("up", owned.directory)
        raise ReplayError(f"{role.name} is not running", where=conf, next_step=f"run {up}")
    return process.pid, owned.layout.data(name, role.name)


class CappedImages(Images):
    """An image for each variant in the pool of its class. The OSDs are capped once all images are filled."""

    def begin(self) -> None:
        super().begin()
        self.classes = DeviceClasses(self.bench, self.design.options, application="rbd")

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create the classes and their pools, fill the images, cap the OSDs."""
        self.classes.open()
        super().open(sets)
        self.classes.cap()
        self.classes.await_quiet()

    def close(self) -> None:
        """Lift the caps, then remove images and pools, then restore the classes."""
        self.classes.close(before_pools=super().close)


class CappedPools(ObjectPools):
    """A pool of objects on each class."""

    def begin(self) -> None:
        super().begin()
        self.classes = DeviceClasses(self.bench, self.design.options, application="rados")

    def open(self, sets: Sequence[CellSet]) -> None:
        self.classes.open()
        self.classes.cap()

    def close(self) -> None:
        """Lift the caps, then remove the pools with their objects, then restore the classes."""
        self.classes.close()

    def pool_of(self, cell: Cell) -> str:
        return self.classes.pools[str(cell.levels["device_class"])]

    def run_names(self, cell: Cell) -> list[str]:
        return ["replay-write"]


class CappedDisks(Observer):
    """Verifies that the cap held while a cell ran, and waits until the capped OSDs have finished its work."""

    def begin(self) -> None:
        self.classes: DeviceClasses = self.protocol.target.classes

    def lacking(self, site: Site) -> dict[str, str]:
        """Return why a cap cannot be set on this machine, as `host_root` and the reason; empty if it can."""
        folder = site.primary.conf.parent
        if find_hierarchy() is None:
            return {"host_root": "this machine's kernel offers no throttle of block I/O (cgroup blkio, or io)"}
        if folder.is_dir() and device_of(folder) is None:
            return {"host_root": "the OSDs' files are not on a block device, so there is nothing to throttle"}
        return {}

    def check(self) -> None:
        """Refuse labels of capped variants that do not name the cap."""
        cap = self.protocol.option("cap_iops")
        for variant in self.design.variants:
            if variant.levels["device_class"] == CAPPED and str(cap) not in variant.label:
                self.protocol.refuse(
                    f"{variant.name}: the label {variant.label!r} does not name the cap, {cap} IOPS",
                    next_step="name the cap in the label, because this is not another kind of device",
                )

    def started(self, cell: Cell) -> None:
        self.before = self.classes.read()

    def verify(self, cell: Cell, measured: Measured, result: Result | None) -> None:
        """Record what the capped disks did meanwhile. The cell is invalid if they exceeded the cap."""
        self.classes.observe(measured, self.before)

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        return [self.classes.await_quiet()]


def journal_class(variant: Variant) -> str:
    return str(variant.levels.get("journal_class", variant.levels["device_class"]))


DEVICE_CLASS = Factor(
    "device_class", "the device class that holds the data", words=(FAST, CAPPED), required=True, of_variants=True
)
JOURNAL_CLASS = Factor(
    "journal_class", "the device class that holds the journal", words=(FAST, CAPPED), of_variants=True
)
CAP_OPTIONS = (
    Option(
        "cap_iops", WHOLE, "operations/s", "the most reads, and the most writes, that the disk of a capped OSD may do"
    ),
    Option("most_replicas", WHOLE, "copies", "the most copies of each object; fewer if a class has fewer OSDs"),
    Option("pg_num", WHOLE, "", "placement groups of each pool that Replay makes"),
)


class DeviceClass(SingleTool):
    """Runs `single_tool`'s cells on images in the pool of the variant's level `device_class`."""

    needs = replace(
        SingleTool.needs,
        factors=(*SingleTool.needs.factors, DEVICE_CLASS, JOURNAL_CLASS),
        options=(*SingleTool.needs.options, *CAP_OPTIONS),
        mirroring="never",
    )
    target = CappedImages()
    observers = (CappedDisks(),)
    overhead_seconds = 1.5
    block_seconds = 25.0

    def place_of(self, variant: Variant) -> dict[str, Any]:
        pools = self.target.classes.pools
        return {"pool": pools[str(variant.levels["device_class"])], "journal_pool": pools[journal_class(variant)]}

    def check(self) -> None:
        """Refuse contradictory variants."""
        classes = {each.name: (each.levels["device_class"], journal_class(each)) for each in self.design.variants}
        for variant in self.design.variants:
            if "journal_class" in variant.levels and "journaling" not in variant.image.features:
                self.refuse(f"{variant.name} has the level journal_class, but no journal")
            owner = variant.image_name if variant.image_name in classes else variant.name
            if classes[owner] != classes[variant.name]:
                self.refuse(f"{variant.name} shares the image of {owner}, but names another device class")


_MODE, *_OTHERS = RADOS_FACTORS


class DeviceClassObjects(Protocol):
    """Writes objects of `levels["object_size_bytes"]` in the pool of the variant's level `device_class`."""

    needs = Needs(
        tools=("rados-bench",),
        factors=(replace(_MODE, words=("write",)), *_OTHERS, DEVICE_CLASS),
        options=(*RADOS_OPTIONS, *CAP_OPTIONS),
        programs=("rados",),
    )
    target = CappedPools()
    driver = RadosRounds()
    observers = (CappedDisks(),)
    overhead_seconds = 8.0


PROTOCOL = DeviceClass
