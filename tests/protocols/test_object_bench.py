"""rados bench in separate pools: what it fills, how long it reads, what it removes, and when a cell is void."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError, ReplayError
from replay.cluster.cluster import Cluster
from replay.cluster.running import ToolRun
from replay.cluster.site import Ceilings, Pool, Pools
from replay.design.configuration import load_experiment
from replay.evidence.attempts import History
from replay.evidence.record import Wait
from replay.measure.bench import MachineReading
from replay.ownership.pools import PoolSizeRefusedError, PoolSpec
from replay.protocols import object_bench
from replay.protocols.drivers import rados_bench as rados_driver
from replay.protocols.object_bench import ObjectBench
from replay.protocols.targets import objects
from support.bench import bench_of, cell, design_of, site_of
from support.made_up_output import rados_json
from support.patience import patient
from support.smoke import measure_as_shipped

RATE = 1000
HOST = "a-host.of.tests"


class FakeRados:
    """The `rados` program: pools of run names and their objects, at a rate of RATE operations a second."""

    def __init__(self):
        self.pools: dict[str, dict[str, tuple[int, int]]] = {}
        self.commands: list[list[str]] = []
        self.pass_seconds = 0.75
        self.fails: dict[str, int | None] = {}
        self.loses_record = False

    def run_tool(self, argv, *, timeout_seconds, programs=None, slot=None, while_running=None):
        self.commands.append(list(argv))
        pool, words = argv[argv.index("--pool") + 1], list(argv)
        run_name = words[words.index("--run-name") + 1]
        if run_name in self.fails:
            return ToolRun(
                b"", b"error during benchmark: (110) timed out\n", self.fails[run_name], *self.moments(), 1.0
            )
        if "cleanup" in words:
            objects, _ = self.pools[pool].pop(run_name, (0, 0))
            if self.loses_record:
                self.pools[pool]["nobody's"] = (objects, 1)
            return self.ended(f"Removed {objects} objects\n".encode())
        seconds, mode = words[words.index("bench") + 1 : words.index("bench") + 3]
        if mode == "write":
            size = int(words[words.index("-b") + 1])
            operations = min(RATE * int(seconds), int(words[words.index("--max-objects") + 1]))
            self.pools[pool][run_name] = (operations, size)
            spent = operations / RATE
        else:
            operations, size = self.pools[pool][run_name]
            spent = self.pass_seconds if mode == "seq" else float(seconds)
            operations = operations if mode == "seq" else int(RATE * spent)
        threads = int(words[words.index("-t") + 1])
        kind = "write" if mode == "write" else "read"
        text = rados_json(kind, operations, spent, size, threads=threads, host=HOST)
        Path(words[words.index("-o") + 1]).write_text(text)
        return self.ended(b"hints = 1\n")

    def ended(self, printed):
        return ToolRun(printed, b"", 0, *self.moments(), 1.0)

    @staticmethod
    def moments():
        return "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z"

    def run_together(self, commands, *, timeout_seconds, programs, slot, while_running):
        while_running(0.1)
        return [self.run_tool(command, timeout_seconds=timeout_seconds) for command in commands]

    def cluster_run(self, tool, *words, **_):
        assert tool == "rados"
        pool = words[1]
        if words[0] == "purge":
            self.pools[pool] = {}
            return subprocess.CompletedProcess(words, 0, "", "")
        # One object for each, and the record of the run.
        names = [f"\t{name}-{n}" for name, (count, _) in self.pools[pool].items() for n in range(count + 1)]
        return subprocess.CompletedProcess(words, 0, "\n".join(names), "")

    def held(self):
        return {pool: sorted(names) for pool, names in self.pools.items()}


class Sampler:
    """A machine that idles in every other tenth of a second."""

    def __init__(self):
        self.reads = 0

    def read(self):
        self.reads += 1
        return MachineReading(10 * (self.reads // 2), 10 * self.reads, (), self.reads / 10)


@pytest.fixture
def rados(monkeypatch):
    made = FakeRados()
    monkeypatch.setattr(objects, "run_tool", made.run_tool)
    monkeypatch.setattr(rados_driver.socket, "gethostname", lambda: HOST)
    monkeypatch.setattr(rados_driver, "run_together", made.run_together)
    monkeypatch.setattr(Cluster, "run", lambda self, tool, *words, **more: made.cluster_run(tool, *words, **more))
    return made


@pytest.fixture
def make(rados, monkeypatch):
    """Make a protocol on a cluster of the fake program, which does not allow the numbers of copies in `refused`."""

    def of(*, refused=(), ceilings=None, **changes):
        site = site_of(pools=Pools(Pool("data", "of-the-site")), ceilings=ceilings or Ceilings())
        session = SimpleNamespace(cluster=Cluster("c"), command=lambda command: {"size": 3})
        said = []
        bench = bench_of(site, session, sampler=Sampler(), say=said.append)
        made = ObjectBench(bench, design_of("rados-bench", **changes))
        made.said = said

        def create(bench, suffix, spec: PoolSpec, *, application):
            assert application == "rados"
            if spec.replicas in refused:
                raise PoolSizeRefusedError(
                    f"the monitors refuse a pool of size {spec.replicas}", where="site elsewhere"
                )
            rados.pools[suffix] = {}
            return suffix

        monkeypatch.setattr(object_bench, "create_pool", create)
        monkeypatch.setattr(object_bench, "await_pools", lambda bench, pools: None)
        monkeypatch.setattr(object_bench, "remove_leftover_pools", lambda bench: rados.pools.clear())
        return made

    return of


def opened(protocol):
    protocol.open_block(Path("raw"), protocol.design.sets)
    return protocol


def measured(protocol, point, variant):
    one = cell(protocol, point, variant)
    waits = protocol.prepare(one)
    result = protocol.run(one, 1)
    return result, waits, protocol.restore(one, result)


def metrics(protocol, point, variant, result):
    outputs = {role: content.decode() for role, (_, content) in result.results.items()}
    return protocol.reader.parse(outputs, 0, cell(protocol, point, variant).levels).metrics


def test_a_pool_is_made_for_each_number_of_copies(make, rados):
    protocol = opened(make())
    assert sorted(rados.pools) == ["replicas-1", "replicas-2", "replicas-3"]
    assert protocol.target.pools == {1: "replicas-1", 2: "replicas-2", 3: "replicas-3"}


def test_a_write_leaves_nothing_and_the_wait_says_how_many_objects_were_removed(make, rados):
    protocol = opened(make())
    result, before, after = measured(protocol, "write-65536", "replicas-3")
    assert result.invalid is None
    assert before == []
    [wait] = after
    assert (wait.reason, wait.outcome, wait.details) == ("objects_removed", "removed", {"objects": 2 * RATE})
    assert rados.held() == {"replicas-1": [], "replicas-2": [], "replicas-3": []}
    assert protocol.bench.budget.total() == 3 * 2 * RATE * 65536


def test_a_write_of_large_objects_ends_at_its_bound(make):
    protocol = opened(make(options={**load_experiment("rados-bench")["options"], "write_most_bytes": 4 << 20}))
    result, *_ = measured(protocol, "write-4194304", "replicas-1")
    assert metrics(protocol, "write-4194304", "replicas-1", result)["operations"] == 1


def test_the_first_read_of_a_size_fills_every_pool_that_is_read_and_the_next_finds_the_objects(make, rados):
    protocol = opened(make())
    _, [wait], after = measured(protocol, "rand-4096", "replicas-2")
    assert (wait.reason, after) == ("objects_written", [])
    one, two = ["replay-read-1-of-1"], ["replay-read-1-of-2", "replay-read-2-of-2"]
    assert rados.held() == {"replicas-1": one, "replicas-2": one, "replicas-3": one + two}
    assert wait.details == {"objects": 4 * 4096, "bytes": 4 * 4096 * 4096}, "two instances share what one reads"
    for variant in ("replicas-1", "replicas-3", "two-instances"):
        result, waits, _ = measured(protocol, "rand-4096", variant)
        assert (result.invalid, waits) == (None, [])
        assert result.facts["objects_to_read"] == 4096


def test_the_objects_of_one_size_are_removed_before_those_of_the_next_are_written(make, rados):
    protocol = opened(make())
    measured(protocol, "rand-4096", "replicas-1")
    _, [removed, written], _ = measured(protocol, "seq-4194304", "replicas-1")
    assert (removed.reason, removed.details) == ("objects_removed", {"objects": 4 * 4096})
    assert written.reason == "objects_written"
    assert all(size == 4194304 for names in rados.pools.values() for _, size in names.values())


def test_a_write_does_not_touch_the_objects_for_reading(make, rados):
    protocol = opened(make())
    measured(protocol, "rand-4096", "replicas-1")
    before = rados.held()
    _, _, [wait] = measured(protocol, "write-4096", "replicas-3")
    assert wait.outcome == "removed"
    assert rados.held() == before


def test_a_sequential_read_is_repeated_until_its_passes_last_long_enough(make, monkeypatch):
    protocol = opened(make())
    drops = []
    monkeypatch.setattr(
        protocol.driver.caches,
        "before_cell",
        lambda: drops.append(1) or ({}, [Wait("osd_caches_dropped", 0.25, "dropped")]),
    )
    result, *_ = measured(protocol, "seq-65536", "replicas-1")
    assert result.facts["passes"] == 3, "three passes of 0.75 s are the first to last 2 s"
    assert [role for role in result.results if role.startswith("output")] == ["output", "output-1-2", "output-1-3"]
    assert [name for name, _ in result.results.values()][2:] == ["result.json", "result-1-2.json", "result-1-3.json"]
    assert metrics(protocol, "seq-65536", "replicas-1", result)["duration_seconds"] == pytest.approx(2.25)
    assert result.load["cpu_idle_fraction"] == 0.5
    [wait] = result.waits
    assert (len(drops), wait.seconds, wait.details) == (2, 0.5, {"times": 2})


def test_a_sequential_read_that_never_lasts_long_enough_ends_as_too_short(make, rados):
    protocol = opened(make())
    rados.pass_seconds = 0.004
    result, *_ = measured(protocol, "seq-65536", "replicas-1")
    assert result.facts["passes"] == rados_driver.MOST_PASSES
    assert result.invalid[0] == "too_short"


def test_instances_run_with_their_own_run_names_and_their_rates_are_added(make, rados):
    protocol = opened(make())
    result, *_ = measured(protocol, "write-4096", "two-instances")
    assert result.invalid is None
    names = [words[words.index("--run-name") + 1] for words in rados.commands if "bench" in words]
    assert names == ["replay-write-1-of-2", "replay-write-2-of-2"]
    assert metrics(protocol, "write-4096", "two-instances", result)["operations_per_second"] == 2 * RATE
    assert result.facts["instances"] == 2


def test_an_instance_that_fails_makes_the_cell_void_and_its_objects_are_removed(make, rados):
    protocol = opened(make())
    rados.fails["replay-write-2-of-2"] = 1
    result, _, [wait] = measured(protocol, "write-4096", "two-instances")
    assert result.invalid == (
        "failed", "instance 2, pass 1: exit status 1: error during benchmark: (110) timed out",
    )  # fmt: skip
    assert result.exit_status == 1
    assert "output" in result.results, "what the other one left is kept"
    assert (wait.outcome, rados.held()["replicas-3"]) == ("removed", [])


def test_an_instance_that_hangs_makes_the_cell_void(make, rados):
    protocol = opened(make())
    rados.fails["replay-write-1-of-1"] = None
    result, *_ = measured(protocol, "write-4096", "replicas-1")
    assert (result.invalid[0], result.exit_status) == ("timed_out", None)


def test_a_pass_that_fails_is_the_last_one(make, rados):
    protocol = opened(make())
    one = cell(protocol, "seq-65536", "replicas-1")
    protocol.prepare(one)
    rados.fails["replay-read-1-of-1"] = 1
    result = protocol.run(one, 1)
    assert (result.facts["passes"], result.invalid[0]) == (1, "failed")


def test_objects_that_their_run_name_does_not_find_are_removed_with_the_whole_pool(make, rados):
    protocol = opened(make())
    measured(protocol, "rand-4096", "replicas-1")
    rados.loses_record = True
    _, _, [wait] = measured(protocol, "write-4096", "replicas-3")
    rados.loses_record = False
    assert (wait.outcome, rados.held()["replicas-3"]) == ("pool_emptied", [])
    _, [written], _ = measured(protocol, "rand-4096", "replicas-3")
    assert written.details["objects"] == 2 * 4096, "the reads of that pool get their objects anew, of no other"


def test_objects_that_nothing_removes_are_an_error(make, rados, monkeypatch):
    protocol = opened(make())
    usual = rados.cluster_run
    keep = {"purge": lambda *_, **__: subprocess.CompletedProcess([], 0, "", "")}
    monkeypatch.setattr(
        Cluster, "run", lambda self, tool, *words, **more: keep.get(words[0], usual)(tool, *words, **more)
    )
    rados.loses_record = True
    with pytest.raises(ReplayError, match=r"the pool was emptied, but .* objects are left in it"):
        measured(protocol, "write-4096", "replicas-1")


def test_a_fill_that_wrote_too_little_is_an_error(make, rados, monkeypatch):
    protocol = opened(make())
    usual = rados.run_tool

    def short(argv, **more):
        words = list(argv)
        words[words.index("--max-objects") + 1] = "17"
        return usual(words, **more)

    monkeypatch.setattr(objects, "run_tool", short)
    with pytest.raises(ReplayError, match="wrote 17 of 4096 objects"):
        protocol.prepare(cell(protocol, "rand-4096", "replicas-1"))


def test_the_name_of_this_host_is_not_in_the_evidence(make):
    protocol = opened(make())
    result, *_ = measured(protocol, "write-4096", "replicas-1")
    assert HOST.encode() not in b"".join(content for _, content in result.results.values())
    assert b"benchmark_data_{host}_4711" in result.results["output"][1]
    assert result.argv[result.argv.index("--pool") + 1] == "{pool}"
    assert result.argv[result.argv.index("bench") + 1] == "2"


def test_closing_removes_the_objects_and_then_the_pools(make, rados):
    protocol = opened(make())
    measured(protocol, "rand-4096", "replicas-1")
    protocol.close_block()
    assert rados.pools == {}
    cleanups = [words for words in rados.commands if "cleanup" in words]
    assert len(cleanups) == 5


def test_pools_are_removed_even_if_their_objects_could_not_be(make, rados):
    protocol = opened(make())
    measured(protocol, "rand-4096", "replicas-1")
    rados.loses_record = True
    protocol.target.count = lambda pool: 3
    protocol.close_block()
    assert rados.pools == {}
    said = protocol.said[-1]
    assert said.startswith("could not remove the objects alone, so they go with their pools: ")
    assert "3 objects are left" in said


def test_a_number_of_copies_that_the_monitors_refuse_leaves_its_variants_out(make, rados):
    protocol = opened(make(refused={1}))
    assert [(skip.variant, skip.requires) for skip in protocol.unavailable] == [("replicas-1", "pool_create")]
    assert sorted(rados.pools) == ["replicas-2", "replicas-3"]
    result, *_ = measured(protocol, "rand-65536", "replicas-2")
    assert result.invalid is None
    assert any("refuse a pool of size 1" in line for line in protocol.said)


def test_a_site_with_a_rate_is_refused_because_the_tool_cannot_limit_it(make):
    with pytest.raises(ConfigurationError, match="cannot limit rados bench to the site's rate"):
        make(ceilings=Ceilings(rate_bytes_per_second=1e6))


def test_operations_in_flight_can_be_the_axis(make, rados):
    protocol = opened(make(**load_experiment("rados-threads")))
    for point in ("write-4096-1", "write-4096-16", "rand-4096-1", "rand-4096-16"):
        result, *_ = measured(protocol, point, "replicas-3")
        assert result.invalid is None
        assert result.argv[result.argv.index("-t") + 1] == point.rpartition("-")[2]
    assert list(rados.pools) == ["replicas-3"]
    filled = next(words for words in rados.commands if "replay-read-1-of-1" in words)
    assert filled[filled.index("-t") + 1] == "64"


# On a real cluster ----------------------------------------------------------------------------------------------


def pools_of(campaign):
    return campaign.ask("left", "osd pool ls")


@pytest.fixture
def pools(campaign):
    before = sorted(pools_of(campaign))
    yield before
    assert sorted(pools_of(campaign)) == before, "a test left a pool behind"


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
@pytest.mark.usefixtures("pools")
def test_a_block_reads_and_writes_with_every_number_of_copies_and_leaves_nothing(campaign):
    measure_as_shipped(campaign, "rados-bench")
    good = [one for one in campaign.sidecars("rados-bench") if one["valid"]]
    assert sorted({(one["levels"]["mode"], one["levels"]["replicas"]) for one in good}) == [
        ("rand", 1), ("rand", 3), ("seq", 1), ("seq", 3), ("write", 1), ("write", 2), ("write", 3),
    ]  # fmt: skip
    for one in good:
        waits = {wait["for"]: wait for wait in one["waits"]}
        if one["levels"]["mode"] == "write":
            assert waits["objects_removed"]["outcome"] == "removed"
            assert waits["objects_removed"]["objects"] > 0
        if one["levels"]["mode"] == "seq":
            assert one["facts"]["passes"] >= 1
    two = next(one for one in good if one["variant"] == "two-instances")
    shortest = load_experiment("rados-bench")["scales"]["smoke"]["target_seconds"]
    assert two["facts"]["start_spread_seconds"] < shortest, "the second begins long before the first can have ended"
    rows = (campaign.raw("rados-bench").parent / "aggregate" / "throughput-write.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == ["1 replica", "2 replicas", "3 replicas"]
    assert all(float(row.split(",")[1]) > 0 for row in rows[1:])


@pytest.mark.sandbox
@pytest.mark.slow
def test_the_next_run_removes_the_pools_of_one_that_was_killed_and_measures_what_the_monitors_allow(campaign, pools):
    changes = {
        "factors": {"mode": ["write"], "object_size_bytes": [65536]},
        "variants": ["replicas-1", "replicas-2"],
        "only": {},
    }
    campaign.configure("rados-bench", target_seconds=30, **changes)
    run = campaign.start_block("rados-bench")
    campaign.wait_for(lambda: campaign.processes("rados", "bench", "write"), "the benchmark")
    os.kill(campaign.runner("rados-bench"), signal.SIGKILL)
    run.communicate(timeout=patient(60))
    campaign.wait_for(lambda: not campaign.processes("rados", "bench"), "the end of the benchmark", seconds=10)
    assert len(pools_of(campaign)) == len(pools) + 2

    allow = ("ceph", "tell", "mon.*", "config", "set", "mon_allow_pool_size_one")
    campaign.configure("rados-bench", **changes)
    campaign.cluster("left").run(*allow, "false")
    try:
        run = campaign.start_block("rados-bench")
        said, _ = run.communicate(timeout=patient(200))
    finally:
        campaign.cluster("left").run(*allow, "true")
    assert run.returncode == 0, said
    [receipt] = History(campaign.raw("rados-bench")).receipts()
    [skip] = receipt["skipped"]
    assert (skip["variant"], skip["requires"]) == ("replicas-1", "pool_create")
    assert "size 1" in skip["detail"], "the reason is in the evidence"
    measured = {one["variant"] for one in campaign.sidecars("rados-bench") if one["valid"]}
    assert measured == {"replicas-2"}, "the other is measured"
