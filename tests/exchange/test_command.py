"""`replay compare`: from data sets in a folder to a report, a summary, JSON and an exit status."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base import stats
from replay.base.errors import ConfigurationError
from replay.base.paths import ROOT
from replay.claims.descriptions import write_datapackage
from replay.cli.main import main
from replay.exchange.compare import at_levels, compare_sides, paired_up
from replay.exchange.compare_page import figure, page
from replay.exchange.compare_text import (
    COLUMNS,
    HIGHER,
    LOWER,
    NONE,
    PAIRED,
    SINGLE,
    UNKNOWN,
    WELCH,
    WITHIN,
    Checked,
    Outcome,
    check,
    document,
    summary_lines,
)
from replay.exchange.page import ratios
from replay.exchange.sides import _options
from support.compared import METRIC, comparison, experiment, runs, side
from support.datasets import spread_of
from support.foreign_results import job, report, write
from support.pages import ASKING, PageReader


@pytest.fixture(scope="module")
def imported(tmp_path_factory) -> Path:
    """Imported data sets `before` and `after`: in the second, 4k is 20 % faster and 64k is the same."""
    tmp_path = tmp_path_factory.mktemp("imported")
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    for name, rate in (("before", 20_000), ("after", 24_000)):
        files = {
            f"{number}/{size}.json": report(
                job(rw="randwrite", bs=size, operations=operations + 10 * number), at=number
            )
            for number in (1, 2, 3)
            for size, operations in (("4k", rate), ("64k", 5000))
        }
        write(tmp_path / name, files)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("REPLAY_BENCHMARKS", str(folder))
            assert main(["import", str(tmp_path / name), "--data", name]) == 0
    return folder


@pytest.fixture
def benchmarks(imported, tmp_path, monkeypatch) -> Path:
    """The test's own copy of the imported data sets."""
    folder = tmp_path / "benchmarks"
    shutil.copytree(imported, folder)
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(folder))
    return folder


def test_a_report_has_the_ratios_their_runs_and_their_origin(benchmarks, tmp_path, capsys):
    capsys.readouterr()
    assert main(["compare", "before", "after", "--out", str(tmp_path / "report.html")]) == 0
    said = capsys.readouterr().out
    assert "after ÷ before: " in said
    assert "imported-fio iops, after ÷ before, rw = randwrite, io_size_bytes = 4096" in said
    text = (tmp_path / "report.html").read_text()
    found = PageReader(text)
    assert not ASKING & set(found.tags)
    assert [one for one in found.all("href") if not one.startswith("data:text/csv;")] == []
    assert not re.search(r"url\(|@import|https?:", text)
    rows = [row for row in found.download("ratios.csv") if row["metric"] == "iops"]
    assert [(row["point"].split("; ")[1], row["verdict"], row["method"]) for row in rows] == [
        ("io_size_bytes=4096", "higher", "Welch"),
        ("io_size_bytes=65536", "within noise", "Welch"),
    ]
    rates = [float(row["value"]) for row in found.download("runs.csv") if row["metric"] == "iops"]
    assert sorted(set(rates)) == [2505, 2510, 2515, 10005, 10010, 10015, 12005, 12010, 12015]
    assert "imported results do not say that they ran back to back" in text
    for name in ("before", "after"):
        with (benchmarks / name / "datapackage.json").open() as file:
            package = json.load(file)
        (digest,) = [one["hash"] for one in package["resources"] if one["path"] == "imported-fio/tidy.csv"]
        assert digest.removeprefix("sha256:") in text


