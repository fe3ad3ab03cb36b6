from __future__ import annotations

from typing import Any

import pytest

from replay.cluster.ceilings import Ceilings, check, fullest_osd, slowest_osd
from replay.design.media import PoolCopies
from support.samples import fixture_json


def _load(name: str) -> Any:
    return fixture_json("ceph-health", f"{name}.json")


def test_a_healthy_half_empty_cluster_reaches_no_ceiling() -> None:
    answers = {
        "status": _load("ceph-status-initial"),
        "osd_df": _load("ceph-osd-df"),
        "osd_perf": _load("ceph-osd-perf"),
    }
    assert check(Ceilings(tenant_latency_seconds=0.05), **answers) == []


def test_the_fullest_osd_stops_a_run() -> None:
    osd_df = _load("ceph-osd-df")
    assert fullest_osd(osd_df) == ("osd.1", pytest.approx(0.33297996))
    (stop,) = check(Ceilings(fullest_osd_fraction=0.3), osd_df=osd_df)
    assert stop.reason == "fullest_osd" and "osd.1" in stop.detail and "30%" in stop.detail


def test_a_set_that_would_fill_an_osd_beyond_the_ceiling_is_not_begun() -> None:
    osd_df, capacity = _load("ceph-osd-df"), 31457280 * 1024
    assert check(Ceilings(fullest_osd_fraction=0.5), osd_df=osd_df, bytes_added_by_next_set=0.1 * capacity) == []
    (stop,) = check(Ceilings(fullest_osd_fraction=0.5), osd_df=osd_df, bytes_added_by_next_set=0.2 * capacity)
    assert stop.reason == "fullest_osd"


def test_bytes_to_media_count_what_was_written_and_what_is_about_to_be() -> None:
    limit = Ceilings(bytes_written_to_media_per_run=100)
    assert check(limit, bytes_written_to_media=60, bytes_of_next_set=40) == []
    (stop,) = check(limit, bytes_written_to_media=60, bytes_of_next_set=41)
    assert stop.reason == "bytes_written"


def test_slow_operations_and_recovery_stop_a_run_unless_the_site_tolerates_them() -> None:
    status = _load("ceph-status-osd-down")
    assert [stop.reason for stop in check(Ceilings(), status=status)] == ["slow_operations", "recovery"]
    assert check(Ceilings(slow_operations=19, recovery=True), status=status) == []


def test_the_slowest_osd_decides_how_long_tenants_wait() -> None:
    osd_perf = _load("ceph-osd-perf")
    assert slowest_osd(osd_perf) == ("osd.0", 0.018)
    (stop,) = check(Ceilings(tenant_latency_seconds=0.01), osd_perf=osd_perf)
    assert stop.reason == "tenant_latency" and "18 ms" in stop.detail


def test_media_bytes_count_copies_and_the_journal() -> None:
    assert PoolCopies().media_bytes(10) == 30
    assert PoolCopies().media_bytes(10, journaled=True) == 60
    assert PoolCopies(data=1.5).media_bytes(10) == 15
    assert PoolCopies(data=1.5, journal=3).media_bytes(10, journaled=True) == 45


def test_the_rate_becomes_librbds_own_limit() -> None:
    assert Ceilings().client_options() == {}
    assert Ceilings(rate_bytes_per_second=2e8).client_options() == {"rbd_qos_bps_limit": "200000000"}
