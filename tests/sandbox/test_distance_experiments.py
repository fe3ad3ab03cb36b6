"""The experiments on distance, as they ship, on sandboxes with a line: a mirrored pair, and one cluster over both."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from replay.sandbox import load, processes
from support.campaign import Campaign
from support.commands import run_sandbox
from support.patience import patient
from support.releases import RELEASE
from support.smoke import assert_every_cell_is_used_or_explained, described, measure_as_shipped

NEEDS_A_LINE = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.R_OK | os.W_OK),
    reason="making a line of its own needs root and /dev/net/tun here",
)
#: The line that stood before the experiments, in milliseconds, and the one of their smoke scale.
RTT, OF_SMOKE = 5, 20


@pytest.fixture
def campaign(run_folder, tmp_path, monkeypatch):
    """A campaign on a sandbox that does not exist yet, and is taken down in the end, whatever happened."""
    folder = Path(tempfile.mkdtemp(prefix="far-", dir=run_folder)) / "one"
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(folder))
    monkeypatch.setattr("replay.sandbox.link.TOLERANCE_SECONDS", patient(0.003))
    yield Campaign(tmp_path, folder)
    assert run_sandbox(["down", "--directory", str(folder)]) == 0
    assert not list(processes.of_sandbox(folder))
    shutil.rmtree(folder.parent)


def up(campaign, *options):
    folder = str(campaign.sandbox_directory)
    small = ["--left-osd-size", "4GiB", "--release", RELEASE, "--rtt", f"{RTT}ms"]
    assert run_sandbox(["up", "--directory", folder, *small, *options]) == 0


def check_the_line(campaign, name):
    """Every cell says what was asked of the line and what was measured, and the line is as it was before."""
    sidecars = campaign.sidecars(name)
    assert sidecars
    for sidecar in sidecars:
        assert sidecar["facts"]["link_rtt_seconds"] == sidecar["levels"]["link_rtt_seconds"] == OF_SMOKE / 1e3
        # As `sandbox up` promises: never shorter by more than 5 %. On a busy machine it may be longer.
        measured = sidecar["facts"]["measured_link_rtt_seconds"]
        assert 0.95 * OF_SMOKE / 1e3 <= measured < patient(OF_SMOKE / 1e3 + 0.01)
        assert sidecar["facts"]["measured_link_rate_bytes_per_second"] > 0
    link = load(campaign.sandbox_directory).link
    assert (link.rtt_seconds, link.rate_bytes_per_second) == (RTT / 1e3, None)


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
@pytest.mark.xdist_group("a sandbox of their own")
@NEEDS_A_LINE
def test_a_mirrored_pair_is_measured_at_a_distance(campaign):
    up(campaign, "--right-osd-size", "4GiB")
    measure_as_shipped(campaign, "distance-price")
    measure_as_shipped(campaign, "distance-loss")
    measure_as_shipped(campaign, "distance-replay")
    for name in ("distance-price", "distance-loss", "distance-replay"):
        check_the_line(campaign, name)
    assert [one["variant"] for one in described(campaign, "distance-price")["skipped"]] == ["stretch"]


@pytest.mark.sandbox
@pytest.mark.of_release
@pytest.mark.slow
@pytest.mark.xdist_group("a sandbox of their own")
@NEEDS_A_LINE
def test_a_stretch_cluster_is_measured_at_a_distance_and_loses_a_site(campaign):
    up(campaign, "--stretch")
    for name in ("distance-price", "distance-loss"):
        campaign.configure(name)
        done = campaign.measure(name)
        assert done.returncode == 0, done.stdout + done.stderr
        assert_every_cell_is_used_or_explained(campaign, name)
        check_the_line(campaign, name)
        assert {one["requires"] for one in described(campaign, name)["skipped"]} == {"second_site"}
    folder = campaign.raw("distance-loss").parent
    assert "lost_writes" in (folder / "tidy.csv").read_text().splitlines()[0]
    lost = (folder / "aggregate" / "lost-writes-forced.csv").read_text().splitlines()
    assert lost[1].startswith("Stretch cluster,0.02,0,"), "every acknowledged write is on the other site"
