"""Sizing, costs, progress, the machine's sampler: small and pure."""

from __future__ import annotations

import io
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.costs import Costs
from replay.base.progress import Progress, elapsed_text
from replay.design.design import Sizing
from replay.design.sizing import PilotRound, cell_bytes, first_bytes, is_enough, next_bytes
from replay.raw import provenance
from replay.raw.samples import SampleTable
from replay.samplers.limiter import limiting_resource
from replay.samplers.machine import MachineSampler, Reading
from replay.samplers.trims import TrimSampler
from support.patience import wait_until

SIZING = Sizing(target_seconds=2.0, minimum_seconds=1.0, minimum_operations=64)


@given(
    rate=st.floats(1e4, 1e10),
    io_size=st.sampled_from([4096, 65536, 4194304]),
    threads=st.sampled_from([1, 16]),
)
def test_a_pilot_finds_the_size_of_a_cell_at_any_rate(rate, io_size, threads):
    total = first_bytes(io_size, threads, SIZING)
    for _ in range(5):
        last = PilotRound(total, total / rate)
        if is_enough(last, SIZING):
            break
        assert next_bytes(last, io_size, threads, SIZING) > total
        total = next_bytes(last, io_size, threads, SIZING)
    size = cell_bytes(last, io_size, threads, SIZING)
    assert size % (io_size * threads) == 0
    assert size >= 64 * io_size
    one_row = io_size * threads / rate
    longest = max(2.0 + one_row, (64 + threads) * io_size / rate)
    assert 1.99 <= size / rate <= longest + 0.01


def test_a_pilot_that_took_no_time_is_followed_by_a_longer_one():
    assert next_bytes(PilotRound(65536, 0.0), 4096, 16, SIZING) >= 2 * 65536


def test_costs_charge_the_innermost_component(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("replay.base.costs.time.monotonic", lambda: now[0])
    costs = Costs(started=0.0)
    with costs.measure("prepare"):
        now[0] += 3
        with costs.measure("tool"):
            now[0] += 4
    with costs.measure("record"):
        now[0] += 1
    now[0] += 2
    summary = costs.summary()
    assert (summary["prepare"], summary["tool"], summary["record"], summary["other"]) == (3, 4, 1, 2)
    assert summary["own"] == 3
    assert summary["own_fraction"] == pytest.approx(0.3)


def test_progress_without_a_terminal_is_in_lines_and_says_what_is_left():
    now = [0.0]
    out = io.StringIO()
    progress = Progress(out, clock=lambda: now[0])
    progress.start("demo block 1 of 2", 2, 5)
    for value in ("10 operations/s", "20 operations/s"):
        progress.begin("write-seq-4096 With journal")
        now[0] += 30
        progress.end(value)
    text = out.getvalue()
    assert "demo block 1 of 2: 2 cells to measure, 3 already done" in text
    assert "[1/2] write-seq-4096 With journal: 10 operations/s · 30 s elapsed, about 30 s left" in text
    assert "\r" not in text


@pytest.mark.parametrize(("seconds", "text"), [(4.4, "4 s"), (75, "1 min 15 s"), (7500, "2 h 05 min")])
def test_durations_read_naturally(seconds, text):
    assert elapsed_text(seconds) == text


def reading(idle, total, busy, clock):
    return Reading(idle, total, busy, clock)


@pytest.mark.parametrize(
    ("idle", "busy_milliseconds", "expected"),
    [(10, 1900, "cpu"), (100, 1900, "disk"), (100, 200, "none")],
)
def test_the_limit_is_the_resource_that_is_busiest_by_the_stated_rule(idle, busy_milliseconds, expected):
    load = MachineSampler.load(reading(0, 0, (0,), 0.0), reading(idle, 200, (busy_milliseconds,), 2.0))
    assert limiting_resource(load, daemons_are_here=True) == expected
    assert limiting_resource(load, daemons_are_here=False) == "unknown"


def test_the_sampler_reads_this_machine(tmp_path):
    sampler = MachineSampler([tmp_path])
    before = sampler.read()
    # The kernel counts in ticks of a hundredth of a second, within which nothing is known.
    wait_until(lambda: sampler.read().all_ticks > before.all_ticks, "a tick of the kernel's clock")
    load = sampler.load(before, sampler.read())
    assert 0 <= load["cpu_idle_fraction"] <= 1


def test_the_sampler_reports_the_time_of_its_readings(tmp_path):
    sampler = MachineSampler([tmp_path])
    first, second, third = (sampler.read() for _ in range(3))
    costs = [sampler.load(*pair)["cost_seconds"] for pair in ((first, second), (second, third), (first, third))]
    assert min(costs) > 0
    assert costs[2] == pytest.approx(costs[0] + costs[1], abs=2e-6)


def test_readings_that_do_not_know_their_cost_state_none():
    assert "cost_seconds" not in MachineSampler.load(reading(0, 0, (), 0.0), reading(1, 2, (), 1.0))
    assert "cost_seconds" not in MachineSampler.load(reading(0, 0, (), 0.0), MachineSampler().read())


def test_the_sampler_of_trims_reports_its_number_of_samples_and_their_time():
    class Session:
        def status(self):
            return {}

        def command(self, command):
            sleep(0.002)
            return {"pools": []}

    now = [0.0]
    sampler = TrimSampler(Session(), ["mine"], SampleTable(), lambda: now[0])
    assert sampler.cost() == {"readings": 0, "cost_seconds": 0.0}
    for _ in range(9):
        sampler.read_when_due()
        now[0] += 0.5
    assert sampler.cost()["readings"] == 3
    assert sampler.cost()["cost_seconds"] >= 0.006


def test_a_virtual_machine_on_another_processor_is_another_machine(monkeypatch):
    def on(model: str) -> str:
        monkeypatch.setattr(provenance, "_lines", lambda _: [f"model name : {model}", "MemTotal: 1024 kB"])
        return provenance.host.__wrapped__()["id"]

    assert on("A CPU") == on("A CPU") != on("Another CPU")
