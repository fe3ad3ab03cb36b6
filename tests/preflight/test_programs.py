"""Preflight looks for the programs and keys that an experiment of the site needs, and for no other."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.base.programs import HOST_PROGRAMS, Programs
from replay.cluster.cluster import CephCommandError, Cluster
from replay.design.configuration import experiment_names, load_experiment
from replay.preflight import checks, host_checks
from replay.preflight.checks import Findings, why_no_answer
from replay.tools import reader


def site(*, hosts=("localhost",), lacks=()):
    return SimpleNamespace(client_hosts=hosts, lacks=set(lacks), primary=SimpleNamespace(programs=HOST_PROGRAMS))


@pytest.fixture(autouse=True)
def words(monkeypatch):
    """The words that a site lacks."""
    monkeypatch.setattr(
        host_checks, "missing", lambda words, site: [(word, "why") for word in words if word in site.lacks]
    )


def every():
    return [load_experiment(name) for name in experiment_names()]


def test_preflight_looks_for_every_program_of_every_protocol():
    found = host_checks.programs_of(every(), site())
    assert set(found) == {"ceph", "rbd", "rados", "fio", "iperf3", "timeout", "mount", "mkfs.ext4", "mkfs.xfs"}
    assert found["iperf3"] == ["baseline"]


def test_preflight_looks_for_ssh_if_clients_run_on_other_hosts():
    assert "ssh" in host_checks.programs_of(every(), site(hosts=("node-1",)))
    assert "ssh" not in host_checks.programs_of(every(), site(hosts=("node-1",), lacks=["client_hosts"]))


def test_an_experiment_that_the_site_cannot_run_needs_nothing():
    found = host_checks.programs_of(every(), site(lacks=["kernel_rbd"]))
    assert not [program for program in found if program.startswith("mkfs")]


def test_the_program_of_a_tool_is_named_in_the_tool_alone():
    """A protocol that runs any tool needs the program of the experiment's."""
    found = host_checks.programs_of([{"name": "x", "protocol": "tool_on_file", "tool": "iperf3"}], site())
    assert found == {"ceph": [], "rbd": [], "fio": ["x"], "iperf3": ["x"]}


def test_a_missing_program_is_named_with_who_needs_it_and_what_to_type(monkeypatch):
    monkeypatch.setattr(Programs, "find", lambda self, program: None if program in ("iperf3", "rbd") else "/x")
    monkeypatch.setattr(host_checks, "_fio_has_rbd", lambda programs: False)
    findings = Findings()
    host_checks.check_programs(every(), site(), findings)
    said = {item.text: item for item in findings.items}
    missing = said["iperf3 is not installed; needed by baseline"]
    assert (missing.level, [one.text for one in missing.commands]) == (
        "warning",
        ["apt-get install --yes iperf3"],
    )
    assert next(item for text, item in said.items() if text.startswith("rbd is not installed")).level == "refused"
    assert "this fio has no rbd engine: experiments that use it will fail" in said


def test_a_missing_program_that_no_package_has_comes_without_a_command(monkeypatch):
    monkeypatch.setattr(type(reader("iperf3")), "package", "")
    monkeypatch.setattr(Programs, "find", lambda self, program: None if program == "iperf3" else "/x")
    monkeypatch.setattr(host_checks, "_fio_has_rbd", lambda programs: True)
    findings = Findings()
    host_checks.check_programs(every(), site(), findings)
    [missing] = [item for item in findings.items if item.level == "warning"]
    assert (missing.text, missing.commands) == ("iperf3 is not installed; needed by baseline", ())


def test_a_client_that_cannot_read_its_key_is_told_what_to_install(tmp_path, monkeypatch):
    """What clients of releases 16 and 18 print of a keyring whose cipher they do not know."""
    monkeypatch.setattr(checks, "program_version", lambda *_: "ceph version 16.2.15 (6184) pacific (stable)")
    unreadable = "cannot connect: [errno 5] RADOS I/O error (error connecting to the cluster)"
    cluster = Cluster(tmp_path / "ceph.conf", "client.replay", tmp_path / "keyring")
    said = why_no_answer(cluster, CephCommandError(unreadable, where=""))
    assert unreadable in said
    assert "is for the cipher aes256k, only clients of Ceph 20 or later know it, and this one is 16.2.15" in said
    assert "install ceph-common of release 20" in said and "client_release: 20" in said
