"""Clients' writes are converted to bytes on media by pool, and a cell's writes are known before it begins."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from replay.base.errors import RefusedError
from replay.cluster.cluster import CephCommandError
from replay.cluster.site import Ceilings, Pool, Pools
from replay.design.sizing import PoolCopies, Write
from replay.measure.bench import Bench
from replay.measure.protocol import Driver, Protocol
from replay.ownership.images import BlockImage, fill_image
from replay.ownership.write_budget import MediaCopies
from replay.protocols.targets.images import Images
from support.bench import bench_of, in_memory, site_of

MIB = 1 << 20
SIZES = {"replay": 3, "replay-journal": 2, "replay-ec": 6, "own": 1}


class Monitors:
    """Monitors that know some pools; `asked` lists the questions."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def command(self, command):
        self.asked.append(tuple(command.values()))
        if command["prefix"] == "osd erasure-code-profile get":
            return {"k": "4", "m": "2"}
        if command["var"] == "size":
            return {"size": SIZES[command["pool"]]}
        if command["pool"] != "replay-ec":
            raise CephCommandError("not an erasure pool", where="ceph osd pool get", exit_status_of_tool=13)
        return {"erasure_code_profile": "of-it"}


def copies(**pools: Pool) -> tuple[MediaCopies, Monitors]:
    monitors = Monitors()
    return MediaCopies(SimpleNamespace(pools=Pools(Pool("replay"), **pools)), monitors), monitors


def test_a_write_counts_with_every_copy_and_a_journaled_one_twice():
    plain, monitors = copies()
    assert plain.media_bytes(Write(10)) == 30
    assert plain.media_bytes(Write(10, journaled=True)) == 60
    assert plain.media_bytes(Write(10, pool="replay")) == 30
    assert plain.media_bytes(Write(10, pool="own", journaled=True)) == 20, "its journal is in the same pool"
    assert plain.media_bytes(Write(10, copies=1)) == 10
    assert len(monitors.asked) == 2, "each pool is asked about once"


def test_the_pools_of_the_site_decide():
    beside, _ = copies(journal=Pool("replay-journal"), data_pool=Pool("replay-ec"))
    assert beside.media_bytes(Write(8)) == 8 * 6 / 4, "four pieces of data and two of parity"
    assert beside.media_bytes(Write(8, journaled=True)) == 8 * (6 / 4 + 2)
    replicated, _ = copies(data_pool=Pool("own"))
    assert replicated.media_bytes(Write(8)) == 8, "a data pool without erasure code"


@pytest.mark.parametrize(("code", "each"), [(None, 1.5), ((4, 2), 1.5), ((2, 2), 2.0)])
def test_a_pool_that_does_not_exist_counts_as_it_will_be_made(code, each):
    class Empty:
        def command(self, command):
            raise CephCommandError("no such pool", where="ceph osd pool get", exit_status_of_tool=2)

    def of_site(**pools: Pool) -> PoolCopies:
        return MediaCopies(SimpleNamespace(pools=Pools(Pool("replay"), **pools)), Empty()).of_site()

    assert of_site(data_pool=Pool("ec", erasure_code=code), journal=Pool("fast", replicas=2)) == PoolCopies(each, 2.0)
    assert of_site() == PoolCopies(3.0, 3.0)


def cell(name: str, **levels) -> SimpleNamespace:
    features = ("layering", "journaling") if name == "with-journal" else ("layering",)
    return SimpleNamespace(
        cell_id=name,
        levels=levels,
        variant=SimpleNamespace(name=name, image_name=name, image=SimpleNamespace(features=features)),
    )


def protocol(*, known: bool = False, rate: float | None = None) -> SimpleNamespace:
    bench = SimpleNamespace(
        budget=in_memory(copies=3.0), site=SimpleNamespace(ceilings=Ceilings(rate_bytes_per_second=rate))
    )
    design = SimpleNamespace(sizing=SimpleNamespace(target_seconds=2.0))
    made = SimpleNamespace(bench=bench, design=design, writes_are_known=known)
    made.target = Images().bound_to(made)
    made.expected_writes = Driver().bound_to(made).expected_writes
    return made


