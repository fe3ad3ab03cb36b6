"""A cluster of sixty OSDs: all that watches it is done in seconds, and takes less than a hundredth of a cell."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from replay.cluster.placement_groups import SCRUBS, groups_at
from replay.cluster.site import Ceilings, Pool, Pools, Site
from replay.design.configuration import load_experiment
from replay.evidence.record import Measured, SampleTable
from replay.measure.bench import MachineSampler
from replay.measure.daemons import DaemonSampler
from replay.measure.guard import CHECK_EVERY_SECONDS, Guard
from replay.ownership.ledger import Ledger
from replay.ownership.open_site import ClusterWatch
from replay.ownership.write_budget import MediaCopies
from replay.preflight import checks, pool_checks
from replay.preflight.checks import Findings
from replay.protocols.observers.snapshots import TrimSampler
from support.bench import bench_of
from support.large_cluster import FSID, LargeSession, answers

OSDS, POOLS, GROUPS_OF_POOL = 60, 20, 128
#: Each part runs so often, and that so often again: a busy machine makes some of it take longer, and the least counts.
TIMES, AGAIN = 8, 3
MOST_OF_A_CELL = 0.01
#: Rounds of PBKDF2 with SHA-512, and what they take on the machine for which the bounds are stated.
ROUNDS, ROUNDS_SECONDS = 60_000, 0.025


@pytest.fixture
def session(tmp_path: Path) -> Iterator[LargeSession]:
    with LargeSession(tmp_path, answers(osds=OSDS, pools=POOLS, groups_of_pool=GROUPS_OF_POOL)) as one:
        one.status()
        yield one


@pytest.fixture
def site(session: LargeSession) -> Site:
    return Site(
        "large",
        "Large",
        "A test.",
        session.cluster,
        Pools(Pool("replay")),
        frozenset(),
        ceilings=Ceilings(tenant_latency_seconds=0.5),
    )


def _cost(session: LargeSession, run: Callable[[], object]) -> float:
    """Return the CPU seconds of one run, as they would be on a machine that is no slower than the reference machine."""
    costs = []
    for _ in range(AGAIN):
        before = session.cpu_seconds()
        for _ in range(TIMES):
            run()
        after = session.cpu_seconds()
        hashlib.pbkdf2_hmac("sha512", b"as", b"slow", ROUNDS)
        slowness = (session.cpu_seconds() - after) / ROUNDS_SECONDS
        costs.append((after - before) / TIMES / max(1.0, slowness))
    return min(costs)


def _seconds_of_cell(experiment: str) -> float:
    """Return how long a cell of the talk is meant to last."""
    return float(load_experiment(experiment)["scales"]["talk"]["target_seconds"])


def _say(part: str, cost: float, cell_seconds: float, experiment: str) -> float:
    """Print the cost of a part within a cell, and return its share of the cell."""
    share = cost / cell_seconds
    print(f"{part}: {cost * 1e3:.2f} ms of CPU in a cell of {cell_seconds:g} s ({experiment}): {share:.3%}")
    return share


@pytest.mark.slow
def test_what_watches_a_cell_takes_less_than_a_hundredth_of_it(
    session: LargeSession, site: Site, tmp_path: Path, configuration: Path
) -> None:
    ledger = Ledger(FSID, directory=tmp_path / "ledger")
    bench = bench_of(site, session, ledger=ledger, sampler=MachineSampler(), watch=ClusterWatch(session))
    guard = Guard(bench)
    measured = Measured([], {}, 0, "", "", 1.0, {})
    clock = iter(range(10**9))
    trims = TrimSampler(session, ["replay"], SampleTable(), lambda: TrimSampler.every_seconds * next(clock))
    daemons = DaemonSampler(bench, processes={})
    assert len(daemons.read().osds()) == OSDS
    assert groups_at(session, SCRUBS, ["replay"]).total() == 2, "the neighbours' scrubs do not count"

    cell = _seconds_of_cell("rbd-journaling")
    checks = _cost(session, guard.check) * cell / CHECK_EVERY_SECONDS
    around = _cost(session, lambda: (guard.after_cell(measured), guard._busy()))
    assert _say("health, before and during a cell", checks + around, cell, "rbd-journaling") < MOST_OF_A_CELL
    cell = _seconds_of_cell("snapshot-interval")
    trimming = _cost(session, trims.read_when_due) * cell / TrimSampler.every_seconds
    assert _say("the sampler of trims", trimming, cell, "snapshot-interval") < MOST_OF_A_CELL
    cell = _seconds_of_cell("fio-profile")
    readings = 2 * _cost(session, daemons.read)
    assert _say("both readings of all OSDs' counters", readings, cell, "fio-profile") < MOST_OF_A_CELL


def test_preflight_knows_a_large_cluster_in_a_second(
    session: LargeSession, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    findings = Findings()
    monkeypatch.setattr(pool_checks, "_check_reading", lambda *_: None)  # it starts `rbd ls`, which asks no OSD

    def look() -> None:
        status = checks.check_cluster(session, findings)
        assert status is not None
        pool_checks.check_space(site, session, findings)
        pool_checks.check_pools(site, session, findings)
        assert MediaCopies(site, session).of_site().data == 3

    cost = _cost(session, look)
    print(f"preflight's questions: {cost * 1e3:.1f} ms of CPU")
    assert cost < 1.0
    said = "\n".join(item.text for item in findings.items)
    assert f"{OSDS} of {OSDS} OSDs up" in said
    assert f"{POOLS - 1} other pools are on this cluster" in said
