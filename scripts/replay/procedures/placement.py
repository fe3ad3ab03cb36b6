"""How weights, primary affinity and throttles of OSDs decide where data lie and how fast they are.

All of it is set through the ledger, on clusters that Replay started only, and set back when the block ends.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, ReplayError
from replay.cluster.placement_state import QUIET_SECONDS, await_calm, await_stable, throttles
from replay.design.design import Cell, CellSet, Design
from replay.design.media import Write
from replay.design.sizing import ASSUMED_BYTES_PER_SECOND
from replay.measure.bench import Bench
from replay.measure.procedure import Protocol, parse_and_judge
from replay.owned.experiment_pools import ExperimentPool, PoolSpec, await_pools, create_pool, remove_leftover_pools
from replay.owned.osd_settings import Osd, OsdSettings
from replay.procedures.parts.placement_files import read_placement_files
from replay.procedures.parts.rados_objects import RECORDS_PER_RUN_NAME, BenchObjects, Fill
from replay.procedures.parts.rados_rounds import run_rounds
from replay.raw.record import Measured, Wait
from replay.tools import adapter
from replay.tools.placement_entities import last_osd
from replay.tools.rados_bench import mode_of

#: How often as heavy the last OSD is as each other one.
WEIGHTS = {"equal": 1.0, "unequal": 2.0}
SIZE_CAP, MESSAGE_CAP = "osd_client_message_size_cap", "osd_client_message_cap"
#: The manager's balancer moves placement groups by itself, away from where weights and affinity put them.
BALANCER = ("mgr", "mgr/balancer/active")
FILL, WRITE = "replay-fill", "replay-write"
#: An OSD follows a changed option within this time, or does not at all.
OPTION_WITHIN_SECONDS = 10.0
_WHOLE_OPTIONS = ("threads", "replicas", "pg_num", "fill_objects", "write_most_objects", "write_most_bytes")


class Placement(Protocol):
    """Runs `rados bench` in one pool at the OSD settings of the cell's levels.

    Factors, each of them optional: `weights` (`equal`, or `unequal`: the last OSD has twice the weight of the others),
    `primary_affinity` of the last OSD, `message_size_cap_bytes` of all OSDs. A variant's levels are `mode` (`write`,
    `rand`), `object_size_bytes` and, to slow the last OSD down, `last_osd_message_cap`: so many messages of clients at
    a time.
    """

    overhead_seconds = 9.5

    def __init__(self, bench: Bench, design: Design) -> None:
        super().__init__(bench, design)
        self.adapter = adapter(design.configuration["tool"])
        self.rados = adapter("rados-bench")
        self.program = self.adapter.program
        self._check()
        options = {
            **design.options,
            "client_options": dict(design.configuration.get("client_options", {})),
            "keyring": bench.primary_cluster.keyring is not None,
            "namespace": False,
        }
        self.options: dict[str, Any] = options
        self.settings = OsdSettings(bench)
        self.objects = BenchObjects(bench, self.rados, options)
        self.pool: ExperimentPool | None = None
        self.filled = 0
        self.base_weight = 0.0
        #: What the OSDs' throttles hold where no level says otherwise.
        self.usual: dict[str, int] = {}

    def open_block(self, raw: Path, sets: Sequence[CellSet]) -> None:
        """Make a pool, and write what reads will find."""
        options = self.design.options
        osds = self.settings.osds()
        if len(osds) <= options["replicas"]:
            raise ConfigurationError(
                f"{len(osds)} OSDs hold every object of a pool with {options['replicas']} copies: nothing is placed",
                where=f"config/experiments/{self.design.name}.yaml, options.replicas",
                next_step="use fewer copies than the cluster has OSDs",
            )
        self.base_weight, last = osds[0].weight, _last(osds)
        self.usual = throttles(self.bench.session, last.number)
        self.settings.set_config(*BALANCER, "false")
        self.bench.say(f"pool with {options['replicas']} copies of each object: create and fill")
        spec = PoolSpec(options["replicas"], options["pg_num"])
        self.pool = create_pool(self.bench, "placement", spec, application="rados")
        await_pools(self.bench, [self.pool])
        cells = [cell for one in sets for cell in one.cells]
        sizes = {_size(cell) for cell in cells if mode_of(cell.levels) == "rand"}
        if len(sizes) > 1:
            raise ConfigurationError(
                "reads of several object sizes in one experiment", where=f"config/experiments/{self.design.name}.yaml"
            )
        with self.bench.costs.measure("prepare"):
            for size in sizes:
                fill = Fill(self.pool.name, FILL, size, options["fill_objects"])
                self.bench.charge(f"filling {fill.pool}", self._written(fill.bytes))
                self.objects.fill(fill)
                self.filled = fill.objects + RECORDS_PER_RUN_NAME

    def close_block(self) -> None:
        """Set back every setting, then remove the pool with all that is in it; each also where the other fails."""
        try:
            with self.bench.costs.measure("prepare"):
                self.settings.restore()
        finally:
            self.pool = None
            remove_leftover_pools(self.bench)
            with self.bench.costs.measure("wait"):
                # What follows would meet the moving back of data, and be refused.
                if moving := await_calm(self.bench.session):
                    self.bench.say(f"the cluster is not calm yet: {moving}")

    def expected_writes(self, cell: Cell) -> list[Write]:
        """Return what a write may write at the most."""
        if mode_of(cell.levels) != "write":
            return []
        seconds = math.ceil(self.design.sizing.target_seconds)
        return [self._written(min(self._most_objects(cell) * _size(cell), ASSUMED_BYTES_PER_SECOND * seconds))]

    def prepare(self, cell: Cell) -> list[Wait]:
        """Set the cell's levels, and wait until data lie where these want them."""
        with self.bench.costs.measure("prepare"):
            changed = self._set(cell)
        with self.bench.costs.measure("wait"):
            moves = any(one.startswith("crush_weight") for one in changed)
            quiet = QUIET_SECONDS if moves else 0.0
            wait = await_stable(self.bench.session, self._pool(), self.filled, quiet_seconds=quiet)
        wait.details["changed"] = changed
        return [wait]

    def run(self, cell: Cell, seed: int) -> Measured:
        """Read where the data lie, then run the tool. `rados bench` takes no seed."""
        with self.bench.costs.measure("prepare"):
            placement = read_placement_files(self.bench.session, self._pool())
        is_write = mode_of(cell.levels) == "write"
        of_client = {"client_options": dict(cell.variant.client_options)}
        options = {**self.options, **of_client, "max_objects": self._most_objects(cell)}
        template = self.adapter.argv_template(cell.levels, options)
        seconds = math.ceil(self.design.sizing.target_seconds)  # it takes whole seconds only
        with self.bench.costs.measure("tool"):
            rounds = run_rounds(
                self.rados,
                cell.levels,
                template,
                [self.objects.values(self._pool(), WRITE if is_write else FILL)],
                seconds=seconds,
                target_seconds=self.design.sizing.target_seconds,
                slot=self.bench.slot,
                sampler=self.bench.sampler,
                between=lambda: None,
            )
        measured = Measured(
            argv=[argument.replace("{seconds}", str(seconds)) for argument in template],
            results={**rounds.printed(), **rounds.results, **placement},
            exit_status=rounds.exit_status,
            started_at=rounds.all[0].started_at,
            ended_at=rounds.all[-1].ended_at,
            tool_seconds=rounds.tool_seconds,
            load=rounds.load(),
            facts={"replicas": self.design.options["replicas"], "objects_in_pool": self.filled},
            invalid=rounds.failure(),
        )
        self._judge(cell, measured)
        return measured

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove what a write cell wrote, and see that it is gone."""
        if mode_of(cell.levels) != "write":
            return []
        started = time.monotonic()
        with self.bench.costs.measure("wait"):
            removed = self.objects.remove(self._pool(), [WRITE])
        if removed.purged and self.filled:
            raise ReplayError(
                "a write left objects that its run name does not find; the pool was emptied, and reads find nothing",
                where=self._pool(),
                next_step="run measure again: the block makes a new pool",
            )
        return [Wait("objects_removed", time.monotonic() - started, removed.outcome, {"objects": removed.objects})]

    def _set(self, cell: Cell) -> list[str]:
        """Bring the OSDs to the cell's levels; return what had to be changed."""
        changed, osds = [], self.settings.osds()
        last = _last(osds)
        if "weights" in cell.levels:
            for osd in osds:
                times = WEIGHTS[str(cell.levels["weights"])] if osd is last else 1.0
                if self.settings.set_weight(osd, self.base_weight * times):
                    changed.append(f"crush_weight {osd.name}")
        affinity = cell.levels.get("primary_affinity")
        if affinity is not None and self.settings.set_affinity(last, float(affinity)):
            changed.append(f"primary_affinity {last.name}")
        size, messages = cell.levels.get("message_size_cap_bytes"), cell.levels.get("last_osd_message_cap")
        changed += self._option("osd", SIZE_CAP, size, [one.number for one in osds], "bytes")
        changed += self._option(last.name, MESSAGE_CAP, messages, [last.number], "messages")
        return changed

    def _option(self, who: str, name: str, level: Any, osds: list[int], throttle: str) -> list[str]:
        """Set an option to a level, None being what it was; see that the OSDs' throttles follow."""
        if level is None:
            changed = self.settings.restore_config(who, name)
        else:
            changed = self.settings.set_config(who, name, str(int(level)))
        wanted = self.usual[throttle] if level is None else int(level)
        deadline = time.monotonic() + OPTION_WITHIN_SECONDS
        for osd in osds:
            while (held := throttles(self.bench.session, osd)[throttle]) != wanted:
                if time.monotonic() > deadline:
                    raise ReplayError(
                        f"osd.{osd} holds {held} {throttle} of clients at the most, {wanted} were asked for",
                        where=f"{name} of {who}",
                        next_step="this release may read the option at its start only",
                    )
                time.sleep(0.1)
        return [f"{name} {who}"] if changed else []

    def _pool(self) -> str:
        assert self.pool is not None, "open_block makes it"
        return self.pool.name

    def _check(self) -> None:
        """Refuse what this protocol cannot do, before anything is created."""
        design, where = self.design, f"config/experiments/{self.design.name}.yaml"
        if self.adapter.name != "placement":
            raise ConfigurationError(f"placement has the tool placement, not {self.adapter.name}", where=where)
        for key in _WHOLE_OPTIONS:
            if not isinstance(design.options.get(key), int):
                raise ConfigurationError(f"options.{key} is {design.options.get(key)!r}", where=where)
        if unknown := set(design.factors.get("weights", ())) - set(WEIGHTS):
            raise ConfigurationError(f"weights: no {', '.join(map(str, unknown))}", where=where)
        if bad := [one for one in design.factors.get("primary_affinity", ()) if not 0 <= one <= 1]:
            raise ConfigurationError(f"primary_affinity: {bad[0]} is not within 0 and 1", where=where)
        for one in design.variants:
            mode, size = one.levels.get("mode"), one.levels.get("object_size_bytes")
            if mode not in ("write", "rand") or not isinstance(size, int):
                raise ConfigurationError(
                    f"{one.name}: levels.mode is write or rand, and object_size_bytes a number", where=where
                )
        if self.bench.site.ceilings.rate_bytes_per_second is not None:
            raise ConfigurationError("rados bench cannot be held to the site's rate", where=where)

    def _judge(self, cell: Cell, measured: Measured) -> None:
        """Set `measured.invalid` where the output cannot stand; charge what was written to the account."""
        if measured.invalid:
            return
        result = parse_and_judge(self.adapter, cell, measured, self.design.sizing.minimum_seconds)
        if result is None:
            return
        if measured.invalid is None:
            known = sum(
                value for kind, _, name, value in result.entities if (kind, name) == ("placement_group", "objects")
            )
            if known != self.filled:
                measured.invalid = ("incomplete", f"placement groups report {known:.0f} of {self.filled} objects")
        if result.complete:
            primaries = result.metrics["last_osd_primaries"]
            measured.headline = f"{result.metrics['bytes_per_second'] / 2**20:,.1f} MiB/s, {primaries:.0f} primaries"
            if mode_of(cell.levels) == "write":
                self.bench.account(self._written(result.metrics["bytes"]))

    def _written(self, size_bytes: float) -> Write:
        return Write(size_bytes, pool=self._pool(), copies=self.design.options["replicas"], adds=True)

    def _most_objects(self, cell: Cell) -> int:
        options = self.design.options
        return max(1, min(options["write_most_objects"], options["write_most_bytes"] // _size(cell)))


def _last(osds: Sequence[Osd]) -> Osd:
    number = last_osd(one.number for one in osds)
    return next(one for one in osds if one.number == number)


def _size(cell: Cell) -> int:
    return int(cell.levels["object_size_bytes"])


PROTOCOL = Placement
