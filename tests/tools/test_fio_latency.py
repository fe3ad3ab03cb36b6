"""fio's latencies in `json+`: bins, printed percentiles and summary agree, or the report is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError, adapter
from replay.tools.fio_report import HIGHEST_END, bounds_nanoseconds, percentiles_seconds, unreached
from support.samples import sample

FIO = adapter("fio")
MIXED, CLIENTS = "fio-randrw70-jsonplus.json", "fio-client-server-2-jsonplus.json"


def report(name):
    text, _ = sample(name)
    return json.loads(text[text.index("{\n") :])


def parse(data):
    return FIO.parse({"output": json.dumps(data, indent=1)}, 0, {})


def latencies(data, entry=0, direction="read"):
    return data.get("jobs", data.get("client_stats"))[entry][direction]["clat_ns"]


def moved(bins, number, by):
    """Return the bins with one of them moved to the middle of another, `by` bins away."""
    keys = list(bins)
    low, high = bounds_nanoseconds(int(keys[number]))
    start = low + by * (high - low)
    keys[number] = str(start + (high - low) // 2)
    return dict(zip(keys, bins.values(), strict=True))


def set_bins(change):
    def damage(latency):
        latency["bins"] = change(latency["bins"])

    return damage


def swap_counts(bins):
    """Return the bins with the counts of the fullest and the last one exchanged, which keeps the sum."""
    fullest = max(bins, key=bins.get)
    last = list(bins)[-1]
    return {**bins, fullest: bins[last], last: bins[fullest]}


def update(**values):
    return lambda latency: latency.update(values)


def percentile(percent, value):
    return lambda latency: latency["percentile"].update({percent: value})


@pytest.mark.parametrize(
    ("damage", "said", "at"),
    [
        (set_bins(lambda bins: {**bins, next(iter(bins)): 10**6}), r"the bins hold \d+ of 13963 samples", "bins"),
        (set_bins(lambda bins: dict(reversed(bins.items()))), "bins do not rise", None),
        (set_bins(lambda bins: moved(bins, -1, 20)), "max is not in the highest bin", "max"),
        (set_bins(lambda bins: moved(bins, 0, -1)), "min is not in the lowest bin", "min"),
        (set_bins(swap_counts), "that of the bins|is not the bin at which", None),
        (set_bins(lambda bins: {**bins, "12x": 1}), "not a bin: '12x'", '"12x"'),
        (set_bins(lambda bins: {"1.5": 1, **bins}), "not a bin: '1.5'", '"1.5"'),
        (set_bins(lambda bins: {**bins, str(2**40 + 2**33): 0}), "no bin of fio has the middle", None),
        (lambda latency: latency.pop("percentile"), "bins without percentiles", "bins"),
        (percentile("99.000000", 36962305), r"is not the bin at which 99 % are reached", '"99.000000"'),
        (percentile("95.000000", 36962304), r"is not the bin at which 95 % are reached", '"95.000000"'),
        (percentile("0.100000", 1), "percentiles do not rise", '"0.100000"'),
        (update(mean=5e5), "a mean of 500000 ns is not that of the bins", '"mean"'),
        (update(N=13964), "different numbers of samples", None),
        (update(min=5e9), "latencies are not min ≤ mean ≤ max", '"mean"'),
        (update(bins=[]), "bins are not an object", "bins"),
        (update(percentile=3), "percentiles are not an object", "percentile"),
    ],
)
def test_latencies_that_contradict_each_other_are_refused_with_key_and_line(damage, said, at):
    data = report(MIXED)
    damage(latencies(data))
    with pytest.raises(OutputError, match=said) as error:
        parse(data)
    lines = json.dumps(data, indent=1).splitlines()
    assert "jobs[0].read" in error.value.what
    assert error.value.line is not None
    assert at is None or at in lines[error.value.line - 1]


@pytest.mark.parametrize("key", ["min", "mean", "max"])
def test_a_completion_latency_above_the_total_latency_is_refused(key):
    data = report("fio-randread.json")
    latency, whole = latencies(data), data["jobs"][0]["read"]["lat_ns"]
    latency[key] = 1.01 * whole[key]
    with pytest.raises(OutputError, match=f"{key} is above that of lat_ns"):
        parse(data)


@pytest.mark.parametrize("taken_ns", ["min", "middle", "max"])
def test_a_submission_that_counts_alone_may_have_taken_as_long_as_any(taken_ns):
    """Seen with fio 3.41: of a write at the end of the ramp only the submission counted, and it took 5 ms."""
    data = report(MIXED)
    submission = data["jobs"][0]["write"]["slat_ns"]
    low, high = submission["min"], submission["max"]
    one = {"min": low, "middle": (low + high) / 2, "max": high}[taken_ns]
    total = submission["N"] * submission["mean"]
    submission["N"] += 1
    submission["mean"] = (total + one) / submission["N"]
    parse(data)
    for impossible in (high * 1.01, low - high * 0.01):
        submission["mean"] = (total + impossible) / submission["N"]
        with pytest.raises(OutputError, match="slat_ns and clat_ns have a mean of"):
            parse(data)


def test_an_operation_whose_submission_does_not_count_took_no_longer_than_the_longest():
    data = report(MIXED)
    submission = data["jobs"][0]["write"]["slat_ns"]
    total, longest = submission["N"] * submission["mean"], submission["max"]
    submission["N"] -= 1
    for possible in (0, longest / 2, longest * 0.99):
        submission["mean"] = (total - possible) / submission["N"]
        parse(data)
    for impossible in (longest * 1.01, -longest * 0.01):
        submission["mean"] = (total - impossible) / submission["N"]
        with pytest.raises(OutputError, match="slat_ns and clat_ns have a mean of"):
            parse(data)


@pytest.mark.parametrize("damage", [update(min=2000), update(max=9e7), update(mean=1.1e6), update(N=30613)])
def test_an_entry_of_all_clients_that_does_not_merge_them_is_refused(damage):
    data = report(CLIENTS)
    damage(latencies(data, entry=2))
    data["client_stats"][2]["read"].pop("lat_ns")
    with pytest.raises(OutputError, match="not those of all clients together") as error:
        parse(data)
    assert "client_stats[2].read" in error.value.what


def test_a_latency_above_the_end_of_the_highest_bin_is_counted_in_it():
    data = report("fio-file-randwrite-4k.json")
    [entry] = data["jobs"]
    highest = HIGHEST_END - 2**27 + 2**26
    entry["write"]["clat_ns"] = {
        "min": 1000, "mean": 1e10, "max": 3 * HIGHEST_END, "N": 4,
        "percentile": {"50.000000": 1004, "99.000000": highest}, "bins": {"1004": 2, str(highest): 2},
    }  # fmt: skip
    entry["write"].pop("lat_ns")
    assert bounds_nanoseconds(highest)[1] == HIGHEST_END
    metrics = parse(data).metrics
    assert metrics["latency_max_seconds"] == pytest.approx(3 * HIGHEST_END / 1e9)
    entry["write"]["clat_ns"]["mean"] = 3 * HIGHEST_END
    with pytest.raises(OutputError, match="is not that of the bins"):
        parse(data)


MIDDLES = st.integers(0, 60).map(lambda number: number * 7 % 128)


@given(st.dictionaries(MIDDLES, st.integers(1, 10**6), min_size=1), st.floats(0.001, 100))
def test_a_percentile_is_the_one_bin_at_which_it_is_reached(histogram, percent):
    [seconds] = percentiles_seconds(histogram, [percent])
    middle = round(seconds * 1e9)
    assert unreached(histogram, {percent: float(middle)}) == []
    samples = sum(histogram.values())
    needed = percent / 100 * samples
    for other in histogram.keys() - {middle}:
        up_to = sum(count for one, count in histogram.items() if one <= other)
        if min(abs(up_to - needed), abs(up_to - histogram[other] - needed)) > 2e-7 * samples:
            assert unreached(histogram, {percent: float(other)}) == [percent]
    assert unreached(histogram, {percent: middle + 0.5}) == [percent]