def test_json_says_the_same_as_the_csv_inside_the_report(benchmarks, tmp_path, capsys):
    capsys.readouterr()
    assert main(["compare", "before", "after", "--json", "--out", str(tmp_path / "report.html")]) == 0
    told = json.loads(capsys.readouterr().out)
    rows = PageReader((tmp_path / "report.html").read_text()).download("ratios.csv")
    assert [tuple(one) for one in told["comparisons"]] == [COLUMNS] * len(rows)
    for one, row in zip(told["comparisons"], rows, strict=True):
        assert {key: "" if value is None else str(value) for key, value in one.items()} == row
    assert set(told["data_sets"]) == {"before", "after"}


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["before", "after", "--fail-if", "iops<0.95"], 0, ""),
        (["after", "before", "--fail-if", "iops<0.95"], 1, "'iops<0.95' is met by before: imported-fio iops"),
        (["after", "before", "--fail-if", "latency-mean>1.05", "--fail-if", "iops<0.5"], 0, ""),
        (["before", "after", "--fail-if", "iosp<0.95"], 2, "did you mean 'iops'?"),
        (["before", "before"], 2, "before is named twice"),
        (["before", "afte"], 3, "did you mean 'after'?"),
        (["before", "after:x"], 2, "after has no runs of a variant 'x'"),
        (["before", "after", "--experiment", "imported-foi"], 2, "did you mean 'imported-fio'?"),
        (["before", "after", "--out", "/proc/none/report.html"], 2, "the report cannot be written"),
    ],
)
def test_the_exit_status_tells_a_difference_beyond_noise_from_an_unanswerable_question(
    benchmarks, words, status, said, capsys
):
    capsys.readouterr()
    assert main(["compare", *words]) == status
    found = capsys.readouterr().err
    assert said in found
    assert bool(found) == bool(said)


@pytest.mark.parametrize("word", ["iops", "iops<", "iops=1", "iops<-1", "iops<0", "<1", "iops<x"])
def test_a_text_that_is_not_a_condition_is_wrong_use(word, capsys):
    with pytest.raises(SystemExit) as raised:
        main(["compare", "a", "b", "--fail-if", word])
    assert raised.value.code == 2
    assert "is not a condition" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("manifest.json", "[]"),
        ("manifest.json", '{"experiments": {"imported-fio": {}}}'),
        ("manifest.json", '{"experiments": {"imported-fio": {"charts": []}}}'),
        ("claims.json", "[]"),
        ("imported-fio/tidy.csv", "used,variant\n1,x\n"),
    ],
)
def test_a_data_set_that_another_version_derived_is_named_and_not_compared(benchmarks, file, content, capsys):
    (benchmarks / "after" / file).write_text(content)
    write_datapackage(benchmarks / "after")
    assert main(["compare", "before", "after"]) == 3
    found = capsys.readouterr().err
    assert str(benchmarks / "after") in found
    assert "derive" in found


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("imported-fio/tidy.csv", lambda content: content.replace(b"65536", b"65537")),
        ("imported-fio/tidy.csv", None),
        ("manifest.json", lambda content: content + b"\n"),
        ("imported-fio/raw/{pack}", lambda content: content + b"x"),
        ("imported-fio/raw/added", lambda _content: b"x"),
        ("imported-fio/raw/{pack}", None),
    ],
)
def test_a_data_set_that_is_not_as_recorded_is_named_and_not_compared(benchmarks, file, changed, capsys):
    (pack, *_) = sorted(path.name for path in (benchmarks / "after/imported-fio/raw").glob("block-*"))
    path = benchmarks / "after" / file.format(pack=pack)
    if changed is None:
        path.unlink()
    else:
        before = path.read_bytes() if path.exists() else b""
        path.write_bytes(changed(before))
        assert path.read_bytes() != before
    assert main(["compare", "before", "after"]) == 3
    said = capsys.readouterr().err
    assert str(path) in said
    assert any(word in said for word in ("altered", "not listed", "missing"))


