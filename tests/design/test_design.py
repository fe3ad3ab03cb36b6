"""The design: cells, sets, blocks, identity and order."""

from __future__ import annotations

import copy
import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.errors import ConfigurationError
from replay.design.configuration import experiment_names, load_experiment
from replay.design.design import block_seed, digest_of, order_of_cells, order_of_sets, plan_digest, shuffled
from replay.design.expansion import expand

SECOND_SITE = {"second_site": "no second cluster"}


@pytest.fixture
def journaling():
    return load_experiment("rbd-journaling")


def ids(design):
    return {cell.cell_id for one in design.sets for cell in one.cells}


def test_a_cells_identity_is_unique(journaling):
    design = expand(journaling, "talk")
    assert len(ids(design)) == sum(len(one.cells) for one in design.sets)


def test_variants_differ_only_in_what_is_compared(journaling):
    by_name = {variant.name: variant for variant in expand(journaling, "talk").variants}
    plain, journaled = by_name["without-journal"], by_name["with-journal"]
    assert set(journaled.image.features) - set(plain.image.features) == {"journaling"}
    assert plain.client_options == journaled.client_options
    assert plain.image.size_bytes == journaled.image.size_bytes
    again = by_name["without-journal-again"]
    assert (again.image, again.client_options) == (plain.image, plain.client_options)
    assert again.image_name != plain.image_name, "the A/A control has an image of its own"


def test_adding_a_size_adds_cells_and_changes_none(journaling):
    before = expand(journaling, "quick")
    wider = copy.deepcopy(journaling)
    wider["scales"]["quick"]["factors"]["io_size_bytes"].append(16384)
    after = expand(wider, "quick")
    assert ids(before) < ids(after)
    seed = block_seed("local", "rbd-journaling", 1)
    kept = [one.point for one in order_of_sets(after, seed) if one.point in {s.point for s in before.sets}]
    assert kept == [one.point for one in order_of_sets(before, seed)], "the order of the old sets stays"
    assert plan_digest(before, 1) != plan_digest(after, 1), "so that the block is taken up again"


def test_prose_does_not_change_the_identity(journaling):
    changed = copy.deepcopy(journaling)
    changed["title"] = "Another title"
    changed["variants"][0]["label"] = "Plain"
    changed["metrics"][0]["title"] = "Rate"
    assert ids(expand(changed, "talk")) == ids(expand(journaling, "talk"))
    assert plan_digest(expand(changed, "talk"), 1) == plan_digest(expand(journaling, "talk"), 1)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["options"].update(io_threads=8),
        lambda c: c["client_options"].update(rbd_cache="true"),
        lambda c: c["image"].update(object_size_bytes=8388608),
        lambda c: c["scales"]["talk"].update(target_seconds=3),
        lambda c: c["scales"]["talk"].update(image_size_bytes=2147483648),
    ],
)
def test_whatever_changes_a_measurement_changes_its_identity(journaling, change):
    changed = copy.deepcopy(journaling)
    change(changed)
    unmirrored = {c.cell_id for s in expand(changed, "talk").sets for c in s.cells if c.variant.reference}
    assert not unmirrored & ids(expand(journaling, "talk"))


def test_the_size_of_objects_may_differ_by_variant(journaling):
    before = expand(journaling, "talk")
    assert before.public()["object_size_bytes"] == 4194304
    variants = {one["name"]: one for one in journaling["variants"]}
    variants["with-journal"]["image"] = {"object_size_bytes": 1048576}
    after = expand(journaling, "talk")
    sizes = {one.name: one.image.object_size_bytes for one in after.variants}
    assert sizes.pop("with-journal") == sizes.pop("with-journal-cached") == 1048576, (
        "who uses the image has its objects"
    )
    assert set(sizes.values()) == {4194304}
    public = after.public()
    assert "object_size_bytes" not in public and public["image_size_bytes"] == 1073741824
    assert {one["name"]: one["object_size_bytes"] for one in public["variants"]}["with-journal"] == 1048576
    changed = {cell.variant.name for one in after.sets for cell in one.cells if cell.cell_id not in ids(before)}
    assert changed == {"with-journal", "with-journal-cached"}, "no other cell is another one"


