"""How OSDs' weights, primary affinity and throttles affect where data is placed and how fast it is.

All of them are set through the ledger, only on clusters that Replay started, and restored when the block ends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from replay.base.clock import poll
from replay.base.errors import ConfigurationError, ReplayError, cleaning_up
from replay.cluster.placement_groups import (
    CALM_WITHIN_SECONDS,
    QUIET_SECONDS,
    STABLE_WITHIN_SECONDS,
    await_calm,
    await_stable,
    throttles,
)
from replay.cluster.session import MonitorSession
from replay.design.design import Cell, CellSet
from replay.design.needs import NUMBER, WHOLE, Factor, Needs, Option
from replay.design.sizing import Write
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Protocol, WhileRunning
from replay.ownership.daemon_settings import OsdSettings
from replay.ownership.pools import PoolSpec, await_pools, create_pool, remove_leftover_pools
from replay.protocols.drivers.rados_bench import RADOS_FACTORS, RADOS_OPTIONS, RadosRounds, Rounds
from replay.protocols.drivers.tool import writes
from replay.protocols.targets.objects import POOL_EMPTIED, RECORDS_PER_RUN_NAME, Fill, ObjectPools
from replay.tools import Result
from replay.tools.placement import ROLES

_MODE, *_OTHERS = RADOS_FACTORS
#: The weight of the last OSD, relative to that of every other OSD.
WEIGHTS = {"equal": 1.0, "unequal": 2.0}
SIZE_CAP, MESSAGE_CAP = "osd_client_message_size_cap", "osd_client_message_cap"
#: The manager's balancer moves placement groups away from where weights and affinity put them.
BALANCER = ("mgr", "mgr/balancer/active")
FILL, WRITE = "replay-fill", "replay-write"
#: An OSD applies a changed option within this time, or not at all.
OPTION_WITHIN_SECONDS = 10.0


class PlacedPool(ObjectPools):
    """One pool whose data move: each cell's levels set the OSDs' weights, affinity and throttles."""

    def begin(self) -> None:
        """Start without a pool and without changed settings."""
        super().begin()
        self.settings = OsdSettings(self.bench)
        self.pool = ""
        self.filled = 0
        self.base_weight = 0.0
        #: The OSDs' throttles unless a level says otherwise.
        self.usual: dict[str, int] = {}

    def open(self, sets: Sequence[CellSet]) -> None:
        """Create a pool, and write the objects that reads need."""
        options = self.design.options
        osds = self.settings.osds()
        if len(osds) <= options["replicas"]:
            raise ConfigurationError(
                f"with {len(osds)} OSDs and {options['replicas']} copies, every OSD holds every object",
                where=f"config/experiments/{self.design.name}.yaml, options.replicas",
                next_step="use fewer copies than the cluster has OSDs",
            )
        self.base_weight = osds[0].weight
        self.usual = throttles(self.bench.session, osds[-1].number)
        if balancer_runs(self.bench.session):
            self.settings.set_config(*BALANCER, "false")
        self.bench.say(f"creating and filling a pool with {options['replicas']} copies of each object")
        spec = PoolSpec(options["replicas"], options["pg_num"])
        self.pool = create_pool(self.bench, "placement", spec, application="rados")
        await_pools(self.bench, [self.pool])
        cells = [cell for cell_set in sets for cell in cell_set.cells]
        sizes = {int(cell.levels["object_size_bytes"]) for cell in cells if not writes(cell)}
        if len(sizes) > 1:
            raise ConfigurationError(
                "this experiment reads objects of several sizes", where=f"config/experiments/{self.design.name}.yaml"
            )
        with self.bench.costs.measure("prepare"):
            for size in sizes:
                fill = Fill(self.pool, options["replicas"], FILL, size, options["fill_objects"])
                self.fill(fill)
                self.filled = fill.objects + RECORDS_PER_RUN_NAME

    def close(self) -> None:
        """Restore every setting, then remove the pool with its objects, even if restoring fails."""
        with cleaning_up(self._restore, lambda: remove_leftover_pools(self.bench), self._await_calm):
            pass

    def _restore(self) -> None:
        with self.bench.costs.measure("prepare"):
            self.settings.restore()

    def _await_calm(self) -> None:
        with self.bench.costs.measure("wait"):
            # As long as data move back, the next block would be refused.
            waiting = self.bench.waiting("the placement groups to be calm", CALM_WITHIN_SECONDS, writing=False)
            if moving := await_calm(self.bench.session, sleep=waiting.pause):
                self.bench.say(f"the cluster is not calm yet: {moving}")

    def prepare(self, cell: Cell) -> list[Wait]:
        """Apply the cell's levels, and wait until the data are placed accordingly."""
        with self.bench.costs.measure("prepare"):
            changed = self._set(cell)
        with self.bench.costs.measure("wait"):
            moves = any(change.startswith("crush_weight") for change in changed)
            quiet = QUIET_SECONDS if moves else 0.0
            waiting = self.bench.waiting("the placement to be stable", STABLE_WITHIN_SECONDS)
            wait = await_stable(
                self.bench.session, self.pool_of(cell), self.filled, quiet_seconds=quiet, sleep=waiting.pause
            )
        wait.details["changed"] = changed
        return [wait]

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove what a writing cell wrote, and verify that exactly this is gone."""
        waits = super().restore(cell, measured)
        if self.filled and any(wait.outcome == POOL_EMPTIED for wait in waits):
            raise ReplayError(
                "a write left objects that cannot be found by its run name, so the whole pool was emptied",
                where=self.pool_of(cell),
                next_step="run measure again: the block creates a new pool",
            )
        return waits

    def write_of(self, cell: Cell, size_bytes: float) -> Write:
        return Write(size_bytes, pool=self.pool, copies=self.protocol.option("replicas"), adds=True)

    def pool_of(self, cell: Cell) -> str:
        return self.pool

    def run_names(self, cell: Cell) -> list[str]:
        return [WRITE if writes(cell) else FILL]

    def _set(self, cell: Cell) -> list[str]:
        """Apply the cell's levels to the OSDs; return what had to change."""
        changed, osds = [], self.settings.osds()
        last = osds[-1]
        if "weights" in cell.levels:
            for osd in osds:
                times = WEIGHTS[str(cell.levels["weights"])] if osd is last else 1.0
                if self.settings.set_weight(osd, self.base_weight * times):
                    changed.append(f"crush_weight {osd.name}")
        affinity = cell.levels.get("primary_affinity")
        if affinity is not None and self.settings.set_affinity(last, float(affinity)):
            changed.append(f"primary_affinity {last.name}")
        size, messages = cell.levels.get("message_size_cap_bytes"), cell.levels.get("last_osd_message_cap")
        changed += self._option("osd", SIZE_CAP, size, [osd.number for osd in osds], "bytes")
        changed += self._option(last.name, MESSAGE_CAP, messages, [last.number], "messages")
        return changed

    def _option(self, who: str, name: str, level: Any, osds: list[int], throttle: str) -> list[str]:
        """Set an option to a level, or restore it if that is None; verify that the OSDs' throttles follow."""
        if level is None:
            changed = self.settings.restore_config(who, name)
        else:
            changed = self.settings.set_config(who, name, str(int(level)))
        wanted = self.usual[throttle] if level is None else int(level)
        waiting = self.bench.waiting(f"the OSDs to take {name}", OPTION_WITHIN_SECONDS)

        def others() -> list[str]:
            limits = {osd: throttles(self.bench.session, osd)[throttle] for osd in osds}
            return [
                f"osd.{osd} still limits clients to {held} {throttle} instead of {wanted}"
                for osd, held in limits.items()
                if held != wanted
            ]

        poll(
            lambda: True if not others() else None,
            what=f"the OSDs to take {name} of {who}",
            seconds=OPTION_WITHIN_SECONDS,
            every=0.1,
            seen=lambda: "; ".join(others()),
            next_step="this release may read the option only when an OSD starts; leave its factor out",
            pause=waiting.pause,
        )
        return [f"{name} {who}"] if changed else []


