"""Sizing, costs, progress, the machine's sampler, and what is shared names nothing of the site: all pure."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path
from time import sleep
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.clock import Costs
from replay.base.paths import ROOT
from replay.base.progress import Progress, elapsed_text
from replay.cluster.cluster import Cluster
from replay.cluster.health import nameless
from replay.design.design import Sizing
from replay.design.sizing import PilotRound, cell_bytes, first_bytes, is_enough, next_bytes
from replay.evidence import record
from replay.evidence.record import Measured, SampleTable, bottleneck_here
from replay.measure.bench import MachineReading, MachineSampler, placeholders_of, redact, redact_cell
from replay.protocols.observers.snapshots import TrimSampler
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
    monkeypatch.setattr("replay.base.clock.time.monotonic", lambda: now[0])
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
    return MachineReading(idle, total, busy, clock)


@pytest.mark.parametrize(
    ("idle", "busy_milliseconds", "expected"),
    [(10, 1900, "cpu"), (100, 1900, "disk"), (100, 200, "none")],
)
def test_the_limit_is_the_resource_that_is_busiest_by_the_stated_rule(idle, busy_milliseconds, expected):
    load = MachineSampler.load(reading(0, 0, (0,), 0.0), reading(idle, 200, (busy_milliseconds,), 2.0))
    assert bottleneck_here(load, daemons_are_here=True) == expected
    assert bottleneck_here(load, daemons_are_here=False) == "unknown"


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
        monkeypatch.setattr(record, "_lines", lambda _: [f"model name : {model}", "MemTotal: 1024 kB"])
        return record.host.__wrapped__()["id"]

    assert on("A CPU") == on("A CPU") != on("Another CPU")


FSID = "11111111-2222-3333-4444-555555555555"


def sessions(second=None):
    def session(cluster):
        return SimpleNamespace(cluster=cluster, fsid=lambda: FSID)

    first = Cluster(Path("/srv/secret/ceph.conf"), "client.telltale", Path("/srv/secret/keyring"))
    return session(first), second and session(second)


def test_a_report_that_repeats_its_configuration_names_nobody():
    said = b'{"clientname" : "client.telltale", "conf": "/srv/secret/ceph.conf", "n": "client.telltale2", "x": "\\xff"}'
    measured = Measured(["fio"], {"output": ("json", said + b"\xff"), "other": ("txt", b"nothing")}, 0, "", "", 1.0, {})
    measured.invalid = ("failed", f"exit status 1: cannot read /srv/secret/keyring of {FSID}")
    redact_cell(measured, placeholders_of(*sessions()))
    shown = measured.results["output"][1]
    assert b'"clientname" : "{client}", "conf": "{conf}"' in shown
    assert b'"client.telltale2"' in shown and shown.endswith(b"\xff"), "only whole words, and bytes as they were"
    assert measured.invalid == ("failed", "exit status 1: cannot read {keyring} of {fsid}")
    assert measured.results["other"] == ("txt", b"nothing")


def test_what_a_tool_says_of_daemons_has_no_addresses():
    said = b"2026-01-01 10:00:00 librbd 16.2.15: no [v2:10.1.2.3:3300/0,v1:10.1.2.3:6789/0], no [fd00::1]:3300\n"
    measured = Measured(["rbd"], {"stderr": ("stderr", said)}, 1, "", "", 1.0, {})
    measured.invalid = ("failed", "exit status 1: no answer from v2:[fd00::1]:3300/0")
    redact_cell(measured, placeholders_of(*sessions()))
    kept = b"2026-01-01 10:00:00 librbd 16.2.15: no [v2:{address},v1:{address}], no {address}\n"
    assert measured.results["stderr"] == ("stderr", kept)
    assert measured.invalid == ("failed", "exit status 1: no answer from v2:{address}")


def test_the_second_cluster_is_not_named_either():
    second = Cluster(Path("/srv/secret/ceph.conf.second"), "client.other", None)
    words = placeholders_of(*sessions(second))
    assert redact("client.other reads /srv/secret/ceph.conf.second", words) == "{second_client} reads {second_conf}"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("1/3 mons down, quorum rack1-a,rack1-b", "1/3 mons down, quorum …"),
        ("clock skew detected on mon.rack1-b", "clock skew detected on mon.…"),
        ("mons rack1-a,rack1-b are low on available space", "mons … are low on available space"),
        ("mon rack1-a is low on available space", "mon … is low on available space"),
        ("3 slow ops, oldest one blocked for 31 sec, daemons [osd.0,mon.rack1-a] have slow ops.",
         "3 slow ops, oldest one blocked for 31 sec, daemons [osd.0,mon.…] have slow ops."),
        ("1 pool(s) full", "1 pool(s) full"),
        ("2 osds down", "2 osds down"),
    ],
)  # fmt: skip
def test_what_a_cluster_says_of_its_health_is_recorded_without_its_hosts(said, kept):
    assert nameless(said) == kept


def test_a_site_file_is_not_taken_into_git_and_does_not_make_a_tree_dirty(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text((ROOT / ".gitignore").read_text())
    sites = tmp_path / "config" / "sites"
    sites.mkdir(parents=True)
    for name in ("example", "sandbox", "mine"):
        (sites / f"{name}.yaml").write_text("name: x\n")
    git = ["git", "-C", str(tmp_path)]
    said = subprocess.run([*git, "status", "--porcelain", "-uall"], capture_output=True, text=True, check=True).stdout
    assert "config/sites/example.yaml" in said and "config/sites/sandbox.yaml" in said
    assert "mine.yaml" not in said
