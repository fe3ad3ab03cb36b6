"""The first five minutes: rbd-journaling at quick scale ends with verdicts and intervals, in plain sentences too."""

from __future__ import annotations

import json
import shutil

import pytest

from replay.base.clock import utc_now
from replay.base.paths import ROOT
from replay.claims.brief import percent, times
from replay.claims.load import load_book
from replay.claims.model import NOT_MEASURED
from replay.design.configuration import load_experiment
from replay.design.expansion import expand
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Measured
from replay.protocols.drivers.sized_tool import Pilots
from support.campaign import Campaign
from support.evidence import evidence_of

NAME = "rbd-journaling"
IN_PART = ("journal-large-writes-halve",)  # Of its six sizes, a quick run has only the largest.
BLOCKS = 2  # An interval needs two; `npm start` measures as many as the scale says.

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


def too_small(raw, cell):
    """Leave a pilot that asks for almost nothing, as if the machine had nearly stopped."""
    found = Measured(["made up by a test"], {}, 0, utc_now(), utc_now(), 2.0, {})
    total = 4 * 4096
    Pilots(BlockWriter(raw, 1), cell).keep(
        1, found, io_total_bytes=total, duration_seconds=2.0, io_total_bytes_of_cell=total
    )


def test_a_quick_run_ends_with_sentences_and_a_set_that_was_too_short_is_run_again(tmp_path, sandbox_directory):
    campaign = Campaign(tmp_path, sandbox_directory)
    experiment = load_experiment(NAME)
    # Every cell that `npm start` measures, for half as long, with an eighth of the least number of writes (64 unless it
    # is given), on images that are filled in a sixteenth of the time.
    scale = experiment["scales"]["quick"]
    scale |= {"target_seconds": 1, "minimum_seconds": 0.3, "minimum_operations": 8}
    scale |= {"image_size_bytes": scale["image_size_bytes"] // 16}
    campaign.write_experiment(experiment)
    design = expand(experiment, "quick")
    for other in (ROOT / "config" / "experiments").glob("*.yaml"):
        if other.stem != NAME:
            shutil.copy(other, campaign.configuration_of(other.stem))
    shutil.copy(ROOT / "config" / "claims.yaml", tmp_path / "config")
    (small,) = (one for one in design.sets if one.point == "write-rand-4096")
    leader = next(cell for cell in small.cells if cell.variant.name == "without-journal")
    too_small(campaign.raw(NAME), leader)

    images = campaign.images()
    arguments = ["--site", "sandbox", "--data", "trial", "--scale", "quick", "--experiment", NAME]
    done = campaign.run("measure", *arguments, "--blocks", str(BLOCKS))
    assert done.returncode == 0, done.stdout + done.stderr
    assert campaign.images() == images, "nothing is left on the cluster"

    files = evidence_of(campaign.raw(NAME))
    seals = [json.loads(files[name]) for name in sorted(files) if name.endswith("/attempt.json")]
    valid = {(one["block"], one["point"]) for one in seals if one["valid"]}
    assert valid == {(block, one.point) for block in range(1, BLOCKS + 1) for one in design.sets}
    (first, *_) = (one for one in seals if one["point"] == small.point and not one["valid"])
    assert {one["reason"] for one in first["invalid"]} == {"too_short"}
    sidecars = [one for one in campaign.sidecars(NAME) if one["block"] == first["block"]]
    sizes = {(one["cell_id"], one["valid"]): int(one["argv"][one["argv"].index("--io-total") + 1]) for one in sidecars}
    # On a machine that stalls now and then, another cell than the leader can be the short one.
    short = {one["cell_id"] for one in sidecars if not one["valid"] and one["invalid"]["reason"] == "too_short"}
    assert short
    for cell in short:
        assert sizes[cell, True] > sizes[cell, False], "the whole set is run again, larger; both attempts are kept"

    data_set = campaign.folder / "benchmarks" / "trial"
    claims = json.loads((data_set / "claims.json").read_text())["claims"]
    entry = json.loads((data_set / "manifest.json").read_text())["experiments"][NAME]
    assert (entry["blocks"], entry["parameters"]["blocks"]) == (BLOCKS, experiment["scales"]["quick"]["blocks"])
    assert entry["control"]["intervals"] == len(design.sets), "the control is at every point, with an interval"
    assert "not measured: journal-4k-seq-write-cached" in done.stdout

    said = campaign.run("claims", "--data", "trial", "--brief")
    assert said.returncode == 0, said.stderr
    text = " ".join(said.stdout.split())
    for claim in (one for one in load_book().claims if one.plain):
        if claim.id not in IN_PART:
            assert claims[claim.id]["verdict"] != NOT_MEASURED, claim.id
        found = claims[claim.id]["conditions"][claim.plain.condition]
        show = {"times": times, "percent": percent}[claim.plain.shown]
        assert found["n"] == BLOCKS
        assert f"({show(found['low'])} to {show(found['high'])}, n = {BLOCKS})" in text
        assert show(found["estimate"]) in text
    assert "The control" in text