def test_exploratory_claims_on_what_is_compared_are_named(monkeypatch, capsys):
    monkeypatch.delenv("REPLAY_BENCHMARKS", raising=False)
    claims = json.loads((ROOT / "benchmarks/tentacle/claims.json").read_text())["claims"]
    expected = sorted(
        name for name, one in claims.items() if one["exploratory"] and one["experiment"] == "write-latency"
    )
    assert expected
    arguments = ["compare", "tentacle:none", "tentacle:journal-mirrored", "--experiment", "write-latency"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["data_sets"]
    assert [one["exploratory_claims"] for one in found.values()] == [{"write-latency": expected}] * 2
    assert main(arguments) == 0
    line = "exploratory in tentacle:journal-mirrored, because write-latency was measured before they were registered"
    assert f"{line}: {', '.join(expected)}" in capsys.readouterr().out


def test_a_report_lists_exploratory_claims_only_where_there_are_any():
    sides = tuple(side(name, experiment(runs([1, 2]))) for name in "ab")
    assert "Exploratory" not in page(compare_sides(sides), [])
    marked = (sides[0], replace(sides[1], exploratory={"e": ("small-is-slow",)}))
    text = " ".join(PageReader(page(compare_sides(marked), [])).text)
    assert "exploratory in b, because e was measured before they were registered: small-is-slow" in text


def series(path):
    """Return the values of the series with journal by I/O size, those that are not empty."""
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    (row,) = (row for row in rows if row[0] == "With journal")
    return {size: value for size, value in zip(header[1:], row[1:], strict=True) if value}


def test_variants_of_the_shipped_data_that_ran_back_to_back_have_the_ratios_that_were_derived(monkeypatch, capsys):
    """Two ways to the same figure: pairs found by their times, and the sets that the design names."""
    monkeypatch.delenv("REPLAY_BENCHMARKS", raising=False)
    words = ["tentacle:with-journal", "tentacle:without-journal", "--experiment", "rbd-journaling", "--json"]
    assert main(["compare", *words]) == 0
    told = json.loads(capsys.readouterr().out)["comparisons"]
    aggregate = ROOT / "benchmarks/tentacle/rbd-journaling/aggregate"
    derived = {}
    for path in aggregate.glob("ratio-throughput-*-*.csv"):
        if "." not in path.stem:
            spread = spread_of(path)
            for size, ratio in series(path).items():
                row = spread["With journal", size]
                derived[path.stem, size] = [float(ratio), *(float(row[part]) for part in ("low", "high", "n"))]
    found = {}
    for one in told:
        levels = dict(level.split("=") for level in one["point"].split("; "))
        if one["metric"] == "throughput":
            assert one["method"] == "paired"
            chart = f"ratio-throughput-{levels['io_type']}-{levels['io_pattern']}"
            found[chart, levels["io_size_bytes"]] = [one[name] for name in ("ratio", "low", "high", "n_first")]
    assert derived
    assert found.keys() == derived.keys()
    for place, figures in found.items():
        # Derived from values of full precision; the tidy table, from which this compares, has nine digits.
        assert figures == pytest.approx(derived[place], rel=1e-7)


def test_a_report_names_the_conditions_and_what_was_not_compared():
    sides = (side("a", experiment(runs([1, 2]))), side("b"))
    hit = comparison(0.8, 0.9)
    outcome = Outcome(sides, (hit,), compare_sides(sides).not_compared)
    text = page(outcome, [Checked("iops<0.95", (hit,), 1, 2)])
    said = " ".join(PageReader(text).text)
    assert "met at 1 of 1 points: b: e, v, the only point; 2 more points have no interval" in said
    assert "e: not in b" in said


def test_options_that_differ_are_named_before_any_ratio():
    first, second = (
        side(name, replace(experiment(runs([1, 2, 3])), options={"v": options}), setup={"cores": cores})
        for name, options, cores in (("a", {"direct": "1", "size": "1g"}, 2), ("b", {"size": "1g", "rate": "9"}, 4))
    )
    outcome = compare_sides((first, second))
    expected = ["cores: 2 in a, 4 in b", "direct: 1 in a, not stated in b", "rate: not stated in a, 9 in b"]
    assert summary_lines(outcome)[:4] == [*(f"differs: {line}" for line in expected),
                                          "b ÷ a: 1 ratio: 1 no difference beyond noise"]  # fmt: skip
    text = page(outcome, [])
    assert all(text.index(line) < text.index("<svg") for line in expected)
    assert [one["option"] for one in document(outcome, [])["differences"]] == ["cores", "direct", "rate"]


def test_the_ends_of_levels_and_what_follows_from_them_are_no_options():
    ends = {"largest_io_size_bytes": 4096, "smallest_write_bytes_per_second": 122880, "blocks": 6}
    entry = {"factors": {"io_size_bytes": [4096]}, "parameters": {**ends, "image_size_bytes": 1048576}}
    assert _options(entry, ["v"], []) == {"v": {"image_size_bytes": "1048576"}}


def test_a_factor_that_only_one_side_states_is_a_difference():
    first = side("a", experiment(runs([1, 2], jobs="4"), factors={"jobs": ("4",)}))
    outcome = compare_sides((first, side("b", experiment(runs([1, 2])))))
    assert summary_lines(outcome)[0] == "differs: jobs: 4 in a, not stated in b"


def test_a_difference_names_its_experiments_if_there_are_several():
    def of(name: str, direct: str):
        options = {"v": {"direct": direct}}
        return side(name, *(replace(experiment(runs([1, 2]), name=one), options=options) for one in ("e", "f")))

    assert summary_lines(compare_sides((of("a", "0"), of("b", "1"))))[0] == "differs: direct: 0 in a, 1 in b (e, f)"


def test_a_point_with_a_run_of_which_only_a_lower_bound_is_known_is_not_compared():
    metric = replace(METRIC, name="latency-p99", column="latency_p99_seconds", unit="seconds", better="lower")

    def of(name: str, *several: dict[str, float]):
        measured = [replace(run, values=values) for run, values in zip(runs([1, 2, 3]), several, strict=True)]
        return side(name, replace(experiment(measured), metrics={metric.name: metric}))

    before = of("a", *({"latency_p99_seconds": value} for value in (1.0, 1.1, 1.2)))
    after = of("b", {"latency_p99_seconds": 1.0}, {"latency_p99_seconds": 1.1}, {"latency_p99_at_least_seconds": 17.0})
    outcome = compare_sides((before, after))
    assert not outcome.comparisons
    assert [gap.why for gap in outcome.not_compared] == [
        "v: 1 point has a run of which only a lower bound of latency-p99 is known"
    ]


def test_what_rests_on_a_single_run_is_said():
    outcome = compare_sides((side("a", experiment(runs([1]))), side("b", experiment(runs([2])))))
    line = "n = 1: each ratio rests on a single run, which cannot say whether a difference is more than noise"
    assert line in summary_lines(outcome)
    assert line in page(outcome, [])


def test_options_that_two_imports_were_run_with_are_compared(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    for name, engine in (("before", "libaio"), ("after", "io_uring")):
        write(tmp_path / name, {f"{at}.json": report(job(rw="read", ioengine=engine), at=at) for at in (1, 2)})
        assert main(["import", str(tmp_path / name), "--data", name]) == 0
    capsys.readouterr()
    assert main(["compare", "before", "after"]) == 0
    assert capsys.readouterr().out.startswith("differs: ioengine: libaio in before, io_uring in after\n")


ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=12)


@given(ANY_TEXT, ANY_TEXT, st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=3))
def test_no_name_breaks_out_of_the_page(level, title, values):
    level = f'{level}<script>alert("1")</script>'
    rows = runs(values, variant=f"{title}</style>", size=level)
    sides = tuple(side(name, experiment(rows, factors={"size": (level,)}), limitation=title) for name in ("a", "b<i>"))
    found = PageReader(page(compare_sides(sides), []))
    assert not {*ASKING, "i"} & set(found.tags)
    assert "style" not in {name for _, name, _ in found.attributes}


