"""fio's latencies: bins are merged, a percentile in the last is a lower bound, and total latency is named as such."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError, reader
from replay.tools.fio_report import percentiles_seconds
from support.foreign_results import direction, job, report
from support.samples import sample

FIO, FOREIGN, TEXTS = reader("fio"), reader("fio_report"), reader("fio_text")
MIXED = "fio-randrw70-jsonplus.json"
#: The middle of the last bin, in nanoseconds, and its start.
LAST_BIN, LAST_BIN_START = 2**34 - 2**26, 2**34 - 2**27


def jsonplus():
    text, _ = sample(MIXED)
    return json.loads(text[text.index("{\n") :])


def foreign(one, **levels):
    return FOREIGN.parse({"output": report(one)}, None, levels)


def test_a_percentile_in_the_last_bin_is_a_lower_bound_whether_it_comes_from_bins_or_was_printed():
    data = jsonplus()
    latency = data["jobs"][0]["read"]["clat_ns"]
    latency["bins"] = {"1004": 96, str(LAST_BIN): 4}
    data["jobs"][0]["write"]["total_ios"] = 0
    found = FIO.parse({"output": json.dumps(data)}, 0, {}).metrics
    assert found["latency_p50_seconds"] == 1004e-9
    assert found["latency_p99_at_least_seconds"] == pytest.approx(17.0456, abs=1e-4)
    assert "latency_p99_seconds" not in found

    one = job(rw="randread")
    one["read"]["clat_ns"] |= {"max": 19_961_747_502, "percentile": {"50.000000": 1e9, "99.000000": 17_112_760_320}}
    result = foreign(one)
    assert (result.metrics["latency_p50_seconds"], result.metrics["latency_max_seconds"]) == (1.0, 19.961747502)
    assert {"latency_p99_seconds", "latency_p99_9_seconds"} & result.metrics.keys() == set()
    assert result.notes == ("p99 ≥ 17 s: fio's last bin has no upper end",)


def test_total_latency_stands_in_for_completion_latency_that_was_not_measured_and_says_so():
    one = job(rw="randread")
    zero = {"min": 0, "max": 0, "mean": 0.0, "N": 0}
    one["read"] |= {"clat_ns": zero, "lat_ns": {"min": 1e6, "max": 1e6, "mean": 1e6, "N": 20_000}}
    result = foreign(one)
    assert result.metrics["latency_mean_seconds"] == 0.001
    assert "its values of latency are those of lat, since those of clat were not measured" in result.notes
    one["read"]["lat_ns"] = zero
    result = foreign(one)
    assert not [name for name in result.metrics if name.startswith("latency")]
    assert result.notes == ("no latency: fio did not measure it",)


def test_percentiles_of_total_latency_are_named_if_there_are_none_of_completion():
    one = job(rw="randread")
    one["read"]["lat_ns"]["percentile"] = one["read"]["clat_ns"].pop("percentile")
    result = foreign(one)
    assert result.metrics["latency_p99_seconds"] == 0.0008
    assert result.notes == ("its percentiles of latency are those of lat, since those of clat were not measured",)


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([job(rw="randrw")], "no percentiles of reads and writes together"),
        ([job(rw="randread"), job(rw="randread")], "several jobs have no bins to merge"),
    ],
)
def test_percentiles_that_cannot_be_combined_are_left_out_with_the_reason(entries, why):
    result = FOREIGN.parse({"output": report(*entries)}, None, {})
    assert "latency_p99_seconds" not in result.metrics
    assert why in result.notes[0]
    assert ("read_latency_p99_seconds" in result.metrics) == (len(entries) == 1)


def old_job(**percentiles: float):
    """Return a job as fio 2 reports it: latencies in microseconds, amounts in KiB."""
    one = job(rw="randread", bs="64k")
    stats = one["read"]
    for what in ("clat", "lat"):
        latency = stats.pop(f"{what}_ns")
        latency.pop("N")
        latency |= {key: latency[key] / 1000 for key in ("min", "max", "mean")}
        if what == "clat":
            latency["percentile"] = {key: value / 1000 for key, value in latency["percentile"].items()} | percentiles
        stats[what] = latency
    stats |= {"io_bytes": stats["io_bytes"] // 1024, "bw": stats.pop("bw_bytes") // 1024}
    return one


def test_old_releases_count_microseconds_and_kibibytes():
    found = foreign(old_job(), io_size_bytes=65536).metrics
    assert found["bytes"] == 20_000 * 65536
    assert found["latency_mean_seconds"] == pytest.approx(0.0002)
    assert found["latency_p99_seconds"] == pytest.approx(0.0008)


# fio 2 prints the middle of its last bin, which ends at 2 ** 24 microseconds.
OLD_MIDDLE = 2**24 - 2**16
TEXT = """\
job: (groupid=0, jobs=1): err= 0: pid=1: Fri May  3 10:00:00 2017
  read : io=40000KB, bw=4000.0KB/s, iops=1000, runt= 10000msec
    clat (msec): min=1, max=22006, avg=3636.76, stdev=2717.89
    clat percentiles (msec):
     |  1.00th=[  412], 50.00th=[ 3261], 95.00th=[ 3523], 99.00th=[16712], 99.90th=[16712]
     issued    : total=r=10000/w=0/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0
