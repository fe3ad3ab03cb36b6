from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from replay.cluster import admin_commands
from replay.cluster.site import load_site
from replay.preflight import command as preflight

WriteSite = Callable[[str, str], Path]
TEXT = """\
name: mine
label: Mine
limitation: A test.
cluster: {conf: CONF, client: client.replay, keyring: KEYRING}
pools:
  data: {name: replay, namespace: talk, pg_num: 64, replicas: 3, device_class: ssd}
  journal: {name: replay-journal}
  data_pool: {name: replay-ec, device_class: hdd, erasure_code: {k: 4, m: 2}}
second_cluster: {conf: SECOND, client: client.replay}
time_window: {from: 22:00, to: 06:00, timezone: Europe/Berlin}
allows: [second_site]
"""


def _load(write_site: WriteSite, tmp_path: Path) -> preflight.Site:
    text = TEXT.replace("CONF", f"{tmp_path}/ceph.conf").replace("KEYRING", f"{tmp_path}/keyring")
    write_site("mine", text.replace("SECOND", f"{tmp_path}/second.conf"))
    return load_site("mine", check_files=False)


def test_the_commands_of_an_administrator_are_complete_and_exact(write_site: WriteSite, tmp_path: Path) -> None:
    site = _load(write_site, tmp_path)
    assert admin_commands.user(site) == [
        "ceph auth get-or-create client.replay mon 'profile rbd' "
        "osd 'profile rbd pool=replay namespace=talk, profile rbd pool=replay-ec, profile rbd pool=replay-journal' "
        "mgr 'profile rbd pool=replay, profile rbd pool=replay-ec, profile rbd pool=replay-journal' "
        f"-o {tmp_path}/keyring"
    ]
    assert admin_commands.pool(site.pools.data) == [
        "ceph osd crush rule create-replicated replay-ssd default host ssd",
        "ceph osd pool create replay 64 64 replicated replay-ssd",
        "ceph osd pool set replay size 3",
        "rbd pool init replay",
        "rbd namespace create --pool replay --namespace talk",
    ]
    assert site.pools.data_pool is not None
    assert admin_commands.pool(site.pools.data_pool, is_data_pool=True) == [
        "ceph osd erasure-code-profile set replay-ec k=4 m=2 crush-failure-domain=host crush-device-class=hdd",
        "ceph osd pool create replay-ec 32 32 erasure replay-ec",
        "ceph osd pool set replay-ec allow_ec_overwrites true",
        "ceph osd pool application enable replay-ec rbd",
    ]
    mirroring = admin_commands.mirroring(site)
    assert "rbd mirror pool enable replay image" in mirroring
    assert any("bootstrap import --site-name second --direction rx-only replay" in command for command in mirroring)
    assert set(admin_commands.everything(site)) > {*mirroring, *admin_commands.user(site)}


def test_a_site_without_its_files_gets_all_commands_and_is_refused(write_site: WriteSite, tmp_path: Path) -> None:
    site = _load(write_site, tmp_path)
    report = preflight.preflight(site, preflight.load_experiments())
    assert report.exit_status == 4
    assert set(report.findings.commands()) >= set(admin_commands.everything(site))
    text = preflight.render(report)
    assert "no such file" in text and "Measuring would be REFUSED" in text


def test_each_experiment_says_what_it_can_do_and_why_not(write_site: WriteSite, tmp_path: Path) -> None:
    text = TEXT.replace("CONF", f"{tmp_path}/c").replace("KEYRING", f"{tmp_path}/k").replace("SECOND", f"{tmp_path}/s")
    write_site("mine", text.replace("allows: [second_site]", "allows: []"))
    estimates = {"rbd-journaling": {"cells": 100, "hours": 2.5, "bytes_to_client": 2**31, "bytes_to_media": 2**33}}
    report = preflight.preflight(
        load_site("mine", check_files=False), preflight.load_experiments(), estimates=estimates
    )
    rows = {row["name"]: row for row in report.experiments}
    assert rows["failover"]["missing"] == {"second_site": "the site's file does not allow it"}
    skipped = {v["name"] for v in rows["rbd-journaling"]["variants"] if v["missing"]}
    assert skipped == {"journal-mirrored", "snapshot-mirrored"}
    assert "100 cells, about 2.5 h, 2.0 GiB to the clients, 8.0 GiB to media" in preflight.render(report)
    assert report.public()["measuring"] == "refused"


@pytest.mark.parametrize(("hour", "said"), [(23, "open (22:00 to 06:00 Europe/Berlin)"), (12, "opens in 9.0 h")])
def test_the_time_window_is_told(write_site: WriteSite, tmp_path: Path, hour: int, said: str) -> None:
    site = _load(write_site, tmp_path)
    report = preflight.preflight(site, [], now=datetime(2026, 1, 10, hour, tzinfo=UTC))
    assert said in preflight.render(report)


@pytest.mark.slow
def test_a_monitor_that_cannot_be_reached_is_said_within_a_minute(write_site: WriteSite, tmp_path: Path) -> None:
    site = _load(write_site, tmp_path)
    (tmp_path / "ceph.conf").write_text("[global]\nmon host = v2:127.0.0.1:1/0\nauth client required = none\n")
    (tmp_path / "keyring").write_text("")
    started = datetime.now(UTC)
    report = preflight.preflight(site, [])
    assert (datetime.now(UTC) - started).total_seconds() < 60
    assert report.exit_status == 4
    assert any("does not answer" in item.text for item in report.findings.items)
