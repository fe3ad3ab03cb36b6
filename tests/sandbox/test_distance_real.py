"""Real clusters with a line between their sites: a mirrored pair, and one cluster over both.

The experiments on distance are measured there as they ship; then the line is changed, killed and started again.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.sandbox import daemons, link, load, processes
from replay.sandbox.link import link_facts
from support.campaign import Campaign
from support.commands import run_sandbox
from support.patience import patient, wait_until
from support.releases import RELEASE
from support.smoke import assert_every_cell_is_used_or_explained, described, measure_as_shipped, measured

NEEDS_A_LINE = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.R_OK | os.W_OK),
    reason="making a line of its own needs root and /dev/net/tun here",
)
#: The line that stands before and after the experiments, that of their smoke scale, and the last one, in milliseconds.
RTT, OF_SMOKE, LATER_RTT = 5, 20, 10
GIGABIT = 125e6
#: To measure a line without a limit takes a whole processor.
LINE = ("--rtt", f"{RTT}ms", "--rate", "1gbit")
SITE = SimpleNamespace(sandbox="default")


@pytest.fixture
def campaign(run_folder, tmp_path, monkeypatch, snakemakes):
    """A campaign on a sandbox that does not exist yet, and is taken down in the end, whatever happened."""
    folder = Path(tempfile.mkdtemp(prefix="far-", dir=run_folder)) / "one"
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(folder))
    # A test's machine is busy: a line may be longer than `up` allows, but not shorter.
    monkeypatch.setattr(link, "is_as_asked", lambda made: made.measured_rtt_seconds >= 0.95 * made.rtt_seconds)
    network = _network()
    yield Campaign(tmp_path, folder, snakemakes=snakemakes)
    assert run_sandbox(["down", "--directory", str(folder)]) == 0
    assert not folder.exists() and not list(processes.of_sandbox(folder))
    assert _network() == network, "the host's own network and mounts are as they were"
    shutil.rmtree(folder.parent)


def _network() -> list[str]:
    """The host's interfaces, routes and mounts, without images that another test mounts meanwhile."""
    asked = (["ip", "-o", "link"], ["ip", "route"])
    printed = [subprocess.run(argv, capture_output=True, text=True, check=True).stdout for argv in asked]
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    return [*printed, *(line for line in mounts if not line.startswith("/dev/rbd"))]


def sandbox_command(campaign: Campaign, name: str, *options: str) -> int:
    return run_sandbox([name, "--directory", str(campaign.sandbox_directory), *options])


def up(campaign: Campaign, *options: str) -> int:
    return sandbox_command(campaign, "up", "--left-osd-size", "4GiB", "--release", RELEASE, *options)