@given(st.lists(st.floats(0, 1e300), min_size=1).filter(any))
def test_an_axis_of_ratios_is_symmetric_about_1_and_has_few_ticks(values):
    found = ratios(values)
    assert found == sorted(found)
    assert 1.0 in found
    assert 3 <= len(found) <= 5
    assert [1 / one for one in reversed(found)] == pytest.approx(found)


# Which points are compared, how, and what is said about the others ----------------------------------------------------

RATES = st.floats(1e-3, 1e9)


def only(first, second):
    (found,) = compare_sides((first, second)).comparisons
    return found


def test_runs_that_alternate_on_one_host_are_pairs_and_their_drift_cancels():
    first = side("a", experiment(runs([100, 200, 400], start=0)))
    second = side("b", experiment(runs([110, 220, 440], start=10)))
    found = only(first, second)
    assert (found.method, found.why, found.verdict) == (PAIRED, "", HIGHER)
    assert found.estimate[:3] == pytest.approx((1.1, 1.1, 1.1))


@pytest.mark.parametrize(
    ("change", "start", "why"),
    [
        ({}, 10_000, "blocks did not run next to each other"),
        ({"machines": {"1": ["other"], "2": ["other"], "3": ["other"]}}, 10, "not measured on the same host"),
        ({"machines": {}}, 10, "not measured on the same host"),
        ({"imported": True}, 10, "imported results do not say that they ran back to back"),
        ({"runs": runs([110, 220, 440], start=None)}, 10, "runs do not state their time"),
        ({"runs": runs([110, 220], start=10)}, 10, "the blocks differ"),
    ],
)
def test_other_runs_are_two_samples_and_the_reason_is_stated(change, start, why):
    first = side("a", experiment(runs([100, 200, 400], start=0)))
    second = side("b", replace(experiment(runs([110, 220, 440], start=start)), **change))
    found = only(first, second)
    assert (found.method, found.why, found.verdict) == (WELCH, why, WITHIN)
    # The ratio is the same as with pairs; the spread of the rates, which cancels in pairs, makes the interval wide.
    if len(found.values[1]) == 3:
        assert found.estimate.value == pytest.approx(1.1)
    assert found.estimate.low < 0.5


