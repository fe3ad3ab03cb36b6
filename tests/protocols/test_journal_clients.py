"""The pools of the journals of several clients, and their removal at the end of the block."""

from __future__ import annotations

import contextlib
import os
import signal
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError, ReplayError
from replay.cluster.cluster import Cluster
from replay.cluster.site import Pool, Pools
from replay.design.configuration import load_experiment
from replay.ownership.images import BlockImage
from replay.ownership.pools import PoolSpec
from replay.protocols import multi_client as journal_clients
from replay.protocols.multi_client import JournalClients
from replay.protocols.targets import images
from support.bench import bench_of, design_of, site_of
from support.smoke import measure_as_shipped

POOLS_THERE = [{"pool_name": "replay", "size": 2, "pg_num": 64}, {"pool_name": "other", "size": 3, "pg_num": 8}]


def bench(*, journal=None, allows=("client_hosts", "pool_create", "pool_delete")):
    pools = Pools(Pool("replay"), journal=journal and Pool(journal))
    session = SimpleNamespace(cluster=Cluster("c"), command=lambda command: POOLS_THERE)
    return bench_of(site_of(pools=pools, allows=set(allows)), session)


@pytest.fixture
def protocol(monkeypatch):
    """Make the protocol; `done` records its requests to the cluster, in order."""

    def of(**of_bench):
        made = JournalClients(bench(**of_bench), design_of("journal-clients"))
        made.done = []

        def image(bench, suffix, image, *, journal_pool):
            made.done.append(("image", suffix, journal_pool))
            return BlockImage("replay", "", suffix, image, suffix)

        def pool(bench, suffix, spec, *, application):
            made.done.append(("pool", spec, application))
            return f"replay-1-{suffix}"

        monkeypatch.setattr(images, "create_image", image)
        monkeypatch.setattr(journal_clients, "create_pool", pool)
        monkeypatch.setattr(journal_clients, "await_pools", lambda bench, pools: made.done.append(("clean",)))
        monkeypatch.setattr(journal_clients, "remove_leftover_pools", lambda bench: made.done.append(("pools gone",)))
        monkeypatch.setattr(
            images,
            "remove_images",
            lambda bench, those: made.done.append(("images gone", len(those))),
        )
        return made

    return of


def places(protocol):
    return {suffix: pool for kind, suffix, pool in (one for one in protocol.done if one[0] == "image")}


def test_only_the_variant_that_requests_it_has_its_journals_in_another_pool(protocol, tmp_path):
    made = protocol()
    made.open_block(tmp_path, made.design.sets)
    assert made.done[:2] == [("pool", PoolSpec(replicas=2, pg_num=64), "rbd"), ("clean",)], "a pool like the data pool"
    assert places(made) == {
        "without-journal-1": "replay", "without-journal-2": "replay",
        "with-journal-1": "replay", "with-journal-2": "replay",
        "journal-pool-1": "replay-1-journals", "journal-pool-2": "replay-1-journals",
    }  # fmt: skip


def test_the_images_are_removed_before_the_pool_of_their_journals(protocol, tmp_path):
    made = protocol()
    made.open_block(tmp_path, made.design.sets)
    made.close_block()
    assert made.done[-2:] == [("images gone", 6), ("pools gone",)]


def test_the_pool_is_removed_even_if_an_image_stays(protocol, tmp_path, monkeypatch):
    made = protocol()
    made.open_block(tmp_path, made.design.sets)

    def fail(bench, images):
        raise ReplayError("an image is watched")

    monkeypatch.setattr(images, "remove_images", fail)
    with pytest.raises(ReplayError, match="watched"):
        made.close_block()
    assert made.done[-1] == ("pools gone",)


def test_a_site_s_own_journal_pool_is_used_and_none_is_made(protocol, tmp_path):
    made = protocol(journal="fast", allows=("client_hosts",))
    made.open_block(tmp_path, made.design.sets)
    assert places(made)["journal-pool-1"] == "fast"
    assert places(made)["with-journal-1"] == "replay", "the others keep their journals in the data pool"
    assert {one[0] for one in made.done} == {"image"}


def test_without_a_pool_and_permission_to_make_one_the_variant_is_left_out_with_its_reason(protocol, tmp_path):
    made = protocol(allows=("client_hosts",))
    made.open_block(tmp_path, made.design.sets)
    [skip] = made.unavailable
    assert (skip.variant, skip.requires) == ("journal-pool", "pool_create")
    assert "names no journal pool" in skip.detail
    assert not any(name.startswith("journal-pool") for name in places(made))
    assert len(places(made)) == 4


def test_payload_variants_differ_only_in_the_option_and_share_their_images():
    cells = {cell.variant.name: cell for cell in design_of("journal-clients").sets[0].cells}
    assert {cells[name].variant.image_name for name in ("with-journal", "payload-256k", "payload-4m")} == {
        "with-journal"
    }
    payloads = [
        cells[name].variant.client_options.pop("rbd_journal_max_payload_bytes")
        for name in ("with-journal", "payload-256k", "payload-4m")
    ]
    assert payloads == ["16384", "262144", "4194304"]
    assert cells["with-journal"].variant.client_options == cells["payload-4m"].variant.client_options


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        ({"levels": {"journal_pool": "own"}}, "no journal"),
        ({"image_of": "with-journal", "levels": {"journal_pool": "own"}}, "shares an image"),
    ],
)
def test_a_design_that_contradicts_itself_is_refused_before_anything_is_made(variant, said):
    raw = load_experiment("journal-clients")
    plain = [one for one in raw["variants"] if one["name"] in ("without-journal", "with-journal")]
    changed = design_of(
        "journal-clients",
        "talk",
        variants=[*plain, {"name": "wrong", "label": "Wrong", **variant}],
        scales={"talk": {key: value for key, value in raw["scales"]["talk"].items() if key != "only"}},
    )
    with pytest.raises(ConfigurationError, match=said):
        JournalClients(bench(), changed)


# On a sandbox -------------------------------------------------------------------------------------------------------


def pools_of(campaign):
    return sorted(campaign.ask("left", "osd pool ls"))


@contextlib.contextmanager
def held(pid):
    """Hold a process still: what it would do next comes when the test has looked."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
def test_journals_are_in_a_pool_that_the_block_removes(campaign):
    before, pools, journals = pools_of(campaign), set(), {}

    def look():
        campaign.wait_for(lambda: campaign.processes("--client=sock:"), "a cell")
        with held(campaign.runner("journal-clients")):
            pools.update(set(pools_of(campaign)) - {*before, "replay"})
            for name in campaign.cluster("left").json("rbd", "ls", "replay"):
                if "journal" in name and "without" not in name:
                    found = campaign.cluster("left").json("rbd", "journal", "info", "--image", f"replay/{name}")
                    journals[name.split("-", 2)[2]] = found.get("object_pool", "replay")

    measure_as_shipped(campaign, "journal-clients", meanwhile=look)
    [pool] = pools
    assert journals == {
        "with-journal-1": "replay", "with-journal-2": "replay", "journal-pool-1": pool, "journal-pool-2": pool,
    }  # fmt: skip
    assert [one["valid"] for one in campaign.sidecars("journal-clients")].count(True) == 3
    assert set(pools_of(campaign)) - {*before, "replay"} == set()
