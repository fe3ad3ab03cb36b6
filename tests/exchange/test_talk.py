"""`replay talk`: from a data set to a talk in which the check finds nothing to correct."""

from __future__ import annotations

import json
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from replay.base import paths
from replay.base.paths import ROOT
from replay.cli.main import main
from replay.exchange import talk
from replay.exchange.talk_points import kind_of, points_of, size_text
from support.compared import runs
from support.foreign_results import job, report, write
from support.talks import checked, title, told

#: fio prints the same options for each run of a point.
SIZES = ("4k", "16k", "64k")


@pytest.fixture(scope="module")
def engines(tmp_path_factory) -> Path:
    """The folders libaio and io_uring of docs/from-fio-to-a-talk.md."""
    folder = tmp_path_factory.mktemp("engines")
    with tarfile.open(ROOT / "tests" / "fixtures" / "fio-results.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    return folder / "results"


def results(folder: Path, rate: int, *, runs: int = 3, sizes=SIZES) -> Path:
    """Write reports of fio: each run differs a little from the others."""
    return write(
        folder,
        {
            f"run-{run}/{kind}-{size}.json": report(job(rw=kind, bs=size, operations=rate + 20 * run), at=run)
            for run in range(1, runs + 1)
            for kind in ("randread", "randwrite")
            for size in sizes
        },
    )


def imported(*folders: Path) -> None:
    assert main(["import", *map(str, folders), "--data", "mine"]) == 0


def copied(source: Path, target: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Copy reports, each changed."""
    files = {}
    for path in sorted(source.glob("*.json")):
        content = json.loads(path.read_text())
        change(content)
        files[path.name] = json.dumps(content, indent=1)
    return write(target, files)


def faster(factor: int) -> Callable[[dict[str, Any]], None]:
    """Return a change of a report: so many times the operations, each that much shorter."""

    def change(content: dict[str, Any]) -> None:
        for stats in (content["jobs"][0][which] for which in ("read", "write")):
            for name in ("total_ios", "io_bytes", "io_kbytes", "iops", "bw_bytes", "bw"):
                stats[name] *= factor
            for name in ("slat_ns", "clat_ns", "lat_ns"):
                times = stats[name]
                for key in ("min", "max", "mean", "stddev"):
                    times[key] /= factor
                times["N"] *= factor
                times["percentile"] = {key: value // factor for key, value in times.get("percentile", {}).items()}

    return change


# Titles --------------------------------------------------------------------------------------------------------------


def test_the_fixture_settles_three_of_sixteen_and_says_so_point_by_point(
    tmp_path, benchmarks, engines, without_deck, capsys
):
    slides = told(tmp_path, engines / "libaio", engines / "io_uring")
    assert [*slides] == ["question", "answer", "iops", "tail", "next", "sizes", "sizes-writes", "setup", "method"]
    assert title(slides["answer"]) == (
        "Neither, as far as three runs can tell. "
        "One engine's runs differ 2.7\N{MULTIPLICATION SIGN}, the engines 1.4\N{MULTIPLICATION SIGN}."
    )
    assert title(slides["iops"]) == (
        "IOPS: one of eight is settled. Reads of 256K: {io-uring-randread-262144.estimate}."
    )
    assert title(slides["tail"]) == (
        "The slowest of a hundred: two of eight are settled, and they disagree. "
        "Reads of 4K: {io-uring-randread-4096.estimate}; reads of 16K: {io-uring-randread-16384.estimate}."
    )
    assert title(slides["next"]) == "Longer runs, not more of them."
    said = capsys.readouterr().out
    assert "n = 3: 3 of 16 comparisons settled; the runs are neighbours in time; libaio always ran first; 1 s" in said
    assert "<code>ioengine</code>: libaio or io_uring" in re.sub(r"</?span[^>]*>", "", slides["question"])
    for word in ("paired by run", "84 %"):
        assert word in slides["iops"]
    for word in (
        "{manifest.experiments.imported-fio.variants.0.label} ran first each time",
        "69 to 362",
        "without a ramp",
    ):
        assert word in slides["next"]
    assert yaml.safe_load((tmp_path / "talk" / "slides" / "talk" / "talk.yaml").read_text())["title"] == "Which engine?"


def test_no_slide_names_a_factor_of_fio_or_a_mean_over_sizes(tmp_path, benchmarks, engines, without_deck):
    slides = told(tmp_path, engines / "libaio", engines / "io_uring")
    seen = [re.sub(r"\{[^}]*\}|<canvas.*?</canvas>|<[^>]*>", "", slide) for slide in slides.values()]
    for word in ("rw", "io_size_bytes", "io_depth", "cell", "level", "up to"):
        assert not [text for text in seen if re.search(rf"\b{word}\b", text)], word


def test_one_run_each_is_no_answer(tmp_path, benchmarks, engines, without_deck):
    folders = [write(tmp_path / name, {path.name: path.read_bytes() for path in (engines / name).glob("*-run1.json")})
               for name in ("libaio", "io_uring")]  # fmt: skip
    slides = told(tmp_path, *folders)
    assert title(slides["answer"]).startswith("One run each: figures, and no answer.")
    assert title(slides["iops"]) == "IOPS: none of eight is settled."
    assert title(slides["next"]) == "Run it five times."


def test_what_is_settled_everywhere_is_told_from_the_smallest_ratio_to_the_largest(
    tmp_path, benchmarks, engines, without_deck
):
    slides = told(tmp_path, engines / "libaio", copied(engines / "io_uring", tmp_path / "io_uring", faster(10)))
    assert title(slides["answer"]) == (
        "[1]: {io-uring-randwrite-262144.estimate} to {io-uring-randwrite-65536.estimate} the IOPS, and shorter tails."
    )
    assert title(slides["iops"]) == "IOPS: [1] is ahead in eight of eight, behind in none."


def test_a_copy_makes_no_difference_that_counts(tmp_path, benchmarks, engines, without_deck):
    def later(content):
        content["timestamp_ms"] += 500

    slides = told(tmp_path, engines / "libaio", copied(engines / "libaio", tmp_path / "again", later))
    assert title(slides["answer"]) == "No difference that counts: within 10 %."


def test_loads_with_another_depth_are_not_divided(tmp_path, benchmarks, engines, without_deck):
    def alone(content):
        (entry,) = content["jobs"]
        entry["job options"]["ioengine"] = "psync"
        entry["iodepth_level"] = {**dict.fromkeys(entry["iodepth_level"], 0.0), "1": 100.0}

    slides = told(tmp_path, copied(engines / "libaio", tmp_path / "psync", alone), engines / "io_uring")
    assert [*slides] == ["question", "answer", "next", "setup", "method"]
    assert title(slides["answer"]) == ("[0] had {io_depth.0} in flight, [1] {io_depth.1}: not the same question.")
    assert not (tmp_path / "talk" / "benchmarks" / "mine" / "claims.json").exists()


def swept(folder: Path, rates: dict[int, int]) -> Path:
    """Write reports of reads whose latency is what was in flight, divided by the rate."""
    files = {}
    for depth, rate in rates.items():
        for run in (1, 2):
            entry = job(rw="randread", iodepth=str(depth), operations=2 * rate + run)
            entry["read"]["clat_ns"]["mean"] = depth * 2e9 / (2 * rate + run)
            entry["read"]["clat_ns"]["max"] = 90_000_000
            files[f"run-{run}/depth-{depth}.json"] = report(entry, at=run)
    return write(folder, files)


def test_a_curve_names_the_load_beyond_which_waiting_grows_more_than_work(tmp_path, benchmarks, without_deck):
    slides = told(tmp_path, swept(tmp_path / "only", {1: 5_000, 4: 18_000, 16: 40_000, 64: 42_000}))
    assert [*slides] == ["question", "answer", "tail", "next", "setup", "method"]
    assert title(slides["answer"]) == (
        "Past {io_depth.2} in flight, you buy more waiting than work. "
        "Up to {io_depth.3}: {iops-16-to-64.estimate} the reads, {latency-mean-16-to-64.estimate} the wait."
    )
    assert title(slides["next"]) == "Change one thing, and compare."


def test_layers_are_told_in_the_order_that_somebody_names(tmp_path, benchmarks, without_deck):
    rates = {"rbd": 4_000, "disk": 40_000, "rados": 9_000}
    folders = [swept(tmp_path / name, {16: rate}) for name, rate in rates.items()]
    slides = told(tmp_path, *folders, words=["--layers", "disk,rados,rbd"])
    assert [*slides] == ["question", "answer", "layers", "iops", "tail", "next", "setup", "method"]
    assert title(slides["layers"]) == (
        "From [1] to [0]: {iops-disk-to-rbd.estimate} the reads, {latency-mean-disk-to-rbd.estimate} the wait."
    )
    assert title(slides["answer"]).startswith("Two of four comparisons are settled.")


def test_a_queue_that_was_not_kept_full_is_no_point_of_a_curve(tmp_path, benchmarks, without_deck):
    folder = swept(tmp_path / "only", {1: 5_000, 4: 18_000, 16: 40_000})
    write(folder, {"run-1/deep.json": report(job(rw="randread", iodepth="64"), at=9)})
    slides = told(tmp_path, folder)
    assert title(slides["answer"]) == (
        "From {io_depth.0} to {io_depth.2} in flight: "
        "{iops-1-to-16.estimate} the reads, {latency-mean-1-to-16.estimate} the wait."
    )
    assert title(slides["next"]) == "Fill the queue first."
    assert '<span data-source="data">1 to 2</span> runs each' in slides["question"]
    assert '<dt>Runs of each load</dt><dd><span data-source="data">1 to 2</span>' in slides["setup"]


def test_a_single_load_is_a_question_a_picture_and_what_to_measure_next(tmp_path, benchmarks, without_deck):
    slides = told(tmp_path, swept(tmp_path / "only", {16: 40_000}))
    assert [*slides] == ["question", "answer", "next", "setup", "method"]
    assert title(slides["answer"]) == "Reads of 4K, {io_depth.0} in flight."


def test_another_version_is_named_in_the_line_of_the_answer(tmp_path, benchmarks, without_deck):
    for at, (name, version) in enumerate((("old", "fio-3.33"), ("new", "fio-3.41"))):
        for run in (1, 2):
            text = report(job(rw="randread", operations=20_000 + run), at=at + 4 * run, version=version)
            write(tmp_path / name, {f"run-{run}.json": text})
    slides = told(tmp_path, tmp_path / "old", tmp_path / "new")
    plain = {name: re.sub(r"</?span[^>]*>", "", slide) for name, slide in slides.items()}
    assert "; version of the tool: fio-3.33 or fio-3.41</p>" in plain["answer"]
    assert '<p class="source">Version of the tool: fio-3.33 or fio-3.41 · ' in plain["question"]
    talk = yaml.safe_load((tmp_path / "talk" / "slides" / "talk" / "talk.yaml").read_text())
    assert talk["title"] == "old or new?", "a version is no option"


def test_the_set_up_names_first_what_differs_besides_what_is_compared(tmp_path, benchmarks, without_deck):
    for engine in ("psync", "mmap"):
        entry = job(rw="randread", ioengine=engine, iodepth="16", direct="0")
        write(tmp_path / engine, {f"{at}.json": report(entry, at=at) for at in (1, 2)})
    slides = told(tmp_path, tmp_path / "psync", tmp_path / "mmap")
    (first, *_) = re.findall(r"<dt>(.*?)</dt>", slides["setup"])
    assert first == "<code>ioengine</code> differs"
    assert "psync had 1 operation in flight, whatever iodepth said" in slides["setup"]
    assert "through the page cache" in slides["iops"]
    assert "not paired (Welch)" in slides["iops"]


# Points --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("levels", "kind"),
    [
        ({"rw": "randread"}, ("random", "reads")),
        ({"rw": "write"}, ("sequential", "writes")),
        ({"rw": "randrw"}, ("random", "reads and writes")),
        ({"io_type": "read", "io_pattern": "rand"}, ("random", "reads")),
        ({"mode": "seq"}, ("sequential", "reads")),
        ({"mode": "rand"}, ("random", "reads")),
        ({"mode": "read"}, ("", "reads")),
        ({"mode": "write"}, ("", "writes")),
        ({"rw": "unstated"}, ("", "operations")),
        ({}, ("", "operations")),
    ],
)
def test_slides_say_what_the_operations_were(levels, kind):
    assert kind_of(levels) == kind


@pytest.mark.parametrize(("size", "text"), [(4096, "4K"), (1 << 20, "1M"), (1000, "1000B"), (98304, "96K")])
def test_sizes_are_written_as_people_say_them(size, text):
    assert size_text(size) == text


def test_without_runs_there_are_no_points():
    assert points_of({"rw": ["read"]}, []) == ()


def test_an_order_that_nothing_states_is_not_told():
    kinds = ("randread", "read", "unstated")
    rows = [row for kind in kinds for row in runs([1, 2], rw=kind)]
    assert [point.kind for point in points_of({"rw": kinds}, rows)] == [
        "random reads", "sequential reads", "operations",
    ]  # fmt: skip


def test_points_whose_levels_differ_in_capitals_alone_have_names_of_their_own():
    folders = ("SSD", "ssd")
    rows = [row for folder in folders for row in runs([1, 2], folder=folder)]
    points = points_of({"folder": folders}, rows)
    assert {point.levels["folder"]: point.name for point in points} == {"SSD": "ssd", "ssd": "ssd-2"}


# The whole command ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rates", "runs", "sizes", "slides"),
    [
        pytest.param((20_000, 30_000), 3, SIZES, 9, id="two variants"),
        pytest.param((20_000, 30_000, 25_000), 2, SIZES, 9, id="three variants"),
        pytest.param((20_000,), 1, SIZES, 7, id="one run of each point"),
        pytest.param((20_000,), 2, ("4k",), 5, id="a single size, so that nothing is compared"),
    ],
)
def test_the_check_finds_nothing_to_correct(tmp_path, benchmarks, rates, runs, sizes, slides):
    folders = [results(tmp_path / f"rate 100% & <{rate}>", rate, runs=runs, sizes=sizes) for rate in rates]
    imported(*folders)
    talk = tmp_path / "talk"
    assert main(["talk", "mine", "--out", str(talk), "--title", "Is 2 > 1 & 3?"]) == 0
    assert re.search(rf"slides/talk/talk\.md +{slides} slides", checked(talk))
    text = (talk / "slides" / "talk" / "talk.md").read_text()
    assert ">?<" not in text, "every figure is written"
    stated = yaml.safe_load((talk / "slides" / "talk" / "talk.yaml").read_text())
    assert stated["title"] == "Is 2 > 1 & 3?"
    claims = talk / "benchmarks" / "mine" / "claims.json"
    assert claims.exists() == (len(rates) > 1 or len(sizes) > 1)
    if claims.exists():
        found = json.loads(claims.read_text())["claims"]
        assert {one["exploratory"] for one in found.values()} == {True}
        assert (found["iops"]["verdict"] if len(rates) > 1 else "refuted") == "refuted"


def test_a_folder_that_is_there_stays_as_it_is(tmp_path, benchmarks, capsys):
    imported(results(tmp_path / "only", 20_000, runs=1, sizes=("4k",)))
    (tmp_path / "talk").mkdir()
    (tmp_path / "talk" / "mine.txt").write_text("mine")
    assert main(["talk", "mine", "--out", str(tmp_path / "talk")]) == 2
    assert "there already" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "talk").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nine"], "did you mean 'mine'?"),
        (["mine", "--metric", "iop"], "did you mean 'iops'?"),
        (["mine", "--layers", "onyl"], "did you mean 'only'?"),
        (["mine", "--experiment", "imported-fio1"], "did you mean 'imported-fio'?"),
        (["mine", "--experiment", "a", "--experiment", "b"], "name one --experiment"),
    ],
)
def test_what_does_not_exist_is_named_with_what_was_probably_meant(tmp_path, benchmarks, capsys, words, said):
    imported(results(tmp_path / "only", 20_000, runs=1, sizes=("4k",)))
    assert main(["talk", *words, "--out", str(tmp_path / "talks" / "talk")]) in (2, 3)
    assert said in capsys.readouterr().err
    assert not (tmp_path / "talks").exists()


def test_a_look_is_copied_and_one_that_is_not_there_is_refused(tmp_path, benchmarks, without_deck, capsys):
    look = tmp_path / "acme"
    look.mkdir()
    (look / "tokens.css").write_text(":root { --ink: #123456; }\n")
    told(tmp_path, results(tmp_path / "only", 20_000, runs=1, sizes=("4k",)), words=["--look", str(look)])
    copy = tmp_path / "talk" / "slides" / "talk" / "look" / "tokens.css"
    assert copy.read_text() == (look / "tokens.css").read_text()
    assert main(["talk", "mine", "--out", str(tmp_path / "other"), "--look", str(tmp_path / "acne")]) == 2
    assert "--look: there is no such folder" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_what_a_link_leads_to_outside_of_its_folder_is_not_copied(tmp_path, benchmarks, without_deck):
    (tmp_path / "secret").write_text("secret")
    look = tmp_path / "acme"
    look.mkdir()
    only = results(tmp_path / "only", 20_000, runs=1, sizes=("4k",))
    imported(only)
    for link in (benchmarks / "mine" / "notes.json", look / "acme.woff2"):
        link.symlink_to(tmp_path / "secret")
    (benchmarks / "mine" / "loop.json").symlink_to("loop.json")
    (look / "again").symlink_to(look)
    assert main(["talk", "mine", "--out", str(tmp_path / "talk"), "--look", str(look)]) == 0
    names = ("notes.json", "*.woff2", "loop.json", "again")
    assert not [path for name in names for path in (tmp_path / "talk").rglob(name)]


def test_what_comes_next_can_be_pasted_where_the_talk_was_started(tmp_path, monkeypatch, capsys):
    done = SimpleNamespace(returncode=0, stdout="nothing to correct\n", stderr="")
    monkeypatch.setattr(talk.shutil, "which", lambda name: name)
    monkeypatch.setattr(talk.subprocess, "run", lambda *arguments, **options: done)
    monkeypatch.chdir(tmp_path)
    talk._say_next(tmp_path / "talk", Path("talk"))
    said = capsys.readouterr().out
    for script in ("check", "present"):
        assert f"REPLAY_TALK={tmp_path}/talk npm --prefix {ROOT} run {script}\n" in said


@pytest.mark.parametrize(("root", "npm"), [(ROOT, f"npm --prefix {ROOT}"), (None, "npm")])
def test_without_npm_what_comes_next_can_be_pasted_there_too(tmp_path, monkeypatch, without_deck, capsys, root, npm):
    for module in (talk, paths):
        monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.chdir(tmp_path)
    talk._say_next(tmp_path / "talk", Path("talk"))
    commands = [f"REPLAY_TALK={tmp_path}/talk {npm} run {script}" for script in ("check -- --fix", "present")]
    assert capsys.readouterr().out.endswith(f"next: {commands[0]}\n      {commands[1]}\n")


def test_altered_data_are_no_base_for_a_talk(tmp_path, benchmarks, capsys):
    imported(results(tmp_path / "only", 20_000, runs=1, sizes=("4k",)))
    table = benchmarks / "mine" / "imported-fio" / "tidy.csv"
    table.write_text(table.read_text().replace("20020", "20021"))
    assert main(["talk", "mine", "--out", str(tmp_path / "talk")]) == 3
    assert "altered" in capsys.readouterr().err
    assert not (tmp_path / "talk").exists()
