"""Disk and network without Ceph: a file that is filled and removed, one-off servers, and what a site lacks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError, ReplayError
from replay.base.programs import HOST_PROGRAMS
from replay.cluster.site import Ceilings
from replay.design.configuration import load_experiment
from replay.design.expansion import expand
from replay.design.needs import lacking
from replay.evidence.record import Measured
from replay.ownership.ledger import Ledger
from replay.protocols import baseline
from replay.protocols.baseline import BaselineProtocol
from replay.protocols.drivers import fio
from replay.protocols.targets import images
from support.bench import bench_of, cell, design_of
from support.programs import needs
from support.samples import sample
from support.smoke import measure_as_shipped

FIO, IPERF3 = "fio-file-randwrite-4k.json", "iperf3-loopback.json"
LOAD = {"cpu_idle_fraction": 0.5, "disk_busy_fraction": 0.5, "load_1min": 1.0}


def measured(stdout="", output=None, status=0, invalid=None):
    results = {"stdout": ("stdout", stdout.encode())}
    if output is not None:
        results["output"] = ("result.json", output.encode())
    return Measured(["x"], results, status, "a", "b", 1.0, LOAD, invalid=invalid)


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Make a protocol whose OSDs' folder is `tmp_path`; fills are recorded, and tools print what is in `says`."""

    def of(*, ceilings=None, fill=True, **changes):
        conf = tmp_path / "left" / "ceph.conf"
        conf.parent.mkdir(exist_ok=True)
        site = SimpleNamespace(name="own", client_hosts=("localhost",), ceilings=ceilings or Ceilings())
        session = SimpleNamespace(cluster=SimpleNamespace(conf=conf, programs=HOST_PROGRAMS))
        ledger = Ledger("11111111-2222-3333-4444-555555555555", directory=tmp_path / "ledger")
        sampler = SimpleNamespace(read=lambda: None, load=lambda *_: LOAD)
        bench = bench_of(site, session, ledger=ledger, sampler=sampler, daemons_are_here=True)
        made = BaselineProtocol(bench, design_of("baseline", **changes))
        made.says, made.asked = [], []

        def run(bench, template, values=None, **more):
            made.asked.append((template, values, more))
            return made.says.pop(0)

        server = SimpleNamespace(kill=lambda: None)
        monkeypatch.setattr(fio, "run_observed", run)
        monkeypatch.setattr(baseline, "run_observed", run)
        monkeypatch.setattr(baseline, "_start_server", lambda bench, tool, host, seconds: (server, 1))
        if fill:
            monkeypatch.setattr(made.target, "fill", lambda path, size: path.write_bytes(b"x"))
        return made

    return of


def files(protocol):
    return sorted(protocol.bench.primary_cluster.conf.parent.glob("replay-*"))


def test_the_file_is_beside_the_osds_and_is_removed_with_the_block(make):
    protocol = make()
    protocol.open_block(Path("raw"), protocol.design.sets)
    assert files(protocol) == [protocol.target.path]
    assert [one.kind for one in protocol.bench.ledger.owned()] == ["file"]
    protocol.close_block()
    assert files(protocol) == [] and protocol.bench.ledger.owned() == []


def test_a_block_that_measures_only_the_network_makes_no_file(make):
    protocol = make()
    protocol.open_block(Path("raw"), [one for one in protocol.design.sets if one.point.startswith("network")])
    assert protocol.target.path is None and files(protocol) == []
    protocol.close_block()


def test_an_interrupted_fill_leaves_a_file_that_closing_removes(make, monkeypatch):
    protocol = make()

    def interrupted(path, size):
        raise KeyboardInterrupt

    monkeypatch.setattr(protocol.target, "fill", interrupted)
    with pytest.raises(KeyboardInterrupt):
        protocol.open_block(Path("raw"), protocol.design.sets)
    assert len(files(protocol)) == 1
    protocol.close_block()
    assert files(protocol) == []


def test_nothing_is_made_if_the_osds_would_run_out_of_space(make, monkeypatch):
    protocol = make()
    monkeypatch.setattr(images.shutil, "disk_usage", lambda folder: SimpleNamespace(free=2 << 28))
    with pytest.raises(ReplayError, match=r"0\.5 GiB are free"):
        protocol.open_block(Path("raw"), protocol.design.sets)
    assert files(protocol) == [] and protocol.bench.ledger.owned() == []


