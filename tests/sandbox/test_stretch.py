"""A stretch cluster: where its daemons and copies are."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.cluster.sandbox_options import SandboxOptions
from replay.cluster.sandbox_record import Layout, Link
from replay.sandbox import conf, create, daemons, lifecycle, link_program

LINK = Link(1, "tun", "/c", {"left": "/proc/1/fd/3", "right": "/proc/1/fd/4"}, dict(link_program.ADDRESSES), 0.02, None)
LAYOUT = Layout(Path("/srv/s"), Path("/srv/s/run"), link=LINK)
OPTIONS = SandboxOptions(stretch=True, left_osds=4, right_osds=0, link_rtt_seconds=0.02)


@pytest.fixture
def cluster():
    return conf.spread(create.plan("left", 20001, 4, LAYOUT), [20001, 20002, 20003])


def test_each_site_has_a_monitor_and_half_of_the_osds_and_the_second_one_all_that_must_survive(cluster):
    places = {role.name: role.site for role in daemons.roles(cluster)}
    assert places == {
        "mon.left": "left", "mon.right": "right", "mon.tiebreaker": "right", "mgr.right": "right",
        "osd.0": "left", "osd.1": "left", "osd.2": "right", "osd.3": "right",
    }  # fmt: skip
    assert [role.type for role in daemons.roles(cluster)][:4] == ["mon", "mon", "mon", "mgr"]


def test_the_configuration_names_all_monitors_and_leaves_addresses_to_the_network(cluster):
    text = conf.render(cluster, LAYOUT, OPTIONS, 20)
    hosts = "[v2:10.77.0.1:20001/0],[v2:10.77.0.2:20002/0],[v2:10.77.0.2:20003/0]"
    assert f"mon_host = {hosts}\n" in text
    assert "mon_initial_members = left,right,tiebreaker\n" in text
    assert "public_network = 10.77.0.0/24\n" in text
    assert "public_addr" not in text and "cluster_addr" not in text
    assert "osd_pool_default_size = 4\n" in text and "osd_pool_default_min_size = 2\n" in text


def test_an_ordinary_cluster_has_the_address_of_its_site():
    cluster = create.plan("right", 20001, 1, LAYOUT)
    monitors = conf.addresses_of_monitors(cluster, LAYOUT)
    assert monitors == {"right": "[v2:10.77.0.2:20001/0]"}
    text = conf.render(cluster, LAYOUT, SandboxOptions(), 20)
    assert text.count("public_addr = 10.77.0.2\n") == 2 and "cluster_addr = 10.77.0.2\n" in text


def test_each_osd_is_a_host_of_its_own_in_its_data_centre(cluster):
    assert conf.place_of(cluster, "osd.1") == ["host=left-osd-1", "datacenter=left", "root=default"]
    assert conf.place_of(cluster, "osd.2") == ["host=right-osd-2", "datacenter=right", "root=default"]
    assert conf.place_of(create.plan("right", 1, 1, LAYOUT), "osd.0") == ["host=right", "root=default"]


@pytest.mark.parametrize(("major", "sizes"), [(16, True), (18, False), (20, False)])
def test_the_rule_keeps_two_copies_on_each_site(major, sizes):
    text = conf.with_rule("# begin crush map\nrule replicated_rule {\n}\n\n# end crush map\n", major)
    rule = text[text.index("rule stretch_rule {") :]
    assert text.rstrip().endswith("# end crush map")
    assert "step choose firstn 0 type datacenter\n\tstep chooseleaf firstn 2 type host\n" in rule
    assert ("min_size 1" in rule) is sizes


def test_its_usual_shape_is_two_osds_a_site_and_no_second_cluster(monkeypatch):
    monkeypatch.setattr(lifecycle.releases, "usual_release", lambda: "host")
    options = lifecycle._usual_options({"stretch": True, "release": "20"}, print).replaced({"stretch": True})
    assert (options.stretch, options.left_osds, options.right_osds) == (True, 4, 0)
    plan = lifecycle._plan(LAYOUT, options, "20.2.4")
    assert list(plan.clusters) == ["left"] and len(set(plan.clusters["left"].monitor_ports.values())) == 3
