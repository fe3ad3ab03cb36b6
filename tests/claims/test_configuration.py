"""config/claims.yaml: its contents, and errors with their place."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from fractions import Fraction

import pytest

from replay.base.errors import ConfigurationError
from replay.base.paths import ROOT, program_file
from replay.claims.evaluate import confidence_of
from replay.claims.load import charts_of, load_book
from replay.claims.model import Count
from replay.design.configuration import load_experiment, load_validated_document
from replay.design.expansion import expand

#: Claims whose cells a quick run leaves out: those of more variants, sizes, clients or lines than it has, and those of
#: snapshots that are too far apart for its cells.
NOT_IN_QUICK = """
    journal-4k-seq-write-cached journal-large-writes-halve journal-reads-unaffected mirroring-adds-nothing-to-journaling
    snapshot-leaves-writes-alone cache-hides-journal snapshots-leave-median-latency-alone snapshots-lengthen-the-tail
    journal-mirroring-costs-more-cpu snapshot-a-minute-leaves-latency-alone clients-scale clients-share clients-wait
    snapshot-a-minute-is-a-lottery snapshot-a-minute-lengthens-the-far-tail a-snapshot-stops-the-client
    snapshots-of-15-seconds-are-a-lottery snapshots-bound-the-loss short-poll-age-costs-writes-nothing
    takeovers-need-nobody rare-snapshots-cost-little distance-costs-the-client-nothing
    distance-costs-large-writes-nothing distance-shortens-the-journals-loss distance-leaves-the-bound-of-snapshots
    snapshots-replay-faster-over-a-thin-line distance-costs-one-writer-nothing stretch-loses-nothing-far-away
    distance-costs-one-writer-of-snapshots-nothing distance-leaves-the-loss-of-snapshots
    stretch-pays-round-trips-offered
