"""A cluster that Replay knows only through a site's file and a restricted user, and that has neighbours."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from replay.base.errors import RefusedError
from replay.cluster import admin_commands
from replay.cluster.cluster import CephCommandError, Cluster
from replay.cluster.session import MonitorSession
from replay.cluster.site import Ceilings, Site
from replay.cluster.site_file import load_site
from replay.design.design import Image
from replay.measure.bench import open_bench
from replay.ownership.clean import clean
from replay.ownership.images import RemovalOutcome, create_image
from replay.ownership.ledger import Ledger, unique_name
from replay.ownership.locks import SlotLock
from replay.ownership.pools import (
    PoolSpec,
    await_pools,
    create_pool,
    ensure_pools,
    pools_can_be_deleted,
    remove_pool_entries,
)
from replay.ownership.removal import remove_images
from replay.preflight import command as preflight
from replay.sandbox import Sandbox
from support.administrator import make_user, paste, site_text, tell
from support.cluster_snapshot import difference, snapshot
from support.commands import run_clean
from support.foreign import NEIGHBOURS, USER, neighbours
from support.patience import wait_until

pytestmark = [pytest.mark.sandbox, pytest.mark.xdist_group("neighbours of one's own cluster")]
WriteSite = Callable[[str, str], Path]
Snapshot = dict[str, Any]


@pytest.fixture(scope="module")
def keyrings(
    administrator: Cluster, second_administrator: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The user that `preflight` asks an administrator to make, on both clusters, and neighbours of similar names."""
    folder = tmp_path_factory.mktemp("keyrings")
    with neighbours(administrator, second_administrator, folder):
        yield folder


@pytest.fixture
def site(write_site: WriteSite, keyrings: Path, live_sandbox: Sandbox) -> Site:
    write_site("mine", site_text(live_sandbox, "mine", USER, keyrings, "allows: [second_site]"))
    return load_site("mine")


@pytest.fixture
def ledger(site: Site) -> Ledger:
    with MonitorSession(site.primary) as session:
        return Ledger(session.fsid())


@pytest.fixture(scope="module")
def found_last() -> list[Snapshot]:
    """Both clusters as the last test left them: a snapshot takes dozens of programs."""
    return []


@pytest.fixture
def untouched(
    administrator: Cluster, second_administrator: Cluster, site: Site, found_last: list[Snapshot]
) -> Iterator[None]:
    """Whatever the test does, neighbours' things on both clusters stay the same."""
    before = list(found_last) or [snapshot(administrator), snapshot(second_administrator)]
    assert {"replay2", "replay"} <= set(before[0]["pools"]) and "client.replay2" in before[0]["auth"]
    yield
    after = [snapshot(administrator), snapshot(second_administrator)]
    found_last[:] = after
    assert [difference(old, new) for old, new in zip(before, after, strict=True)] == [[], []]


def _make_image(site: Site, ledger: Ledger, suffix: str, *, mirrored: str = "", confirm: bool = True) -> str:
    name = unique_name(suffix)
    entry = ledger.intend("image", "replay", "", name, site=site.name, details={"mirrored": bool(mirrored)})
    features = ["--image-feature", "layering", "--image-feature", "exclusive-lock"]
    features += ["--image-feature", "journaling"] if mirrored == "journal" else []
    site.primary.run("rbd", "create", "--size", "16M", *features, f"replay/{name}")
    if confirm:
        ledger.confirm(entry, {"id": site.primary.json("rbd", "info", f"replay/{name}")["id"]})
    if mirrored:
        site.primary.run("rbd", "mirror", "image", "enable", f"replay/{name}", mirrored)
    return name


def _clean(site: Site) -> list[RemovalOutcome]:
    return clean(site, confirm=lambda _: True, say=lambda _: None)


def test_preflight_finds_everything_it_needs_with_the_restricted_user(site: Site, administrator: Cluster) -> None:
    before = snapshot(administrator)
    report = preflight.preflight(site, preflight.load_experiments())
    (skipped,) = [item for item in report.findings.items if item.level not in ("ok", "note")]
    assert skipped.level == "skip"
    assert "does not return its counters" in skipped.text, "amplification would need a user with all rights"
    assert report.exit_status == 0
    # The words that the site does not allow are missing by choice; of those it allows, none is missing.
    variants = [variant for row in report.experiments for variant in row["variants"]]
    assert len(variants) > 10
    assert not any("second_site" in variant["missing"] for variant in variants)
    story = [row for row in report.experiments if row["name"] in ("rbd-journaling", "failover")]
    assert [row["missing"] for row in story] == [{}, {}]
    assert not any(variant["missing"] for row in story for variant in row["variants"])
    said = [item.text for item in report.findings.items]
    assert "client.replay of the primary cluster is a restricted user" in said
    assert "probe" not in {item.topic for item in report.findings.items}, "it writes only when it is asked"
    assert difference(before, snapshot(administrator)) == []


