"""Real clusters with a line between their sites, and one over both: started, changed, disturbed and removed."""

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

from replay.sandbox import daemons, load, processes
from replay.sandbox.interventions import SiteLoss
from replay.sandbox.link import link_facts
from support.commands import run_sandbox
from support.patience import patient, wait_until
from support.releases import RELEASE

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.of_release,
    pytest.mark.slow,
    pytest.mark.xdist_group("a sandbox of their own"),
    pytest.mark.skipif(
        os.geteuid() != 0 or not os.access("/dev/net/tun", os.R_OK | os.W_OK),
        reason="making a line of its own needs root and /dev/net/tun here",
    ),
]
SMALL = ["--left-osd-size", "4GiB", "--release", RELEASE]
#: Asked, in milliseconds; a test's machine is busy, so that more is allowed than `up` allows.
RTT, LATER_RTT = 5, 20


@pytest.fixture
def folder(run_folder, monkeypatch):
    """A folder for a sandbox, which is taken down in the end, whatever happened."""
    made = Path(tempfile.mkdtemp(prefix="distance-", dir=run_folder)) / "one"
    monkeypatch.setenv("REPLAY_SANDBOX_DIR", str(made))
    monkeypatch.setattr("replay.sandbox.link.TOLERANCE_SECONDS", patient(0.003))
    network = _network()
    yield made
    assert run_sandbox(["down", "--directory", str(made)]) == 0
    assert not made.exists() and not list(processes.of_sandbox(made))
    assert _network() == network, "the host's own network and mounts are as they were"
    shutil.rmtree(made.parent)


def _network() -> list[str]:
    """The host's interfaces, routes and mounts."""
    asked = (["ip", "-o", "link"], ["ip", "route"])
    printed = [subprocess.run(argv, capture_output=True, text=True, check=True).stdout for argv in asked]
    return [*printed, Path("/proc/self/mounts").read_text()]


def ran(folder: Path, site: str, *argv: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Run one of Ceph's programs in the network of a site."""
    sandbox = load(folder)
    command = [argv[0], "--conf", sandbox.clusters.get(site, sandbox.clusters["left"]).conf, *argv[1:]]
    return subprocess.run(
        sandbox.layout.programs_at(site).command(command),
        capture_output=True, text=True, timeout=patient(timeout), check=False,
    )  # fmt: skip


SITE = SimpleNamespace(sandbox="default")


def test_two_clusters_mirror_over_a_line_that_changes_dies_and_comes_back(folder, capsys):
    up = ["up", "--directory", str(folder), *SMALL, "--right-osd-size", "4GiB", "--left-osds", "1"]
    assert run_sandbox([*up, "--rtt", f"{RTT}ms", "--rate", "1gbit"]) == 0
    assert link_facts(SITE)["link_rtt_seconds"] == RTT / 1e3
    assert RTT / 1e3 <= link_facts(SITE)["measured_link_rtt_seconds"] < patient(RTT / 1e3 + 0.01)
    assert ran(folder, "left", "rbd", "create", "--size", "16M", "replay/mirrored").returncode == 0
    assert ran(folder, "left", "rbd", "mirror", "image", "enable", "replay/mirrored", "snapshot").returncode == 0
    wait_until(lambda: "mirrored" in ran(folder, "right", "rbd", "ls", "replay").stdout, "the copy behind the line")
    assert run_sandbox(["link", "--directory", str(folder), "--rtt", f"{LATER_RTT}ms", "--no-rate"]) == 0
    facts = link_facts(SITE)
    assert facts["measured_link_rtt_seconds"] >= LATER_RTT / 1e3 and "link_rate_bytes_per_second" not in facts
    capsys.readouterr()
    assert run_sandbox(["status", "--directory", str(folder), "--json"]) == 0
    assert "asked 20 ms and no limit" in json.loads(capsys.readouterr().out)["link"]
    os.kill(load(folder).link.pid, signal.SIGKILL)
    wait_until(lambda: daemons.running_link(load(folder).layout) is None, "the line to end")
    assert daemons.absent_daemons(SITE)[0] == "the line between the sites does not run"
    assert run_sandbox(["status", "--directory", str(folder)]) == 3
    assert run_sandbox(up) == 0
    assert ran(folder, "left", "rbd", "info", "replay/mirrored").returncode == 0, "data are kept"
    for _, process in list(processes.of_sandbox(folder)):
        os.kill(process.pid, signal.SIGKILL)


def test_a_stretch_cluster_loses_a_site_and_no_acknowledged_write(folder, tmp_path):
    assert run_sandbox(["up", "--directory", str(folder), *SMALL, "--stretch", "--rtt", f"{RTT}ms"]) == 0
    sandbox = load(folder)
    assert list(sandbox.clusters) == ["left"] and sandbox.mirror is None
    pool = json.loads(ran(folder, "left", "ceph", "osd", "pool", "ls", "detail", "--format", "json").stdout)[0]
    assert (pool["size"], pool["min_size"], pool["crush_rule"]) == (4, 2, 1)
    (tmp_path / "written").write_text("acknowledged")
    assert ran(folder, "left", "rados", "--pool", "replay", "put", "before", str(tmp_path / "written")).returncode == 0
    with SiteLoss(sandbox, "left") as loss:
        assert loss.destroy() == 3
        done = ran(folder, "right", "rados", "--pool", "replay", "put", "after", str(tmp_path / "written"), timeout=180)
        assert done.returncode == 0, done.stderr
        assert ran(folder, "right", "rados", "--pool", "replay", "get", "before", "-").stdout == "acknowledged"
    wait_until(lambda: "HEALTH_OK" in ran(folder, "left", "ceph", "health").stdout, "both sites", seconds=180)
    assert ran(folder, "left", "rados", "--pool", "replay", "get", "after", "-").stdout == "acknowledged"
