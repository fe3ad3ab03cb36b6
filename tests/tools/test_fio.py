"""fio's reports, also of a file beside the OSDs, where a baseline has two tools behind one name."""

from __future__ import annotations

import json

import pytest

from replay.base.errors import ConfigurationError
from replay.tools import OutputError, reader, render
from replay.tools.fio import client_argv, job_file, job_options, server_argv
from replay.tools.fio_report import merge, percentiles_seconds
from support.samples import sample

FIO = reader("fio")


def parse(text, levels=None, exit_status=0):
    return FIO.parse({"output": text}, exit_status, levels or {})


def report(name):
    text, _ = sample(name)
    return json.loads(text[text.index("{") if text.startswith("{") else text.index("\n{") :])


def test_a_single_job_gives_rate_and_latency():
    metrics = parse(sample("fio-randread.json")[0], {"rw": "randread", "io_size_bytes": 4096, "io_depth": 16}).metrics
    assert metrics["operations_per_second"] == pytest.approx(10536.770584, rel=1e-9)
    assert metrics["latency_mean_seconds"] == pytest.approx(0.001505, abs=1e-6)
    assert metrics["duration_seconds"] == 5.004
    assert metrics["latency_p99_seconds"] == 0.008224768


@pytest.mark.parametrize(("percent", "key"), [(50, "50.000000"), (99, "99.000000"), (99.9, "99.900000")])
def test_percentiles_from_bins_are_exactly_those_that_fio_prints(percent, key):
    for direction in ("read", "write"):
        latency = report("fio-randrw70-jsonplus.json")["jobs"][0][direction]["clat_ns"]
        bins = {int(middle): count for middle, count in latency["bins"].items()}
        assert percentiles_seconds(bins, [percent]) == [latency["percentile"][key] / 1e9]


def test_a_mixed_job_separates_reads_and_writes_and_sums_both():
    metrics = parse(sample("fio-randrw70-jsonplus.json")[0], {"io_type": "randrw"}).metrics
    assert metrics["operations"] == 13948 + 6045
    assert metrics["read_latency_p99_seconds"] == 0.036962304
    assert metrics["write_latency_p99_seconds"] == 0.004620288
    assert metrics["write_latency_p99_seconds"] < metrics["latency_p99_seconds"] < metrics["read_latency_p99_seconds"]


def test_clients_are_summed_over_the_longest_one_s_time_whatever_their_order():
    text, _ = sample("fio-client-server-8.json")
    metrics = parse(text, {"clients": 8}).metrics
    assert metrics["clients"] == 8
    assert metrics["operations_per_second"] == pytest.approx(6947.498151, rel=1e-9)
    data = report("fio-client-server-8.json")
    data["client_stats"].reverse()
    assert parse(json.dumps(data), {"clients": 8}).metrics == metrics


def test_percentiles_of_several_clients_come_from_their_merged_bins():
    data = report("fio-client-server-2-jsonplus.json")
    merged = merge(
        {int(middle): count for middle, count in client["read"]["clat_ns"]["bins"].items()}
        for client in data["client_stats"]
        if client["jobname"] != "All clients"
    )
    metrics = parse(json.dumps(data)).metrics
    assert [metrics["latency_p99_seconds"]] == percentiles_seconds(merged, [99])
    assert sum(merged.values()) == 30612


def test_without_bins_several_clients_have_no_percentile_rather_than_an_averaged_one():
    metrics = parse(sample("fio-client-server-2.json")[0]).metrics
    assert not [name for name in metrics if "_p" in name and name.startswith("latency")]
    assert metrics["latency_mean_seconds"] == pytest.approx(0.001084, abs=1e-6)


def test_a_missing_image_is_a_failure_although_the_report_says_error_0():
    with pytest.raises(OutputError) as raised:
        parse(sample("fio-err-missing-image.json")[0], exit_status=1)
    assert raised.value.reason == "failed"
    with pytest.raises(OutputError, match="no I/O was done by err"):
        parse(sample("fio-err-missing-image.json")[0], exit_status=0)


def test_an_error_beside_plausible_iops_is_a_failure():
    data = report("fio-randread.json")
    data["jobs"][0]["error"] = 110
    with pytest.raises(OutputError, match="error 110") as raised:
        parse(json.dumps(data))
    assert raised.value.reason == "failed"


