"""Sites: what their files may say, and the ceilings that they set."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from replay.base.errors import ConfigurationError, RefusedError, ReplayError
from replay.base.paths import ROOT, config_directory
from replay.cluster import sandbox_record
from replay.cluster.cluster import why_unreadable
from replay.cluster.sandbox_options import SandboxOptions
from replay.cluster.site import (
    NO_OSD_CONFIG,
    SHAPES,
    WORDS,
    Ceilings,
    ceilings_reached,
    commit_latencies,
    fullest_osd,
    missing,
    require,
    slowest_osd,
)
from replay.cluster.site_file import load_site
from replay.design.sizing import PoolCopies
from replay.preflight.plan import design_for
from support.hostile import ClosedPath
from support.samples import fixture_json

WriteSite = Callable[[str, str], Path]
OWN = "aaaaaaaa-0000-0000-0000-000000000001"
FOREIGN = "bbbbbbbb-0000-0000-0000-000000000002"


def _site_text(folder: Path, *, fsid: str = FOREIGN, allows: str = "[]", more: str = "") -> str:
    (folder / "ceph.conf").write_text(f"[global]\nfsid = {fsid}\nmon host = 127.0.0.1:1\n")
    (folder / "keyring").write_text("[client.replay]\n")
    return (
        "name: mine\nlabel: Mine\nlimitation: A test.\n"
        f"cluster: {{conf: {folder}/ceph.conf, client: client.replay, keyring: {folder}/keyring}}\n"
        f"pools: {{data: {{name: replay}}}}\nallows: {allows}\n{more}"
    )


@pytest.fixture
def own_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_record, "owns_fsid", lambda fsid: fsid == OWN)


def test_the_vocabulary_is_the_same_in_code_and_both_schemas() -> None:
    schemas = ROOT / "config" / "schemas"
    site = json.loads((schemas / "site.schema.json").read_text())["properties"]["allows"]["items"]["enum"]
    experiment = json.loads((schemas / "experiment.schema.json").read_text())["$defs"]["requires"]["items"]["enum"]
    assert list(WORDS) == site
    assert [*WORDS, *SHAPES, NO_OSD_CONFIG] == experiment


@pytest.mark.parametrize(
    ("options", "line", "lacks"),
    [
        (SandboxOptions(), None, ["link", "stretch"]),
        (SandboxOptions(link_rtt_seconds=0.0), object(), ["stretch"]),
        (SandboxOptions(stretch=True, left_osds=4, right_osds=0), object(), []),
    ],
    ids=["two clusters side by side", "a line between them", "one cluster over both sites"],
)
def test_a_shape_is_a_sandboxs_own_and_no_file_has_to_allow_it(monkeypatch, options, line, lacks) -> None:
    sandbox = SimpleNamespace(options=options, link=line)
    monkeypatch.setattr(sandbox_record, "owner_of", lambda fsid: sandbox if fsid == OWN else None)
    monkeypatch.setattr(sandbox_record, "owns_fsid", lambda fsid: fsid == OWN)
    own, foreign = (SimpleNamespace(name="s", fsid=fsid, allows=()) for fsid in (OWN, "f" * 36))
    assert [word for word, _ in missing(SHAPES, own)] == lacks
    assert [word for word, _ in missing(SHAPES, foreign)] == list(SHAPES)
    for word in SHAPES:
        with pytest.raises(RefusedError, match=f"{word} is refused: this needs a sandbox .*: replay sandbox up"):
            require(foreign, word, foreign.fsid)
    if not lacks:
        require(own, "link", OWN)
        with pytest.raises(RefusedError, match="was not started by Replay"):
            require(own, "link", foreign.fsid)


def test_the_example_is_a_valid_site_that_allows_nothing() -> None:
    site = load_site("example", check_files=False)
    assert dict(missing(WORDS, site)).keys() == {*WORDS}
    assert site.ceilings.fullest_osd_fraction == 0.7 and site.primary.client == "client.replay"


def test_every_commented_key_of_the_example_is_valid_once_it_is_uncommented(write_site: WriteSite) -> None:
    text = (ROOT / "config" / "sites" / "example.yaml").read_text()
    lines = []
    for line in text.splitlines():
        stripped = line.lstrip()
        body = stripped.removeprefix("# ")
        is_key = stripped.startswith("# ") and body.split(":")[0].strip() in (
            *("journal", "data_pool", "second_cluster", "client_hosts", "client_release", "time_window"),
            *(
                "rate_bytes_per_second",
                "tenant_latency_seconds",
                "conf",
                "client",
                "keyring",
                "mirror_daemon_admin_socket",
            ),
            *("prometheus", "url", "labels", "osd_cpu"),
        )
        lines.append(line.replace("# ", "", 1) if is_key else line)
    write_site("example", "\n".join(lines).replace("allows: []", "allows: [second_site]") + "\n")
    site = load_site("example", check_files=False)
    assert site.second_site is not None and site.pools.data.name == "replay"
    assert site.pools.data_pool is not None and site.pools.data_pool.erasure_code == (4, 2)
    assert str(site.time_window) == "22:00 to 06:00 Europe/Berlin"
    assert site.prometheus is not None and site.prometheus.osd_cpu is not None
    assert site.prometheus.url == "http://monitor.example.org:9095" and set(site.prometheus.labels) == {"cluster"}
    assert site.ceilings.client_options() == {"rbd_qos_bps_limit": "200000000"}


def test_files_that_do_not_exist_are_named_with_line_and_key(write_site: WriteSite, tmp_path: Path) -> None:
    text = _site_text(tmp_path)
    (tmp_path / "keyring").unlink()
    write_site("mine", text)
    with pytest.raises(ConfigurationError, match=r"mine\.yaml:4: cluster\.keyring: .*no such file"):
        load_site("mine")
    assert load_site("mine", check_files=False).primary.name == "primary"


def test_a_file_in_a_folder_that_may_not_be_entered_is_said_to_be_unreadable(tmp_path: Path) -> None:
    assert why_unreadable(ClosedPath(tmp_path / "ceph.conf")) == "cannot be read by this user"
    assert why_unreadable(tmp_path / "ceph.conf") == "there is no such file"
    (tmp_path / "ceph.conf").touch()
    assert why_unreadable(tmp_path / "ceph.conf" / "keyring") == "there is no such file"


def test_the_second_cluster_is_the_sites_only_if_its_file_allows_that(write_site: WriteSite, tmp_path: Path) -> None:
    more = f"second_cluster: {{conf: {tmp_path}/gone.conf, client: client.replay}}\n"
    write_site("mine", _site_text(tmp_path, more=more))
    assert load_site("mine").secondary is None, "its files need not be there"
    write_site("mine", _site_text(tmp_path, more=more, allows="[second_site]"))
    with pytest.raises(ConfigurationError, match=r"second_cluster\.conf: .*gone\.conf: there is no such file"):
        load_site("mine")
    assert load_site("mine", check_files=False).secondary is not None


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("time_window: {from: 22:00, to: 06:00, timezone: Mars/Base}", "no time zone 'Mars/Base'"),
        ("time_window: {from: 22:00, to: 06:00, timezone: Europe}", "no time zone 'Europe'"),
        ("time_window: {from: 22:00, to: 22:00, timezone: UTC}", "the same moment"),
        ("time_window: {from: 25:00, to: 06:00, timezone: UTC}", "hours and minutes"),
        ("ceilings: {fullest_osd: 0.5}", "did you mean 'fullest_osd_fraction'?"),
        ("ceilings: {fullest_osd_fraction: 70}", "a fraction such as 0.7"),
        ("ceilings: {slow_operations: 3}", "ceilings.slow_operations: unknown key"),
        ("ceilings: {recovery: true}", "ceilings.recovery: unknown key"),
        ("sandbox: default", "expected either cluster or sandbox"),
        ("second_cluster: {conf: c, client: client.x, pool: other}", "second_cluster.pool: 'other' differs"),
        ("second_cluster: {conf: c, client: x}", "such as client.replay"),
        ("prometheus: {url: monitor:9095}", "http:// or https://"),
        ("prometheus: {url: 'http://'}", "is not an address such as"),
        ("prometheus: {url: 'http://[fd00::1:9095'}", "is not an address such as"),
        ("prometheus: {url: 'http://me:secret@monitor'}", "prometheus.password_file"),
        ("prometheus: {url: 'http://monitor', user: me}", "password_file"),
        ("prometheus: {url: 'http://monitor', ca_file: none.pem}", "prometheus.ca_file: "),
        ("prometheus: {url: 'http://monitor', ca_file: ~nobody-here/ca.pem}", "no home folder is known"),
        ("prometheus: {url: 'http://m', osd_cpu: {selector: x, label: y, pattern: 'osd'}}", "one group"),
        ("prometheus: {url: 'http://m', osd_cpu: {selector: x, label: y, pattern: '('}}", "one group"),
        ("prometheus: {url: 'http://m', osd_cpu: {selector: x}}", "label"),
    ],
)
def test_nonsense_is_refused_in_plain_language(write_site: WriteSite, tmp_path: Path, more: str, said: str) -> None:
    write_site("mine", _site_text(tmp_path, more=more + "\n"))
    with pytest.raises(ConfigurationError) as caught:
        load_site("mine")
    assert said in str(caught.value) and "mine.yaml:" in str(caught.value)


def test_a_pool_may_only_be_made_if_the_file_allows_it(write_site: WriteSite, tmp_path: Path) -> None:
    text = _site_text(tmp_path).replace("{name: replay}", "{name: replay, create: true}")
    write_site("mine", text)
    with pytest.raises(ConfigurationError, match="needs pool_create among allows"):
        load_site("mine")
    write_site("mine", text.replace("allows: []", "allows: [pool_create]"))
    assert load_site("mine").pools.data.create


def test_the_name_of_the_file_must_be_that_of_the_site(write_site: WriteSite, tmp_path: Path) -> None:
    write_site("other", _site_text(tmp_path))
    with pytest.raises(ConfigurationError, match="is not the file's name 'other'"):
        load_site("other")


@pytest.mark.usefixtures("own_cluster")
def test_weights_and_throttles_are_refused_on_a_foreign_cluster_whatever_its_file_says(
    write_site: WriteSite, tmp_path: Path
) -> None:
    write_site("mine", _site_text(tmp_path, allows="[crush, osd_config]"))
    site = load_site("mine")
    assert dict(missing(WORDS, site)).keys() == {*WORDS}
    for word in ("crush", "osd_config"):
        assert "did not start" in dict(missing([word], site))[word]
        with pytest.raises(ReplayError, match="refused"):
            require(site, word, FOREIGN)


@pytest.mark.parametrize(
    ("fsid", "allows", "measured"),
    [
        (FOREIGN, "[second_site, osd_config]", {"journal", "snapshot-60", "snapshot-15", "snapshot-1"}),
        (OWN, "[second_site]", {"journal", "snapshot-60", "snapshot-15", "snapshot-1"}),
        (
            OWN,
            "[second_site, osd_config]",
            {"journal-poll-5", "journal-poll-1", "snapshot-60", "snapshot-15", "snapshot-1"},
        ),
    ],
)
@pytest.mark.usefixtures("own_cluster")
def test_the_journal_is_measured_as_it_is_where_its_poll_age_may_not_be_set(
    write_site: WriteSite, tmp_path: Path, fsid: str, allows: str, measured: set[str]
) -> None:
    second = f"second_cluster: {{conf: {tmp_path}/ceph.conf, client: client.replay, keyring: {tmp_path}/keyring,"
    second += f" mirror_daemon_admin_socket: {tmp_path}/asok}}\n"
    write_site("mine", _site_text(tmp_path, fsid=fsid, allows=allows, more=second))
    site = load_site("mine", check_files=False)
    for scale in ("quick", "talk"):
        design = design_for(site, "replica-lag", scale)
        assert {one.name for one in design.variants} == measured - ({"snapshot-60"} if scale == "quick" else set())
        told = {skip.requires for skip in design.skipped}
        assert told == ({"osd_config"} if "journal" in measured else {NO_OSD_CONFIG})


@pytest.mark.usefixtures("own_cluster")
def test_a_ceph_conf_that_lies_about_its_fsid_does_not_help(write_site: WriteSite, tmp_path: Path) -> None:
    write_site("mine", _site_text(tmp_path, fsid=OWN, allows="[crush, osd_config]"))
    site = load_site("mine")
    require(site, "crush", OWN)
    with pytest.raises(ReplayError, match="was not started by Replay"):
        require(site, "crush", FOREIGN)


def test_a_capability_that_is_allowed_but_absent_is_missing_with_its_reason(
    write_site: WriteSite, tmp_path: Path
) -> None:
    write_site("mine", _site_text(tmp_path, allows="[second_site, client_hosts]"))
    site = load_site("mine")
    assert missing(["second_site", "client_hosts", "pool_create", "second_site"], site) == [
        ("second_site", "the site's file names no second cluster"),
        ("client_hosts", "the site's file names no client hosts"),
        ("pool_create", "the site's file does not allow it"),
    ]
    assert "not one of the words that a site can allow" in missing(["root"], site)[0][1]


def test_the_sandbox_site_says_how_to_start_a_missing_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(tmp_path / "nothing"))
    assert (config_directory() / "sites" / "sandbox.yaml").exists()
    with pytest.raises(ReplayError, match="replay sandbox up"):
        load_site("sandbox")


def _load(name: str) -> Any:
    return fixture_json("ceph", f"{name}.json")


def test_a_healthy_half_empty_cluster_reaches_no_ceiling() -> None:
    answers = {"osd_df": _load("ceph-osd-df"), "osd_perf": _load("ceph-osd-perf")}
    assert ceilings_reached(Ceilings(tenant_latency_seconds=0.05), **answers) == []


def test_the_fullest_osd_stops_a_run() -> None:
    osd_df = _load("ceph-osd-df")
    assert fullest_osd(osd_df) == ("osd.1", pytest.approx(0.33297996))
    (stop,) = ceilings_reached(Ceilings(fullest_osd_fraction=0.3), osd_df=osd_df)
    assert stop.reason == "fullest_osd" and "osd.1" in stop.detail and "30%" in stop.detail


def test_a_set_that_would_fill_an_osd_beyond_the_ceiling_is_not_begun() -> None:
    osd_df, capacity = _load("ceph-osd-df"), 31457280 * 1024
    assert (
        ceilings_reached(Ceilings(fullest_osd_fraction=0.5), osd_df=osd_df, bytes_added_by_next_set=0.1 * capacity)
        == []
    )
    (stop,) = ceilings_reached(
        Ceilings(fullest_osd_fraction=0.5), osd_df=osd_df, bytes_added_by_next_set=0.2 * capacity
    )
    assert stop.reason == "fullest_osd"


def test_bytes_to_media_count_what_was_written_and_what_is_about_to_be() -> None:
    limit = Ceilings(bytes_written_to_media_per_run=100)
    assert ceilings_reached(limit, bytes_written_to_media=60, bytes_of_next_set=40) == []
    (stop,) = ceilings_reached(limit, bytes_written_to_media=60, bytes_of_next_set=41)
    assert stop.reason == "bytes_written"


def test_the_slowest_osd_decides_how_long_tenants_wait() -> None:
    osd_perf = _load("ceph-osd-perf")
    assert slowest_osd(osd_perf) == ("osd.0", 0.018)
    (stop,) = ceilings_reached(Ceilings(tenant_latency_seconds=0.01), osd_perf=osd_perf)
    assert stop.reason == "tenant_latency" and "18 ms" in stop.detail


def test_the_commit_latency_of_each_osd_is_in_seconds() -> None:
    infos = [{"id": number, "perf_stats": {"commit_latency_ms": 3 * number}} for number in (10, 2)]
    answers = ({"osd_perf_infos": infos}, {"osdstats": {"osd_perf_infos": infos}})
    assert [commit_latencies(answer) for answer in answers] == [{10: 0.03, 2: 0.006}] * 2
    assert commit_latencies({}) == {}


def test_media_bytes_count_copies_and_the_journal() -> None:
    assert PoolCopies().media_bytes(10) == 30
    assert PoolCopies().media_bytes(10, journaled=True) == 60
    assert PoolCopies(data=1.5).media_bytes(10) == 15
    assert PoolCopies(data=1.5, journal=3).media_bytes(10, journaled=True) == 45


def test_the_rate_becomes_librbds_own_limit() -> None:
    assert Ceilings().client_options() == {}
    assert Ceilings(rate_bytes_per_second=2e8).client_options() == {"rbd_qos_bps_limit": "200000000"}
