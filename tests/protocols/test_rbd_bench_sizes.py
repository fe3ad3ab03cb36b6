"""How much a cell of rbd-bench transfers: never more than one pass through its image where it goes through in order."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.errors import ReplayError
from replay.design.configuration import load_experiment
from replay.design.design import Sizing
from replay.design.sizing import MOST_GROWTH, PilotRound, longer_bytes
from replay.evidence.attempts import BlockWriter
from replay.evidence.record import Measured, host
from replay.protocols.drivers import sized_tool
from replay.protocols.drivers.sized_tool import Pilots
from replay.protocols.single_tool import SingleTool
from support.bench import bench_of, design_of, site_of

MIB = 1 << 20


def printed(total, operations_per_second, threads=16, pattern="random"):
    """What the tool prints at a rate."""
    ops = total // 4096
    text = (
        f"bench  type write io_size 4096 io_threads {threads} bytes {total} pattern {pattern}\n"
        "  SEC       OPS   OPS/SEC   BYTES/SEC\n"
        f"elapsed: {int(ops / operations_per_second)}   ops: {ops}   ops/sec: {operations_per_second:.4f}"
        f"   bytes/sec: {operations_per_second * 4096:.2f}\n"
    )
    return Measured([], {"stdout": ("stdout", text.encode())}, 0, "", "", 1.0, {})


@pytest.fixture
def sized(tmp_path, monkeypatch):
    """Return a function that sizes a cell of an experiment, on a cluster that does so many operations a second.

    `pilot` is what a pilot gives instead.
    """

    def of(operations_per_second, pattern, name="rbd-bench", threads=16, pilot=None, **changes):
        design = design_of(name, **changes)
        cell = next(
            cell
            for one in design.sets
            for cell in one.cells
            if cell.levels.get("io_threads", threads) == threads
            and (cell.levels["io_pattern"], cell.levels["io_size_bytes"], cell.levels["io_type"], cell.variant.name)
            == (pattern, 4096, "write", "without-journal")
        )
        charged = []
        bench = bench_of(site_of())
        monkeypatch.setattr(bench.budget, "reserve", lambda what, write: charged.append(write.bytes))
        made = SingleTool(bench, design)
        image = SimpleNamespace(pool="replay", namespace="", name="image", image=cell.variant.image)
        made.target.images[cell.variant.image_name] = [image]
        made.totals = []

        def run(bench, template, values, *, component, **how):
            assert component == "pilot"
            total = int(values["io_total_bytes"])
            made.totals.append(total)
            order = "sequential" if pattern == "seq" else "random"
            return pilot or printed(total, operations_per_second, threads, order)

        monkeypatch.setattr(sized_tool, "run_observed", run)
        made.driver.pilot(BlockWriter(tmp_path / "raw", 1), cell)
        assert charged == made.totals, "each pilot is charged with what it was told to write"
        return made, cell, made.driver.io_total_bytes[cell.cell_id]

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
    assert total == pytest.approx(100_000 * 4096 * 2, rel=0.01)
    assert total > cell.variant.image.size_bytes


CUT_OFF = printed(MIB, 500).results["stdout"][1].partition(b"elapsed")[0]


@pytest.mark.parametrize(
    ("output", "invalid", "said"),
    [
        (b"", ("failed", "exit status 2: rbd: error opening image"), "failed: exit status 2: rbd: error opening image"),
        (CUT_OFF, ("timed_out", "killed after 360 s"), "timed_out: killed after 360 s"),
        (CUT_OFF, None, "incomplete: the tool's output was cut off"),
        (b"something\n", None, "unparsable: stdout:1: expected the header of rbd bench, found 'something'"),
    ],
)
def test_a_pilot_that_fails_says_why_and_where(sized, output, invalid, said):
    pilot = Measured([], {"stdout": ("stdout", output)}, 0, "", "", 1.0, {}, invalid=invalid)
    with pytest.raises(ReplayError, match=f"a pilot failed: {said}") as failed:
        sized(500, "rand", pilot=pilot)
    assert failed.value.where.startswith("rbd-bench, write-rand-4096")
    assert failed.value.next_step == "fix the cause, then run measure again"


def void_cell(total, operations_per_second):
    """A cell that ended too early, at this rate."""
    measured = printed(total, operations_per_second)
    measured.invalid = ("too_short", "the run lasted 0.5 s, less than 1 s")
    return measured


def test_a_cell_that_was_too_short_is_sized_by_its_own_rate_if_the_new_pilot_is_as_slow_as_the_last(sized, tmp_path):
    # The machine is busy during every pilot, and idle during the cell, which is four times as fast.
    made, cell, total = sized(500, "rand", name="rbd-journaling")
    assert total == pytest.approx(500 * 4096 * 2, rel=0.05)
    made.driver.sized_by[cell.cell_id] = cell
    raw = BlockWriter(tmp_path / "raw", 1)
    made.driver.after_invalid(raw, cell, void_cell(total, 2000))
    again = made.driver.io_total_bytes[cell.cell_id]
    assert again == pytest.approx(2000 * 4096 * 2, rel=0.05), "the cell would last as long as intended now"
    assert Pilots(raw, cell).last()["io_total_bytes_of_cell"] == again, "later blocks take the new size"
    assert len(raw.history.pilots(host()["id"], cell.cell_id)) > 1, "the pilots of both sizes are kept"


def test_a_cell_that_was_too_short_never_becomes_smaller(sized, tmp_path):
    made, cell, total = sized(500, "rand", name="rbd-journaling")
    made.driver.sized_by[cell.cell_id] = cell
    made.driver.io_total_bytes[cell.cell_id] = 3 * total
    made.driver.after_invalid(BlockWriter(tmp_path / "raw", 1), cell, void_cell(3 * total, 1600))
    assert made.driver.io_total_bytes[cell.cell_id] > 3 * total


@given(
    piloted=st.integers(1, 1 << 40),
    size=st.sampled_from([4096, 65536, 4 << 20]),
    threads=st.integers(1, 64),
    operations=st.integers(1, 1 << 20),
    seconds=st.floats(0, 0.999),
)
def test_after_a_cell_that_was_too_short_the_size_grows_within_bounds(piloted, size, threads, operations, seconds):
    sizing = Sizing(target_seconds=2, minimum_seconds=1, minimum_operations=64)
    before = PilotRound(operations * size, seconds)
    found = longer_bytes(piloted, before, size, threads, sizing)
    assert found >= max(piloted, 2 * before.bytes)
    least = (sizing.minimum_operations + threads) * size
    assert found <= max(piloted, least, MOST_GROWTH * before.bytes + threads * size)


@pytest.mark.parametrize("threads", [1, 5])
def test_operations_in_flight_that_are_a_factor_size_each_cell_by_its_own_level(sized, threads):
    raw = load_experiment("rbd-bench")
    made, _, total = sized(
        20, "rand", threads=threads, factors={**raw["factors"], "io_threads": [1, 5]}, options={"io_threads": 16}
    )
    # A quarter of the sixty-four that a cell has at the least, as many for each operation in flight.
    first = 4096 * threads * -(-16 // threads)
    assert made.totals[0] == first
    assert total % (4096 * threads) == 0
    assert total == pytest.approx(20 * 4096 * 10, rel=0.05)
