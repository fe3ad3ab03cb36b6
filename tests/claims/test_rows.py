"""docs/history.md has every row of the five sources, and everything that its table names exists."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from replay.base.paths import ROOT
from replay.claims.load import charts_of, load_book
from replay.design.configuration import experiment_names, load_experiment

#: How many rows each source has, S0.1 to S0.14 and so on.
ROWS = {"S0": 14, "S1": 9, "S2": 8, "S3": 17, "S4": 7}
COLUMNS = ("row", "what it is", "experiment", "data", "slide", "claim")
#: A cell that names nothing begins with a dash and says why.
DASH = "\N{EN DASH}"
REASON = re.compile(rf"{DASH} \S+( \S+){{2,}}")
TOKEN = re.compile(r"`([^`]+)`")
#: A chart's address in a slide, alone or among further ones: its experiment and its name.
CHART = re.compile(r'benchmarks/[^/"]+/([^/"]+)/aggregate/([^/"]+?)\.csv\b')


@dataclass(frozen=True)
class Row:
    """One row: its subject, and the names in its cells; none if a cell gives a reason."""

    id: str
    what: str
    experiments: tuple[str, ...]
    data: tuple[str, ...]
    slides: tuple[str, ...]
    claims: tuple[str, ...]


def names_in(cell):
    """The names in a cell, in backticks and separated by commas. A cell without names gives a reason."""
    if cell.startswith(DASH):
        assert REASON.fullmatch(cell), f"not a reason in words: {cell!r}"
        return ()
    names = tuple(TOKEN.findall(cell))
    assert names and cell == ", ".join(f"`{name}`" for name in names), cell
    assert len(set(names)) == len(names), cell
    return names


def read_rows(text):
    lines = [line for line in text.splitlines() if line.startswith("|")]
    header, rule, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    assert tuple(header) == COLUMNS
    assert set("".join(rule)) <= set("-:")
    return [Row(cells[0], cells[1], *(names_in(cell) for cell in cells[2:])) for cells in body]


@pytest.fixture(scope="module")
def rows():
    page = (ROOT / "docs" / "history.md").read_text()
    return read_rows(page.partition("\n## Rows of the sources\n")[2].partition("\n## ")[0])


@pytest.fixture(scope="module")
def experiments():
    return {name: load_experiment(name) for name in experiment_names()}


def unknown(rows, known, names_of):
    """The names that do not exist, each with its row."""
    return [f"{row.id}: {name}" for row in rows for name in names_of(row) if name not in known]


def test_every_row_of_every_source_occurs_once_and_in_order(rows):
    assert [row.id for row in rows] == [
        f"{source}.{number}" for source, count in ROWS.items() for number in range(1, count + 1)
    ]
    assert all(len(row.what) > 10 for row in rows)


def test_the_experiments_exist_and_their_files_name_the_same_rows(rows, experiments):
    assert unknown(rows, experiments, lambda row: row.experiments) == []
    for name, one in experiments.items():
        assert [row.id for row in rows if name in row.experiments] == sorted(
            one["sources"], key=lambda row: [int(part) for part in row[1:].split(".")]
        ), name


def test_the_data_exist_by_the_names_that_derive_gives_them(rows, experiments):
    known = {chart for one in experiments.values() for chart in charts_of(one)}
    known |= {f"{name}/tidy.csv" for name in experiments}
    assert unknown(rows, known, lambda row: row.data) == []
    for row in rows:
        assert {name.split("/")[0] for name in row.data} <= set(row.experiments), row.id


def bodies_of(text):
    """Return the Markdown of each slide by its id, from the Markdown of one or more chapters."""
    parts = re.split(r'^<!-- \.slide: id="([^"]+)"', text, flags=re.MULTILINE)[1:]
    ids, bodies = parts[0::2], parts[1::2]
    assert len(ids) == len(set(ids))
    return dict(zip(ids, bodies, strict=True))


def drawn_on(text):
    """Return `<experiment>/<chart>` of each slide's charts by the slide's id, with what key R shows of ratios."""
    return {
        slide: {f"{name}/{chart}" for name, own in CHART.findall(body) for chart in (own, own.removeprefix("ratio-"))}
        for slide, body in bodies_of(text).items()
    }


@pytest.fixture(scope="module")
def talk():
    return "\n".join(path.read_text() for path in sorted((ROOT / "slides").glob("*/*.md")))


@pytest.fixture(scope="module")
def slides(talk):
    return drawn_on(talk)


def test_the_slides_exist(rows, slides):
    assert unknown(rows, slides, lambda row: row.slides) == []


def undrawn(rows, slides):
    """The charts that no slide of their row draws, each with its row. `tidy.csv`, all runs, is not a chart."""
    return [
        f"{row.id}: {name}"
        for row in rows
        for name in row.data
        if not name.endswith("/tidy.csv") and not any(name in slides.get(slide, ()) for slide in row.slides)
    ]


def test_each_chart_of_a_row_is_drawn_on_one_of_its_slides(rows, slides):
    assert undrawn(rows, slides) == []


def test_the_claims_exist_and_each_of_the_five_sources_answers_a_row(rows):
    claims = {one.id: one for one in load_book().claims}
    assert unknown(rows, claims, lambda row: row.claims) == []
    of_sources = {name for name, one in claims.items() if one.source in ROWS}
    assert of_sources - {name for row in rows for name in row.claims} == set()


def test_published_figures_are_drawn_on_the_slides_that_the_documentation_names(talk):
    section = (ROOT / "docs" / "charts.md").read_text().split("\n## Published figures\n")[1]
    drawn = [line.split("|")[1] for line in section.split("\nThe others ")[0].splitlines() if line.startswith("| `")]
    assert sorted(TOKEN.findall(" ".join(drawn))) == sorted(
        slide for slide, body in bodies_of(talk).items() if "data-chart-marks=" in body
    )
