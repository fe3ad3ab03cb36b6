"""A data set never mixes releases: its evidence says with which one it was measured."""

import json
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError
from replay.cluster.sandbox_options import SandboxOptions
from replay.cluster.sandbox_record import Sandbox
from replay.preflight import releases
from replay.preflight.checks import Findings
from support.rawtree import RawTree

SITE = SimpleNamespace(name="mine", secondary=None)
SAME = {"librbd": "16.2.15", "mon": ["16.2.15"], "osd": ["16.2.15"]}
UPGRADED = {"librbd": "16.2.15", "mon": ["18.2.7"], "osd": ["18.2.7"]}
NEWER_CLIENT = {**SAME, "librbd": "20.2.4"}


@pytest.fixture
def data_set(tmp_path, monkeypatch):
    """The data set `mine`: one block of rbd-journaling, measured with Ceph 16.2.15."""
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    tree = RawTree(tmp_path / "mine" / "rbd-journaling")
    tree.measure(1)
    return tmp_path / "mine"


def refused(now, experiments=("rbd-journaling",)):
    with pytest.raises(ConfigurationError) as caught:
        releases.refuse_other_releases(SITE, "mine", experiments, now)
    return str(caught.value)


def test_the_same_release_and_its_minor_ones_may_continue(data_set):
    releases.refuse_other_releases(SITE, "mine", ["rbd-journaling"], SAME)
    releases.refuse_other_releases(SITE, "mine", ["rbd-journaling"], {**SAME, "osd": ["16.2.14"]})


def test_other_daemons_are_refused_with_the_line_to_type(data_set):
    said = refused(UPGRADED)
    assert "mine: this data set was measured with another release of Ceph" in said
    assert "OSDs and monitors 16 (pacific), now 18 (reef)" in said
    assert "measure --site mine --data mine-18" in said


def test_another_client_is_refused_too(data_set):
    said = refused(NEWER_CLIENT)
    assert "client 16 (pacific), now 20 (tentacle)" in said
    assert "--data mine-client-20" in said


def test_the_release_noted_at_the_start_of_a_data_set_holds_for_every_experiment(data_set):
    noted = {"data_set": "mine", "setup": {"ceph_version": "16.2.15", "librbd_version": "16.2.15"}}
    (data_set / "campaign.json").write_text(json.dumps(noted))
    assert "monitors 16 (pacific), now 18 (reef)" in refused(UPGRADED, ["failover"])
    (data_set / "campaign.json").write_text(json.dumps({**noted, "versions": {**SAME, "rbd_mirror": ["17.2.7"]}}))
    assert "mirror daemons 17 (quincy), now 18 (reef)" in refused({**SAME, "rbd_mirror": ["18.2.7"]}, ["failover"])


def test_without_measurements_nothing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    releases.refuse_other_releases(SITE, "mine", ["rbd-journaling"], UPGRADED)


def test_an_unknown_release_is_a_note_and_not_a_refusal(data_set, monkeypatch):
    monkeypatch.setattr(releases, "versions", lambda *_: {"librbd": None, "mon": None, "osd": None})
    findings = Findings()
    releases.check_data_set(SITE, None, "mine", findings)
    assert [one.level for one in findings.items] == ["note"]


def test_preflight_says_that_measuring_would_be_refused(data_set, monkeypatch):
    monkeypatch.setattr(releases, "versions", lambda *_: UPGRADED)
    findings = Findings()
    releases.check_data_set(SITE, None, "mine", findings)
    assert findings.refused
    assert "--data mine-18" in findings.items[0].text


def test_a_start_after_an_upgrade_measures_into_a_data_set_of_its_own(data_set):
    name, reason = releases.own_data_set("mine", "rbd-journaling", "18.2.7")
    assert name == "mine-18"
    assert "benchmarks/mine/ was measured with another release of Ceph: " in reason
    assert "16 (pacific), now 18 (reef)" in reason
    assert releases.own_data_set("mine", "rbd-journaling", "16.2.14") == ("mine", None)


def test_a_start_asks_the_release_of_the_sandbox_that_is_there_else_the_host(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(tmp_path))
    asked = []
    monkeypatch.setattr(releases.Programs, "of", asked.append)
    monkeypatch.setattr(releases, "ceph_version", lambda programs: "18.2.7")
    monkeypatch.setattr(releases, "usual_release", lambda: "host")
    assert releases.sandbox_version() == "18.2.7"
    Sandbox(str(tmp_path), str(tmp_path), "20.2.4", SandboxOptions(release="20"), {}, phase="created").save()
    releases.sandbox_version()
    (tmp_path / "sandbox.json").write_text("{")
    releases.sandbox_version()
    assert asked == [None, 20, None]


def test_a_start_is_answered_in_one_line(data_set, capsys, monkeypatch):
    monkeypatch.setattr(releases, "sandbox_version", lambda: "20.2.4")
    assert releases.main(["mine", "rbd-journaling"]) == 0
    assert json.loads(capsys.readouterr().out)["data_set"] == "mine-20"
