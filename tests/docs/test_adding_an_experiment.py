"""docs/adding-an-experiment.md: its list of protocols follows their declarations, and its commands lead to a slide."""

from __future__ import annotations

import re
import shlex

import pytest

from replay.claims.data_set import derive_data_set
from replay.claims.load import load_book
from replay.cli.main import main
from replay.design.configuration import load_experiment_document
from replay.design.expansion import expand
from replay.design.needs import check_experiment, needs_of, protocol_names
from support import protocols_page
from support.scripted_rbd import ScriptedRbd
from support.talks import check_talk

NAME = "journal-threads"
#: The page's first commands, without `./replay` and comments.
COMMANDS = [
    shlex.split(line, comments=True)
    for line in re.findall(r"^    \./replay ((?:new|measure) .*)$", protocols_page.PAGE.read_text(), re.MULTILINE)[:4]
]


def test_the_list_of_protocols_follows_their_declarations():
    page = protocols_page.PAGE.read_text()
    assert page == protocols_page.with_protocols(page), "run `.venv/bin/python tests/support/protocols_page.py`"
    for name in protocol_names():
        assert f"\n| `{name}` | " in page
        declared = (*needs_of(name).options, *needs_of(name).factors)
        assert all(f"\n| `{each.name}` | " in page for each in declared)


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    """A project that `replay init` made, in which the tests work."""
    assert main(["init", str(tmp_path)]) == 0
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REPLAY_CONFIG", raising=False)
    monkeypatch.delenv("REPLAY_BENCHMARKS", raising=False)
    return tmp_path


@pytest.mark.slow
def test_the_commands_lead_from_a_question_to_a_slide(project, monkeypatch, capsys):
    experiment, claim, measure, slide = COMMANDS
    assert [words[1] for words in (experiment, claim, slide)] == ["experiment", "claim", "slide"]
    assert main(experiment) == 0
    assert shlex.join(["./replay", *measure]) in capsys.readouterr().out, "it says how to measure it"
    assert main(claim) == 0
    assert [claim.id for claim in load_book().claims] == [NAME]

    document = load_experiment_document(NAME)
    check_experiment(document.data, document.where)
    design = expand(document.data, measure[measure.index("--scale") + 1])
    rbd = ScriptedRbd(project, monkeypatch)
    data_set = project / "benchmarks" / measure[measure.index("--data") + 1]
    protocol = rbd.measure(design, 1, data_set / NAME / "raw")
    assert sorted(rbd.removed) == ["with-journal", "without-journal"]
    sizes = protocol.driver.io_total_bytes
    cells = {cell.cell_id: cell for one in design.sets for cell in one.cells}
    for cell_id, total in sizes.items():
        # Two seconds at a hundred operations a second for each operation in flight.
        assert total == 2 * 100 * cells[cell_id].levels["io_threads"] * 4096
    assert len(sizes) == len(cells) == 4
    derive_data_set(data_set)
    table = data_set / NAME / "aggregate" / "throughput-write-rand-4096.csv"
    assert str(table.relative_to(data_set.parents[1])) in protocols_page.PAGE.read_text()
    assert table.read_text().splitlines() == [
        "series,x,y,low,high,n",
        *(
            f"{label},{threads},{rate},{rate},{rate},1"
            for label in ("Without journal", "With journal")
            for threads in (1, 16)
            for rate in [threads * 100 * 4096]
        ),
    ]

    assert main(slide) == 0
    status, said = check_talk(project, "--fix")
    assert (status, f"slides/{NAME}/{NAME}.md" in said) == (0, True), said
