"""What preflight says about other machines: hosts for clients, on a real SSH server, and Prometheus."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace

import pytest

from replay.base.programs import HOST_PROGRAMS
from replay.cluster.fio_clients import Versions
from replay.cluster.prometheus import PrometheusSource, Series
from replay.design.configuration import claims_that_presuppose
from replay.evidence.record import FACTS_OF_MACHINES
from replay.preflight import host_checks as preflight_clients
from replay.preflight.checks import Findings
from replay.preflight.host_checks import check_claims, check_client_hosts, check_prometheus, scrape_interval
from support.programs import needs
from support.prometheus_server import matrix, serving, success, vector
from support.ssh_server import ssh_server

needs_tools = needs("fio", "rbd")


@pytest.fixture
def ssh(monkeypatch):
    """A server that is two hosts, and an ssh that finds it."""
    with ssh_server(("client-one", "client-two")) as server:
        monkeypatch.setenv("PATH", f"{server.bin}:{os.environ['PATH']}")
        yield server


class Hosts:
    allows = frozenset({"client_hosts"})
    primary = SimpleNamespace(programs=HOST_PROGRAMS)

    def __init__(self, *hosts):
        self.client_hosts = hosts


def said_of(*hosts):
    findings = Findings()
    check_client_hosts(Hosts(*hosts), findings)
    return findings


@needs_tools
def test_preflight_says_that_hosts_answer_and_drops_the_word_if_one_does_not(ssh):
    assert [item.level for item in said_of("client-one", "client-two").items] == ["ok", "ok"]
    lacking = said_of("client-one", "no-such-host.invalid").lacking()
    assert "client host no-such-host.invalid cannot run clients" in lacking["client_hosts"]


@needs_tools
def test_preflight_asks_a_host_for_its_versions_and_leaves_this_machine_alone(ssh, monkeypatch):
    monkeypatch.setattr(preflight_clients, "versions_here", lambda programs: Versions("fio-0", "0.1"))
    [finding] = said_of("localhost", "client-one").items
    assert (finding.level, finding.word) == ("skip", "client_hosts")
    assert "this machine's is fio-0" in finding.text
    assert said_of("localhost", "127.0.0.1").items == []


METADATA = [{"ceph_daemon": f"osd.{number}", "hostname": f"host{number // 2}"} for number in range(4)]
DISKS = [{"ceph_daemon": f"osd.{number}", "device": f"/dev/sd{'abcd'[number]}"} for number in range(4)]
UNAMES = [{"nodename": f"host{number}", "instance": f"host{number}:9100"} for number in range(2)]


def server(*, every=2.0, ahead=0.0, disks=DISKS):
    def answer(form):
        now = time.time() + ahead
        if form["query"] == "time()":
            return 200, success("scalar", [now, str(now)])
        for name, labels in (
            ("ceph_osd_metadata", METADATA),
            ("ceph_disk_occupation", disks),
            ("node_uname_info", UNAMES),
        ):
            if form["query"].startswith(name):
                return 200, vector(*labels)
        assert form["query"].endswith("[180s]")
        moments = [float(form["time"]) - 180 + every * step for step in range(1, int(180 / every))]
        return 200, matrix(*(({"instance": one["instance"]}, [(moment, 1.0) for moment in moments]) for one in UNAMES))

    return answer


def said(answer, *, osds=4):
    findings = Findings(osds=osds)
    with serving(answer) as (url, _):
        check_prometheus(SimpleNamespace(prometheus=PrometheusSource(url)), findings)
    return [(item.level, item.text) for item in findings.items]


def test_a_server_that_knows_all_and_scrapes_often_is_fine() -> None:
    assert said(server()) == [
        ("ok", "knows 4 of 4 OSDs on 2 hosts, and the disk of 4"),
        ("ok", "scrapes every 2.0 s"),
    ]


def test_a_server_that_scrapes_too_rarely_is_reported_with_what_to_do() -> None:
    level, text = said(server(every=15.0))[-1]
    assert level == "warning" and "every 15 s" in text and "scrape every 2 s while measuring" in text


def test_an_osd_or_a_disk_that_it_does_not_know_is_a_warning() -> None:
    assert said(server(), osds=5)[0] == ("warning", "knows 4 of 5 OSDs on 2 hosts, and the disk of 4")
    assert said(server(disks=DISKS[:3]))[0] == ("warning", "knows 4 of 4 OSDs on 2 hosts, and the disk of 3")


def test_a_clock_that_differs_is_reported() -> None:
    level, text = said(server(ahead=40.0))[0]
    assert level == "note" and "+40.0 s" in text


def test_a_server_that_does_not_answer_is_a_warning_and_stops_nothing() -> None:
    findings = Findings()
    with serving(server()) as (url, _):
        pass
    check_prometheus(SimpleNamespace(prometheus=PrometheusSource(url)), findings)
    [item] = findings.items
    assert item.level == "warning" and "does not answer" in item.text and not findings.refused


def test_for_a_site_without_a_server_nothing_is_reported() -> None:
    findings = Findings()
    check_prometheus(SimpleNamespace(prometheus=None), findings)
    assert findings.items == []


def test_without_a_server_the_claims_that_cannot_be_judged_are_named_beforehand(monkeypatch) -> None:
    claims = [
        ("needs-idle-cpu", "failover", "any"),
        ("needs-it-to-fall", "rbd-bench", "refutation"),
        ("of-no-experiment-here", "site-loss", "any"),
    ]
    experiments = [{"name": "rbd-bench"}, {"name": "failover", "requires": ["second_site"]}]
    monkeypatch.setattr(preflight_clients, "claims_that_presuppose", lambda facts: claims)

    def text(**changed):
        findings = Findings()
        site = {"name": "mine", "sandbox": None, "prometheus": None, "allows": {"second_site"}, "second_site": object()}
        check_claims(SimpleNamespace(**site | changed), experiments, findings)
        assert [item.level for item in findings.items] in ([], ["warning"])
        return "".join(item.text for item in findings.items)

    said = text()
    assert "1 cannot be judged: needs-idle-cpu; 1 cannot be refuted: needs-it-to-fall. One line changes that:" in said
    assert "prometheus: {url: http://HOST:9095}` in config/sites/mine.yaml" in said
    assert "needs-idle-cpu" not in text(second_site=None), "its experiment is not possible here"
    assert text(sandbox="default") == text(prometheus=object()) == ""


def test_the_claims_that_ship_are_known_by_what_they_presuppose() -> None:
    found = claims_that_presuppose(FACTS_OF_MACHINES)
    assert ("journal-nearly-doubles-latency-offered", "write-latency", "any") in found
    assert ("snapshot-leaves-writes-alone", "rbd-journaling", "refutation") in found
    assert len({claim for claim, _, _ in found}) == len(found)
    assert claims_that_presuppose(()) == []


@pytest.mark.parametrize(
    ("moments", "interval"), [([], None), ([[1.0]], None), ([[1, 3, 5, 20], [2, 7]], 5.0), ([[1, 16, 31]], 15.0)]
)
def test_the_interval_is_the_longest_of_the_medians(moments, interval) -> None:
    series = [Series({}, tuple((float(moment), 1.0) for moment in one)) for one in moments]
    assert scrape_interval(series) == interval
