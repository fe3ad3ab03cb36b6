"""config/claims.yaml: what stands in it, and what is refused with its place."""

from __future__ import annotations

import pytest
import yaml

from replay.claims.load import load_book
from replay.errors import ConfigurationError
from replay.paths import ROOT


def test_all_claims_of_the_sources_are_there():
    claims = {one.id: one for one in load_book().claims}
    assert len(claims) == 16
    assert {one.source for one in claims.values()} == {"S0", "S1", "S2", "S3"}
    contradicting = (claims["journal-4k-seq-write"], claims["journal-4k-write-little"])
    assert all(one.conditions for one in contradicting), "the two that contradict each other"


def test_each_claim_that_can_be_measured_names_the_chart_that_draws_it():
    assert [one.id for one in load_book().claims if one.conditions and not one.chart] == []


def test_a_shared_cpu_may_refute_what_mirroring_costs_and_decides_whether_clients_scale():
    decides = {one.id: (one.limiter, one.limiter_decides) for one in load_book().claims if one.limiter}
    assert decides == {
        "mirroring-adds-nothing-to-journaling": (("cpu",), "refutation"),
        "snapshot-leaves-writes-alone": (("cpu",), "refutation"),
        "clients-scale": (("cpu",), "any"),
    }


@pytest.fixture
def changed(tmp_path, monkeypatch):
    """A configuration of the test's own: a function changes its first claim, or the whole of it."""

    def change(edit, whole=False):
        config = tmp_path / "config"
        config.mkdir()
        (config / "experiments").symlink_to(ROOT / "config" / "experiments")
        document = yaml.safe_load((ROOT / "config" / "claims.yaml").read_text())
        edit(document if whole else document["claims"][0])
        (config / "claims.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
        monkeypatch.setenv("REPLAY_CONFIG", str(config))

    return change


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda c: c["conditions"][0]["under"].update(variant="with-jurnal"), "with-jurnal"),
        (lambda c: c["conditions"][0]["over"].update(io_size_bytes=4097), "4097"),
        (lambda c: c["conditions"][0]["over"].update(colour="red"), "colour"),
        (lambda c: c["conditions"][0]["over"].pop("io_pattern"), "io_pattern"),
        (lambda c: c["conditions"][0].update(says="every {snapshot_intervall} s"), "snapshot_intervall"),
        (lambda c: c.update(metric="loudness"), "loudness"),
        (lambda c: c.update(experiment="nowhere"), "nowhere"),
        (lambda c: c.update(id="journal-4k-write-little"), "two claims"),
        (lambda c: c.update(source="S9"), "no source 'S9'"),
        (lambda c: c.update(chart="rbd-journaling/ratio-iops-write-seq"), "draws no chart"),
        (lambda c: c.update(chart="client-sweep/iops-randwrite-4096"), "draws no chart"),
        (lambda c: c.update(limiter_decides="refutation"), "limiter"),
        (lambda c: c.update(limiter=["cpu"], limiter_decides="all"), "'all' is not one of any, refutation"),
        (lambda c: c["conditions"][0].update(between=[2, 1]), "not less than"),
        (lambda c: c["conditions"][0].update(above=1), "conditions"),
    ],
)
def test_a_claim_that_makes_no_sense_is_refused_with_its_place(changed, edit, said):
    changed(edit)
    with pytest.raises(ConfigurationError, match=said) as error:
        load_book()
    assert "claims.yaml:" in str(error.value)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda document: document.pop("sources"), "sources"),
        (lambda document: document["sources"].update(T1="A talk about something else"), "T1"),
        (lambda document: document["sources"].update(S1=""), "S1"),
    ],
)
def test_sources_that_make_no_sense_are_refused(changed, edit, said):
    changed(edit, whole=True)
    with pytest.raises(ConfigurationError, match=said):
        load_book()
