from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from replay.cluster.health import (
    HARMLESS_CODES,
    REFUSED_CODES,
    STOPPING_CODES,
    UNRELATED_CODES,
    classify,
    new_since,
    slow_operations,
)
from support.samples import fixture_json


def _load(name: str) -> Any:
    return fixture_json("ceph", f"{name}.json")


def _with(code: str, severity: str = "HEALTH_WARN", message: str = "m", *, muted: bool = False) -> dict[str, Any]:
    status = deepcopy(_load("ceph-status-initial"))
    check = {"severity": severity, "summary": {"message": message, "count": 1}, "muted": muted}
    status["health"] = {"status": severity, "checks": {code: check}, "mutes": []}
    return status


def test_a_fresh_cluster_with_harmless_warnings_is_fit_and_they_are_recorded() -> None:
    verdict = classify(_load("ceph-status-initial"))
    assert verdict.fit
    codes = ["AUTH_INSECURE_GLOBAL_ID_RECLAIM_ALLOWED", "MON_DISK_LOW", "POOL_NO_REDUNDANCY"]
    assert [code for code, _ in verdict.harmless] == codes
    assert verdict.summary == {"status": "HEALTH_WARN", "codes": codes, "muted": []}


def test_a_cluster_that_lost_an_osd_is_refused_for_every_reason_it_gives() -> None:
    status = _load("ceph-status-osd-down")
    verdict = classify(status)
    assert [code for code, _ in verdict.refuse] == [
        "PG_AVAILABILITY",
        "PG_DEGRADED",
        "SLOW_OPS",
        "PG_STATE",
        "RECOVERY",
    ]
    assert verdict.summary["muted"] == ["POOL_NO_REDUNDANCY"]
    assert slow_operations(status) == 19
    assert "23 stale+active+clean" in dict(verdict.refuse)["PG_STATE"]


def test_detail_names_the_placement_groups() -> None:
    verdict = classify(_load("ceph-status-osd-down"), _load("ceph-health-osd-down"))
    assert "pg 2.0 is stuck stale" in dict(verdict.refuse)["PG_AVAILABILITY"]


def test_a_full_osd_is_refused() -> None:
    verdict = classify({"health": _load("ceph-health-full")})
    assert [code for code, _ in verdict.refuse] == ["OSD_FULL", "POOL_FULL"]
    assert "1 full osd(s)" in verdict.sentence()


@pytest.mark.parametrize("code", sorted({*REFUSED_CODES, "OSD_HOST_DOWN", "OSD_RACK_DOWN"}))
def test_refused_codes_refuse_even_when_they_are_muted(code: str) -> None:
    verdict = classify(_with(code, muted=True))
    assert [found for found, _ in verdict.refuse] == [code]
    assert verdict.summary["muted"] == [code]


@pytest.mark.parametrize("code", sorted(HARMLESS_CODES))
def test_harmless_codes_do_not_refuse(code: str) -> None:
    verdict = classify(_with(code))
    assert verdict.fit and [found for found, _ in verdict.harmless] == [code]


@pytest.mark.parametrize("code", sorted(UNRELATED_CODES))
def test_trouble_of_file_systems_and_gateways_does_not_refuse_block_devices(code: str) -> None:
    verdict = classify(_with(code, "HEALTH_ERR"))
    assert verdict.fit and [found for found, _ in verdict.harmless] == [code]
    assert new_since(classify({}), verdict) == {}


@pytest.mark.parametrize("code", sorted(REFUSED_CODES | STOPPING_CODES))
def test_a_code_that_concerns_block_devices_is_new_once(code: str) -> None:
    now = classify(_with(code))
    assert new_since(classify({}), now) == {code: "m"}
    assert new_since(now, now) == {}


def test_no_code_is_in_two_lists_that_contradict_each_other() -> None:
    assert not UNRELATED_CODES & (REFUSED_CODES | STOPPING_CODES | HARMLESS_CODES)
    assert not REFUSED_CODES & (STOPPING_CODES | HARMLESS_CODES)


def test_an_unknown_warning_is_recorded_while_an_unknown_error_refuses() -> None:
    warned, failed = classify(_with("NEW_THING")), classify(_with("NEW_THING", "HEALTH_ERR"))
    assert warned.fit and warned.unknown == (("NEW_THING", "m"),)
    assert failed.refuse == (("NEW_THING", "m"),)


@pytest.mark.parametrize(
    ("flags", "fit"),
    [("noout", True), ("noscrub,nodeep-scrub", True), ("pauserd,pausewr", False), ("full", False), ("nearfull", True)],
)
def test_flags_refuse_if_they_stop_clients(flags: str, fit: bool) -> None:
    assert classify(_with("OSDMAP_FLAGS", message=f"{flags} flag(s) set")).fit is fit


@pytest.mark.parametrize(
    ("state", "fit"),
    [
        ("active+clean", True),
        ("active+clean+scrubbing+deep", True),
        ("active+clean+snaptrim_wait", True),
        ("active+undersized", False),
        ("stale+active+clean", False),
        ("peering", False),
        ("unknown", False),
        ("active+clean+inconsistent", False),
        ("active+remapped+backfilling", False),
    ],
)
def test_placement_groups_must_be_active_and_clean_even_before_ceph_warns(state: str, fit: bool) -> None:
    status = _load("ceph-status-initial")
    status["health"] = {"status": "HEALTH_OK", "checks": {}, "mutes": []}
    status["pgmap"]["pgs_by_state"] = [{"state_name": state, "count": 3}]
    verdict = classify(status)
    assert verdict.fit is fit
    assert fit or f"3 {state}" in verdict.sentence()