def test_an_unreachable_client_is_noticed_although_fio_exits_with_0():
    text, _ = sample("fio-client-server-err-noserver.json")
    assert parse(text).metrics["clients"] == 1
    with pytest.raises(OutputError, match="1 of 2 clients") as raised:
        parse(text, {"clients": 2})
    assert raised.value.reason == "client_lost"


def test_a_client_that_did_nothing_is_lost():
    with pytest.raises(OutputError, match="no I/O was done by c2") as raised:
        parse(sample("fio-client-server-err-image.json")[0])
    assert raised.value.reason == "client_lost"


def test_a_killed_fio_gives_no_result():
    for text, status in ((sample("fio-osdkill-hang.json")[0], None), (sample("fio-randread.json")[0], None)):
        with pytest.raises(OutputError) as raised:
            parse(text, exit_status=status)
        assert raised.value.reason == "incomplete"


@pytest.mark.parametrize(
    "levels", [{"io_size_bytes": 8192}, {"io_depth": 4}, {"io_type": "write"}, {"rw": "randwrite"}, {"clients": 2}]
)
def test_a_run_that_did_something_else_than_requested_is_refused(levels):
    with pytest.raises(OutputError):
        parse(sample("fio-randread.json")[0], levels)


def test_another_block_size_is_refused_by_its_option_where_few_operations_hide_it():
    data = report("fio-randread.json")
    data["jobs"][0].setdefault("job options", {})["bs"] = "8k"
    with pytest.raises(OutputError, match="bs is 8192, expected 4096"):
        parse(json.dumps(data), {"io_size_bytes": 4096})


def test_an_all_clients_entry_that_is_not_the_sum_is_refused():
    data = report("fio-client-server-2.json")
    data["client_stats"] = [entry for entry in data["client_stats"] if entry["jobname"] != "c2"]
    with pytest.raises(OutputError, match="All clients") as error:
        parse(json.dumps(data))
    assert error.value.reason == "client_lost"


def test_argv_is_reproducible_by_seed_and_bounded_by_time():
    argv = FIO.argv_template({"io_type": "rw", "io_pattern": "rand", "io_size_bytes": 4096, "rw_mix_read": 70}, {})
    assert {"--rw=randrw", "--rwmixread=70", "--randrepeat=0", "--randseed={seed}", "--time_based=1"} <= set(argv)
    assert "--rbdname={image}" in argv
    # A job that is a process makes a session of its own: neither a signal to fio's group nor fio's death would end it.
    assert "--thread=1" in argv


def test_client_and_server_get_a_job_file_each():
    text = job_file({"io_type": "randwrite", "io_size_bytes": 4096}, {"io_depth": 4}, {"client-1": "{image}"})
    assert "[client-1]\nrbdname={image}\n" in text
    assert "iodepth=4\n" in text
    assert server_argv("127.0.0.1,8765") == ["fio", "--server=127.0.0.1,8765"]
    assert client_argv([("127.0.0.1,1", "a.fio"), ("sock:b", "b.fio")])[-4:] == [
        "--client=127.0.0.1,1", "a.fio", "--client=sock:b", "b.fio",
    ]  # fmt: skip


BASELINE = reader("baseline")
MEDIA = {"resource": "media", "io_type": "randwrite", "io_size_bytes": 4096, "io_depth": 16}
NETWORK = {"resource": "network", "io_size_bytes": 131072, "io_depth": 1}
OPTIONS = {"engine": "libaio", "file_size_bytes": 1 << 30, "most_bytes": 1 << 34, "ramp_seconds": 0}


def test_a_resource_without_a_tool_is_refused():
    with pytest.raises(ConfigurationError, match="resource 'memory' is not one of media, network"):
        BASELINE.parse({}, 0, {"resource": "memory"})


def test_fio_bypasses_the_page_cache_of_a_file_and_stops_at_its_bytes():
    values = {"file": "/f", "output": "/o", "seed": 7, "runtime_seconds": "3000ms"}
    argv = render(FIO.argv_template(MEDIA, OPTIONS), values)
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
