import csv
import json
import math
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from replay.base.stats import median, paired_log_ratio
from replay.claims.data_set import derive_data_set
from replay.claims.data_set import manifest as manifest_of
from replay.derive import aggregates
from replay.derive.designs import Workload
from replay.derive.entry import _chart
from replay.derive.experiment import derive_experiment
from support.datasets import digests, rows_of, spread_of
from support.rawtree import TRIALS, VARIANTS, RawTree, rbd_bench_output


def table(directory, name):
    with (directory / "aggregate" / f"{name}.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    return header, {row[0]: row[1:] for row in rows}


def spread(directory, name):
    return spread_of(directory / "aggregate" / f"{name}.csv")


def rates_of(directory, point, variant):
    """Return operations/s per block of a cell's used rows."""
    rows = rows_of(directory / "tidy.csv")
    return [
        float(row["operations_per_second"])
        for row in rows
        if row["point"] == point and row["variant"] == variant and row["used"] == "1"
    ]


def test_raw_output_becomes_a_row_for_each_cell_and_a_table_for_each_metric_and_workload(directory):
    derive_experiment(RawTree(directory).measure(blocks=3).directory)
    rows = rows_of(directory / "tidy.csv")
    assert len(rows) == 3 * 4 * 3
    assert list(rows[0])[:10] == [
        "experiment", "block", "cell", "attempt", "point", "variant", "label", "io_type", "io_pattern", "io_size_bytes",
    ]  # fmt: skip
    assert sorted(path.name for path in (directory / "aggregate").iterdir() if "write" in path.name) == [
        *(f"iops-write-seq{part}.csv" for part in ("", ".spread")),
        *(f"ratio-throughput-write-seq{part}.csv" for part in ("", ".spread")),
        *(f"throughput-write-seq{part}.csv" for part in ("", ".spread")),
    ]


def test_a_wide_table_holds_medians_and_its_spread_the_least_the_greatest_and_n(directory):
    derive_experiment(RawTree(directory).measure(blocks=3).directory)
    rates = rates_of(directory, "write-seq-4096", "with-journal")
    header, series = table(directory, "iops-write-seq")
    assert header == ["I/O size", "4096", "65536"]
    assert list(series) == [one["label"] for one in VARIANTS]
    assert float(series["With journal"][0]) == pytest.approx(median(rates), rel=1e-8)
    found = spread(directory, "iops-write-seq")
    assert list(found) == [(one["label"], x) for one in VARIANTS for x in header[1:]], "in the order of the design"
    row = found["With journal", "4096"]
    assert list(row) == ["series", "x", "low", "high", "min", "max", "n"]
    assert (row["low"], row["high"], row["n"]) == ("", "", "3")
    assert [float(row["min"]), float(row["max"])] == pytest.approx([min(rates), max(rates)], rel=1e-8)


def test_the_drawn_ratio_is_the_paired_estimate_with_its_interval(directory):
    derive_experiment(RawTree(directory).measure(blocks=6).directory)
    pairs = [rates_of(directory, "write-seq-4096", name) for name in ("without-journal", "with-journal")]
    expected = paired_log_ratio(*pairs)
    value = float(table(directory, "ratio-throughput-write-seq")[1]["With journal"][0])
    row = spread(directory, "ratio-throughput-write-seq")["With journal", "4096"]
    drawn = [value, *(float(row[part]) for part in ("low", "high", "n"))]
    assert drawn == pytest.approx([expected.value, expected.low, expected.high, 6], rel=1e-7)
    assert (row["min"], row["max"]) == ("", "")


def test_the_a_a_control_has_its_ratio_and_the_reference_has_none(directory):
    derive_experiment(RawTree(directory).measure(blocks=2).directory)
    assert list(table(directory, "ratio-throughput-read-seq")[1]) == ["With journal", "Without journal, again"]


def test_one_block_gives_a_ratio_with_empty_fields_for_its_interval(directory):
    derive_experiment(RawTree(directory).measure(blocks=1).directory)
    assert all(table(directory, "ratio-throughput-write-seq")[1]["With journal"])
    rows = spread(directory, "ratio-throughput-write-seq").values()
    assert {(row["low"], row["high"], row["n"]) for row in rows} == {("", "", "1")}


def test_a_pair_with_a_value_of_0_or_a_lower_bound_has_no_ratio_and_is_counted(monkeypatch):
    metric = {"metric": "m", "name": "m", "title": "M", "unit": "count", "ratio": True}
    design = SimpleNamespace(
        labels={"off": "Off", "on": "On"}, reference="off", ratio_direction="reference/variant", kind="long",
        workload_factors=(), x_factor="x", public={"metrics": [metric]},
    )  # fmt: skip
    runs = pd.DataFrame(
        [
            {"metric": "m", "workload": 0, "variant": variant, "x": 1, "block": block, "attempt": 1, "y": y}
            for block, values in enumerate([(4.0, 2.0), (4.0, 0.0), (0.0, 2.0), (4.0, math.nan)])
            for variant, y in enumerate(values)
        ]
    ).assign(least=17.0)
    workload = Workload((), (1,), ("off", "on"), frozenset())
    monkeypatch.setattr(aggregates, "_runs", lambda *_: runs)
    monkeypatch.setattr(aggregates, "workloads_of", lambda *_: [workload])
    _, drawn = aggregates.of_numbers(pd.DataFrame({"used": [True], "block": [1]}), design)
    assert (drawn.zero_pairs, drawn.n, drawn.runs["y"].tolist()) == (3, (1, 1), [2])
    counted = pd.DataFrame(columns=["block", "point", "attempt", "limiter", "host", "ended_at"])
    charts = [_chart("", replace(drawn, zero_pairs=number), design, counted, []) for number in (2, 0)]
    assert [chart.get("zero_pairs", "not there") for chart in charts] == [2, "not there"]


def test_an_unmeasured_value_is_an_empty_field_and_never_0(directory):
    tree = RawTree(directory)
    tree.attempt(1, "write-seq-4096")
    derive_experiment(directory)
    for name in ("throughput-write-seq", "ratio-throughput-write-seq"):
        measured, missing = table(directory, name)[1]["With journal"]
        assert measured
        assert missing == ""
        assert {x for _, x in spread(directory, name)} == {"4096"}, "a point without a run has no row"
    assert not (directory / "aggregate" / "throughput-read-seq.csv").exists(), "what no run states is not drawn"


def test_the_first_valid_attempt_counts_and_every_attempt_is_a_row(directory):
    tree = RawTree(directory)
    for point in tree.points:
        tree.attempt(1, point, invalid={"with-journal": "too_short"} if point == "write-seq-4096" else None)
    tree.attempt(1, "write-seq-4096")
    tree.attempt(1, "write-seq-4096")
    derived = derive_experiment(directory)
    rows = [row for row in rows_of(directory / "tidy.csv") if row["point"] == "write-seq-4096"]
    assert {(row["attempt"], row["used"]) for row in rows} == {("1", "0"), ("2", "1"), ("3", "0")}
    assert derived.entry["invalid"] == {"too_short": 1}
    assert derived.entry["attempts"] == 6
    # Pairing is within a set: the good cells of a void attempt are not mixed with those of another.
    assert spread(directory, "throughput-write-seq")["Without journal", "4096"]["n"] == "1"


def test_a_failed_cell_is_kept_with_its_reason_and_without_a_figure(directory):
    tree = RawTree(directory)
    good = rbd_bench_output(tree.points["write-seq-4096"], 5000)
    tree.attempt(1, "write-seq-4096", invalid={"with-journal": "failed"}, outputs={"with-journal": {"stdout": good}})
    derive_experiment(directory)
    (row,) = (row for row in rows_of(directory / "tidy.csv") if row["variant"] == "with-journal")
    assert (row["valid"], row["invalid_reason"], row["operations_per_second"]) == ("0", "failed", "")
    assert not (directory / "aggregate" / "throughput-write-seq.csv").exists()


def test_output_that_derive_refuses_voids_its_set_although_the_runner_accepted_it(directory):
    tree = RawTree(directory)
    text = rbd_bench_output(tree.points["write-seq-4096"], 5000)
    cut_off, other = text.splitlines(keepends=True)[:-1], rbd_bench_output(tree.points["write-seq-65536"], 5000)
    tree.attempt(1, "write-seq-4096", outputs={"with-journal": {"stdout": "".join(cut_off)}})
    tree.attempt(1, "write-seq-65536", outputs={"with-journal": {"stdout": text}})
    tree.attempt(2, "write-seq-65536", outputs={"with-journal": {"stdout": other}})
    derived = derive_experiment(directory)
    assert derived.entry["invalid"] == {"incomplete": 1, "unparsable": 1}
    assert len(derived.notes) == 2
    assert any("with-journal.stdout:1" in note for note in derived.notes)
    found = spread(directory, "throughput-write-seq")
    assert [found.get(("Without journal", x), {}).get("n") for x in ("4096", "65536")] == [None, "1"]


def test_an_attempt_in_progress_is_skipped(directory):
    tree = RawTree(directory)
    tree.attempt(1, "write-seq-4096")
    tree.attempt(1, "write-seq-65536", seal=False)
    assert derive_experiment(directory).cells == 3


def test_an_interrupted_attempt_is_kept_and_not_used(directory):
    tree = RawTree(directory)
    tree.attempt(1, "write-seq-4096", status="interrupted")
    derive_experiment(directory)
    assert {row["used"] for row in rows_of(directory / "tidy.csv")} == {"0"}


def test_old_and_new_releases_output_give_the_same_figures_within_what_they_print(tmp_path):
    for name, old in (("new", False), ("old", True)):
        RawTree(tmp_path / name / "rbd-journaling", old_release=old).measure()
        derive_experiment(tmp_path / name / "rbd-journaling")
    tables = [table(tmp_path / name / "rbd-journaling", "throughput-write-seq")[1] for name in ("new", "old")]
    for label, values in tables[0].items():
        assert [float(v) for v in values] == pytest.approx([float(v) for v in tables[1][label]], rel=1e-5)


def test_deriving_a_copy_without_its_csvs_gives_the_same_bytes(tmp_path, directory):
    RawTree(directory).measure(blocks=2)
    derive_data_set(directory.parent)
    before = digests(directory.parent)
    copy = tmp_path / "elsewhere" / "demo"
    shutil.copytree(directory.parent, copy)
    for path in [*copy.glob("*.json"), *copy.glob("*/*.csv"), *copy.glob("*/aggregate/*.csv")]:
        path.unlink()
    derive_data_set(copy)
    assert digests(copy) == before


def test_deriving_again_writes_nothing(directory):
    RawTree(directory).measure(blocks=2)
    derive_data_set(directory.parent)
    before = {path: path.stat().st_mtime_ns for path in directory.parent.rglob("*") if path.is_file()}
    derived = derive_data_set(directory.parent)
    assert [one.written for one in derived] == [()]
    assert {path: path.stat().st_mtime_ns for path in directory.parent.rglob("*") if path.is_file()} == before


def test_an_added_level_adds_its_column_and_keeps_earlier_measurements(directory):
    derive_experiment(RawTree(directory).measure(blocks=2).directory)
    before = table(directory, "throughput-write-seq")[1]
    factors = {"io_type": ["read", "write"], "io_pattern": ["seq"], "io_size_bytes": [4096, 16384, 65536]}
    wider = RawTree(directory, factors=factors)
    wider.moments = 1000
    wider.attempt(1, "write-seq-16384")
    entry = derive_experiment(directory).entry
    header, after = table(directory, "throughput-write-seq")
    assert header == ["I/O size", "4096", "16384", "65536"]
    assert {label: [values[0], values[2]] for label, values in after.items()} == before
    assert entry["abandoned_cells"] == 0


def test_cells_that_a_changed_design_abandons_are_reported_and_kept_and_not_drawn(directory):
    RawTree(directory).measure(blocks=1)
    changed = RawTree(directory, target_seconds=8)
    changed.moments = 1000
    changed.measure(blocks=1, first=2)
    entry = derive_experiment(directory).entry
    assert entry["abandoned_cells"] == 12
    found = spread(directory, "throughput-write-seq")
    assert [found["With journal", x]["n"] for x in ("4096", "65536")] == ["1", "1"]
    assert len(rows_of(directory / "tidy.csv")) == 24


def test_an_attempt_without_cells_does_not_revive_an_abandoned_design(directory):
    RawTree(directory).measure(blocks=1)
    factors = {"io_type": ["read", "write"], "io_pattern": ["seq"], "io_size_bytes": [4096]}
    changed = RawTree(directory, target_seconds=8, factors=factors)
    changed.moments = 1000
    changed.measure(blocks=1, first=2)
    changed.variants = []
    changed.attempt(3, "write-seq-4096", status="interrupted")
    derive_experiment(directory)
    used = {(row["io_size_bytes"], row["block"]) for row in rows_of(directory / "tidy.csv") if row["used"] == "1"}
    assert used == {("4096", "2"), ("65536", "1")}


def test_each_cell_names_what_was_registered_before_it_was_measured(directory):
    RawTree(directory, registers={"a-claim": "0123456789ab"}).measure(blocks=1)
    later = RawTree(directory, registers={"a-claim": "0123456789ab", "another": "ba9876543210"})
    later.moments = 1000
    later.attempt(2, "write-seq-4096")
    RawTree(directory).attempt(3, "write-seq-4096")
    derive_experiment(directory)
    registered: dict[str, dict[str, str]] = {}
    for row in rows_of(directory / "registered.csv"):
        registered.setdefault(row["registration"], {})[row["claim"]] = row["digest"]
    found = {row["block"]: registered.get(row["registration"], {}) for row in rows_of(directory / "tidy.csv")}
    assert found == {
        "1": {"a-claim": "0123456789ab"}, "2": {"a-claim": "0123456789ab", "another": "ba9876543210"}, "3": {},
    }  # fmt: skip


def test_a_renamed_label_comes_from_the_newest_receipt_without_measuring(directory):
    RawTree(directory).measure(blocks=1)
    renamed = [{**one, "label": one["label"].upper()} for one in VARIANTS]
    newer = RawTree(directory, variants=renamed)
    newer.moments = 1000
    newer.record("block-01/receipt-0123456789ab.json",
                 {"schema_version": 1, "design": newer.design_digest, "ended_at": newer.moment()})  # fmt: skip
    derive_experiment(directory)
    assert next(iter(table(directory, "iops-read-seq")[1])) == "WITHOUT JOURNAL"


def test_another_axis_than_sizes_gives_a_long_table(directory):
    tree = RawTree(
        directory,
        factors={"io_type": ["write"], "io_pattern": ["rand"], "io_size_bytes": [4096], "clients": [1, 2, 4]},
        x_factor="clients", x_label="Clients", x_unit="count",
        workload_factors=["io_type", "io_pattern", "io_size_bytes"],
        rate=lambda block, variant, levels: 1000 * levels["clients"] + block,
    )  # fmt: skip
    tree.measure(blocks=3)
    entry = derive_experiment(directory).entry
    rows = rows_of(directory / "aggregate" / "iops-write-rand-4096.csv")
    assert list(rows[0]) == ["series", "x", "y", "low", "high", "n"]
    assert list(rows[1].values()) == ["Without journal", "2", "2002", "2001", "2003", "3"]
    chart = entry["charts"]["iops-write-rand-4096"]
    assert (chart["kind"], chart["x"]) == ("long", {"label": "Clients", "unit": "count", "factor": "clients"})
    ratios = rows_of(directory / "aggregate" / "ratio-throughput-write-rand-4096.csv")
    assert float(ratios[0]["low"]) <= float(ratios[0]["y"]) <= float(ratios[0]["high"])


def test_trials_without_an_axis_are_dots_by_block_taken_from_the_protocol_s_facts(directory):
    metric = {"metric": "seconds_to_first_write", "name": "seconds-to-first-write", "title": "Time to the first write",
              "unit": "seconds", "better": "lower"}  # fmt: skip
    tree = RawTree(directory, metrics=[metric], **TRIALS)
    for block in (1, 2):
        fact = {"seconds_to_first_write": 3 + block / 10}
        tree.attempt(block, "planned", facts={"journal": fact, "snapshot": fact})
    entry = derive_experiment(directory).entry
    assert (directory / "aggregate" / "seconds-to-first-write-planned.csv").read_text() == (
        "series,x,y,low,high,n\nJournal,1,3.1,,,1\nJournal,2,3.2,,,1\nSnapshot,1,3.1,,,1\nSnapshot,2,3.2,,,1\n"
    )
    assert entry["charts"]["seconds-to-first-write-planned"]["n"] == {"min": 2, "max": 2}


def test_the_manifest_says_what_a_chart_s_label_needs(directory):
    tree = RawTree(directory).measure(blocks=2)
    tree.attempt(3, "write-seq-4096", limiter="disk")
    (directory.parent / "campaign.json").write_text(json.dumps({
        "schema_version": 1, "data_set": "demo", "label": "A sandbox", "site": "sandbox", "site_label": "Sandbox",
        "limitation": "one small machine", "setup": {"osds": 3},
    }))  # fmt: skip
    derive_data_set(directory.parent)
    manifest = json.loads((directory.parent / "manifest.json").read_text())
    assert (manifest["label"], manifest["setup"], manifest["altered"]) == ("A sandbox", {"osds": 3}, False)
    assert manifest["machines"] == ["host-0"]
    entry = manifest["experiments"]["rbd-journaling"]
    assert (entry["blocks"], entry["cells"], entry["cells_measured"]) == (3, 12, 12)
    chart = entry["charts"]["throughput-write-seq"]
    assert chart["n"] == {"min": 2, "max": 3}
    assert chart["limiter"] == "mixed"
    assert entry["charts"]["throughput-read-seq"]["limiter"] == "cpu"
    assert chart["y"] == {"label": "Throughput", "unit": "bytes_per_second", "better": "higher"}
    assert (directory.parent / chart["path"]).exists()
    assert chart["companions"] == {"spread": chart["path"].replace(".csv", ".spread.csv")}
    assert (directory.parent / chart["companions"]["spread"]).exists()


def test_the_set_up_names_every_processor_that_was_measured_on_and_keeps_the_rest_as_noted(directory):
    tree = RawTree(directory, sealed=False).measure(blocks=2)
    tree.change_sidecars(
        "block-02/*/attempt-1/*.json", lambda told: {"host": {**told["host"], "cpu": "Another CPU", "cores": 4}}
    )
    (directory.parent / "campaign.json").write_text(
        json.dumps({"schema_version": 1, "data_set": "demo", "setup": {"cpu": "A CPU", "cores": 2, "osds": 3}})
    )
    derive_data_set(directory.parent)
    manifest = json.loads((directory.parent / "manifest.json").read_text())
    # Nothing was noted about the kernel, so nothing is said about it here.
    assert manifest["setup"] == {"cpu": "A CPU, Another CPU", "cores": 2, "osds": 3}
    assert manifest["machines"] == ["host-0"]
    provenance = manifest["experiments"][directory.name]["provenance"]
    assert (provenance["processors"], provenance["kernels"]) == (["A CPU", "Another CPU"], ["6.1.0"])


@pytest.mark.parametrize(
    ("noted", "said"),
    [
        ({"clusters": 1}, "one cluster"),
        ({"clusters": 1, "stretch": True}, "one cluster over both sites"),
        ({"clusters": 2}, "two clusters"),
        ({"clusters": 2, "round_trip_seconds": 0.0203}, "two clusters, 20.3 ms apart"),
    ],
)
def test_the_manifest_says_how_many_sites_there_are_and_how_far_apart_if_that_was_noted(noted, said):
    assert manifest_of("mine", {"setup": noted}, {})["setup"] == noted | {"sites": said}


@pytest.mark.slow
def test_the_data_package_passes_frictionless(directory):
    # Here, because it takes half a second of processor time in each process that collects this file.
    import frictionless

    RawTree(directory).measure(blocks=2)
    derive_data_set(directory.parent)
    report = frictionless.validate(directory.parent / "datapackage.json")
    assert report.valid, report.flatten(["path", "message"])
    package = json.loads((directory.parent / "datapackage.json").read_text())
    derived = {
        path for path in directory.parent.rglob("*") if path.suffix in (".csv", ".json") and "raw" not in path.parts
    }
    # Except itself, and files that git ignores.
    unlisted = {"datapackage.json", "experiment.json", "ratios.csv"}
    names = {path.relative_to(directory.parent).as_posix() for path in derived if path.name not in unlisted}
    assert {one["path"] for one in package["resources"]} == names
    assert {"manifest.json", "recording.json", "claims.json"} <= names
