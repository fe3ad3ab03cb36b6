"""A baseline's two tools behind one name; fio on a file instead of an image."""

from __future__ import annotations

import pytest

from replay.base.errors import ConfigurationError
from replay.tools import OutputError, adapter, render
from replay.tools.fio import job_options
from support.samples import sample

BASELINE = adapter("baseline")
MEDIA = {"resource": "media", "io_type": "randwrite", "io_size_bytes": 4096, "io_depth": 16}
NETWORK = {"resource": "network", "io_size_bytes": 131072, "io_depth": 1}
OPTIONS = {"engine": "libaio", "file_size_bytes": 1 << 30, "most_bytes": 1 << 34, "ramp_seconds": 0}


def test_the_resource_chooses_the_tool():
    assert BASELINE.argv_template(MEDIA, OPTIONS)[0] == "fio"
    assert BASELINE.argv_template(NETWORK, OPTIONS)[0] == "iperf3"
    assert BASELINE.result_files(MEDIA, OPTIONS) == {"output": "result.json"}
    assert BASELINE.result_files(NETWORK, OPTIONS) == {}
    with pytest.raises(ConfigurationError, match="resource 'memory' is not one of media, network"):
        BASELINE.parse({}, 0, {"resource": "memory"})


def test_fio_bypasses_the_page_cache_of_a_file_and_stops_at_its_bytes():
    values = {"file": "/f", "output": "/o", "seed": 7, "runtime_seconds": "3000ms"}
    argv = render(BASELINE.argv_template(MEDIA, OPTIONS), values)
    assert {"--ioengine=libaio", "--filename=/f", "--direct=1", "--size=1073741824", "--iodepth=16"} <= set(argv)
    assert {"--io_size=17179869184", "--runtime=3000ms", "--ramp_time=0", "--rw=randwrite"} <= set(argv)
    # With it, fio would ignore io_size.
    assert not [word for word in argv if word.startswith(("--time_based", "--rbdname", "--pool", "--clientname"))]


def test_without_an_engine_fio_uses_the_rbd_engine():
    job = job_options({"io_type": "randread", "io_size_bytes": 4096}, {})
    assert list(job.items())[:4] == [
        ("ioengine", "rbd"), ("clustername", "ceph"), ("clientname", "{client}"), ("pool", "{pool}"),
    ]  # fmt: skip
    assert job["time_based"] == "1" and not {"filename", "io_size", "direct"} & job.keys()


def test_both_outputs_are_parsed():
    network = BASELINE.parse({"stdout": sample("iperf3-loopback.json")[0]}, 0, NETWORK).metrics
    assert network["bytes_per_second"] == pytest.approx(5.92e9, rel=0.001)
    media = BASELINE.parse({"output": sample("fio-file-randwrite-4k.json")[0]}, 0, MEDIA).metrics
    assert media["operations_per_second"] == pytest.approx(media["bytes_per_second"] / 4096, rel=0.001)
    assert media["operations_per_second"] > 1000
    with pytest.raises(OutputError, match="iodepth is 16, expected 1"):
        BASELINE.parse({"output": sample("fio-file-randwrite-4k.json")[0]}, 0, {**MEDIA, "io_depth": 1})