@needs("fio")
def test_a_fill_writes_every_byte_by_direct_io(make):
    protocol = make(fill=False)
    path = protocol.bench.primary_cluster.conf.parent / "file"
    path.touch()
    protocol.target.fill(path, 8 << 20)
    assert path.stat().st_blocks * 512 >= path.stat().st_size == 8 << 20
    assert protocol.bench.budget.total() == 8 << 20


@needs("fio")
def test_a_fill_that_fails_is_an_error_that_says_why(make):
    protocol = make(fill=False)
    with pytest.raises(ReplayError, match="fio could not fill a file"):
        protocol.target.fill(protocol.bench.primary_cluster.conf.parent, 8 << 20)


def test_a_write_is_charged_to_the_account_and_its_path_is_hidden(make):
    protocol = make()
    protocol.open_block(Path("raw"), protocol.design.sets)
    protocol.says = [measured(output=sample(FIO)[0].replace('"bf"', f'"{protocol.target.path}"'))]
    found = protocol.run(cell(protocol, "media-4096-16", "random-write"), 7)
    assert found.invalid is None and found.headline.endswith(" operations/s")
    assert str(protocol.target.path).encode() not in found.results["output"][1]
    assert protocol.bench.budget.total() > 4096 * 1000
    template, values, _ = protocol.asked[0]
    assert "--filename={file}" in template and values["runtime_seconds"] == "2000ms"


def test_a_read_or_the_network_writes_nothing(make):
    protocol = make()
    protocol.says = [measured(sample(IPERF3)[0].replace('"blksize":\t131072', '"blksize":\t65536'))]
    found = protocol.run(cell(protocol, "network-65536-1", "network"), 7)
    assert (found.invalid, found.facts["network"]) == (None, "loopback")
    assert protocol.bench.budget.total() == 0


@pytest.mark.parametrize("status", [0, 1])
def test_a_refused_connection_is_void_with_its_reason_whatever_the_exit_status(make, status):
    protocol = make()
    before = ("failed", "exit status 1: silent") if status else None
    protocol.says = [measured(sample("iperf3-err-refused.json")[0], status=status, invalid=before)]
    found = protocol.run(cell(protocol, "network-65536-1", "network"), 7)
    assert found.invalid[0] == "failed" and "Connection refused" in found.invalid[1]


def test_media_without_an_io_type_are_refused(make):
    factors = {"resource": ["media"], "io_size_bytes": [4096], "io_depth": [1]}
    with pytest.raises(ConfigurationError, match="only media have an io_type"):
        make(factors=factors, scales={"quick": {"blocks": 1, "target_seconds": 1}})


def site_of(**changes):
    known = {"sandbox": None, "client_hosts": ("a", "b"), "ceilings": Ceilings()}
    return SimpleNamespace(**{**known, **changes})


def test_on_a_foreign_cluster_the_disk_is_skipped_with_its_reason():
    assert lacking("baseline", site_of(sandbox="default", client_hosts=("localhost",))) == {}
    assert lacking("baseline", site_of()).keys() == {"host_root"}
    assert "no file system of this machine" in lacking("baseline", site_of())["host_root"]


def test_without_another_host_or_with_a_rate_the_network_is_skipped():
    for hosts in ((), ("localhost",)):
        assert "names no other host" in lacking("baseline", site_of(client_hosts=hosts))["client_hosts"]
    limited = site_of(ceilings=Ceilings(rate_bytes_per_second=1e6))
    assert "limits the rate" in lacking("baseline", limited)["client_hosts"]


def test_skipping_one_resource_leaves_the_rest_of_the_design():
    design = expand(load_experiment("baseline"), "quick", missing=lacking("baseline", site_of()))
    assert {skip.requires for skip in design.skipped} == {"host_root"} and len(design.skipped) == 4
    assert {one.point.partition("-")[0] for one in design.sets} == {"network"}


# On a real cluster ----------------------------------------------------------------------------------------------


@pytest.mark.sandbox
@pytest.mark.of_release
def test_a_block_measures_disk_and_network_and_leaves_nothing_behind(campaign):
    measure_as_shipped(campaign, "baseline")
    good = [one for one in campaign.sidecars("baseline") if one["valid"]]
    assert sorted({one["variant"] for one in good}) == [
        "network", "random-read", "random-write", "sequential-read", "sequential-write",
    ]  # fmt: skip
    assert sorted((campaign.sandbox_directory / "left").glob("replay-*")) == []