"""

CONTROL = {"passed": "It passed all.", "strayed": "It strayed once.", "no_interval": "It says nothing."}


def cells_of(claim, scale):
    """Each cell that a claim needs, as (variant, levels), and those that its experiment has at a scale."""
    needed = set()
    for condition in claim.conditions:
        needed |= {(one.variant, *point.items()) for one in condition.selectors for point in one.points()}
    design = expand(load_experiment(claim.experiment), scale)
    there = {(cell.variant.name, *one.levels.items()) for one in design.sets for cell in one.cells}
    return needed, there


@pytest.mark.parametrize("claim", load_book().claims, ids=lambda claim: claim.id)
def test_the_cells_of_a_claim_are_measured_at_scale_talk_and_unless_said_at_scale_quick(claim):
    needed, there = cells_of(claim, "talk")
    assert needed <= there
    needed, there = cells_of(claim, "quick")
    assert (needed <= there) == (claim.id not in NOT_IN_QUICK.split())


def test_the_claims_that_the_talk_compares_by_release_are_measured_at_scale_headline():
    text = (ROOT / "slides" / "rpo" / "90-appendix.md").read_text()
    ids = {name for found in re.findall(r'data-release-claims="([^"]*)"', text) for name in found.split()}
    claims = {one.id: one for one in load_book().claims}
    assert len(ids) > 3
    for name in ids:
        needed, there = cells_of(claims[name], "headline")
        assert needed <= there, name


def test_charts_are_named_as_derive_names_them():
    manifest = json.loads((ROOT / "benchmarks" / "tentacle" / "manifest.json").read_text())
    for name, entry in manifest["experiments"].items():
        drawn = {f"{name}/{chart}" for chart in entry["charts"]}
        named = set(charts_of(load_experiment(name)))
        assert drawn <= named, name
        if name == "rbd-journaling":
            assert drawn == named


def test_a_chart_over_time_ends_in_the_level_of_its_axis_and_one_by_entity_does_not():
    metrics = [
        {"metric": "a", "name": "rate", "ratio": True},
        {"metric": "b", "name": "over-time", "series": True, "ratio": True},
        {"metric": "c", "name": "by-osd", "entity": "osd", "ratio": True},
    ]
    one = {
        "name": "e",
        "factors": {"kind": ["x"], "size": [1, 2]},
        "workload_factors": ["kind"],
        "metrics": metrics,
    }
    assert charts_of(one | {"x_factor": "size"}) == [
        "e/rate-x",
        "e/ratio-rate-x",
        "e/over-time-x-1",
        "e/over-time-x-2",
        "e/by-osd-x",
    ]
    assert charts_of(one) == ["e/rate-x", "e/over-time-x", "e/by-osd-x"]


def test_a_chart_along_one_factor_with_a_series_for_each_level_of_another_is_named_by_the_rest():
    one = {
        "name": "e",
        "factors": {"kind": ["x", "y"], "size": [1, 2], "jobs": [3, 4]},
        "workload_factors": ["kind", "jobs"],
        "x_factor": "size",
        "metrics": [{"metric": "a", "name": "rate-by-size", "x_factor": "jobs", "rows": "size"}],
    }
    assert charts_of(one) == ["e/rate-by-size-x", "e/rate-by-size-y"]


def test_each_claim_says_what_it_presupposes_or_why_nothing_and_who_makes_it():
    for claim in load_book().claims:
        assert bool(claim.presupposes) != bool(claim.presupposes_nothing), claim.id
        assert bool(claim.says) != bool(claim.ours), claim.id
        assert bool(claim.says) == bool(claim.differs), claim.id


def test_a_condition_for_each_level_has_simultaneous_intervals():
    (claim,) = (one for one in load_book().claims if one.id == "journal-large-writes-halve")
    assert [one.name for one in claim.conditions] == [f"size-{2**power}" for power in range(17, 23)]
    assert {one.simultaneous for one in claim.conditions} == {6}
    assert confidence_of(claim.conditions[0]) == pytest.approx(1 - 0.05 / 6)
    assert {one["source"] for one in claim.says} == {"S0", "S1"}


def presuppose(claim, that="idle_cpu_fraction >= 0.25", *, alone=False, **more):
    """Let a claim presuppose something: beside its reason for presupposing nothing, or in its place."""
    if alone:
        claim.pop("presupposes_nothing")
    claim["presupposes"] = [{"that": that, "because": "a reason in words", **more}]


@pytest.fixture(scope="module")
def shipped():
    return load_validated_document(ROOT / "config" / "claims.yaml", program_file("schemas", "claims.schema.json"))


_SIDES = ("over", "under")


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """A folder that stays, so that the experiments in it are read once."""
    folder = tmp_path_factory.mktemp("config")
    (folder / "experiments").symlink_to(ROOT / "config" / "experiments")
    return folder


@pytest.fixture
def changed(shipped, config, monkeypatch):
    """A separate configuration: a function changes its first claim, or all of it."""

    def change(edit, whole=False):
        document = deepcopy(shipped.data)
        edit(document if whole else document["claims"][0])
        # JSON is YAML, and is written a hundred times as fast.
        (config / "claims.yaml").write_text(json.dumps(document, indent=1))
        monkeypatch.setenv("REPLAY_CONFIG", str(config))

    return change


def refused(said):
    with pytest.raises(ConfigurationError, match=re.escape(said)) as error:
        load_book()
    assert "claims.yaml:" in str(error.value)


COUNTED = {"variant": "read", "weights": "unequal", "primary_affinity": 0}


def count_of(metric="last_osd_primaries", equals=0, **more):
    return {"name": "n", "says": "a count", "metric": metric, "cells": {**COUNTED, **more}, "equals": equals}


def counting(condition):
    """Let a claim rest on a count alone."""

    def edit(claim):
        claim.update(experiment="placement", chart="placement/latency-mean-unequal", conditions=[condition])
        del claim["plain"]

    return edit


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
        (lambda c: c.update(limiter=["cpu"]), "limiter: unknown key"),
        (lambda c: c.pop("presupposes_nothing"), "expected either presupposes or presupposes_nothing, found none"),
        (presuppose, "expected either presupposes or presupposes_nothing, found more than one"),
        (lambda c: presuppose(c, "idle_cpu >= 0.25", alone=True), "there is no fact 'idle_cpu'"),
        (lambda c: presuppose(c, decides="all", alone=True), "'all' is not one of any, refutation, confirmation"),
        (lambda c: presuppose(c, of={"variant": "journal-mirrored"}, alone=True), "none of the claim's ratios"),
        (lambda c: presuppose(c, of={"colour": "red"}, alone=True), "'colour' is not a factor"),
        (lambda c: (c.pop("says"), c.pop("differs")), "expected either says or ours, found none"),
        (lambda c: c.update(ours="nobody said this"), "expected either says or ours, found more than one"),
        (lambda c: c["says"][0].update(source="S9"), "no source 'S9'"),
        (lambda c: c.update(kind="guess"), "'guess' is not one of claim, setup_check"),
        (lambda c: c["conditions"][0].update(each="io_size_bytes"), "each: `over` has no list of levels"),
        (lambda c: c["conditions"][0].update(between=[2, 1]), "is more than"),
        (lambda c: c["conditions"][0].update(between=[7, 5, 13, 3]), "decimals have a point"),
        (lambda c: c.update(id="Journal-4K"), "lower-case words and digits"),
        (
            lambda c: c["conditions"][0].update(independent=True, per={key: c["conditions"][0][key] for key in _SIDES}),
            "leave out per, or independent",
        ),
        (lambda c: c["plain"].update(finding="It takes {estimated} times as long."), "no figure {estimated}"),
        (lambda c: c["plain"].update(refuted="In {data_set} it does not hold."), "no figure {data_set}"),
        (lambda c: c["plain"].update(condition="other"), "no ratio other"),
        (lambda c: c["plain"].update(shown="miles"), "'miles' is not one of times, percent"),
        (lambda c: c["plain"].pop("inconclusive"), "plain.inconclusive: this key is missing"),
        (lambda c: c["conditions"][0].update(above=1), "conditions"),
        (lambda c: c.update(conditions=[]), "conditions"),
        (lambda c: c["conditions"][0].pop("under"), "conditions"),
        (lambda c: c["conditions"][0].update(equals=0), "'cells' is a dependency of 'equals'"),
        (lambda c: c["conditions"][0].update(cells=c["conditions"][0]["over"]), "conditions"),
        (counting(count_of(metric="latency_mean_seconds")), "only counts can be compared exactly"),
        (counting(count_of(variant="reed")), "reed"),
        (counting(count_of(primary_affinity=0.1)), "0.1"),
        (counting(count_of(equals=0.5)), "expected a whole number"),
        (counting(count_of(equals=-1)), "minimum"),
        (counting({key: value for key, value in count_of().items() if key != "equals"}), "dependency of 'cells'"),
        (counting({**count_of(), "over": COUNTED}), "conditions"),
    ],
)
def test_an_invalid_claim_is_refused_with_its_place(changed, edit, said):
    changed(edit)
    refused(said)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda d: d.pop("sources"), "sources"),
        (lambda d: d["sources"].update({"1 of two": "A talk about something else"}), "1 of two"),
        (lambda d: d["sources"].update(S1=""), "S1"),
        (lambda d: d.update(campaigns=["replicate-*"]), "campaigns"),
        (lambda d: d["plain"].update(against="It was {estimat} there."), "plain.against: there is no figure {estimat}"),
        (lambda d: d["plain"].update(not_testable="Here {estimate} decides."), "no figure {estimate}"),
        (lambda d: d["plain"]["controls"].update({"rbd-jurnaling": CONTROL}), "no experiment 'rbd-jurnaling'"),
        (lambda d: d["plain"]["controls"]["rbd-journaling"].update(passed="All {n} are fine."), "no figure {n}"),
        (lambda d: d["plain"]["controls"]["rbd-journaling"].pop("no_interval"), "no_interval: this key is missing"),
        (lambda d: d.pop("plain"), "add the key `plain`"),
    ],
)
def test_what_is_said_for_every_claim_is_checked_too(changed, edit, said):
    changed(edit, whole=True)
    refused(said)


def test_a_source_may_have_any_name(changed):
    def edit(document):
        document["sources"]["handbook-2"] = "A handbook of block storage"
        document["claims"][0]["source"] = "handbook-2"

    changed(edit, whole=True)
    assert load_book().claims[0].source == "handbook-2"


def test_a_talk_may_do_without_plain_words(changed):
    def edit(document):
        del document["plain"]
        for claim in document["claims"]:
            claim.pop("plain", None)

    changed(edit, whole=True)
    assert load_book().wording is None


def test_a_count_is_a_separate_kind_of_condition(changed):
    changed(counting(count_of()))
    (condition,) = load_book().claims[0].conditions
    assert isinstance(condition, Count)
    assert (condition.metric, condition.equals, condition.region.text()) == ("last_osd_primaries", 0, "exactly 0")
    assert list(condition.cells.points()) == [{"weights": "unequal", "primary_affinity": 0}]


def expected_share(weights, copies, osd):
    """The share of placement groups with a copy on an OSD, if CRUSH draws OSDs by the remaining weight."""

    def draws(left, taken):
        if taken == copies:
            yield Fraction(1), ()
            return
        for one in left:
            here = Fraction(weights[one], sum(weights[other] for other in left))
            for chance, rest in draws([other for other in left if other != one], taken + 1):
                yield here * chance, (one, *rest)

    return sum(chance for chance, drawn in draws(list(range(len(weights))), 0) if osd in drawn)


def test_the_region_of_a_double_weight_is_around_the_value_that_crush_gives_for_this_design():
    (claim,) = (one for one in load_book().claims if one.id == "double-weight-takes-its-share")
    copies = load_experiment("placement")["options"]["replicas"]
    equal, unequal = (expected_share(weights, copies, osd=2) for weights in ([1, 1, 1], [1, 1, 2]))
    assert (equal, unequal) == (Fraction(2, 3), Fraction(5, 6))
    expected, fair = float(unequal / equal), 1.5
    region = claim.conditions[0].region
    assert region.low == pytest.approx((1 * expected) ** 0.5, abs=5e-4), "half-way to a weight that moves nothing"
    assert region.high == pytest.approx((expected * fair) ** 0.5, abs=5e-4), "half-way to the share of the weight"
    assert region.excludes(1, 1)
    assert region.excludes(fair, fair)


def test_claims_about_mirroring_presuppose_that_it_ran_during_the_cell():
    claims = {one.id: [two.predicate.fact.name for two in one.presupposes] for one in load_book().claims}
    assert "replayed_fraction_during_cell" in claims["mirroring-adds-nothing-to-journaling"]
    assert "snapshots_synced_in_cell" in claims["snapshot-leaves-writes-alone"]
    assert "snapshots_synced_in_cell" in claims["rare-snapshots-cost-little"]
    assert set(claims["journal-falls-behind"]) == {"offered_to_replay_ratio", "poll_ages_in_cell"}
