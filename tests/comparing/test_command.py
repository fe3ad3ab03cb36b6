"""`replay compare`: from data sets in a folder to a report, a summary, JSON and an exit status."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import re
import shutil
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.paths import ROOT, program_file
from replay.base.stats import Estimate
from replay.cli.main import main
from replay.comparing.conditions import Checked
from replay.comparing.figure import ROW, figure, ticks
from replay.comparing.match import compare_sides
from replay.comparing.model import Outcome
from replay.comparing.output import COLUMNS, summary_lines
from replay.comparing.page import ROWS, page
from replay.raw.copies import AlteredFile, Stamp
from support.compared import comparison, experiment, runs, side
from support.foreign_results import job, report, write

STYLE = program_file("templates", "comparison.css").read_text()
#: The tags and attributes with which a page could request another file.
_ASKING = {"script", "link", "img", "iframe", "object", "embed", "audio", "video", "base", "form", "use", "image"}


class Reader(HTMLParser):
    """Gathers the parts of a page, and refuses tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in ("meta",):
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, name: str) -> list[str]:
        return [value for _, one, value in self.attributes if one == name]

    def download(self, name: str) -> list[dict[str, str]]:
        (address,) = [
            value for value in self.all("href") if value == self.all("href")[self.all("download").index(name)]
        ]
        text = base64.b64decode(address.removeprefix("data:text/csv;charset=utf-8;base64,")).decode()
        return list(csv.DictReader(io.StringIO(text, newline="")))


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
    found = Reader(text)
    assert not _ASKING & set(found.tags)
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
    rows = Reader((tmp_path / "report.html").read_text()).download("ratios.csv")
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
        ("manifest.json", "{"),
        ("manifest.json", "[]"),
        ("manifest.json", '{"experiments": {"imported-fio": {}}}'),
        ("imported-fio/tidy.csv", "used,variant\n1,x\n"),
        ("imported-fio/tidy.csv", "\udcff"),
        ("imported-fio/tidy.csv", None),
    ],
)
def test_a_data_set_that_is_damaged_is_named_and_not_compared(benchmarks, file, content, capsys):
    path = benchmarks / "after" / file
    path.unlink()
    if content is not None:
        path.write_bytes(os.fsencode(content))
    assert main(["compare", "before", "after"]) == 3
    found = capsys.readouterr().err
    assert str(benchmarks / "after") in found
    assert "derive" in found


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("imported-fio/tidy.csv", lambda content: content.replace(b"65536", b"65537")),
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
    claims = json.loads((ROOT / "benchmarks/reference/claims.json").read_text())["claims"]
    expected = sorted(
        name for name, one in claims.items() if one["exploratory"] and one["experiment"] == "rbd-journaling"
    )
    assert expected
    arguments = ["compare", "reference:without-journal", "reference:with-journal", "--experiment", "rbd-journaling"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["data_sets"]
    assert [one["exploratory_claims"] for one in found.values()] == [{"rbd-journaling": expected}] * 2
    assert main(arguments) == 0
    line = "exploratory in reference:with-journal, because rbd-journaling was measured before they were registered"
    assert f"{line}: {', '.join(expected)}" in capsys.readouterr().out


def test_a_report_lists_exploratory_claims_only_where_there_are_any():
    sides = tuple(side(name, experiment(runs([1, 2]))) for name in "ab")
    assert "Exploratory" not in page(compare_sides(sides), [], STYLE, "1")
    marked = (sides[0], replace(sides[1], exploratory={"e": ("small-is-slow",)}))
    text = " ".join(Reader(page(compare_sides(marked), [], STYLE, "1")).text)
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
    words = ["reference:with-journal", "reference:without-journal", "--experiment", "rbd-journaling", "--json"]
    assert main(["compare", *words]) == 0
    told = json.loads(capsys.readouterr().out)["comparisons"]
    aggregate = ROOT / "benchmarks/reference/rbd-journaling/aggregate"
    derived = {}
    for path in aggregate.glob("ratio-throughput-*-*.csv"):
        if "." not in path.stem:
            tables = [series(path.with_suffix(end)) for end in (".csv", ".low.csv", ".high.csv", ".n.csv")]
            for size in tables[0]:
                derived[path.stem, size] = [float(table[size]) for table in tables]
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
    text = page(
        Outcome(sides, (hit,), compare_sides(sides).not_compared), [Checked("iops<0.95", (hit,), 1, 2)], STYLE, "1"
    )
    said = " ".join(Reader(text).text)
    assert "met at 1 of 1 points: b: e, v, the only point; 2 more points have no interval" in said
    assert "e: not in b" in said


def test_altered_data_are_named_before_any_figure():
    first, second = (side(name, experiment(runs([1, 2]))) for name in "ab")
    sides = (first, replace(second, altered=Stamp("measured", (AlteredFile("x", "0", None),)).sentence()))
    line = f"ALTERED DATA: b is {sides[1].altered}"
    outcome = compare_sides(sides)
    assert summary_lines(outcome)[0] == line
    text = page(outcome, [], STYLE, "1")
    assert text.count("ALTERED DATA") == 1
    assert text.index(escape(line)) < text.index("<svg")


ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=12)


@given(ANY_TEXT, ANY_TEXT, st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=3))
def test_no_name_breaks_out_of_the_page(level, title, values):
    level = f'{level}<script>alert("1")</script>'
    rows = runs(values, variant=f"{title}</style>", size=level)
    sides = tuple(side(name, experiment(rows, factors={"size": (level,)}), limitation=title) for name in ("a", "b<i>"))
    found = Reader(page(compare_sides(sides), [], STYLE, "1"))
    assert not {*_ASKING, "i"} & set(found.tags)
    assert "style" not in {name for _, name, _ in found.attributes}
    identifiers = found.all("id")
    assert len(set(identifiers)) == len(identifiers)


BOUNDS = st.floats(1e-12, 1e12)


@given(st.lists(st.tuples(BOUNDS, BOUNDS, BOUNDS).map(sorted), min_size=1, max_size=12))
def test_every_mark_and_span_is_within_its_chart(intervals):
    shown = [comparison(0.5, 0.6, estimate=Estimate(value, low, high, 3)) for low, value, high in intervals]
    found = Reader(figure(shown, "Title", "f"))
    (box,) = found.all("viewbox")
    width, height = map(float, box.split()[2:])
    for name, most in (("x1", width), ("x2", width), ("cx", width), ("y1", height), ("y2", height)):
        assert all(0 <= float(value) <= most for value in found.all(name))
    assert height > ROW * len(shown)
    assert sum(tag in ("circle", "path") for tag in found.tags) == len(shown)


@given(st.floats(0.02, 40))
def test_an_axis_names_1_and_few_ratios_symmetric_about_it(reach):
    found = ticks(reach)
    assert found == sorted(found)
    assert 1.0 in found
    assert 3 <= len(found) <= 7
    assert [1 / one for one in reversed(found)] == pytest.approx(found)


def test_a_figure_without_ratios_is_refused_and_a_long_one_is_cut_for_paper():
    with pytest.raises(ValueError, match="needs ratios"):
        figure([], "Title", "f")
    rows = [one for number in range(ROWS + 1) for one in runs([1, 2], size=str(number))]
    sizes = {"size": tuple(map(str, range(ROWS + 1)))}
    sides = tuple(side(name, experiment(rows, factors=sizes)) for name in "ab")
    assert Reader(page(compare_sides(sides), [], STYLE, "1")).tags.count("svg") == 2
