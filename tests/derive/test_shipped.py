"""The shipped data set is what derive makes of its raw output, byte for byte."""

from __future__ import annotations

import shutil

from replay.base.paths import ROOT
from replay.workflow.dataset import derive_data_set
from replay.workflow.notes import ANSWER_NOTE, CLAIMS_NOTE, DESCRIPTION_NOTE

REFERENCE = ROOT / "benchmarks" / "reference"


def derived_files(data_set):
    """Return the content of every derived file by its path."""
    paths = [*data_set.glob("*.json"), *data_set.glob("*.csv"), *data_set.glob("*/tidy.csv")]
    for pattern in ("*/registered.csv", "*/aggregate/*.csv"):
        paths += data_set.glob(pattern)
    notes = (ANSWER_NOTE, CLAIMS_NOTE, DESCRIPTION_NOTE)  # of a checkout, which git ignores
    return {path.relative_to(data_set).as_posix(): path.read_bytes() for path in paths if path.name not in notes}


def test_every_shipped_table_comes_from_the_shipped_raw_output(tmp_path):
    copy = tmp_path / "reference"
    for raw in REFERENCE.glob("*/raw"):
        (copy / raw.parent.name).mkdir(parents=True)
        (copy / raw.parent.name / "raw").symlink_to(raw)
    shutil.copy(REFERENCE / "campaign.json", copy)
    derive_data_set(copy)
    shipped, made = derived_files(REFERENCE), derived_files(copy)
    assert shipped.keys() == made.keys()
    differing = [name for name, content in shipped.items() if made[name] != content]
    assert differing == [], "npm run derive -- --data reference"