@pytest.mark.usefixtures("untouched")
def test_clean_removes_what_is_in_the_ledger_however_far_it_came_and_leaves_neighbours_alone(
    site: Site, ledger: Ledger
) -> None:
    whole = [_make_image(site, ledger, "plain"), _make_image(site, ledger, "with-journal")]
    # A crash between creation and confirmation, one in the middle of a creation or removal, one before a creation.
    unconfirmed = _make_image(site, ledger, "unconfirmed", confirm=False)
    half = _make_image(site, ledger, "half")
    image_id = site.primary.json("rbd", "info", f"replay/{half}")["id"]
    site.primary.run("rados", "--pool", "replay", "rm", f"rbd_header.{image_id}")
    never = unique_name("never")
    ledger.intend("image", "replay", "", never, site=site.name)
    made = {*whole, unconfirmed, half}
    assert made <= set(site.primary.json("rbd", "ls", "replay"))
    outcomes = {outcome.entry.name: outcome.status for outcome in _clean(site)}
    assert outcomes == {**dict.fromkeys((*whole, unconfirmed), "removed"), half: "absent", never: "absent"}
    assert not made & set(site.primary.json("rbd", "ls", "replay"))
    assert ledger.owned() == []
    assert _clean(site) == []


@pytest.mark.usefixtures("untouched")
def test_clean_waits_until_mirroring_has_removed_the_copies(site: Site, ledger: Ledger) -> None:
    names = [_make_image(site, ledger, mode, mirrored=mode) for mode in ("snapshot", "journal")]
    second = site.secondary
    assert second is not None

    def statuses() -> list[int]:
        return [second.run("rbd", "info", f"replay/{name}", check=False).returncode for name in names]

    wait_until(lambda: statuses() == [0, 0], "the copies of the images")
    assert [outcome.status for outcome in _clean(site)] == ["removed", "removed"]
    assert statuses() == [2, 2]


@pytest.mark.usefixtures("untouched")
def test_an_image_of_the_same_name_but_another_id_is_reported_and_kept(site: Site, ledger: Ledger) -> None:
    name = _make_image(site, ledger, "swapped")
    site.primary.run("rbd", "rm", "--no-progress", f"replay/{name}")
    site.primary.run("rbd", "create", "--size", "16M", f"replay/{name}")
    (outcome,) = _clean(site)
    assert outcome.status == "left" and "not the image that Replay created" in outcome.why
    assert len(ledger.owned()) == 1
    site.primary.run("rbd", "rm", "--no-progress", f"replay/{name}")
    assert [outcome.status for outcome in _clean(site)] == ["absent"]


@pytest.mark.usefixtures("untouched")
def test_an_entry_that_cannot_be_removed_does_not_keep_the_rest(site: Site, ledger: Ledger) -> None:
    gone = _make_image(site, ledger, "fine")
    kept = _make_image(site, ledger, "with-snapshot")
    site.primary.run("rbd", "snap", "create", "--no-progress", f"replay/{gone}@.rbd-mirror.a-copy-cut-short")
    site.primary.run("rbd", "snap", "create", "--no-progress", f"replay/{kept}@not-in-the-ledger")
    outcomes = {outcome.entry.name: outcome for outcome in _clean(site)}
    assert outcomes[gone].status == "removed"
    assert outcomes[kept].status == "left" and "snapshots" in outcomes[kept].why
    site.primary.run("rbd", "snap", "rm", "--no-progress", f"replay/{kept}@not-in-the-ledger")
    assert [outcome.status for outcome in _clean(site)] == ["removed"]


