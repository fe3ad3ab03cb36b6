"""Preflight looks for every program that an experiment of the site would start, and for no other."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.base.programs import HOST_PROGRAMS, Programs
from replay.config.experiments import experiment_names, load_experiment
from replay.preflight import programs
from replay.preflight.findings import Findings


def site(*, hosts=("localhost",), lacks=()):
    return SimpleNamespace(client_hosts=hosts, lacks=set(lacks), primary=SimpleNamespace(programs=HOST_PROGRAMS))


@pytest.fixture(autouse=True)
def words(monkeypatch):
    """The words that a site lacks."""
    monkeypatch.setattr(
        programs, "missing", lambda words, site: [(word, "why") for word in words if word in site.lacks]
    )


def every():
    return [load_experiment(name) for name in experiment_names()]


def test_preflight_looks_for_every_program_of_every_protocol():
    found = programs.programs_of(every(), site())
    assert set(found) == {"ceph", "rbd", "rados", "fio", "iperf3", "timeout", "mount", "mkfs.ext4", "mkfs.xfs"}
    assert found["iperf3"] == ["baseline"]


def test_preflight_looks_for_ssh_if_clients_run_on_other_hosts():
    assert "ssh" in programs.programs_of(every(), site(hosts=("node-1",)))
    assert "ssh" not in programs.programs_of(every(), site(hosts=("node-1",), lacks=["client_hosts"]))


def test_an_experiment_that_the_site_cannot_run_needs_nothing():
    found = programs.programs_of(every(), site(lacks=["kernel_rbd"]))
    assert not [program for program in found if program.startswith("mkfs")]


def test_a_file_without_a_protocol_is_reported_by_another_check():
    assert set(programs.programs_of([{"name": "x", "protocol": "nothing"}], site())) == {"ceph", "rbd"}


def test_a_missing_program_is_named_with_who_needs_it_and_what_to_type(monkeypatch):
    monkeypatch.setattr(Programs, "find", lambda self, program: None if program in ("iperf3", "rbd") else "/x")
    monkeypatch.setattr(programs, "_fio_has_rbd", lambda programs: False)
    findings = Findings()
    programs.check_programs(every(), site(), findings)
    said = {item.text: item for item in findings.items}
    missing = said["iperf3 is not installed; needed by baseline"]
    assert (missing.level, missing.commands) == ("warning", ("apt-get install iperf3",))
    assert next(item for text, item in said.items() if text.startswith("rbd is not installed")).level == "refused"
    assert "this fio has no rbd engine: experiments that use it will fail" in said
