"""The lifecycle that all protocols share: the order of its steps, and what happens when one of them fails."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from replay.design.configuration import load_experiment
from replay.design.design import Skip
from replay.design.expansion import expand
from replay.design.needs import NUMBER, WHOLE, Needs, Option
from replay.design.sizing import Write
from replay.evidence.record import Measured, Wait
from replay.measure import protocol as lifecycle
from replay.measure.protocol import Driver, Observer, Protocol, Target
from replay.tools import OutputError, Reader, Result
from support.bench import bench_of


class Noted:
    """A part that records its calls in the protocol's `did`."""

    def note(self, what):
        self.protocol.did.append(f"{type(self).__name__.lower()} {what}")


class Pool(Noted, Target):
    def open(self, sets):
        self.note("open")

    def prepare(self, cell):
        self.note("prepare")
        return [Wait("made", 1.0, "made")]

    def write_of(self, cell, size_bytes):
        self.note(f"charge {size_bytes:.0f}")
        return Write(size_bytes)

    def restore(self, cell, measured):
        self.note("restore")
        return [Wait("removed", 1.0, "removed")]

    def close(self):
        self.note("close")


class Writer(Noted, Driver):
    def open(self, raw, sets):
        self.note(f"open {sum(len(one.cells) for one in sets)}")

    def start(self, cell):
        self.note("start")

    def run(self, cell, seed, *, while_running=None, component="tool"):
        if while_running is not None:
            while_running(0.5)
        self.note(f"run {seed} {component}")
        invalid = self.protocol.invalid
        return Measured([], {"stdout": ("stdout", b"7")}, 0, "a", "b", 1.0, {}, invalid=invalid)

    def ended(self, cell, measured):
        self.note("ended")

    def written_bytes(self, cell, result):
        return result.metrics["bytes"]

    def close(self):
        self.note("close")


class Eye(Noted, Observer):
    def open(self):
        self.note("open")

    def prepare(self, cell):
        self.note("prepare")

    def started(self, cell):
        self.note("started")

    def while_running(self, cell):
        return lambda elapsed_seconds: self.note(f"looks at {elapsed_seconds}")

    def ended(self, cell, measured):
        self.note("ended")

    def stop(self):
        self.note("stop")

    def verify(self, cell, measured, result):
        self.note(f"verify {'nothing' if result is None else result.metrics['bytes']}")

    def restore(self, cell, measured):
        self.note("restore")
        return [Wait("quiet", 1.0, "quiet")]


class Seven(Reader):
    name = "seven"

    def read(self, run):
        if run.text("stdout") != "7":
            raise OutputError("no seven", file="stdout", line=1)
        return Result(metrics={"bytes": 7.0, "operations_per_second": 1234.0, "duration_seconds": 9.0})


class Trial(Protocol):
    needs = Needs(
        options=(
            Option("depth", WHOLE, "operations", "in flight", default=16, varies=True),
            Option("rate", NUMBER, "operations/s", "offered"),
        )
    )
    target, driver, observers = Pool(), Writer(), (Eye(),)
    invalid = None

    def __init__(self, bench, design):
        self.did = []
        super().__init__(bench, design)


@pytest.fixture
def trial(monkeypatch):
    monkeypatch.setattr(lifecycle, "check_experiment", lambda configuration: None)
    monkeypatch.setattr(lifecycle, "reader", lambda name: Seven())
    return Trial(bench_of(SimpleNamespace(name="s"), None), expand(load_experiment("client-sweep"), "quick"))


@pytest.fixture
def cell(trial):
    return trial.design.sets[0].cells[0]


def test_a_cell_is_prepared_observed_charged_verified_and_restored_in_this_order(trial, cell, tmp_path):
    trial.open_block(tmp_path, trial.design.sets)
    waits = trial.prepare(cell)
    measured = trial.run(cell, seed=3)
    waits += trial.restore(cell, measured)
    trial.close_block()
    assert trial.did == [
        "pool open", "eye open", "writer open 6",
        "pool prepare", "eye prepare",
        "writer start", "eye started", "eye looks at 0.5", "writer run 3 tool", "eye ended", "eye stop", "writer ended",
        "pool charge 7", "eye verify 7.0",
        "pool restore", "eye restore",
        "writer close", "pool close",
    ]  # fmt: skip
    assert [wait.reason for wait in waits] == ["made", "removed", "quiet"]
    assert (measured.invalid, measured.headline) == (None, "1,234 operations/s")


