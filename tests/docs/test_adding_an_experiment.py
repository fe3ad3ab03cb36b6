"""docs/adding-an-experiment.md: its list of protocols follows their declarations, and its example works."""

from __future__ import annotations

import re

import pytest

from replay.base.paths import ROOT
from replay.design.configuration import load_experiment_document
from replay.design.expansion import expand
from replay.design.needs import check_experiment, needs_of, protocol_names
from support import protocols_page
from support.commands import run_derive
from support.scripted_rbd import ScriptedRbd

NAME = "journal-threads"


def test_the_list_of_protocols_follows_their_declarations():
    page = protocols_page.PAGE.read_text()
    assert page == protocols_page.with_protocols(page), "run `.venv/bin/python tests/support/protocols_page.py`"
    for name in protocol_names():
        assert f"\n| `{name}` | " in page
        declared = (*needs_of(name).options, *needs_of(name).factors)
        assert all(f"\n| `{each.name}` | " in page for each in declared)


@pytest.fixture
def example(tmp_path, monkeypatch):
    """The page's example as a file, with a scripted `rbd` as the only tool."""
    text = re.search(r"```yaml\n(.*?)```", protocols_page.PAGE.read_text(), re.DOTALL)[1]
    (tmp_path / "config" / "experiments").mkdir(parents=True)
    (tmp_path / "config" / "schemas").symlink_to(ROOT / "config" / "schemas")
    (tmp_path / "config" / "claims.yaml").symlink_to(ROOT / "config" / "claims.yaml")
    for shipped in (ROOT / "config" / "experiments").glob("*.yaml"):
        (tmp_path / "config" / "experiments" / shipped.name).symlink_to(shipped)
    (tmp_path / "config" / "experiments" / f"{NAME}.yaml").write_text(text)
    monkeypatch.setenv("REPLAY_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path / "benchmarks"))
    return load_experiment_document(NAME)


def test_the_example_is_measured_and_derived(example, tmp_path, monkeypatch):
    check_experiment(example.data, example.where)
    design = expand(example.data, "smoke")
    rbd = ScriptedRbd(tmp_path, monkeypatch)
    runner = rbd.measure(design, 1, tmp_path / "benchmarks" / "trial" / NAME / "raw")
    assert sorted(rbd.removed) == ["with-journal", "without-journal"]
    sizes = runner.sets.protocol.driver.io_total_bytes
    cells = {cell.cell_id: cell for one in design.sets for cell in one.cells}
    for cell_id, total in sizes.items():
        # Two seconds at a hundred operations a second for each operation in flight.
        assert total == 2 * 100 * cells[cell_id].levels["io_threads"] * 4096
    assert len(sizes) == len(cells) == 4
    assert run_derive(["--data", "trial"]) == 0
    table = tmp_path / "benchmarks" / "trial" / NAME / "aggregate" / "throughput-write-rand-4096.csv"
    assert table.read_text().splitlines() == [
        "series,x,y,low,high,n",
        *(
            f"{label},{threads},{rate},{rate},{rate},1"
            for label in ("Without journal", "With journal")
            for threads in (1, 16)
            for rate in [threads * 100 * 4096]
        ),
    ]
