"""Which options of runs are factors, what is compared, and what is a repetition."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from replay.exchange.importing.arrange import CONFIGURATION, arrange, repetitions
from replay.exchange.importing.documents import design_of
from replay.exchange.importing.recognise import recognise
from support.foreign_results import job, report
from support.hostile import at_most
from support.samples import output

VARIANTS = {0: "before", 1: "after"}


def run(path: str = "1.json", folder: int = 0, at: int | None = 0, **options: str):
    (one,), _ = recognise(folder, path, report(job(options.pop("name", "job"), **options), at=at or 0).encode())
    return one if at is not None else replace(one, reported_at=None)


def arranged(*runs):
    return arrange("fio_report", runs, VARIANTS)


def blocks(result) -> dict[str, int]:
    return {cell.run.path: cell.block for cell in result.cells}


def test_runs_of_one_point_are_repetitions_in_the_order_in_which_they_ended():
    result = arranged(run("run-2/a.json", at=1), run("run-10/a.json", at=0), run("run-3/a.json", at=2))
    assert blocks(result) == {"run-10/a.json": 1, "run-2/a.json": 2, "run-3/a.json": 3}
    assert len({cell.cell_id for cell in result.cells}) == 1


def test_without_moments_repetitions_are_in_the_order_in_which_a_person_counts():
    result = arranged(*(run(f"run-{number}.json", at=None) for number in (10, 9, 1)))
    assert blocks(result) == {"run-1.json": 1, "run-9.json": 2, "run-10.json": 3}


def test_folders_that_differ_in_words_are_different_points_and_not_repetitions():
    result = arranged(run("ssd/4k.json"), run("hdd/4k.json"), run("ssd/4k-2.json"))
    assert result.factors["folder"] == ("ssd", "hdd")
    assert result.workload_factors == ("rw", "folder")


def test_files_that_differ_in_words_are_different_points_if_their_folders_do_not():
    assert arranged(run("quiet.json"), run("busy.json")).factors["folder"] == ("quiet-json", "busy-json")


def test_levels_that_would_join_to_one_name_have_names_of_their_own_and_the_same_ones_in_each_variant():
    stated = [{"disk": "ssd", "engine": "fast-a"}, {"disk": "ssd-fast", "engine": "a"}]
    runs = [replace(run(f"{number}.json", folder), options=options)
            for folder in VARIANTS for number, options in enumerate(stated)]  # fmt: skip
    result = arranged(*runs)
    assert [cell.block for cell in result.cells] == [1] * 4
    assert len({cell.point for cell in result.cells}) == 2
    assert len({(cell.point, cell.variant) for cell in result.cells}) == 4
    charts = {"-".join(str(cell.levels[name]) for name in result.workload_factors) for cell in result.cells}
    assert len(charts) == 2
    assert result.factors["option_engine"] == ("fast-a", "a")
    assert [*result.words["option_disk"].values()] == ["ssd-fast"]


def test_digits_of_a_name_that_no_other_is_like_stay():
    paths = ["INTEL-S3500/4k.json", "SAMSUNG-PM863/4k.json"]
    assert arranged(*map(run, paths)).factors["folder"] == ("INTEL-S3500", "SAMSUNG-PM863")


def test_jobs_in_a_row_are_different_points_also_where_all_runs_are_repetitions():
    text = report(job("a", rw="read"), job("a", rw="read", group=1), job("b", rw="read", group=2)).encode()
    runs, _ = recognise(0, "x.json", text)
    for pooled in (False, True):
        result = arrange("fio_report", runs, VARIANTS, pooled=pooled)
        assert result.factors["job_in_a_row"] == ("a-1", "a-2", "b")
        assert len({cell.point for cell in result.cells}) == 3


def test_names_do_not_matter_if_a_person_says_that_runs_are_repetitions():
    result = arrange("fio_report", [run("quiet.json"), run("busy.json", name="x")], VARIANTS, pooled=True)
    assert len({cell.point for cell in result.cells}) == 1


def test_repetitions_are_named_by_what_differs_in_their_paths():
    sizes = [run(f"day-{day}/{size}-run{number}.json", bs=size) for day in (1, 2) for size in ("4k", "8k")
             for number in (1, 2)]  # fmt: skip
    assert repetitions(arranged(*sizes)) == [
        (("day-1/", "day-2/"), 1),
        (("4k-run1.json", "4k-run2.json"), 2),
    ]
    longer = [run(f"{size}/{name}", bs=size) for size in ("4k", "8k") for name in (f"of-{size}", f"of-{size}-2")]
    pooled = arrange("fio_report", longer, VARIANTS, pooled=True)
    assert repetitions(pooled) == [(("of-4k", "of-4k-2"), 2)]
    unlike = arrange("fio_report", [run("a/1.json"), run("2.json")], VARIANTS, pooled=True)
    assert repetitions(unlike) == [(("2.json", "a/1.json"), 1)]


def test_without_a_number_that_all_runs_state_there_is_no_axis():
    one = replace(run(), levels={"rw": "read", "io_size_bytes": "unstated", "io_depth": "unstated", "jobs": "unstated"})
    result = arranged(one)
    assert result.x_factor is None


def test_identifiers_and_dates_in_paths_tell_repetitions_apart():
    paths = ["id-0a1b2c3d/2024-01-01/x.json", "id-9f8e7d6c/2024-02-03/x.json"]
    assert "folder" not in arranged(*map(run, paths)).factors


def test_jobs_with_other_names_are_different_points():
    result = arranged(run("1.json", name="cold"), run("2.json", name="warm"), run("3.json", name="warm"))
    assert result.factors["job"] == ("cold", "warm")


def test_names_of_jobs_and_files_that_repeat_factors_are_not_factors():
    result = arranged(run("read-4k.json", name="r4", rw="read"), run("write-4k.json", name="w4", rw="write"))
    assert {"folder", "job"} & result.factors.keys() == set()


def test_the_axis_is_the_number_with_the_most_levels():
    sizes = [run(f"{size}.json", bs=size, iodepth="1") for size in ("4k", "8k", "64k")]
    assert arranged(*sizes).x_factor == "io_size_bytes"
    depths = [run(f"{depth}.json", iodepth=str(depth)) for depth in (1, 2, 4, 8)]
    assert arranged(*sizes, *depths).x_factor == "io_depth"


def test_sweeps_along_two_factors_with_the_same_series_are_charts_of_different_names():
    swept = [(operation, size, threads) for operation in (1 << 22, 1 << 23) for size in (1 << 22, 1 << 23)
             for threads in (1, 4, 16)]  # fmt: skip
    names = ("io_size_bytes", "object_size_bytes", "threads")
    runs = [replace(run(f"{number}.json"), levels={"mode": "write", **dict(zip(names, levels, strict=True))})
            for number, levels in enumerate(swept)]  # fmt: skip
    metrics = design_of(arrange("rados_bench_output", runs, VARIANTS), {"before": "Before"})["metrics"]
    drawn = [each for each in metrics if each["metric"] == "operations_per_second" and "rows" in each]
    assert [(each["name"], each["x_factor"], each["rows"]) for each in drawn] == [
        ("iops-by-threads", "io_size_bytes", "threads"),
        ("iops-by-threads-along-object-size", "object_size_bytes", "threads"),
    ]


def test_an_option_that_differs_is_a_factor_and_one_that_does_not_is_shared():
    result = arranged(run("1.json", ioengine="libaio", direct="1"), run("2.json", ioengine="io_uring", direct="1"))
    assert result.factors["option_ioengine"] == ("libaio", "io-uring")
    assert result.shared == {"direct": "1"}
    assert result.words["option_ioengine"] == {"io-uring": "io_uring"}


def test_an_option_that_differs_only_between_folders_belongs_to_the_variant_and_keeps_them_comparable():
    result = arranged(run(ioengine="libaio"), run(folder=1, ioengine="io_uring"))
    assert result.of_variant == {"before": {"ioengine": "libaio"}, "after": {"ioengine": "io_uring"}}
    assert len({cell.point for cell in result.cells}) == 1
    assert [cell.block for cell in result.cells] == [1, 1]


def test_a_length_that_follows_the_size_does_not_split_the_chart_but_stays_a_factor():
    result = arranged(run("1.json", bs="4k", size="1g"), run("2.json", bs="8k", size="2g"))
    assert result.workload_factors == ("rw",)
    assert result.factors["option_size"] == ("1g", "2g")


def test_many_options_that_differ_are_one_factor():
    many = dict.fromkeys(("direct", "thread", "norandommap", "end_fsync"), "1")
    result = arranged(run("1.json", **many), run("2.json", **dict.fromkeys(many, "0")))
    assert result.factors[CONFIGURATION] == ("01", "02")
    assert result.words[CONFIGURATION]["01"] == "direct=1; end_fsync=1; norandommap=1; thread=1"


def test_a_level_that_only_some_runs_state_is_unstated_for_the_others():
    names = ("rados-bench-write-4m.txt", "rados-bench-old-seq.txt")
    runs = [recognise(0, name, output(name))[0][0] for name in names]
    assert arrange("rados_bench_output", runs, VARIANTS).factors["threads"] == (16, "unstated")


@at_most(100)
@given(texts=st.lists(st.text(max_size=40), min_size=2, max_size=6, unique=True))
def test_levels_of_any_options_fit_into_file_names_and_stay_distinct(texts):
    runs = [replace(run(f"{number}.json"), options={"filename": text}) for number, text in enumerate(texts)]
    result = arranged(*runs)
    levels = [cell.levels["option_filename"] for cell in result.cells]
    assert len(set(levels)) == len(texts)
    assert all(re.fullmatch(r"[A-Za-z0-9-]{1,24}", str(level)) for level in levels)
    assert all("/" not in cell.point and not cell.point.startswith(".") for cell in result.cells)
