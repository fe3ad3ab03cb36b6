"""`replay talk`: from a data set to a talk in which the check finds nothing to correct."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from replay.base.paths import ROOT
from replay.cli.main import main
from replay.exchange.sides import read_side
from replay.exchange.talk_questions import metrics_in, questions_of, usual_metrics
from replay.exchange.talk_slides import talk_slides
from support.foreign_results import job, report, write
from support.patience import patient

#: fio prints the same options for each run of a point.
SIZES = ("4k", "16k", "64k")


@pytest.fixture
def benchmarks(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(folder))
    return folder


def results(folder: Path, rate: int, *, runs: int = 3, sizes=SIZES, kinds=("randread", "randwrite")) -> Path:
    """Write reports of fio: each run differs a little from the others."""
    return write(
        folder,
        {
            f"run-{run}/{kind}-{size}.json": report(job(rw=kind, bs=size, operations=rate + 20 * run), at=run)
            for run in range(1, runs + 1)
            for kind in kinds
            for size in sizes
        },
    )


def imported(benchmarks: Path, *folders: Path) -> None:
    assert main(["import", *map(str, folders), "--data", "mine"]) == 0


def questions(benchmarks: Path, metrics=None):
    side = read_side(benchmarks, "mine")
    entry = side.manifest["experiments"]["imported-fio"]
    chosen = metrics or usual_metrics(entry)
    return questions_of("imported-fio", entry, side.experiments["imported-fio"], chosen, set())


def test_each_metric_is_a_question_and_each_chart_a_comparison_over_all_its_points(tmp_path, benchmarks):
    imported(benchmarks, results(tmp_path / "before", 20_000), results(tmp_path / "after", 30_000))
    found = questions(benchmarks)
    assert [one.metric for one in found] == ["iops", "latency-mean", "latency-p99"]
    (read, write_) = found[0].charts
    (comparison,) = read.comparisons
    levels = {"rw": ("randread",), "io_size_bytes": (4096, 16384, 65536)}
    assert (comparison.over[0], comparison.under[0], comparison.across) == ("after", "before", False)
    assert levels.items() <= comparison.over[1].items()
    assert comparison.over[1] == comparison.under[1]
    assert write_.comparisons[0].claim == "imported-fio-iops-randwrite-after"


def test_points_that_are_no_grid_are_compared_at_the_first_one_that_both_have(tmp_path, benchmarks):
    before, after = results(tmp_path / "before", 20_000), results(tmp_path / "after", 30_000)
    for folder in (before, after):
        extra = {"deep-1.json": report(job(rw="randread", bs="4k", iodepth="8"), at=9)}
        write(folder, extra)
    imported(benchmarks, before, after)
    compared = [one.over[1] for question in questions(benchmarks, ["iops"]) for one in question.charts[0].comparisons]
    assert all(len(levels["io_size_bytes"]) in (1, 3) for levels in compared)
    assert all(len(levels["io_depth"]) == 1 for levels in compared)


def test_without_variants_the_ends_of_the_axis_are_compared(tmp_path, benchmarks):
    imported(benchmarks, results(tmp_path / "only", 20_000))
    (comparison,) = questions(benchmarks, ["iops"])[0].charts[0].comparisons
    assert comparison.across
    ends = [side[1]["io_size_bytes"] for side in (comparison.over, comparison.under)]
    assert ends == [(65536,), (4096,)]


def test_without_ratios_there_is_a_question_on_what_should_be_high_and_one_on_what_should_be_low(tmp_path, benchmarks):
    imported(benchmarks, results(tmp_path / "only", 20_000))
    entry = read_side(benchmarks, "mine").manifest["experiments"]["imported-fio"]
    assert usual_metrics(entry) == ["iops", "latency-mean"]
    assert set(usual_metrics(entry)) < set(metrics_in(entry))


def slide(benchmarks: Path, name: str) -> str:
    side = read_side(benchmarks, "mine")
    entry = side.manifest["experiments"]["imported-fio"]
    found = questions_of("imported-fio", entry, side.experiments["imported-fio"], usual_metrics(entry), set())
    (text,) = (one for one in talk_slides(side, found).split("\n\n\n") if f'id="{name}"' in one)
    return text


def test_the_set_up_names_first_what_differs_besides_what_is_compared(tmp_path, benchmarks):
    for engine in ("psync", "mmap"):
        entry = job(rw="randread", ioengine=engine, iodepth="16", direct="1")
        write(tmp_path / engine, {f"{at}.json": report(entry, at=at) for at in (1, 2)})
    imported(benchmarks, tmp_path / "psync", tmp_path / "mmap")
    setup = slide(benchmarks, "setup")
    (first, *_) = re.findall(r"<dt>(.*?)</dt>", setup)
    assert first == "<code>ioengine</code> differs"
    assert "direct" not in setup
    assert "psync had 1 operation in flight, whatever iodepth said" in setup
    assert "single run" not in slide(benchmarks, "method")


def test_a_talk_about_single_runs_says_what_they_cannot_say(tmp_path, benchmarks):
    imported(benchmarks, results(tmp_path / "only", 20_000, runs=1))
    assert "<dd>no: a single run of each point</dd>" in slide(benchmarks, "setup")
    assert "A point with a single run cannot say whether a difference is more than noise" in slide(benchmarks, "method")


def checked(talk: Path) -> str:
    """Run `npm run check` on the talk, which must find nothing; return what it printed."""
    environment = {key: value for key, value in os.environ.items() if key != "REPLAY_BENCHMARKS"}
    done = subprocess.run(
        ["node", "scripts/check.mjs"],
        cwd=ROOT, env={**environment, "REPLAY_TALK": str(talk)}, capture_output=True, text=True, timeout=patient(60),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rates", "runs", "sizes", "slides"),
    [
        pytest.param((20_000, 30_000), 3, SIZES, 6, id="two variants"),
        pytest.param((20_000, 30_000, 25_000), 2, SIZES, 7, id="three variants, of which one is in the appendix"),
        pytest.param((20_000,), 1, SIZES, 5, id="one run of each point"),
        pytest.param((20_000,), 2, ("4k",), 5, id="a single size, so that nothing is compared"),
    ],
)
def test_the_check_finds_nothing_to_correct(tmp_path, benchmarks, rates, runs, sizes, slides):
    folders = [results(tmp_path / f"rate 100% & <{rate}>", rate, runs=runs, sizes=sizes) for rate in rates]
    imported(benchmarks, *folders)
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
        found = json.loads(claims.read_text())["claims"].values()
        assert {one["exploratory"] for one in found} == {True}
        verdicts = {one["verdict"] for one in found if "iops" in one["chart"]}
        assert verdicts == ({"inconclusive"} if runs == 1 else {"held"} if len(rates) > 1 else verdicts)


def test_a_folder_that_is_there_stays_as_it_is(tmp_path, benchmarks, capsys):
    imported(benchmarks, results(tmp_path / "only", 20_000, runs=1, sizes=("4k",)))
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
        (["mine", "--experiment", "imported-fio1"], "did you mean 'imported-fio'?"),
    ],
)
def test_what_does_not_exist_is_named_with_what_was_probably_meant(tmp_path, benchmarks, capsys, words, said):
    imported(benchmarks, results(tmp_path / "only", 20_000, runs=1, sizes=("4k",)))
    assert main(["talk", *words, "--out", str(tmp_path / "talk")]) in (2, 3)
    assert said in capsys.readouterr().err
    assert not (tmp_path / "talk").exists()
    assert not [*tmp_path.glob(".replay-talk-*")]


def test_altered_data_are_no_base_for_a_talk(tmp_path, benchmarks, capsys):
    imported(benchmarks, results(tmp_path / "only", 20_000, runs=1, sizes=("4k",)))
    table = benchmarks / "mine" / "imported-fio" / "tidy.csv"
    table.write_text(table.read_text().replace("20020", "20021"))
    assert main(["talk", "mine", "--out", str(tmp_path / "talk")]) == 3
    assert "altered" in capsys.readouterr().err
    assert not (tmp_path / "talk").exists()