class PlacedRounds(RadosRounds):
    """Reads the placement of the data, then runs `rados bench`."""

    def run(self, cell: Cell, seed: int, *, while_running: WhileRunning | None = None) -> Measured:
        """Store what Ceph reports about the placement beside the tool's output."""
        with self.bench.costs.measure("prepare"):
            placement = placement_files(self.bench.session, self.protocol.target.pool_of(cell))
        measured = super().run(cell, seed, while_running=while_running)
        measured.results |= placement
        return measured

    def facts(self, cell: Cell, rounds: Rounds) -> dict[str, Any]:
        return {"replicas": self.protocol.option("replicas"), "objects_in_pool": self.protocol.target.filled}


class PlacementProtocol(Protocol):
    """Runs `rados bench` in one pool, with the OSD settings of the cell's levels."""

    needs = Needs(
        tools=("placement",),
        factors=(
            replace(_MODE, words=("write", "rand")),
            *_OTHERS,
            Factor("weights", "unequal: the last OSD has twice the weight of the others", words=tuple(WEIGHTS)),
            Factor("primary_affinity", "the primary affinity of the last OSD, 0 to 1", kind=NUMBER, can_be_zero=True),
            Factor(
                "message_size_cap_bytes",
                "bytes of clients' messages that each OSD takes in at a time",
                can_be_zero=True,
            ),
            Factor("last_osd_message_cap", "clients' messages that the last OSD takes in at a time", can_be_zero=True),
        ),
        options=(
            *RADOS_OPTIONS,
            Option("replicas", WHOLE, "copies", "copies of each object in the pool"),
            Option("pg_num", WHOLE, "", "placement groups of the pool"),
            Option(
                "fill_objects", WHOLE, "objects", "how many objects are written beforehand for reads", can_be_zero=True
            ),
        ),
        programs=("rados",),
    )
    target = PlacedPool()
    driver = PlacedRounds()
    overhead_seconds = 5.0
    block_seconds = 9.0

    def verdict(self, cell: Cell, measured: Measured, result: Result) -> None:
        """Mark a cell as invalid if its placement groups do not report every object."""
        if measured.invalid is None:
            known = sum(
                value for kind, _, name, value in result.entities if (kind, name) == ("placement_group", "objects")
            )
            if known != self.target.filled:
                what = f"placement groups report {known:.0f} of {self.target.filled} objects"
                measured.invalid = ("incomplete", what)

    def headline(self, metrics: Mapping[str, float]) -> str:
        return f"{metrics['bytes_per_second'] / 2**20:,.1f} MiB/s, {metrics['last_osd_primaries']:.0f} primaries"

    def check(self) -> None:
        """Refuse an affinity above 1."""
        for cell in (cell for cell_set in self.design.sets for cell in cell_set.cells):
            if (affinity := cell.levels.get("primary_affinity", 0)) > 1:
                self.refuse(f"primary_affinity: {affinity!r} is not a number between 0 and 1")


def balancer_runs(session: MonitorSession) -> bool:
    """Return whether the manager can run its balancer.

    On some systems Python cannot load it (Debian 13 with release 18). Then nothing moves data, and the monitors do not
    know the balancer's option.
    """
    modules = session.command({"prefix": "mgr dump"})["available_modules"]
    return all(module["can_run"] for module in modules if module["name"] == "balancer")


def placement_files(session: MonitorSession, pool: str) -> dict[str, tuple[str, bytes]]:
    """Return Ceph's JSON of the pool's placement groups and of the OSDs, by role with the file's suffix.

    This is Ceph's answer, apart from white space. Asking over the open connection takes milliseconds; starting the
    `ceph` program three times would take a second of CPU.
    """
    commands = {
        "groups": {"prefix": "pg ls-by-pool", "poolstr": pool},
        "tree": {"prefix": "osd tree"},
        "usage": {"prefix": "osd df"},
    }
    return {
        role: (ROLES[role], json.dumps(session.command(command), separators=(",", ":")).encode() + b"\n")
        for role, command in commands.items()
    }


PROTOCOL = PlacementProtocol
