"""`replay talk` of sweeps such as bench-fio's: curves, sizes, a heat map, the tail, each where it tells the most."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from replay.cli.main import main
from support.foreign_results import job, report, write
from support.talks import checked, title, told

DEPTHS, JOBS = (1, 4, 16), (1, 4)
SIZES = {"4k": 1, "16k": 1.5, "64k": 4}
#: What a load of so many in flight brings, before there is nothing more to have.
RATES = {1: 5_000, 4: 18_000, 16: 40_000, 64: 42_000}


def swept(folder: Path, kinds=("randread", "randwrite"), depths=DEPTHS, jobs=JOBS, sizes=("4k",), faster=1.0) -> Path:
    """Write two reports of each load, with the latency that Little's law gives."""
    files = {}
    for kind, depth, count, size in ((a, b, c, d) for a in kinds for b in depths for c in jobs for d in sizes):
        for run in (1, 2):
            in_flight = depth * count
            operations = round(2 * faster * RATES[in_flight] / SIZES[size] / (1 + 0.25 * (kind == "randwrite"))) + run
            entry = job(rw=kind, bs=size, iodepth=str(depth), numjobs=str(count), operations=operations)
            latency = entry[kind.removeprefix("rand")]["clat_ns"]
            latency["mean"] = in_flight * 2e9 / operations
            latency["percentile"] = {"50.000000": latency["mean"] * 0.9, "99.000000": latency["mean"] * (3 + depth)}
            latency["max"] = latency["mean"] * 100
            files[f"run-{run}/{size}/{kind}-{depth}-{count}.json"] = report(entry, at=run)
    return write(folder, files)


def test_one_folder_of_a_sweep_is_told_in_its_five_best_slides(tmp_path, benchmarks, without_deck):
    slides = told(tmp_path, swept(tmp_path / "mine", sizes=("4k", "16k", "64k")))
    names = [name for name, slide in slides.items() if "uncounted" not in slide]
    assert names == ["question", "answer", "curve-writes", "sizes", "load", "tail", "next"]
    assert [name for name in slides if name not in names] == ["sizes-writes", "setup", "method"]
    assert title(slides["answer"]).startswith("From {io_depth.0} to {io_depth.2} in flight:")
    assert title(slides["load"]) == "Reads: {io_depth.1} in flight and {jobs.1} programs come within 10 % of the most."
    assert title(slides["tail"]).startswith("Reads from {io_depth.0} to {io_depth.2} in flight:")
    assert title(slides["tail"]).endswith("that of the slowest of a hundred.")


def test_the_slides_of_a_sweep_draw_the_files_that_they_are_about(tmp_path, benchmarks, without_deck):
    slides = told(tmp_path, swept(tmp_path / "mine", sizes=("4k", "16k", "64k")))
    drawn = {name: re.findall(r'data-chart="(\w+)" data-chart-src="[^"]*/([^"/]+)\.csv"', slide)
             for name, slide in slides.items()}  # fmt: skip
    assert drawn["load"] == [
        ("heatmap", "iops-by-jobs-randread-4096"),
        ("heatmap", "iops-by-jobs-randwrite-4096"),
    ]
    ((kind, chart),) = drawn["curve-writes"]
    assert (kind, chart) == ("response", "latency-mean-by-jobs-randwrite-4096")
    assert 'data-chart-series="Jobs 1"' in slides["curve-writes"]
    assert "iops-by-jobs-randwrite-4096.csv" in slides["curve-writes"]
    folder = tmp_path / "talk" / "benchmarks" / "mine" / "imported-fio" / "aggregate"
    for chart in (chart for charts in drawn.values() for _, chart in charts):
        assert (folder / f"{chart}.csv").exists()


def test_a_knee_is_the_answer_whichever_kind_of_operations_has_it(tmp_path, benchmarks, without_deck):
    slides = told(tmp_path, swept(tmp_path / "mine", depths=(1, 4, 16, 64), jobs=(1,)))
    assert title(slides["answer"]).startswith("Past {io_depth.2} in flight, you buy more waiting than work.")
    assert "load" not in slides, "the number of jobs was not varied"


@pytest.mark.parametrize(("faster", "in_appendix"), [(2.0, False), (1.0, True)])
def test_of_two_folders_a_curve_on_which_something_is_settled_is_in_the_talk(
    tmp_path, benchmarks, without_deck, faster, in_appendix
):
    folders = [swept(tmp_path / name, jobs=(1,), faster=factor) for name, factor in (("a", 1.0), ("b", faster))]
    assert ("uncounted" in told(tmp_path, *folders)["curve"]) == in_appendix


def test_a_curve_has_loads_that_were_about_reached_and_its_picture_has_the_same_ones(
    tmp_path, benchmarks, without_deck
):
    folder = swept(tmp_path / "mine", kinds=("randread",), depths=(1, 4, 16), jobs=(1,))
    for run in (1, 2):
        # A fast device: between its operations, fio itself takes a fifth of the time.
        entry = job(rw="randread", iodepth="2", numjobs="1", operations=20_000 + run)
        entry["read"]["clat_ns"]["mean"] = 0.8 * 2 * 2e9 / 20_000
        write(folder, {f"run-{run}/4k/randread-2-1.json": report(entry, at=run)})
        entry = job(rw="randread", iodepth="64", numjobs="1", operations=20_000 + run)
        write(folder, {f"run-{run}/4k/randread-64-1.json": report(entry, at=run)})
    slides = told(tmp_path, folder)
    assert 'data-chart-at="1 | 2 | 4 | 16"' in slides["answer"]
    assert "without loads that were not reached" in slides["answer"]
    assert title(slides["next"]) == "Fill the queue first."


@pytest.mark.slow
def test_the_check_finds_nothing_to_correct_in_a_talk_of_a_sweep(tmp_path, benchmarks):
    folder = swept(tmp_path / "mine", sizes=("4k", "16k", "64k"))
    assert main(["import", str(folder), "--data", "mine"]) == 0
    assert main(["talk", "mine", "--out", str(tmp_path / "talk")]) == 0
    said = checked(tmp_path / "talk")
    assert re.search(r"slides/talk/talk\.md +10 slides", said)
    assert "“(yours: …)” in 8 notes" in said