@pytest.mark.usefixtures("untouched")
def test_clean_asks_and_refuses_without_a_terminal(
    site: Site, ledger: Ledger, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = _make_image(site, ledger, "asked")
    monkeypatch.setattr("sys.stdin", open("/dev/null", encoding="utf-8"))  # noqa: PTH123, SIM115
    assert run_clean(["--site", "mine"]) == 4
    shown = capsys.readouterr()
    assert f"image replay/{name} 16 MiB" in shown.out and "--yes" in shown.err
    assert name in site.primary.json("rbd", "ls", "replay")
    assert run_clean(["--site", "mine", "--yes"]) == 0
    assert name not in site.primary.json("rbd", "ls", "replay")


@pytest.mark.usefixtures("untouched")
def test_clean_refuses_while_a_measurement_holds_the_cluster(site: Site, ledger: Ledger) -> None:
    name = _make_image(site, ledger, "busy")
    slot = SlotLock.of(ledger.fsid)
    slot.acquire()
    with pytest.raises(RefusedError, match="another measurement on this cluster"):
        _clean(site)
    assert name in site.primary.json("rbd", "ls", "replay")
    slot.release()
    assert [outcome.status for outcome in _clean(site)] == ["removed"]


@pytest.mark.usefixtures("untouched")
def test_things_made_through_another_site_are_named_and_not_touched(site: Site, ledger: Ledger) -> None:
    ledger.intend("image", "replay", "", unique_name("x"), site="another")
    said: list[str] = []
    assert clean(site, confirm=lambda _: True, say=said.append) == []
    assert any("another" in line for line in said)
    assert len(ledger.owned()) == 1


@pytest.fixture
def pool_site(
    write_site: WriteSite,
    administrator: Cluster,
    live_sandbox: Sandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Site]:
    """A site whose file lets Replay make its pools, and the user that preflight asks for."""
    # All OSDs are on one host: Replay knows only of its own clusters that copies cannot go elsewhere.
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", live_sandbox.directory)
    keyring = tmp_path / "keyring"
    text = f"""\
name: pools
label: Pools
limitation: A test.
cluster: {{conf: {administrator.conf}, client: client.replay-pools, keyring: {keyring}}}
pools:
  data: {{name: replay-made, namespace: talk, create: true, pg_num: 8, replicas: 2}}
  data_pool: {{name: replay-made-ec, create: true, pg_num: 8, erasure_code: {{k: 2, m: 1}}}}
allows: [pool_create, pool_delete]
"""
    write_site("pools", text)
    paste(live_sandbox, tmp_path, admin_commands.user(load_site("pools", check_files=False)))
    yield load_site("pools")
    tell(administrator, "auth rm", entity="client.replay-pools")


@pytest.mark.of_release
@pytest.mark.usefixtures("untouched")
def test_a_user_made_by_the_printed_command_makes_pools_and_clean_removes_them_unless_others_use_them(
    pool_site: Site,
) -> None:
    with MonitorSession(pool_site.primary) as session:
        ledger = Ledger(session.fsid())
        assert ensure_pools(pool_site, session, ledger) == ["replay-made", "replay-made-ec"]
        assert ensure_pools(pool_site, session, ledger) == []
        assert preflight.preflight(pool_site, []).exit_status == 0
        entry = ledger.intend("image", "replay-made", "talk", "replay-00000000-x", site="pools")
        spec = "replay-made/talk/replay-00000000-x"
        pool_site.primary.run("rbd", "create", "--size", "16M", "--data-pool", "replay-made-ec", spec)
        ledger.confirm(entry, {"id": pool_site.primary.json("rbd", "info", spec)["id"]})
        pool_site.primary.run("rbd", "create", "--size", "16M", "replay-made/theirs")
        image, *rest = _clean(pool_site)
        assert (image.entry.kind, image.status) == ("image", "removed")
        pools = {outcome.entry.details["final_name"]: outcome for outcome in rest}
        assert pools["replay-made"].status == "left" and "does not own" in pools["replay-made"].why
        assert pools["replay-made-ec"].status == "removed"
        pool_site.primary.run("rbd", "rm", "--no-progress", "replay-made/theirs")
        assert [outcome.status for outcome in _clean(pool_site)] == ["removed"]
        assert ledger.owned() == []


@pytest.mark.of_release
@pytest.mark.usefixtures("untouched")
def test_that_user_measures_in_an_experiments_pool_and_has_no_rights_in_others(pool_site: Site) -> None:
    with open_bench(pool_site, "pools", lambda line: None) as bench:
        pool = create_pool(bench, "trial", PoolSpec(2, 8), application="rbd")
        await_pools(bench, [pool])
        made = create_image(bench, "trial", Image(4 << 20, 4 << 20, ("layering", "exclusive-lock")), pool=pool)
        remove_images(bench, [made])
        remove_pool_entries(bench, lambda entry: entry.pool == pool)
        assert bench.ledger.owned() == []
        for refused in (
            {"prefix": "osd pool delete", "pool": "replay2", "pool2": "replay2", "yes_i_really_really_mean_it": True},
            {"prefix": "osd pool application set", "pool": "replay2", "app": "rbd", "key": "replay", "value": "own"},
            {"prefix": "osd pool create", "pool": "theirs", "pg_num": 8},
            {"prefix": "osd pool rename", "srcpool": "replay2", "destpool": "replay-00000000-x"},
        ):
            with pytest.raises(CephCommandError, match="access denied"):
                bench.session.command(refused)
    with pytest.raises(CephCommandError):
        pool_site.primary.run("rbd", "rm", "--no-progress", NEIGHBOURS[0])


@pytest.mark.of_release
@pytest.mark.usefixtures("untouched")
def test_no_pool_is_made_where_the_monitors_delete_none(pool_site: Site, administrator: Cluster) -> None:
    def allow(value: str) -> None:
        administrator.run("ceph", "tell", "mon.*", "config", "set", "mon_allow_pool_delete", value)

    with MonitorSession(pool_site.primary) as session:
        ledger = Ledger(session.fsid())
        allow("false")
        try:
            wait_until(lambda: pools_can_be_deleted(session) is False, "the manager to know of the change")
            report = preflight.preflight(pool_site, [])
            with pytest.raises(RefusedError, match="no pool is made, because the monitors do not delete any"):
                ensure_pools(pool_site, session, ledger)
        finally:
            allow("true")
            wait_until(lambda: pools_can_be_deleted(session), "the manager to know of the change back")
        assert ledger.owned() == []
    assert report.exit_status == 4
    assert any("the monitors delete no pool" in item.text for item in report.findings.items)


@pytest.mark.usefixtures("untouched")
def test_filling_keeps_to_the_sites_rate_and_is_charged_with_its_copies(site: Site) -> None:
    image = Image(32 << 20, 4 << 20, ("layering", "exclusive-lock"))
    limited = replace(site, ceilings=Ceilings(rate_bytes_per_second=8 << 20))
    with open_bench(limited, "rate", lambda line: None) as bench:
        copies = bench.session.command({"prefix": "osd pool get", "pool": "replay", "var": "size"})["size"]
        started = time.monotonic()
        made = create_image(bench, "rate", image)
        seconds = time.monotonic() - started
        remove_images(bench, [made])
        assert bench.budget.total() == copies * (32 << 20)
    assert seconds > 2.5, "32 MiB at 8 MiB/s, of which the first second's worth may come at once"


@pytest.mark.usefixtures("untouched")
def test_an_image_whose_fill_would_exceed_the_ceiling_is_not_filled(site: Site) -> None:
    limited = replace(site, ceilings=Ceilings(bytes_written_to_media_per_run=16 << 20))
    with open_bench(limited, "room", lambda line: None) as bench:
        with pytest.raises(RefusedError, match="ceiling bytes_written_to_media_per_run"):
            create_image(bench, "room", Image(32 << 20, 4 << 20, ("layering",)))
        (entry,) = bench.ledger.owned()
        assert site.primary.json("rbd", "du", entry.spec)["images"][0]["used_size"] == 0
        assert bench.budget.total() == 0
    assert [outcome.status for outcome in _clean(site)] == ["removed"]


def test_the_snapshot_that_tests_compare_sees_every_kind_of_change(administrator: Cluster, keyrings: Path) -> None:
    before = snapshot(administrator)
    administrator.run("rbd", "create", "--size", "16M", "replay/changed")
    tell(administrator, "config set", who="client.changed", name="rbd_cache", value="true")
    tell(administrator, "config-key set", key="replay/changed", val="x")
    make_user(administrator, "client.changed", "mon", "profile rbd")
    changed = "\n".join(difference(before, snapshot(administrator)))
    for path in (
        "images/replay/changed",
        "config/client.changed/rbd_cache",
        "config_keys/replay",
        "auth/client.changed",
    ):
        assert f"/{path}" in changed
    administrator.run("rbd", "rm", "--no-progress", "replay/changed")
    tell(administrator, "config rm", who="client.changed", name="rbd_cache")
    tell(administrator, "config-key rm", key="replay/changed")
    tell(administrator, "auth rm", entity="client.changed")
    assert difference(before, snapshot(administrator)) == []
    assert json.dumps(before)