def test_a_set_is_expected_to_write_64_mib_a_second_until_its_cells_were_measured():
    made = protocol()
    one = SimpleNamespace(
        cells=[cell("plain", io_type="randwrite"), cell("with-journal", io_type="rw"), cell("read", io_type="randread")]
    )
    expected, added = Protocol.expected_bytes(made, one)
    assert expected == {"plain": 3 * 128 * MIB, "with-journal": 2 * 3 * 128 * MIB, "read": 0}
    assert added == 0, "overwriting takes no room"
    budget = made.bench.budget
    with budget.reserve_set("before", expected) as reservation:
        for name in expected:
            reservation.begin(name)
            budget.commit(Write(7))
            reservation.end(void=False)
    assert Protocol.expected_bytes(made, one)[0] == dict.fromkeys(expected, 21), "what they wrote the last time"
    made.writes_are_known = True
    assert Protocol.expected_bytes(made, one)[0] == expected, "what is known beforehand is better than what was"


@pytest.mark.parametrize(("clients", "rate"), [(1, 10 * MIB), (3, 30 * MIB), (8, 64 * MIB)])
def test_no_more_is_expected_than_the_sites_rate_lets_clients_write(clients, rate):
    one = SimpleNamespace(cells=[cell("plain", io_type="write", clients=clients)])
    assert Protocol.expected_bytes(protocol(rate=10 * MIB), one)[0] == {"plain": 3 * 2 * rate}


def bench_with(used: float, run, **ceilings: float | None) -> Bench:
    """Return a bench on a cluster of one OSD of 1 GiB, of which this fraction is used; `run` runs its programs."""
    osd = {"id": 0, "name": "osd.0", "kb": 1 << 20, "kb_used": used * (1 << 20)}
    answers = {"osd df": {"nodes": [osd]}}
    session = SimpleNamespace(command=lambda asked: answers[asked["prefix"]], cluster=SimpleNamespace(run=run))
    return bench_of(site_of(ceilings=Ceilings(**ceilings)), session)


@pytest.mark.parametrize(("rate", "option"), [(None, []), (5e6, ["--rbd_qos_bps_limit=5000000"])])
def test_a_fill_is_charged_before_it_writes_and_keeps_to_the_rate(rate, option):
    ran, charged = [], []

    def run(*words, timeout_seconds, while_running):
        assert charged == [("filling replay-1-x", Write(64 * MIB, pool="replay", adds=True))]
        ran.append((words, timeout_seconds))

    bench = bench_with(0.1, run, rate_bytes_per_second=rate)
    bench.budget = SimpleNamespace(
        media_bytes=lambda write: write.bytes, reserve=lambda what, write: charged.append((what, write))
    )
    fill_image(bench, BlockImage("replay", "", "replay-1-x", SimpleNamespace(size_bytes=64 * MIB), "entry"))
    ((words, patience),) = ran
    assert [word for word in words if "qos" in word] == option
    assert patience >= 64


def test_a_slow_rate_gives_a_fill_the_time_that_it_takes():
    patience = []

    def run(*_, timeout_seconds, **more):
        patience.append(timeout_seconds)

    bench = bench_with(0.1, run, rate_bytes_per_second=1e5)
    fill_image(bench, BlockImage("replay", "", "replay-1-x", SimpleNamespace(size_bytes=10**7), "entry"))
    assert patience[0] > 1.5 * 100


@pytest.mark.parametrize(("used", "is_filled"), [(0.5, True), (0.6, False)])
def test_an_image_that_would_fill_an_osd_beyond_the_ceiling_is_not_filled(used, is_filled):
    ran = []
    bench = bench_with(used, lambda *words, **_: ran.append(words[:2]), fullest_osd_fraction=0.7)
    bench.budget = in_memory(copies=3.0)
    with nullcontext() if is_filled else pytest.raises(RefusedError, match=r"osd\.0 is \(or would be\) 79% full"):
        fill_image(bench, BlockImage("replay", "", "replay-1-x", SimpleNamespace(size_bytes=64 * MIB), "entry"))
    assert ran == [("rbd", "bench")] * is_filled
    assert bench.budget.total() == 3 * 64 * MIB * is_filled
