"""Clients that start together in one cell: each must take part, and none outlives the cell."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.errors import ConfigurationError
from replay.cluster.cluster import Cluster, client_conf, write_client_conf
from replay.cluster.fio_clients import FioServers, is_listening, spread
from replay.cluster.site import Pool, Pools
from replay.evidence.record import Measured
from replay.ownership.images import BlockImage
from replay.protocols.drivers import fio
from replay.protocols.drivers.fio import clients_in, hosts_of, who_was_lost
from replay.protocols.multi_client import MultiClient
from support.bench import bench_of, design_of, site_of
from support.patience import patient, wait_until
from support.programs import needs, processes
from support.samples import sample
from support.smoke import measure_as_shipped
from support.ssh_server import folders_of_clients, ssh_server


def report(name):
    """Return a recorded report whose clients have the names that Replay gives them."""
    return sample(name)[0].replace('"jobname" : "c', '"jobname" : "client-').encode()


TWO_CLIENTS = report("fio-client-server-2-jsonplus.json")


def site(namespace="", hosts=("localhost",), allows=frozenset({"client_hosts"})):
    return site_of(pools=Pools(Pool("replay", namespace)), client_hosts=hosts, allows=allows)


def bench(tmp_path, say=lambda line: None, **of_site):
    conf = tmp_path / "ceph.conf"
    conf.write_text("[global]\n")
    session = SimpleNamespace(cluster=Cluster(conf))
    sampler = SimpleNamespace(read=lambda: None, load=lambda before, after: {})
    return bench_of(site(**of_site), session, sampler=sampler, say=say)


@pytest.fixture
def protocol(tmp_path, monkeypatch):
    """The protocol with images, and a tool that leaves the files of the test."""
    made = MultiClient(bench(tmp_path), design_of("client-sweep"))
    image = made.design.variants[0].image
    made.target.images["without-journal"] = [BlockImage("replay", "", f"image-{n}", image, "") for n in range(4)]
    made.left = (b"", 0)

    @contextlib.contextmanager
    def clients(cluster, options, jobs, **_):
        made.jobs, made.options = jobs, options
        yield FioServers(tmp_path, jobs)

    def tool(bench, template, values, *, timeout_seconds, result_files, component, while_running):
        output, status = made.left
        invalid = ("failed", f"exit status {status}") if status else None
        return Measured(template, {"output": ("result.json", output)}, status, "", "", 1.0, {}, invalid=invalid)

    monkeypatch.setattr(fio, "fio_servers", clients)
    monkeypatch.setattr(fio, "run_observed", tool)
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
    assert measured.invalid == ("client_lost", "2 of 4 clients took part, without clients 3, 4")
    assert (measured.facts["clients_expected"], measured.facts["clients_seen"]) == (4, 2)
    assert measured.facts["clients_lost"] == [3, 4]


def test_if_a_client_cannot_be_reached_the_reason_quotes_fio(protocol):
    protocol.left = (report("fio-client-server-err-noserver.json"), 1)
    reason, detail = protocol.run(cell_with(protocol, 2), seed=1).invalid
    assert reason == "client_lost"
    assert detail == "1 of 2 clients took part, without client 2; exit status 1"


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


@given(count=st.integers(1, 40), hosts=st.integers(1, 9), data=st.data())
def test_lost_clients_and_their_hosts_are_named_by_number(count, hosts, data):
    names = [f"secret-{n}" for n in range(hosts)]
    lost = sorted(data.draw(st.sets(st.integers(1, count), min_size=1)))
    said = who_was_lost(lost, count, names)
    assert "secret" not in said
    assert said.startswith(f"{count - len(lost)} of {count} clients took part, without client")
    placed = [n for n, name in enumerate(names, start=1) if set(spread(count, names).get(name, [])) & set(lost)]
    assert hosts_of(lost, count, names) == (placed if hosts > 1 else [])
    assert ("on client host" in said) == (hosts > 1)


@needs("fio", "rbd")
@pytest.mark.slow
def test_if_one_of_eight_hosts_dies_in_the_cell_it_is_void_and_names_the_host_by_its_number(tmp_path, monkeypatch):
    names = tuple(f"client-{word}" for word in ("one", "two", "three", "four", "five", "six", "seven", "eight"))
    null_job = "[global]\nioengine=null\nsize=1G\nrw=write\nbs=4k\nrate=4m\ntime_based\nruntime=4\n\n[{}]\n"
    monkeypatch.setattr(fio, "job_file", lambda levels, options, images: null_job.format(*images))
    before, told, cut = folders_of_clients(), [], []
    with ssh_server(names) as server:
        monkeypatch.setenv("PATH", f"{server.bin}:{os.environ['PATH']}")
        made = MultiClient(bench(tmp_path, hosts=names, say=told.append), design_of("client-sweep"))
        image = made.design.variants[0].image
        made.target.images["without-journal"] = [BlockImage("replay", "", f"image-{n}", image, "") for n in range(8)]
        cell = replace(cell_with(made, 4), levels={**cell_with(made, 4).levels, "clients": 8})

        def cut_off_the_fifth(elapsed):
            if elapsed > 1 and not cut:
                cut.extend(processes("client-5.sock:"))
                for pid in cut:
                    os.kill(pid, signal.SIGKILL)

        measured = made.driver.run(cell, 1, while_running=cut_off_the_fifth)
    reason, detail = measured.invalid
    assert reason == "client_lost"
    assert detail.startswith("7 of 8 clients took part, without client 5 on client host 5")
    assert (measured.facts["clients_seen"], measured.facts["clients_lost"]) == (7, [5])
    assert measured.facts["client_hosts"] == 8
    assert "client-five" in "".join(told), "the terminal says which host that is"
    words = f"{detail} {measured.argv} {measured.facts}"
    kept = b"".join(content for _, content in measured.results.values()) + words.encode()
    for word in (*names, f"<{os.uname().nodename}>", "/tmp/", "replay-fio", "127.0.0.1"):
        assert word.encode() not in kept
    wait_until(lambda: folders_of_clients() == before, "the end of the clients' folders")


@pytest.mark.parametrize("cut", [0, 1, 500, -3])
def test_no_client_is_counted_in_output_that_is_cut_off(cut):
    whole = TWO_CLIENTS.rstrip()
    assert len(clients_in(whole)) == 2
    assert clients_in(whole[:cut]) == set()


def test_clients_in_a_namespace_are_refused_because_fio_does_not_support_them(tmp_path):
    with pytest.raises(ConfigurationError, match="does not support RADOS namespaces"):
        MultiClient(bench(tmp_path, namespace="mine"), design_of("client-sweep"))


def test_mirrored_variants_are_refused(tmp_path):
    mirrored = [{"name": "mirrored", "label": "Mirrored", "mirroring": "snapshot"}]
    scales = {name: {"blocks": 1, "target_seconds": 1} for name in ("smoke", "quick", "talk")}
    with pytest.raises(ConfigurationError, match="no mirrored variants: mirrored"):
        MultiClient(bench(tmp_path), design_of("client-sweep", variants=mirrored, scales=scales))


def test_clients_run_on_the_hosts_that_the_site_names_if_its_file_allows_that(tmp_path):
    named = MultiClient(bench(tmp_path, hosts=("node-1", "node-2")), design_of("client-sweep"))
    assert named.driver.hosts == ("node-1", "node-2")
    for where in ({"hosts": ()}, {"hosts": ("node-1",), "allows": set()}):
        assert MultiClient(bench(tmp_path, **where), design_of("client-sweep")).driver.hosts == ("localhost",)


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
    measure_as_shipped(campaign, "client-sweep")
    sidecars = campaign.sidecars("client-sweep")
    assert sorted((one["levels"]["clients"], one["facts"]["clients_seen"]) for one in sidecars) == [(1, 1), (2, 2)]
    assert all(one["valid"] for one in sidecars)
    aggregate = campaign.raw("client-sweep").parent / "aggregate"
    rows = (aggregate / "latency-p99-randwrite-4096.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows[1:]] == ["Without journal"] * 2


@pytest.mark.sandbox
@pytest.mark.slow
def test_clients_of_two_hosts_write_together_and_leave_nothing_there(campaign, monkeypatch):
    before = folders_of_clients()
    campaign.configure("client-sweep", image_size_bytes=4 << 20, factors={"clients": [4]})
    campaign.limit_rate(2 << 20)
    with ssh_server(("client-one", "client-two")) as server:
        monkeypatch.setenv("PATH", f"{server.bin}:{os.environ['PATH']}")
        path = campaign.folder / "config" / "sites" / "sandbox.yaml"
        path.write_text(path.read_text().replace("[localhost]", f"[{', '.join(server.hosts)}]"))
        run = campaign.start_block("client-sweep")
        campaign.wait_for(lambda: campaign.processes("--client=sock:"), "the controller")
        assert len(folders_of_clients() - before) == 2, "a folder for each host's servers"
        assert not campaign.processes("fio", "--server=sock:"), "no client runs among this machine's own processes"
        said, _ = run.communicate(timeout=patient(200))
    assert run.returncode == 0, said
    sidecar = campaign.sidecars("client-sweep")[-1]
    assert sidecar["valid"], sidecar["invalid"]
    assert (sidecar["facts"]["clients_seen"], sidecar["facts"]["client_hosts"]) == (4, 2)
    assert folders_of_clients() == before
    evidence = campaign.evidence("client-sweep")
    for word in ("client-one", "client-two", f"<{os.uname().nodename}>", "/tmp/", "replay-fio", "127.0.0.1"):
        assert word.encode() not in evidence
