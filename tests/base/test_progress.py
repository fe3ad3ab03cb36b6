"""Progress on a terminal of 80 columns, in a pipe, and reported to another process."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.progress import EVENTS, Account, Part, Progress
from support.patience import wait_until
from support.terminal import COLUMNS, run_in_terminal

LONG = "a very long name of a variant that nobody would ever read to its end on a line of this width"


#: A program that shows progress. On a terminal each step lasts until it was drawn: twice, since a view that is being
#: drawn when the step begins may be the one before.
WORK = f"""
import time
from replay.base.progress import Part, Progress

class Drawn(Progress):
    times = 0

    def _view(self):
        view = super()._view()
        self.times += 1
        return view

    def work(self):
        enough = self.times + 2
        while self.screen.following and self.times < enough:
            time.sleep(0.01)

with Drawn() as progress:
    progress.plan({{"one": Part(2, 20.0), "two": Part(1, 10.0)}})
    progress.doing("starting Snakemake")
    progress.work()
    for title, steps in (("one", 2), ("two", 1)):
        progress.start(title, steps, 4)
        for _ in range(steps):
            progress.begin("write-4096 {LONG}")
            progress.work()
            progress.end("31.2 MB/s {LONG}")
        progress.line("a line that stays")
"""


KEPT = [
    "one: 2 cells to measure, 2 already done",
    "a line that stays",
    "two: 1 cells to measure, 3 already done",
    "a line that stays",
]


def test_a_terminal_of_80_columns_shows_the_whole_run_and_at_the_end_only_the_lines_that_stay():
    shown = run_in_terminal([sys.executable, "-c", WORK])
    assert shown.status == 0
    assert shown.lines == KEPT
    assert not shown.cursor_hidden
    seen = "\n".join(line for screen in shown.screens for line in screen)
    assert "starting Snakemake" in seen
    # The numbers are those of the run, not of the part, which began with one step.
    assert re.search(r"2 of 3 cells · .* elapsed, about .* left", seen)
    assert "last: write-4096 a very long name" in seen
    assert all(len(line) <= COLUMNS for screen in shown.screens for line in screen)
    # A line that is too wide would have wrapped, and there would be more than three lines below.
    assert max(len(screen) for screen in shown.screens) <= len(KEPT) + 3


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TERM": ""}])
def test_a_terminal_that_only_prints_gets_lines(environment):
    shown = run_in_terminal([sys.executable, "-c", WORK], environment)
    assert b"\x1b" not in shown.output
    assert shown.lines[0] == KEPT[0]


def test_without_colour_the_bar_still_follows():
    shown = run_in_terminal([sys.executable, "-c", WORK], {"NO_COLOR": "1"})
    assert shown.lines == KEPT
    assert not re.search(rb"\x1b\[[0-9;]*3[0-9]m", shown.output)


@pytest.mark.parametrize("forced", [{}, {"FORCE_COLOR": "1"}])
def test_a_pipe_gets_lines_without_escape_codes(forced):
    done = subprocess.run([sys.executable, "-c", WORK], capture_output=True, env={**os.environ, **forced}, check=True)
    lines = done.stdout.decode().splitlines()
    assert b"\x1b" not in done.stdout + done.stderr
    assert [line for line in lines if not line.startswith("[")] == KEPT
    assert lines[-2].startswith("[3/3] write-4096")


def test_a_pipe_gets_a_line_after_two_silent_seconds_and_then_less_and_less_often():
    now = 0

    def clock():
        return now

    log = io.StringIO()
    progress = Progress(io.StringIO(), clock, log)
    progress.start("one", 2)
    assert not progress.still_running()
    progress.begin("write-4096")
    said = {}
    for now in range(1, 200):
        if text := progress.still_running():
            said[now] = text
    assert list(said) == [2, 6, 14, 30, 62, 122, 182]
    assert said[14] == "[0/2] one: write-4096 … 14 s"
    progress.end("10 operations/s")
    progress.begin("write-8192")
    now += 1
    assert not progress.still_running()
    now += 1
    assert progress.still_running() == "[1/2] one: write-8192 … 2 s"
    assert "…" not in log.getvalue()


def test_a_pipe_gets_lines_about_a_long_step_while_it_runs(monkeypatch):
    monkeypatch.setattr("replay.base.progress.SILENCE_SECONDS", 0.04)
    said = io.StringIO()
    with Progress(said) as progress:
        progress.start("one", 3)
        progress.begin("write-4096")
        line = re.compile(r"^\[0/3\] one: write-4096 … \d+ s$", re.MULTILINE)
        wait_until(lambda: line.search(said.getvalue()), "a line about the step")


@pytest.mark.parametrize("printed_at_last", ["", "print('what comes at last')"])
def test_a_reader_that_goes_away_does_not_end_the_work(tmp_path, printed_at_last):
    marker = tmp_path / "done"
    ending = f"\nimport pathlib, sys\n{printed_at_last}\npathlib.Path(sys.argv[1]).touch()"
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-c", WORK + ending, str(marker)], stdout=write, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(write)
    assert marker.exists()
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_disk_below_the_output_does_not_end_the_work(tmp_path):
    marker = tmp_path / "done"
    ending = "\nimport pathlib, sys\npathlib.Path(sys.argv[1]).touch()"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", WORK + ending, str(marker)], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert marker.exists()
    assert (done.returncode, done.stderr) == (0, b"")


def test_progress_of_another_process_is_shown_as_ones_own(monkeypatch):
    told, shown, log = io.StringIO(), io.StringIO(), io.StringIO()
    with monkeypatch.context() as patch:
        patch.setenv(EVENTS, "1")
        worker = Progress(told, log=log)
        worker.start("demo block 1", 2, 2)
        worker.begin("write-4096")
        worker.end("10 operations/s")
        worker.repeat(1)
        worker.line('a quote " and\na second line')
    told.seek(0)
    outer = Progress(shown)
    outer.plan({"demo block 1": Part(2, 4.0), "demo block 2": Part(7, 14.0)})
    for line in [*told, "a tool's own words\n"]:
        outer.tell(line)
    assert (outer.account.done, outer.account.total) == (1, 10)
    said = shown.getvalue().splitlines()
    assert [line for line in said if not line.startswith("[")] == [
        "demo block 1: 2 cells to measure",
        'a quote " and',
        "a second line",
        "a tool's own words",
    ]
    assert 'a quote " and' in log.getvalue()


def test_what_ended_a_job_is_kept_and_told_to_the_process_that_started_it(monkeypatch):
    told = io.StringIO()
    with monkeypatch.context() as patch:
        patch.setenv(EVENTS, "1")
        assert Progress(told).failed("the disk is full", 1)
    outer = Progress(io.StringIO())
    outer.tell(told.getvalue())
    assert outer.failures == [("the disk is full", 1)]
    assert not outer.failed("there is no such pack", 3)


def test_what_comes_before_a_part_is_not_said_of_the_part_before(monkeypatch):
    told, now = io.StringIO(), 0
    with monkeypatch.context() as patch:
        patch.setenv(EVENTS, "1")
        Progress(told).doing("looking around", "demo block 2")
    told.seek(0)
    outer = Progress(io.StringIO(), lambda: now)
    outer.start("demo block 1", 1)
    for line in told:
        outer.tell(line)
    now = 10
    assert outer.still_running() == "[0/1] demo block 2: looking around … 10 s"


@given(
    st.dictionaries(st.text(min_size=1), st.tuples(st.integers(0, 20), st.floats(0.1, 1e4)), min_size=1),
    st.integers(0, 50),
)
def test_the_time_left_is_never_negative_and_zero_when_all_is_done(parts, steps):
    account = Account({name: Part(count, seconds) for name, (count, seconds) in parts.items()})
    total = account.total
    for _ in range(steps):
        todo = [name for name, part in account.parts.items() if part.steps]
        if not todo:
            break
        account.step_done(todo[0])
    assert account.total == total
    assert account.left >= 0
    remaining = account.remaining_seconds(10.0)
    if account.left == 0 and account.done:
        assert remaining == pytest.approx(0.0, abs=1e-6)
    else:
        assert remaining is None or remaining >= -1e-6


def test_the_time_left_follows_the_pace_so_far():
    account = Account({"one": Part(2, 20.0), "two": Part(1, 30.0)})
    assert account.remaining_seconds(0.0) == pytest.approx(50.0)
    account.step_done("one")
    # Ten seconds were expected, twenty were taken.
    assert account.remaining_seconds(20.0) == pytest.approx(80.0)
    account.resize("two", 2)
    assert account.remaining_seconds(20.0) == pytest.approx(140.0)
