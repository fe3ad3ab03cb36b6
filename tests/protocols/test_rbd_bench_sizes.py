"""How much a cell of rbd-bench transfers: never more than one pass through its image where it goes through in order."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.config.experiments import load_experiment
from replay.design.expansion import expand
from replay.procedures import single_tool
from replay.procedures.single_tool import SingleTool
from replay.raw.record import Measured

MIB = 1 << 20


@pytest.fixture
def sized(tmp_path, monkeypatch):
    """Return a function that sizes a cell of an experiment, on a cluster that does so many operations a second."""

    def of(operations_per_second, pattern, name="rbd-bench"):
        configuration = load_experiment(name)
        design = expand(configuration, "quick")
        cell = next(
            cell
            for one in design.sets
            for cell in one.cells
            if (cell.levels["io_pattern"], cell.levels["io_size_bytes"], cell.levels["io_type"], cell.variant.name)
            == (pattern, 4096, "write", "without-journal")
        )
        charged = []
        bench = SimpleNamespace(
            site=SimpleNamespace(second_site=None),
            say=lambda line: None,
            secondary=None,
            charge=lambda what, write: charged.append(write.bytes),
        )
        made = SingleTool(bench, design)
        made.images[cell.variant.image_name] = SimpleNamespace(pool="replay")
        made.totals = []

        def run(cell, total, seed, component, while_running=None):
            made.totals.append(total)
            ops = total // 4096
            text = (
                f"bench  type write io_size 4096 io_threads 16 bytes {total} "
                f"pattern {'sequential' if pattern == 'seq' else 'random'}\n  SEC       OPS   OPS/SEC   BYTES/SEC\n"
                f"elapsed: {int(ops / operations_per_second)}   ops: {ops}   ops/sec: {operations_per_second:.4f}"
                f"   bytes/sec: {operations_per_second * 4096:.2f}\n"
            )
            return Measured([], {"stdout": ("stdout", text.encode())}, 0, "", "", 1.0, {})

        watch = SimpleNamespace(while_running=None, finish=lambda measured: None, restore=lambda measured: [])
        monkeypatch.setattr(made, "_run_tool", run)
        monkeypatch.setattr(made.mirror, "watch", lambda image, is_write: watch)
        monkeypatch.setattr(single_tool, "record", lambda *a: None)
        made._pilot(tmp_path, cell)
        assert charged == made.totals, "each pilot is charged with what it was told to write"
        return made, cell, made.io_total_bytes[cell.cell_id]

    return of


def test_a_fast_sequential_cell_goes_through_its_image_once_and_so_does_no_pilot_more(sized):
    made, cell, total = sized(100_000, "seq")
    assert total == cell.variant.image.size_bytes == 512 * MIB
    assert max(made.totals) <= total


def test_a_slow_sequential_cell_is_sized_by_its_time(sized):
    _, _, total = sized(500, "seq")
    assert total == pytest.approx(500 * 4096 * 10, rel=0.01)


def test_a_random_cell_may_write_more_than_its_image_holds(sized):
    _, cell, total = sized(100_000, "rand")
    assert total == pytest.approx(100_000 * 4096 * 10, rel=0.01)
    assert total > cell.variant.image.size_bytes


def test_other_experiments_are_sized_as_they_were(sized):
    _, cell, total = sized(100_000, "seq", name="rbd-journaling")
    assert total == pytest.approx(100_000 * 4096 * 1.5, rel=0.01)
    assert total > cell.variant.image.size_bytes
