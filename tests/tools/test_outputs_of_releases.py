"""Every tool is found by its name; its output is read in the same way, whichever release wrote it."""

from __future__ import annotations

import json
import re

import pytest

from replay.base.errors import ConfigurationError
from replay.tools import OutputError, find_reader, judge, reader, render, tool_names
from replay.tools.base import Result, number
from replay.tools.rados_bench import removed_objects
from support.releases import RECORDED, text_of

of_every_release = pytest.mark.parametrize("release", RECORDED)


@of_every_release
@pytest.mark.parametrize(
    ("name", "operations"),
    [("rbd-bench-write-rand-4k.txt", 512), ("rbd-bench-read-rand-4k.txt", 1024), ("rbd-bench-rw-70-4k.txt", 512)],
)
def test_rbd_bench_reports_its_operations_and_their_rate(release, name, operations):
    text = text_of(release, name)
    metrics = reader("rbd-bench").parse({"stdout": text}, 0, {"io_size_bytes": 4096}).metrics
    rate = float(re.search(r"\bops/sec: (\S+)", text)[1])
    assert (metrics["operations"], metrics["bytes"]) == (operations, operations * 4096)
    assert (metrics["operations_per_second"], metrics["bytes_per_second"]) == (rate, rate * 4096)


@of_every_release
def test_a_mixed_run_of_rbd_bench_is_the_sum_of_its_parts(release):
    metrics = reader("rbd-bench").parse({"stdout": text_of(release, "rbd-bench-rw-70-4k.txt")}, 0, {}).metrics
    assert metrics["read_operations"] + metrics["write_operations"] == metrics["operations"]
    assert metrics["read_operations"] > metrics["write_operations"] > 0


@of_every_release
@pytest.mark.parametrize("mode", ["write", "seq", "rand"])
def test_rados_bench_reports_its_totals(release, mode):
    text = text_of(release, f"rados-bench-{mode}-64k.json")
    said = json.loads(text[text.index("{") :])
    made = int(said["total_writes_made" if mode == "write" else "total_reads_made"])
    metrics = reader("rados_bench").parse({"stdout": text}, 0, {"mode": mode, "object_size_bytes": 65536}).metrics
    assert (metrics["operations"], metrics["bytes"]) == (made, made * 65536)
    assert metrics["operations_per_second"] == pytest.approx(made / float(said["total_time_run"]))


@of_every_release
def test_rados_bench_in_words_says_what_its_json_would(release):
    text = text_of(release, "rados-bench-write-64k.txt")
    metrics = reader("rados_bench").parse({"stdout": text}, 0, {"mode": "write", "object_size_bytes": 65536}).metrics
    assert metrics["operations"] == int(re.search(r"Total writes made:\s+(\d+)", text)[1])
    assert metrics["latency_mean_seconds"] == float(re.search(r"Average Latency\(s\):\s+(\S+)", text)[1])


@of_every_release
def test_rados_cleanup_removed_as_many_objects_as_the_benchmark_wrote(release):
    text = text_of(release, "rados-bench-write-64k.json")
    written = int(json.loads(text[text.index("{") :])["total_writes_made"])
    assert removed_objects(text_of(release, "rados-bench-cleanup.txt")) == written


@of_every_release
def test_fio_reports_operations_and_latencies_of_reads_and_writes(release):
    text = text_of(release, "fio-randrw70-jsonplus.json")
    (job,) = json.loads(text)["jobs"]
    metrics = reader("fio").parse({"output": text}, 0, {"io_size_bytes": 4096}).metrics
    assert metrics["operations"] == job["read"]["total_ios"] + job["write"]["total_ios"]
    assert metrics["read_latency_p99_seconds"] == job["read"]["clat_ns"]["percentile"]["99.000000"] / 1e9
    assert metrics["write_latency_p99_seconds"] == job["write"]["clat_ns"]["percentile"]["99.000000"] / 1e9


@of_every_release
def test_fio_that_found_no_image_has_no_figures(release):
    text = text_of(release, "fio-err-missing-image.json")
    with pytest.raises(OutputError):
        reader("fio").parse({"output": text}, 1, {})


def test_a_tool_is_found_by_the_name_of_its_module_with_either_dash():
    assert reader("rbd-bench") is reader("rbd_bench")
    assert {"fio", "rados_bench", "rbd_bench"} <= set(tool_names())
    assert all(reader(name).name == name for name in tool_names())


def test_a_helper_module_or_an_unknown_name_is_not_a_tool():
    assert find_reader("fio_output") is None
    with pytest.raises(ConfigurationError, match="nothing reads the tool 'os'"):
        reader("os")


def test_a_placeholder_without_a_value_is_named():
    assert render(["--conf", "{conf}/{pool}"], {"conf": "/c", "pool": "p"}) == ["--conf", "/c/p"]
    with pytest.raises(ConfigurationError, match=r"\{keyring\}"):
        render(["{keyring}"], {"keyring": None})


def test_a_run_shorter_than_a_second_is_void():
    assert judge(Result(metrics={"duration_seconds": 0.99}))[0] == "too_short"
    assert judge(Result(metrics={"duration_seconds": 1.0})) is None
    assert judge(Result(complete=False))[0] == "incomplete"


@pytest.mark.parametrize("text", ["nan", "inf", "1_000", "", " 1", "0x10", "1e999", True, None, [], "\u0661"])
def test_a_text_that_is_not_a_plain_finite_number_gives_none(text):
    assert number(text) is None


@pytest.mark.parametrize(("text", "value"), [("1", 1.0), ("0.5", 0.5), ("1.04858e+06", 1048580.0), (7, 7.0)])
def test_a_number_is_read(text, value):
    assert number(text) == value