def ran(campaign: Campaign, site: str, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run one of Ceph's programs in the network of a site."""
    sandbox = load(campaign.sandbox_directory)
    command = [argv[0], "--conf", sandbox.clusters.get(site, sandbox.clusters["left"]).conf, *argv[1:]]
    return subprocess.run(
        sandbox.layout.programs_at(site).command(command),
        capture_output=True, text=True, timeout=patient(60), check=False,
    )  # fmt: skip


def check_the_line(campaign: Campaign, name: str) -> None:
    """Every cell says what was asked of the line and what was measured, and the line is as it was before."""
    sidecars = campaign.sidecars(name)
    assert sidecars
    for sidecar in sidecars:
        assert sidecar["facts"]["link_rtt_seconds"] == sidecar["levels"]["link_rtt_seconds"] == OF_SMOKE / 1e3
        # As `sandbox up` promises: never shorter by more than 5 %. On a busy machine it may be longer.
        measured = sidecar["facts"]["measured_link_rtt_seconds"]
        assert 0.95 * OF_SMOKE / 1e3 <= measured < patient(OF_SMOKE / 1e3 + 0.01)
        assert sidecar["facts"]["measured_link_rate_bytes_per_second"] > 0
    there = load(campaign.sandbox_directory).link
    assert (there.rtt_seconds, there.rate_bytes_per_second) == (RTT / 1e3, GIGABIT)


def change_and_kill_the_line(campaign: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    """The clusters mirror over a line that changes; it dies, which `status` says, and `up` brings everything back."""
    folder = campaign.sandbox_directory
    assert ran(campaign, "left", "rbd", "create", "--size", "16M", "replay/mirrored").returncode == 0
    assert ran(campaign, "left", "rbd", "mirror", "image", "enable", "replay/mirrored", "snapshot").returncode == 0
    wait_until(lambda: "mirrored" in ran(campaign, "right", "rbd", "ls", "replay").stdout, "the copy behind the line")
    assert sandbox_command(campaign, "link", "--rtt", f"{LATER_RTT}ms", "--no-rate") == 0
    facts = link_facts(SITE)
    assert facts["measured_link_rtt_seconds"] >= 0.95 * LATER_RTT / 1e3 and "link_rate_bytes_per_second" not in facts
    capsys.readouterr()
    assert sandbox_command(campaign, "status", "--json") == 0
    assert f"asked {LATER_RTT} ms and no limit" in json.loads(capsys.readouterr().out)["link"]
    os.kill(load(folder).link.pid, signal.SIGKILL)
    wait_until(lambda: daemons.running_link(load(folder).layout) is None, "the line to end")
    assert daemons.absent_daemons(SITE)[0] == "the line between the sites does not run"
    assert sandbox_command(campaign, "status") == 3
    assert up(campaign) == 0
    assert ran(campaign, "left", "rbd", "info", "replay/mirrored").returncode == 0, "data are kept"
    for _, process in list(processes.of_sandbox(folder)):
        os.kill(process.pid, signal.SIGKILL)


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
@pytest.mark.xdist_group("a mirrored pair at a distance")
@NEEDS_A_LINE
def test_a_mirrored_pair_is_measured_over_a_line_that_then_changes_dies_and_comes_back(campaign, capsys):
    small = ("--left-osds", "1", "--right-osd-size", "4GiB")
    assert up(campaign, *small, *LINE) == 0
    assert link_facts(SITE)["link_rtt_seconds"] == RTT / 1e3
    assert 0.95 * RTT / 1e3 <= link_facts(SITE)["measured_link_rtt_seconds"] < patient(RTT / 1e3 + 0.01)
    measure_as_shipped(campaign, "distance-price", "distance-loss", "distance-replay")
    for name in ("distance-price", "distance-loss", "distance-replay"):
        check_the_line(campaign, name)
    assert [one["variant"] for one in described(campaign, "distance-price")["skipped"]] == ["stretch"]
    change_and_kill_the_line(campaign, capsys)


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
@pytest.mark.xdist_group("a stretch cluster")
@NEEDS_A_LINE
def test_a_stretch_cluster_is_measured_and_loses_a_site_and_no_acknowledged_write(campaign):
    assert up(campaign, "--stretch", *LINE) == 0
    sandbox = load(campaign.sandbox_directory)
    assert list(sandbox.clusters) == ["left"] and sandbox.mirror is None
    pool = json.loads(ran(campaign, "left", "ceph", "osd", "pool", "ls", "detail", "--format", "json").stdout)[0]
    assert (pool["size"], pool["min_size"], pool["crush_rule"]) == (4, 2, 1)
    names = ("distance-price", "distance-loss")
    for name in names:
        campaign.configure(name)
    done = measured(campaign, *names)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in names:
        assert_every_cell_is_used_or_explained(campaign, name)
        check_the_line(campaign, name)
        assert {one["requires"] for one in described(campaign, name)["skipped"]} == {"second_site"}
    (trial,) = (one for one in campaign.sidecars("distance-loss") if one["valid"])
    assert trial["facts"]["daemons_stopped"] == 3, "a monitor and two OSDs were killed"
    outcomes = {wait["for"]: wait["outcome"] for wait in trial["waits"]}
    assert outcomes["first_site_back"] == "fit", "they were started again, and the cluster became healthy"
    folder = campaign.raw("distance-loss").parent
    assert "lost_writes" in (folder / "tidy.csv").read_text().splitlines()[0]
    lost = (folder / "aggregate" / "lost-writes-forced.csv").read_text().splitlines()
    assert lost[1].startswith("Stretch cluster,0.02,0,"), "every acknowledged write is on the other site"