@pytest.mark.parametrize(
    ("first", "second", "method", "why"),
    [
        ([100], [200], SINGLE, "one run on each side: no interval"),
        ([100], [200, 200], SINGLE, "one run on one side: no interval"),
        ([100, 100], [200], SINGLE, "one run on one side: no interval"),
        ([100, 0], [100, 100], NONE, "a value of 0 has no ratio"),
        ([1e-200], [1e200], NONE, "the ratio is exp(921): no number holds it"),
        ([1e200, 1e200], [1e-200, 1e-200], NONE, "the ratio is exp(-921): no number holds it"),
        ([1, 1], [1e-60, 1e60], WELCH, "the runs differ so much that no number holds the end of the interval"),
    ],
)
def test_where_no_ratio_or_no_interval_exists_the_reason_is_said(first, second, method, why):
    found = only(side("a", experiment(runs(first))), side("b", experiment(runs(second, start=10_000))))
    assert (found.method, found.why, found.verdict) == (method, why, UNKNOWN)
    assert (found.estimate is None) == (method == NONE)
    if method == SINGLE:
        assert found.estimate[:3] == pytest.approx((2, None, None))


@given(*[st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=3)] * 2, st.booleans())
def test_whatever_the_values_are_they_are_compared_and_written(first, second, neighbours):
    sides = side("a", experiment(runs(first))), side("b", experiment(runs(second, start=10 if neighbours else 10_000)))
    outcome = compare_sides(sides)
    assert len(outcome.comparisons) == 1
    json.dumps(document(outcome, ()), allow_nan=False)
    assert page(outcome, ()).endswith("</html>\n")


def test_the_only_variants_are_compared_whatever_their_names_and_several_by_name():
    found = only(
        side("a", experiment(runs([100], variant="before"))), side("b", experiment(runs([50], variant="after")))
    )
    assert found.variants == ("before", "after")
    several = (*runs([100], variant="x"), *runs([100], variant="y"))
    outcome = compare_sides((side("a", experiment(several)), side("b", experiment(runs([50], variant="y")))))
    assert [one.variants for one in outcome.comparisons] == [("y", "y")]
    assert [one.why for one in outcome.not_compared] == ["the variant x is only in a"]


def test_points_follow_the_order_of_their_levels_and_those_on_one_side_only_are_counted():
    sizes = {"size": ("4096", "16384", "65536")}
    both = [one for size in ("16384", "4096") for one in runs([100], size=size)]
    more = [*both, *runs([100], size="65536")]
    outcome = compare_sides((side("a", experiment(more, factors=sizes)), side("b", experiment(both, factors=sizes))))
    assert [dict(one.levels)["size"] for one in outcome.comparisons] == ["4096", "16384"]
    assert [one.why for one in outcome.not_compared] == ["v: 1 point is only in a"]


