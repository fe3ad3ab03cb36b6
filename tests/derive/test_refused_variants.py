"""A variant that the cluster refused is listed as skipped, and the others are drawn."""

from replay.derive.experiment import derive_experiment
from support.rawtree import RawTree

REFUSED = {"variant": "with-journal", "requires": "pool_create", "detail": "the monitors refuse it"}


def measured(folder, *skipped_by_receipt):
    """A block for each receipt, without the variant that the receipt skips."""
    tree = RawTree(folder / "demo" / "rbd-journaling")
    everything = tree.variants
    for block, skipped in enumerate(skipped_by_receipt, start=1):
        without = {one["variant"] for one in skipped}
        tree.variants = [one for one in everything if one["name"] not in without]
        for point in tree.points:
            tree.attempt(block, point)
        content = {"schema_version": 1, "block": block, "design": tree.design_digest, "skipped": skipped}
        tree.record(f"block-{block:02d}/receipt-{block:012x}.json", {**content, "ended_at": tree.moment()})
    return derive_experiment(tree.directory), tree.directory


def test_the_manifest_names_refused_variants_and_the_others_are_drawn(tmp_path):
    derived, directory = measured(tmp_path, [REFUSED])
    assert derived.entry["skipped"] == [REFUSED]
    assert derived.entry["cells_measured"] == derived.entry["cells"] * 2 / 3
    rows = (directory / "aggregate" / "throughput-write-seq.csv").read_text().splitlines()[1:]
    by_label = {row.split(",")[0]: row.split(",")[1:] for row in rows}
    assert by_label["With journal"] == ["", ""]
    assert all(by_label["Without journal"])


def test_the_newest_receipt_counts(tmp_path):
    derived, _ = measured(tmp_path / "allowed later", [REFUSED], [])
    assert derived.entry["skipped"] == []
    derived, _ = measured(tmp_path / "refused later", [], [REFUSED])
    assert derived.entry["skipped"] == [REFUSED]
