"""`replay report` of imported results: every load with its runs, and nothing of what only a cluster could tell."""

from __future__ import annotations

import re

import pytest

from replay.cli.main import main
from support.foreign_results import job, report, write
from support.pages import ASKING, PageReader, rows_of, words_of


@pytest.fixture
def told(tmp_path, benchmarks, capsys):
    """Import folders and report them; return the page, and what was printed."""

    def told(*folders):
        assert main(["import", *map(str, folders), "--data", "mine"]) == 0
        capsys.readouterr()
        page = tmp_path / "page.html"
        assert main(["report", "--data", "mine", "--out", str(page)]) == 0
        return PageReader(page.read_text()), capsys.readouterr().out

    return told


def engine(folder, rate, *, at=0, version="fio-3.33", **options):
    """Write three runs of reads of two sizes; those of the third one are the fastest."""
    return write(
        folder,
        {
            f"run-{run}/{size}.json": report(
                job(rw="randread", bs=size, iodepth="16", operations=rate + 100 * run, **options),
                at=at + run, version=version,
            )
            for run in (1, 2, 3)
            for size in ("4k", "64k")
        },
    )  # fmt: skip


def test_each_load_has_its_median_its_range_its_percentiles_and_n(tmp_path, told):
    page, said = told(engine(tmp_path / "libaio", 20_000), engine(tmp_path / "io_uring", 40_000))
    (head, *rows) = rows_of(page, "Imported results of fio: Reads, 4K to 64K. A range")
    assert head == [
        "load", "variant", "operations a second", "range", "bytes a second", "range", "mean latency", "p50", "p99",
        "slowest of all", "n",
    ]  # fmt: skip
    assert [row[:4] + row[-1:] for row in rows] == [
        ["4K", "libaio", "10,100", "10,050 to 10,150", "3"],
        ["4K", "io_uring", "20,100", "20,050 to 20,150", "3"],
        ["64K", "libaio", "10,100", "10,050 to 10,150", "3"],
        ["64K", "io_uring", "20,100", "20,050 to 20,150", "3"],
    ]
    assert rows[0][7:9] == ["150 µs", "800 µs"]
    assert "The most operations a second: reads 4K with io_uring: 20,100, the slowest of a hundred in 800 µs." in said
    assert "replay compare mine:libaio mine:io-uring" in words_of(page)
    assert not ASKING & set(page.tags)


def test_every_run_is_drawn_beside_the_median(tmp_path, told):
    page, _ = told(engine(tmp_path / "libaio", 20_000))
    (figure,) = re.findall(r"<figure.*?</figure>", page.source, re.DOTALL)
    assert figure.count('class="stroke"') == 6
    assert figure.count('class="dot"') == 2
    assert "4K: 10,100" in figure


def test_it_says_nothing_of_mirroring_nor_of_what_watches_a_cluster(tmp_path, told):
    page, _ = told(engine(tmp_path / "libaio", 20_000))
    text = words_of(page)
    for word in ("mirror", "What ran out", "OSD", "write-latency", "What was not measured", "its owner", "the cluster"):
        assert word not in text, word


def test_what_differs_between_the_folders_comes_first_with_its_values(tmp_path, told):
    first = engine(tmp_path / "a", 20_000, ioengine="libaio", direct="1")
    later = engine(tmp_path / "b", 20_000, at=200_000, version="fio-3.41", ioengine="io_uring", direct="0")
    page, _ = told(first, later)
    text = words_of(page)
    lines = [
        "direct: 1 in a, 0 in b",
        "ioengine: libaio in a, io_uring in b",
        "version of the tool: fio-3.33 in a, fio-3.41 in b",
        "measured on: 2023-11-14 in a, 2023-11-17 in b",
    ]
    places = [text.index(line) for line in lines]
    assert max(places) < text.index("The most operations a second")


def test_a_percentile_beyond_the_last_bin_is_at_least_that_and_notes_are_told(tmp_path, told):
    entry = job(rw="randread", iodepth="16")
    entry["read"]["clat_ns"] |= {"max": 19_961_747_502, "percentile": {"50.000000": 1e9, "99.000000": 17_112_760_320}}
    page, _ = told(write(tmp_path / "slow", {"1.json": report(entry)}))
    (head, row) = rows_of(page, "Imported results of fio: Reads, 4K")
    assert row[head.index("p99")].startswith("≥ 17")
    assert row[-1] == "1"
    assert "which cannot say how much runs differ" in words_of(page)
    assert "p99 ≥ 17 s: fio's last bin has no upper end" in words_of(page)


def swept(folder):
    rates = {(1, 1): 10_000, (8, 1): 60_000, (1, 4): 36_000, (8, 4): 64_000}
    files = {
        f"randread-{depth}-{jobs}.json": report(
            job(rw="randread", iodepth=str(depth), numjobs=str(jobs), operations=operations)
        )
        for (depth, jobs), operations in rates.items()
    }
    return write(folder, files)


def test_of_several_folders_the_table_of_a_sweep_says_of_which_one_it_is(tmp_path, told):
    page, _ = told(swept(tmp_path / "first"), swept(tmp_path / "other"))
    assert rows_of(page, "Reads, first: medians of operations a second")


def test_a_sweep_of_depth_and_jobs_has_a_table_that_shows_where_the_most_is(tmp_path, told):
    page, _ = told(swept(tmp_path / "swept"))
    assert rows_of(page, "Reads: medians of operations a second") == [
        ["programs", "1", "8"],
        ["1 program", "5,000", "30,000"],
        ["4 programs", "18,000", "32,000"],
    ]
    bold = re.findall(r'class="number beyond">([^<]*)<', page.source)
    assert bold == ["30,000", "32,000"]


def test_a_level_is_found_as_it_is_written_beside_words_and_with_a_zero_before_it(tmp_path, told):
    mixed = {f"{kind}.json": report(job(rw=kind)) for kind in ("randread", "randrw")}
    _, said = told(write(tmp_path / "mixed", mixed))
    assert "reads 4K: 10,000" in said, "rw_mix_read is 100 for reads, and unstated for the mix"


def test_loads_that_differ_in_many_options_are_told_by_the_number_of_their_configuration(tmp_path, told):
    files = {
        f"{at}.json": report(
            job(rw="randread", direct=at, nrfiles=at, size=f"{at}g", loops=at, operations=20_000 * int(at))
        )
        for at in "12"
    }
    page, said = told(write(tmp_path / "many", files))
    assert "reads 4K, configuration 02: 20,000" in said
    assert "configuration 02: direct=2; loops=2; nrfiles=2; size=2g" in words_of(page)
