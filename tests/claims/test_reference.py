"""The shipped data set: claims and charts have the same estimates, and the manifest describes its set-up."""

from __future__ import annotations

import json
import re

import pytest

from replay.base.paths import ROOT
from replay.claims.documents import six_digits
from replay.claims.judge import judge_data_set
from replay.derive.experiment import derive_experiment
from replay.design.configuration import load_experiment
from replay.evidence.read import list_raw
from support.datasets import rows_of, spread_of

REFERENCE = ROOT / "benchmarks" / "tentacle"


def drawn(data_set, chart, label, x):
    """Return the ratio that a chart draws for a variant at x, and its interval, by part; None for what it lacks.

    They are in a wide table and its spread, or in the columns of a long one.
    """
    path = data_set / chart["path"]
    if chart["kind"] == "long":
        (row,) = (row for row in rows_of(path) if (row["series"], row["x"]) == (label, str(x)))
        parts = {"": row["y"], "low": row["low"], "high": row["high"]}
    else:
        (value,) = (row[str(x)] for row in rows_of(path) if next(iter(row.values())) == label)
        spread = spread_of(path).get((label, str(x)), {})
        parts = {"": value, "low": spread.get("low"), "high": spread.get("high")}
    return {part: float(value) if value else None for part, value in parts.items()}


def pairs_with_the_reference(condition, reference):
    """Return (levels, the other variant, whether the reference is on top), or None for any other kind of condition."""
    # A count has no terms: nothing is divided.
    if len(getattr(condition, "terms", ())) != 2:
        return None
    (_, over), (_, under) = condition.terms
    points = [list(one.points()) for one in (over, under)]
    if points[0] != points[1] or len(points[0]) != 1 or reference not in (over.variant, under.variant):
        return None
    on_top = over.variant == reference
    return points[0][0], under.variant if on_top else over.variant, on_top


@pytest.mark.parametrize(
    ("name", "at_least"),
    [
        ("tentacle", {"journal-4k-seq-write", "journal-4k-write-little", "clients-4m-journal-half"}),
        ("headline-16", {"journal-4k-seq-write"}),
    ],
)
def test_a_spoken_ratio_is_the_drawn_ratio_to_the_digits_written(name, at_least):
    data_set = ROOT / "benchmarks" / name
    manifest = json.loads((data_set / "manifest.json").read_text())
    compared = set()
    for judgement in judge_data_set(data_set).judgements:
        name = judgement.claim.experiment
        for found in judgement.results:
            experiment = load_experiment(name)
            reference = next((one["name"] for one in experiment["variants"] if one.get("reference")), None)
            if not (pair := pairs_with_the_reference(found.condition, reference)):
                continue
            levels, other, on_top = pair
            named = [one["name"] for one in experiment["metrics"] if one["metric"] == found.condition.metric]
            if not named:  # a recorded fact has no chart
                continue
            workload = "-".join(str(levels[factor]) for factor in experiment["workload_factors"])
            name_of_chart = "-".join(filter(None, ["ratio", *named, workload]))
            if (chart := manifest["experiments"].get(name, {"charts": {}})["charts"].get(name_of_chart)) is None:
                continue
            label = next(one["label"] for one in manifest["experiments"][name]["variants"] if one["name"] == other)
            x = levels[experiment["x_factor"]]
            drawn_here = drawn(data_set, chart, label, x)
            spoken = {"": found.estimate, "low": found.low, "high": found.high}
            # An interval that holds at once with those of other sizes is wider than the drawn one.
            if getattr(found.condition, "simultaneous", 1) > 1:
                drawn_here, spoken = ({"": one[""]} for one in (drawn_here, spoken))
            if on_top != (experiment.get("ratio_direction", "reference/variant") == "reference/variant"):
                turned = {"": found.estimate, "low": found.high, "high": found.low}
                spoken = {part: None if value is None else 1 / value for part, value in turned.items()}
            assert {part: value if value is None else six_digits(value) for part, value in drawn_here.items()} == {
                part: spoken[part] if spoken[part] is None else six_digits(spoken[part]) for part in drawn_here
            }, judgement.claim.id
            compared.add(judgement.claim.id)
    assert compared >= at_least


@pytest.fixture(scope="module")
def derived(tmp_path_factory):
    """The shipped raw output of rbd-journaling, derived in a separate folder."""
    directory = tmp_path_factory.mktemp("data") / "rbd-journaling"
    directory.mkdir()
    (directory / "raw").symlink_to(REFERENCE / "rbd-journaling" / "raw")
    return directory, derive_experiment(directory).entry


def test_the_manifest_has_the_set_up_with_which_the_tools_ran(derived):
    _, entry = derived
    raw = REFERENCE / "rbd-journaling" / "raw"
    block = {
        f"{folder.path}/{name}": content
        for pack in list_raw(raw).packs
        if pack.block == 1
        for folder in pack.folders()
        for name, content in folder.contents.items()
    }
    wanted = re.compile(r"block-01/write-seq-\d+/attempt-1/with-journal\.json")
    sidecars = [json.loads(content) for name, content in block.items() if wanted.fullmatch(name)]
    argv = [dict(zip(one["argv"], one["argv"][1:], strict=False)) for one in sidecars]
    sizes = [int(one["--io-size"]) for one in argv]
    parameters = entry["parameters"]
    assert {parameters["io_threads"]} == {int(one["--io-threads"]) for one in argv}
    assert (parameters["smallest_io_size_bytes"], parameters["largest_io_size_bytes"]) == (min(sizes), max(sizes))
    mirrored = json.loads(block["block-01/write-seq-4096/attempt-1/snapshot-mirrored.json"])
    assert parameters["snapshot_interval_seconds"] == mirrored["facts"]["snapshot_interval_seconds"]
    (design,) = (json.loads(path.read_text()) for path in raw.glob("design-*.json"))
    assert parameters["target_seconds"] == design["target_seconds"]


def test_the_control_s_share_is_that_of_the_drawn_intervals(derived):
    directory, entry = derived
    (label,) = (one["label"] for one in entry["variants"] if one["control"])
    bounds = []
    for name, chart in entry["charts"].items():
        if chart["metric"].startswith("ratio-"):
            spread = spread_of(directory / "aggregate" / f"{name}.csv")
            rows = [row for (series, _), row in spread.items() if series == label and row["low"]]
            bounds += [(float(row["low"]), float(row["high"])) for row in rows]
    excluding = sum(not low <= 1 <= high for low, high in bounds)
    control = entry["control"]
    assert (control["intervals"], control["excluding_one"]) == (len(bounds), excluding)
    assert control["share"] == pytest.approx(excluding / len(bounds))
    assert 0.9 < control["geometric_mean"] < 1.1


def test_the_snapshot_claim_names_the_interval_that_the_data_state():
    (one,) = (one for one in judge_data_set(REFERENCE).judgements if one.claim.id == "snapshot-leaves-writes-alone")
    stated = {row["snapshot_interval_seconds"] for row in rows_of(REFERENCE / "rbd-journaling" / "tidy.csv")} - {""}
    assert f"a snapshot every {stated.pop()} s" in one.results[0].says