def test_each_block_has_its_own_parts(trial):
    other = Trial(trial.bench, trial.design)
    assert other.target is not trial.target
    assert other.observers[0].protocol is other
    assert not hasattr(Trial.target, "protocol"), "the declaration serves no block"


def test_observers_are_stopped_even_if_the_driver_fails(trial, cell, monkeypatch):
    def fails(cell, seed, *, while_running=None):
        raise KeyboardInterrupt

    monkeypatch.setattr(trial.driver, "run", fails)
    with pytest.raises(KeyboardInterrupt):
        trial.run(cell, 1)
    assert trial.did[-1] == "eye stop"


def test_an_observer_that_fails_to_start_is_stopped_too(trial, cell, monkeypatch):
    def fails(cell):
        raise OSError("no thread")

    monkeypatch.setattr(trial.observers[0], "started", fails)
    with pytest.raises(OSError, match="no thread"):
        trial.run(cell, 1)
    assert trial.did[-1] == "eye stop"


def test_the_target_is_removed_even_if_the_driver_cannot_undo_its_work(trial, monkeypatch):
    def fails():
        raise OSError("nobody answers")

    monkeypatch.setattr(trial.driver, "close", fails)
    with pytest.raises(OSError, match="nobody answers"):
        trial.close_block()
    assert trial.did == ["pool close"]


@pytest.mark.parametrize(
    ("invalid", "read_after", "charged", "stays"),
    [
        (None, (), True, None),
        (("failed", "exit status 1"), (), False, ("failed", "exit status 1")),
        (("failed", "exit status 1"), ("failed",), True, ("failed", "exit status 1")),
        (("timed_out", "killed"), ("failed",), False, ("timed_out", "killed")),
    ],
)
def test_the_output_of_a_failed_run_is_read_only_if_nothing_else_gives_the_reason(
    trial, cell, invalid, read_after, charged, stays
):
    trial.invalid, trial.read_after = invalid, read_after
    measured = trial.run(cell, 1)
    assert measured.invalid == stays
    assert ("pool charge 7" in trial.did) == charged
    assert ("eye verify nothing" in trial.did) != charged


def test_output_that_cannot_be_read_voids_the_cell_with_its_reason(trial, cell):
    measured = trial.observe(cell, 1)
    measured.results["stdout"] = ("stdout", b"8")
    assert trial.verify(cell, measured) is None
    assert measured.invalid == ("unparsable", "stdout:1: no seven")


def test_why_a_run_failed_is_kept_if_its_output_cannot_be_read_either(trial, cell):
    trial.invalid, trial.read_after = ("failed", "exit status 255: no route to host"), ("failed",)
    measured = trial.observe(cell, 1)
    measured.results["stdout"] = ("stdout", b"")
    assert trial.verify(cell, measured) is None
    assert measured.invalid == ("failed", "exit status 255: no route to host; stdout:1: no seven")


def test_a_cell_shorter_than_the_design_allows_is_charged_and_void(trial, cell, monkeypatch):
    short = Result(metrics={"bytes": 7.0, "duration_seconds": 0.2})
    monkeypatch.setattr(trial.reader, "read", lambda run: short)
    measured = trial.run(cell, 1)
    assert (measured.invalid[0], measured.headline) == ("too_short", "")
    assert "pool charge 7" in trial.did


def test_unavailable_variants_are_not_sized(trial, tmp_path):
    trial.unavailable.append(Skip("with-journal", "pool_create", "refused"))
    trial.open_block(tmp_path, trial.design.sets)
    assert "writer open 3" in trial.did


def test_an_option_comes_from_the_cells_level_or_the_experiment_or_the_default(trial, cell):
    assert trial.option("depth", cell) == 16
    assert trial.option("rate") is None, "it has no default: check_experiment refuses a design without it"
    trial.design.options["depth"] = 4
    assert trial.option("depth", cell) == 4
    varied = SimpleNamespace(levels={"depth": 2})
    assert trial.option("depth", varied) == 2
    with pytest.raises(KeyError):
        trial.option("deepth")