"""


def test_the_last_bin_of_fio_2_ends_earlier():
    result = foreign(old_job(**{"99.000000": OLD_MIDDLE, "99.900000": OLD_MIDDLE}))
    assert result.metrics["latency_p99_at_least_seconds"] == (2**24 - 2**17) / 1e6
    assert {"latency_p99_seconds", "latency_p99_9_seconds"} & result.metrics.keys() == set()
    assert result.notes == ("p99, p99.9 ≥ 16.6 s: fio's last bin has no upper end",)


@pytest.mark.parametrize(
    ("text", "least"),
    [(TEXT, (2**24 - 2**17) / 1e6), (TEXT.replace("16712", "17113"), LAST_BIN_START / 1e9)],
    ids=["fio 2", "fio 3"],
)
def test_text_shows_by_its_last_bin_which_fio_counted(text, least):
    found = TEXTS.parse({"output": text}, None, {}).metrics
    assert found["latency_p50_seconds"] == pytest.approx(3.261)
    assert found["latency_p99_at_least_seconds"] == least
    assert "latency_p99_seconds" not in found


@given(st.integers(1, 2**25))
def test_a_percentile_of_fio_2_is_a_value_or_a_lower_bound_that_is_true(microseconds):
    found = foreign(old_job(**{"99.000000": microseconds})).metrics
    if "latency_p99_seconds" in found:
        assert found["latency_p99_seconds"] == microseconds / 1e6 < OLD_MIDDLE / 1e6
    else:
        assert found["latency_p99_at_least_seconds"] <= microseconds / 1e6


def test_bytes_that_agree_with_the_rate_in_no_unit_are_refused():
    one = job(rw="randread")
    one["read"]["bw"] = one["read"].pop("bw_bytes") // 1024 * 3
    with pytest.raises(OutputError, match="in bytes or in KiB"):
        foreign(one)


MIDDLES = st.integers(0, 60).map(lambda number: number * 7 % 128)


@given(st.dictionaries(MIDDLES, st.integers(1, 10**6), min_size=1), st.floats(0.001, 100))
def test_a_percentile_is_the_first_bin_at_which_it_is_reached(histogram, percent):
    [seconds] = percentiles_seconds(histogram, [percent])
    middle = round(seconds * 1e9)
    needed = percent / 100 * sum(histogram.values())
    up_to = sum(count for one, count in histogram.items() if one <= middle)
    assert up_to >= needed * (1 - 1e-12)
    assert up_to - histogram[middle] <= needed * (1 + 1e-12)


def test_reads_and_writes_that_fio_reports_as_one_are_one():
    one = job(rw="randrw")
    one["mixed"] = direction(20_000, 4096)
    del one["read"], one["write"]
    assert foreign(one, rw="randrw").metrics["operations"] == 20_000
