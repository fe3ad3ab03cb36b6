"""Clients that start together in one cell: each must take part, and none outlives the cell."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError
from replay.cluster.capabilities import missing
from replay.cluster.client_conf import client_conf, write_client_conf
from replay.cluster.cluster import Cluster
from replay.config.experiments import load_experiment
from replay.design.expansion import expand
from replay.owned.images import BlockImage
from replay.procedures.drivers import fio_clients
from replay.procedures.drivers.fio_clients import clients_in
from replay.procedures.multi_client import MultiClient
from replay.raw.record import Measured
from replay.tools.running.fio_clients import FioClients, is_listening
from support.bench import bench_of
from support.patience import patient
from support.samples import sample
from support.smoke import measure_as_shipped
from support.ssh_server import folders_of_clients, ssh_server

#: Two seconds to fill an image of 8 MiB, and 1,000 writes of 4 KiB a second.
SLOW = 4 << 20
TWO_CLIENTS = sample("fio-client-server-2-jsonplus.json")[0].encode()


def site(namespace="", hosts=("localhost",), allows=frozenset({"client_hosts"})):
    data = SimpleNamespace(name="replay", namespace=namespace)
    return SimpleNamespace(
        name="elsewhere", pools=SimpleNamespace(data=data), client_hosts=hosts, allows=allows, fsid=None
    )


def bench(tmp_path, **of_site):
    conf = tmp_path / "ceph.conf"
    conf.write_text("[global]\n")
    session = SimpleNamespace(cluster=Cluster(conf))
    made = bench_of(site(**of_site), session)
    return made


def design_of(tmp_path, **changes):
    configuration = {**load_experiment("client-sweep"), **changes}
    return expand(configuration, "quick")


@pytest.fixture
def protocol(tmp_path, monkeypatch):
    """The protocol with images, and a tool that leaves the files of the test."""
    made = MultiClient(bench(tmp_path), design_of(tmp_path))
    image = made.design.variants[0].image
    made.target.images["without-journal"] = [BlockImage("replay", "", f"image-{n}", image, "") for n in range(4)]
    made.left = (b"", 0)

    @contextlib.contextmanager
    def clients(cluster, options, jobs, *, slot=None):
        made.jobs, made.options = jobs, options
        yield FioClients(tmp_path, jobs)

    def tool(bench, template, values, *, timeout_seconds, result_files, component, while_running):
        output, status = made.left
        invalid = ("failed", f"exit status {status}") if status else None
        return Measured(template, {"output": ("result.json", output)}, status, "", "", 1.0, {}, invalid=invalid)

    monkeypatch.setattr(fio_clients, "fio_clients", clients)
    monkeypatch.setattr(fio_clients, "run_observed", tool)
    return made


def cell_with(protocol, clients):
    return next(one.cells[0] for one in protocol.design.sets if one.levels["clients"] == clients)


def test_every_client_gets_its_own_image_and_seed(protocol):
    protocol.run(cell_with(protocol, 2), seed=100)
    assert [f"rbdname=image-{n}\n" in job for n, job in enumerate(protocol.jobs)] == [True, True]
    assert [f"randseed={100 + n}\n" in job for n, job in enumerate(protocol.jobs)] == [True, True]
    assert all("runtime=4000ms\n" in job and "clientname=client.admin\n" in job for job in protocol.jobs)
    assert protocol.options["rbd_cache"] == "false"


def test_too_few_clients_count_as_a_lost_client_although_fio_exits_with_0(protocol):
    protocol.left = (TWO_CLIENTS, 0)
    measured = protocol.run(cell_with(protocol, 4), seed=1)
    assert measured.invalid == ("client_lost", "2 of 4 clients took part")
    assert (measured.facts["clients_expected"], measured.facts["clients_seen"]) == (4, 2)


def test_without_any_client_the_reason_quotes_fio(protocol):
    protocol.left = (sample("fio-client-server-err-noserver.json")[0].encode(), 1)
    reason, detail = protocol.run(cell_with(protocol, 2), seed=1).invalid
    assert reason == "client_lost"
    assert detail.endswith("of 2 clients took part; exit status 1")


def test_a_client_that_met_an_error_makes_the_cell_void(protocol):
    protocol.left = (TWO_CLIENTS.replace(b'"error" : 0', b'"error" : 110', 1), 0)
    measured = protocol.run(cell_with(protocol, 2), seed=1)
    assert measured.facts["clients_seen"] == 2
    assert measured.invalid[0] == "failed"
    assert "error 110" in measured.invalid[1]


def test_evidence_names_neither_this_host_nor_its_paths(protocol, tmp_path):
    word = f'"hostname" : "{tmp_path}/client-1.sock", <{socket.gethostname()}> client-1: (g=0)'
    protocol.left = (word.encode(), 0)
    measured = protocol.run(cell_with(protocol, 2), seed=1)
    assert measured.results["output"][1] == b'"hostname" : "{server_1}", <{host}> client-1: (g=0)'
    assert b"{image}" in measured.results["jobs"][1]
    assert measured.argv[-4:] == ["--client={server_1}", "{job_1}", "--client={server_2}", "{job_2}"]


@pytest.mark.parametrize("cut", [0, 1, 500, -3])
def test_no_client_is_counted_in_output_that_is_cut_off(cut):
    whole = TWO_CLIENTS.rstrip()
    assert len(clients_in(whole)) == 2
    assert clients_in(whole[:cut]) == set()


def test_clients_in_a_namespace_are_refused_because_fio_does_not_support_them(tmp_path):
    with pytest.raises(ConfigurationError, match="does not support RADOS namespaces"):
        MultiClient(bench(tmp_path, namespace="mine"), design_of(tmp_path))


def test_mirrored_variants_are_refused(tmp_path):
    mirrored = [{"name": "mirrored", "label": "Mirrored", "mirroring": "snapshot"}]
    scales = {name: {"blocks": 1, "target_seconds": 1} for name in ("smoke", "quick", "talk")}
    with pytest.raises(ConfigurationError, match="no mirrored variants: mirrored"):
        MultiClient(bench(tmp_path), design_of(tmp_path, variants=mirrored, scales=scales))


def test_clients_run_on_the_hosts_that_the_site_names_if_its_file_allows_that(tmp_path):
    assert missing(["client_hosts"], site(hosts=("node-1", "node-2"))) == []
    assert missing(["client_hosts"], site(hosts=()))[0][1] == "the site's file names no client hosts"
    named = MultiClient(bench(tmp_path, hosts=("node-1", "node-2")), design_of(tmp_path))
    assert named.driver.elsewhere["hosts"] == ("node-1", "node-2")
    for where in ({"hosts": ("localhost",)}, {"hosts": ()}, {"hosts": ("node-1",), "allows": set()}):
        assert MultiClient(bench(tmp_path, **where), design_of(tmp_path)).driver.elsewhere == {}, "on this machine"


def test_a_socket_counts_only_if_somebody_accepts_connections_on_it(tmp_path):
    path = tmp_path / "client-1.sock"
    assert not is_listening(path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        assert not is_listening(path)
        server.listen()
        assert is_listening(path)


def test_only_its_owner_can_read_the_clients_conf_which_ends_with_the_options(tmp_path):
    (tmp_path / "site.conf").write_text("[global]\nfsid = 1\n")
    cluster = Cluster(tmp_path / "site.conf", "client.replay", tmp_path / "keyring")
    made = write_client_conf(tmp_path / "made.conf", cluster, {"rbd_cache": "false"})
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    wanted = f"[global]\nfsid = 1\n\n[client.replay]\nkeyring = {tmp_path}/keyring\nrbd_cache = false\n"
    assert made.read_text() == wanted


@pytest.mark.sandbox
def test_for_ceph_the_options_override_the_site_s_conf(tmp_path):
    text = "[client]\nrbd_cache = true\n[client.replay]\nrbd cache = true\nrados_osd_op_timeout = 1\n"
    made = tmp_path / "made.conf"
    made.write_text(client_conf(text, "client.replay", None, {"rbd_cache": "false"}))
    ask = ["ceph-conf", "-c", str(made), "-n", "client.replay", "--lookup"]
    said = [subprocess.run([*ask, name], capture_output=True, text=True).stdout.strip() for name in
            ("rbd_cache", "rados_osd_op_timeout")]  # fmt: skip
    assert said == ["false", "1"]


@pytest.mark.sandbox
@pytest.mark.of_release
def test_a_sweep_is_measured_with_as_many_clients_as_each_point_says(campaign):
    measure_as_shipped(campaign, "client-sweep", variants=["without-journal", "with-journal"])
    sidecars = campaign.sidecars("client-sweep")
    seen = sorted((one["levels"]["clients"], one["variant"], one["facts"]["clients_seen"]) for one in sidecars)
    assert seen == [(n, variant, n) for n in (1, 2) for variant in ("with-journal", "without-journal")]
    assert all(one["valid"] for one in sidecars)
    evidence = campaign.evidence("client-sweep")
    for word in (str(campaign.sandbox_directory), f"<{os.uname().nodename}>", "/tmp/", "replay-fio"):
        assert word.encode() not in evidence
    aggregate = campaign.raw("client-sweep").parent / "aggregate"
    rows = (aggregate / "latency-p99-randwrite-4096.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows[1:]].count("With journal") == 2


@pytest.fixture
def two_hosts(campaign, monkeypatch):
    """The sandbox's site with two client hosts, which are an SSH server of this test's own."""
    with ssh_server(("client-one", "client-two")) as server:
        monkeypatch.setenv("PATH", f"{server.bin}:{os.environ['PATH']}")

        def name_them():
            path = campaign.folder / "config" / "sites" / "sandbox.yaml"
            path.write_text(path.read_text().replace("[localhost]", f"[{', '.join(server.hosts)}]"))

        yield name_them


@pytest.mark.sandbox
@pytest.mark.slow
def test_clients_of_two_hosts_write_together_and_if_one_host_dies_in_the_cell_the_set_runs_again(campaign, two_hosts):
    before = folders_of_clients()
    campaign.configure("client-sweep", target_seconds=4, image_size_bytes=8 << 20, factors={"clients": [4]})
    campaign.limit_rate(SLOW)
    two_hosts()
    run = campaign.start("client-sweep")
    campaign.wait_for(lambda: campaign.processes("--client=sock:"), "the controller")
    there = folders_of_clients() - before
    assert len(there) == 2, "a folder for each host's servers"
    assert not campaign.processes("fio", "--server=sock:"), "no client runs among this machine's own processes"
    time.sleep(2.5)  # a lost client must have been running, so wait for fio's ramp
    # The connection to the second host, as if that host had gone.
    for pid in campaign.processes("ssh", "client-2.sock:"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    said, _ = run.communicate(timeout=patient(200))
    assert run.returncode == 0, said
    first, second = sorted(campaign.sidecars("client-sweep"), key=lambda one: one["attempt"])
    assert (first["invalid"]["reason"], first["facts"]["clients_expected"]) == ("client_lost", 4)
    assert second["valid"], second["invalid"]
    assert (second["facts"]["clients_seen"], second["facts"]["client_hosts"]) == (4, 2)
    assert folders_of_clients() == before
    evidence = campaign.evidence("client-sweep")
    for word in ("client-one", "client-two", f"<{os.uname().nodename}>", "/tmp/", "replay-fio", "127.0.0.1"):
        assert word.encode() not in evidence


@pytest.mark.sandbox
@pytest.mark.slow
def test_if_the_runner_is_killed_no_client_keeps_running_and_the_next_run_repeats_a_set_that_lost_a_client(campaign):
    campaign.configure("client-sweep", target_seconds=4, image_size_bytes=8 << 20, factors={"clients": [2]})
    campaign.limit_rate(SLOW)
    run = campaign.start("client-sweep")
    campaign.wait_for(lambda: campaign.processes("--client=sock:"), "the controller")
    [controller, *_] = campaign.processes("--client=sock:")
    word = next(
        w for w in Path(f"/proc/{controller}/cmdline").read_text().split("\0") if w.startswith("--client=sock:")
    )
    os.kill(campaign.runner("client-sweep"), signal.SIGKILL)
    run.communicate(timeout=patient(60))
    campaign.wait_for(lambda: not campaign.processes("fio", "sock:"), "the end of every client", seconds=20)
    # A runner that is killed cannot remove its own temporary files.
    shutil.rmtree(Path(word.removeprefix("--client=sock:")).parent)

    run = campaign.start("client-sweep")
    campaign.wait_for(lambda: campaign.processes("--client=sock:", "client-2.sock"), "the controller")
    time.sleep(2.5)  # as above
    for pid in campaign.processes("--server=sock:", "client-2.sock"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(os.getpgid(pid), signal.SIGKILL)
    said, _ = run.communicate(timeout=patient(200))
    assert run.returncode == 0, said
    *_, first, second = sorted(campaign.sidecars("client-sweep"), key=lambda one: one["attempt"])
    assert (first["invalid"]["reason"], first["facts"]["clients_expected"]) == ("client_lost", 2)
    assert second["valid"], second["invalid"]