@pytest.mark.parametrize(
    ("theirs", "factors", "why"),
    [
        (runs([100], size="8"), {"size": ("8",)}, "size is 4 in a, but 8 in the other data set"),
        (
            [*runs([100], size="4", depth="1"), *runs([100], size="4", depth="2")],
            {"size": ("4",), "depth": ("1", "2")},
            "depth varies in b, and the other data set does not state it",
        ),
    ],
)
def test_points_that_cannot_be_the_same_are_not_compared(theirs, factors, why):
    first = side("a", experiment(runs([100], size="4"), factors={"size": ("4",)}))
    outcome = compare_sides((first, side("b", experiment(theirs, factors=factors))))
    assert outcome.comparisons == ()
    assert [one.why for one in outcome.not_compared] == [why]


def test_a_level_that_stands_for_something_else_in_another_import_is_not_compared(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    for name, order in (("before", "12"), ("again", "12"), ("after", "21")):
        files = {
            f"{at}.json": report(job(rw="read", direct=of, nrfiles=of, size=f"{of}g", loops=of))
            for at, of in enumerate(order)
        }
        assert main(["import", str(write(tmp_path / name, files)), "--data", name]) == 0
    capsys.readouterr()
    assert main(["compare", "before", "again"]) == 0
    assert "import both together" not in capsys.readouterr().out
    assert main(["compare", "before", "after"]) == 0
    first, second = (f"direct={of}; loops={of}; nrfiles={of}; size={of}g" for of in "12")
    why = f"configuration 01 is {first} in before, but {second} in the other data set: import both together"
    assert why in capsys.readouterr().out


def test_an_experiment_and_a_metric_on_one_side_only_are_not_compared():
    one, other = experiment(runs([100])), experiment(runs([100]), name="more")
    outcome = compare_sides((side("a", one, other), side("b", one)))
    assert [(one.experiment, one.why) for one in outcome.not_compared] == [("more", "not in b")]
    other_unit = replace(one, metrics={METRIC.name: replace(METRIC, unit="bytes_per_second")})
    outcome = compare_sides((side("a", one), side("b", other_unit)))
    assert outcome.comparisons == ()
    assert [one.why for one in outcome.not_compared] == ["both state no metric in common"]


def test_every_further_data_set_is_compared_with_the_first():
    outcome = compare_sides(tuple(side(name, experiment(runs([100, 101]))) for name in "abc"))
    assert [(one.first, one.second) for one in outcome.comparisons] == [("a", "b"), ("a", "c")]


@given(st.lists(RATES, min_size=1, max_size=6), st.lists(RATES, min_size=1, max_size=6))
def test_the_other_way_round_is_the_reciprocal(over, under):
    there, back = stats.independent_log_ratio(over, under), stats.independent_log_ratio(under, over)
    assert there.value * back.value == pytest.approx(1)
    assert (there.low is None) == (back.low is None)
    if there.low is not None and there.low > 0 and there.high < math.inf and back.high < math.inf:
        assert there.low * back.high == pytest.approx(1)


@pytest.mark.parametrize(("over", "under"), [([], [1]), ([1], []), ([0], [1]), ([1], [-1])])
def test_samples_that_have_no_ratio_are_refused(over, under):
    with pytest.raises(ValueError, match=r"no values|above 0"):
        stats.independent_log_ratio(over, under)


@pytest.mark.parametrize(
    ("bounds", "condition", "met"),
    [
        ((0.90, 0.94), "<", 1),
        ((0.90, 0.96), "<", 0),  # lower, but not surely below 0.95
        ((0.96, 0.97), "<", 0),
        ((0.96, 0.97), ">", 1),
        ((0.94, 0.97), ">", 0),
    ],
)
@pytest.mark.parametrize("name", [METRIC.name, METRIC.column])
def test_a_condition_is_met_if_the_whole_interval_is_beyond(bounds, condition, met, name):
    checked = check((name, condition, 0.95), [comparison(*bounds), comparison(None, None)])
    assert (len(checked.met), checked.decided, checked.undecided) == (met, 1, 1)


def test_a_condition_that_could_never_be_met_is_refused():
    with pytest.raises(ConfigurationError, match=r"no point compares iosp\n.*did you mean 'iops'"):
        check(("iosp", "<", 0.95), [comparison(0.9, 0.94)])
    with pytest.raises(ConfigurationError, match="neither met nor ruled out"):
        check(("iops", "<", 0.95), [comparison(None, None)])


@pytest.mark.parametrize(
    ("better", "bounds", "verdict", "judgement", "mark"),
    [
        ("higher", (1.1, 1.2), HIGHER, "better", "diamond better"),
        ("higher", (0.8, 0.9), LOWER, "worse", "diamond worse"),
        ("lower", (1.1, 1.2), HIGHER, "worse", "diamond worse"),
        ("lower", (0.8, 0.9), LOWER, "better", "diamond better"),
        (None, (0.8, 0.9), LOWER, "", "diamond beyond"),
        ("higher", (0.9, 1.1), WITHIN, "", "ring"),
        ("higher", (1.0, 1.0), WITHIN, "", "ring"),
        ("higher", (None, None), UNKNOWN, "", "stroke"),
    ],
)
def test_a_verdict_says_where_the_interval_lies_and_the_shape_of_a_mark_shows_it(
    better, bounds, verdict, judgement, mark
):
    shown = comparison(*bounds, metric=replace(METRIC, better=better))
    assert (shown.verdict, shown.judgement) == (verdict, judgement)
    found = PageReader(figure([shown], "Title"))
    assert found.all("aria-label")[0].endswith(f", {verdict}")
    classes = found.all("class")
    assert mark in classes
    assert ("joined" in classes) == (mark != "stroke")
    assert classes.count("one") == 1


def test_experiments_of_different_names_are_compared_where_they_are_paired_up():
    sides = [
        side("a", experiment(runs([1, 2]), name="fio-profile")),
        side("b", experiment(runs([2, 4]), name="imported-fio")),
    ]
    sides = [replace(one, manifest={"experiments": dict.fromkeys(one.experiments)}) for one in sides]
    assert compare_sides(tuple(sides)).comparisons == ()
    pairs = [("fio-profile", "imported-fio")]
    outcome = compare_sides(paired_up(sides, pairs))
    assert [(one.experiment, one.estimate.value) for one in outcome.comparisons] == [
        ("imported-fio ÷ fio-profile", pytest.approx(2))
    ]
    for wrong, said in (
        (("fio-profil", "imported-fio"), "fio-profile"),
        (("fio-profile", "fio-profile2"), "imported-fio"),
    ):
        with pytest.raises(ConfigurationError) as error:
            paired_up(sides, [wrong])
        assert said in error.value.next_step


def test_only_the_points_at_some_levels_are_compared():
    def at(name):
        rows = [
            *runs([1, 2], rw="read", size="4"),
            *runs([3, 4], rw="write", size="4"),
            *runs([5, 6], rw="read", size="8"),
        ]
        return side(name, experiment(rows, factors={"rw": ("read", "write"), "size": ("4", "8")}))

    def points(*wanted):
        return [one.point for one in compare_sides(at_levels([at("a"), at("b")], wanted)).comparisons]

    assert len(points()) == 3
    assert points("rw=read", "size=4") == ["rw = read, size = 4"]
    assert points("size=4", "size=8", "rw=write") == ["rw = write, size = 4"]
    for wrong, said in (("rx=read", "no data set has a factor 'rx'"), ("rw=trim", "no data set has this level of rw"),
                        ("size=16", "no data set has this level of size")):  # fmt: skip
        with pytest.raises(ConfigurationError) as error:
            points(wrong)
        assert said in error.value.what
    with pytest.raises(ConfigurationError) as error:
        points("rw=write", "size=8")
    assert "a has no run at these levels" in error.value.what


def test_a_factor_that_varies_on_one_side_only_can_be_held_at_a_level():
    stating = side(
        "a", experiment([*runs([1, 2], rw="read"), *runs([3, 4], rw="write")], factors={"rw": ("read", "write")})
    )
    silent = side("b", experiment(runs([2, 4])))
    assert compare_sides((stating, silent)).comparisons == ()
    (found,) = compare_sides(at_levels([stating, silent], ["rw=read"])).comparisons
    assert found.estimate.value == pytest.approx(2)
