"""Claims are registered with a block before it is measured; claims changed afterwards stay exploratory."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
import yaml

from replay.base.errors import ConfigurationError
from replay.base.paths import ROOT
from replay.claims.evaluate import judge
from replay.claims.load import load_book
from replay.claims.model import Region
from replay.claims.tables import Table, registrations_in
from replay.derive.experiment import registered_csv, registration_of
from replay.design.configuration import claim_digest, claims_to_register
from support.claims import FACTORS, claim, judged, rows

RAW = {one["id"]: one for one in yaml.safe_load((ROOT / "config" / "claims.yaml").read_text())["claims"]}
ONE = RAW["mirroring-adds-nothing-to-journaling"]


def changed(edit):
    other = copy.deepcopy(ONE)
    edit(other)
    return other


@pytest.mark.parametrize(
    "edit",
    [
        lambda c: c.update(sentence="Mirroring costs nothing at all."),
        lambda c: c.update(id="another-name"),
        lambda c: c.update(metric="operations_per_second"),
        lambda c: c["conditions"][0].update(within_factor=1.11),
        lambda c: c["conditions"][0].update(says="something else"),
        lambda c: c["conditions"][0]["over"]["io_size_bytes"].pop(),
        lambda c: c["presupposes"][0].update(that="replayed_fraction_during_cell >= 0.79"),
        lambda c: c["presupposes"][1].pop("decides"),
        lambda c: c["presupposes"].pop(),
    ],
)
def test_everything_that_decides_a_verdict_changes_the_digest(edit):
    assert claim_digest(changed(edit)) != claim_digest(ONE)


@pytest.mark.parametrize(
    "edit",
    [
        lambda c: c.update(chart="rbd-journaling/throughput-write-rand"),
        lambda c: c.update(differs="other reasons for it"),
        lambda c: c["says"][0].update(place="elsewhere"),
        lambda c: c["presupposes"][0].update(because="another reason"),
        lambda c: c.update(dict(reversed(list(c.items())))),
    ],
)
def test_explanations_do_not_change_the_digest(edit):
    assert claim_digest(changed(edit)) == claim_digest(ONE)


def test_the_claims_of_an_experiment_are_registered_as_they_are_judged():
    book = {one.id: one.digest for one in load_book().claims if one.experiment == "rbd-journaling"}
    assert claims_to_register("rbd-journaling") == book
    assert len(set(book.values())) == len(book)
    assert claims_to_register("failover") == {}


def test_a_talk_without_claims_registers_none(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_CONFIG", str(tmp_path))
    assert claims_to_register("rbd-journaling") == {}
    (tmp_path / "claims.yaml").write_text("claims: []\n")
    with pytest.raises(ConfigurationError, match=r"claims\.yaml"):
        claims_to_register("rbd-journaling")


def test_registrations_are_derived_and_read_again():
    first, second = {"a": "y", "c": "x"}, {"c": "z"}
    header, *lines = registered_csv([first, second, {}, first]).splitlines()
    assert len(lines) == 3
    found = registrations_in(dict(zip(header.split(","), line.split(","), strict=True)) for line in lines)
    assert found == {registration_of(first): first, registration_of(second): second}


def test_without_a_registered_claim_there_is_nothing_to_write():
    assert registered_csv([{}, {}]) == ""
    assert registration_of({}) == ""


DIGEST = "0123456789ab"
BOTH = (DIGEST, DIGEST)


def said_of(registered, blocks=3):
    """Return why a claim is exploratory, given by block the digest that each of its two cells registered."""
    one = replace(claim(Region(1.5, None)), digest=DIGEST)
    measured = rows(2, blocks=blocks, sizes=(4096,))
    for row in measured:
        plain, journal = registered.get(int(row["block"]), ("", ""))
        row["registration"] = plain if row["variant"] == "plain" else journal
    registrations = {digest: {"c": digest} for digests in registered.values() for digest in digests if digest}
    return judge(one, Table(measured, FACTORS, registrations)).exploratory


@pytest.mark.parametrize(
    ("registered", "said"),
    [
        ({1: BOTH, 2: BOTH, 3: BOTH}, ""),
        ({1: BOTH, 2: BOTH, 3: BOTH, 4: ("other", "other")}, ""),
        ({}, "every block had been measured before it was registered"),
        ({2: BOTH, 3: BOTH}, "block 1 had been measured before it was registered"),
        ({1: BOTH, 2: BOTH, 3: (DIGEST, "")}, "block 3 had been measured before it was registered"),
        (
            {1: ("other", "other"), 2: (DIGEST, "other"), 3: BOTH},
            "it was changed after 2 of 3 blocks had been measured",
        ),
        (
            {1: ("other", "other"), 3: BOTH},
            "it was changed after block 1 had been measured; block 2 had been measured before it was registered",
        ),
    ],
)
def test_a_claim_that_some_of_its_cells_did_not_register_is_exploratory(registered, said):
    assert said_of(registered) == said


def test_a_claim_without_data_is_not_exploratory():
    assert judged(claim(Region(1, 2)), rows(2, sizes=(4194304,))).exploratory == ""