@pytest.mark.parametrize("variant", ["with-journal-cached", "with-journal"])
def test_the_size_of_objects_of_an_image_that_is_not_there_is_refused(journaling, variant):
    if variant == "with-journal":
        del journaling["image"]
    next(one for one in journaling["variants"] if one["name"] == variant)["image"] = {"object_size_bytes": 1048576}
    with pytest.raises(ConfigurationError, match=f"{variant}: image: (it uses the image of|the experiment has no)"):
        expand(journaling, "talk")


def test_a_rate_ceiling_is_part_of_the_identity(journaling):
    limited = expand(journaling, "smoke", site_client_options={"rbd_qos_bps_limit": "1000000"})
    assert not ids(limited) & ids(expand(journaling, "smoke"))


def test_a_variant_that_needs_what_the_site_lacks_is_skipped_with_the_word(journaling):
    design = expand(journaling, "smoke", missing=SECOND_SITE)
    assert {(skip.variant, skip.requires) for skip in design.skipped} == {
        ("journal-mirrored", "second_site"),
        ("snapshot-mirrored", "second_site"),
    }
    assert design.sets
    assert not any(cell.variant.image.mirroring for one in design.sets for cell in one.cells)


def test_an_experiment_that_needs_what_the_site_lacks_has_no_sets():
    design = expand(load_experiment("failover"), "smoke", missing=SECOND_SITE)
    assert design.sets == ()
    assert design.skipped[0].variant is None


def test_the_order_differs_between_seeds_and_is_fixed_for_one_seed(journaling):
    one = expand(journaling, "talk").sets[0]
    firsts = Counter(order_of_cells(one, seed, 1)[0].variant.name for seed in range(600))
    expected = 600 / len(one.cells)
    assert all(0.6 * expected < firsts[cell.variant.name] < 1.4 * expected for cell in one.cells)
    assert order_of_cells(one, 7, 1) == order_of_cells(one, 7, 1)


def test_levels_of_a_hard_to_change_factor_stay_together(journaling):
    journaling["hard_to_change"] = ["io_pattern"]
    order = [one.levels["io_pattern"] for one in order_of_sets(expand(journaling, "talk"), 11)]
    assert sum(a != b for a, b in itertools.pairwise(order)) == 1


def test_a_variant_may_be_limited_to_one_of_several_choices_of_levels(journaling):
    choices = [{"io_type": ["read"]}, {"io_type": ["write"], "io_size_bytes": [4096]}]
    journaling["scales"]["talk"]["only"] = {"with-journal": choices}
    design = expand(journaling, "talk")
    sizes = {"read": set(), "write": set()}
    for cell in (cell for one in design.sets for cell in one.cells if cell.variant.name == "with-journal"):
        sizes[cell.levels["io_type"]].add(cell.levels["io_size_bytes"])
    assert sizes == {"read": set(design.factors["io_size_bytes"]), "write": {4096}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["scales"]["quick"]["factors"].update(io_size_bytes=[4097]), "4097"),
        (lambda c: c["scales"]["quick"].update(only={"with-journal": [{}, {"io_size_bytes": [4097]}]}), "4097"),
        (lambda c: c["scales"]["quick"]["factors"].update(nonsense=[1]), "nonsense"),
        (lambda c: c["scales"]["quick"].update(only={"nobody": {}}), "nobody"),
        (lambda c: c.update(workload_factors=["colour"]), "colour"),
        (lambda c: c["variants"].append(dict(c["variants"][1])), "have the same name"),
        (lambda c: c["variants"][1].update(reference=True), "reference"),
    ],
)
def test_a_design_that_contradicts_itself_is_refused(journaling, change, said):
    change(journaling)
    with pytest.raises(ConfigurationError, match=said):
        expand(journaling, "quick")


def test_every_shipped_experiment_expands_at_every_scale():
    assert {"rbd-journaling", "failover", "client-sweep"} <= set(experiment_names())
    for name in experiment_names():
        for scale in ("smoke", "quick", "talk"):
            assert expand(load_experiment(name), scale).sets, (name, scale)


@given(st.lists(st.text(min_size=1), unique=True), st.integers())
def test_shuffling_loses_nothing(names, seed):
    assert sorted(shuffled(names, seed)) == sorted(names)


@given(st.dictionaries(st.text(), st.integers()))
def test_a_digest_does_not_depend_on_the_order_of_keys(mapping):
    assert digest_of(mapping) == digest_of(dict(reversed(list(mapping.items()))))
