"""A cell of several runs: instances that ran at once, passes one after another, each a file of its own."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError, reader
from replay.tools.base import role_of, roles_by_instance
from support.hostile import at_most
from support.made_up_output import OCCUPIED, rados_json
from support.samples import sample

RADOS = reader("rados_bench")
SIZE = 65536
FEW = at_most(100)
# Operations and seconds of a run, from a pass of two milliseconds on.
RUN = st.tuples(st.integers(100, 20_000), st.floats(2e-5, 1e-3)).map(lambda pair: (pair[0], pair[0] * pair[1]))
GRID = st.tuples(st.integers(1, 3), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(st.lists(RUN, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0])
)


def outputs_of(instances, *, mode="seq"):
    kind = "write" if mode == "write" else "read"
    return {
        role_of(instance, number): rados_json(kind, operations, seconds, SIZE)
        for instance, passes in enumerate(instances, start=1)
        for number, (operations, seconds) in enumerate(passes, start=1)
    }


def parse(outputs, instances=1, *, mode="seq", exit_status=0):
    levels = {"mode": mode, "object_size_bytes": SIZE, "instances": instances}
    return RADOS.parse(outputs, exit_status, levels)


@FEW
@given(instances=GRID)
def test_passes_are_summed_before_they_are_divided_and_instances_rates_are_added(instances):
    metrics = parse(outputs_of(instances), len(instances)).metrics
    operations = [sum(count for count, _ in passes) for passes in instances]
    seconds = [math.fsum(spent for _, spent in passes) for passes in instances]
    rate = math.fsum(count / spent for count, spent in zip(operations, seconds, strict=True))
    assert metrics["operations"] == sum(operations)
    assert metrics["bytes"] == sum(operations) * SIZE
    assert metrics["duration_seconds"] == pytest.approx(max(seconds), abs=1e-5)
    assert metrics["operations_per_second"] == pytest.approx(rate, rel=0.005)
    assert metrics["bytes_per_second"] == pytest.approx(metrics["operations_per_second"] * SIZE)


@FEW
@given(instances=GRID)
def test_the_mean_latency_is_weighted_by_operations(instances):
    runs = [run for passes in instances for run in passes]
    waited = [count * OCCUPIED * 16 * seconds / count for count, seconds in runs]
    expected = math.fsum(waited) / sum(count for count, _ in runs)
    metrics = parse(outputs_of(instances), len(instances)).metrics
    assert metrics["latency_mean_seconds"] == pytest.approx(expected, abs=1e-6)
    assert metrics["latency_min_seconds"] <= metrics["latency_mean_seconds"] <= metrics["latency_max_seconds"]


def test_an_average_of_averages_would_be_another_number():
    # A pass of 1000/s for 3 s and one of 100/s for 1 s: 3100 operations in 4 s, and not (1000 + 100) / 2.
    metrics = parse(outputs_of([[(3000, 3.0), (100, 1.0)]])).metrics
    assert metrics["operations_per_second"] == 775
    assert metrics["duration_seconds"] == 4


def test_the_passes_of_a_real_sequential_read_are_one_cell():
    text, _ = sample("rados-bench-seq-64k.json")
    one, two = parse({"output": text}), parse({"output": text, "output-1-2": text})
    for metric in ("operations", "bytes", "duration_seconds"):
        assert two.metrics[metric] == 2 * one.metrics[metric]
    for metric in ("operations_per_second", "latency_mean_seconds"):
        assert two.metrics[metric] == pytest.approx(one.metrics[metric])


def test_the_series_of_a_pass_continues_where_the_one_before_ended():
    series = parse(outputs_of([[(3000, 2.0), (2000, 1.5)]])).series
    moments = [elapsed for elapsed, metric, _ in series if metric == "operations_per_second"]
    assert moments == [1.0, 2.0, 3.0]
    assert parse(outputs_of([[(3000, 2.0)], [(2000, 1.5)]]), 2).series == (), "there is no series of a sum"


def test_a_single_run_is_itself():
    text, _ = sample("rados-bench-write-64k.json")
    assert parse({"output": text}, mode="write") == RADOS.parse({"stdout": text}, 0, {})


def test_an_instance_without_output_is_a_lost_client():
    outputs = outputs_of([[(3000, 3.0)], [(1500, 3.0)], [(10, 3.0)]])
    del outputs["output-2-1"]
    with pytest.raises(OutputError, match="1 of 3 instances left no output: 2") as raised:
        parse(outputs, 3)
    assert raised.value.reason == "client_lost"


def test_an_unexpected_instance_is_refused():
    with pytest.raises(OutputError, match="output of 2 instances, expected 1"):
        parse(outputs_of([[(3000, 3.0)], [(1500, 3.0)]]), 1)


def test_a_pass_that_is_missing_in_the_middle_or_of_one_instance_is_refused():
    with pytest.raises(OutputError, match="no output of instance 1, pass 2") as raised:
        roles_by_instance({"output": "", "output-1-3": ""}, 1, "here")
    assert (raised.value.reason, raised.value.file) == ("incomplete", "here")
    with pytest.raises(OutputError, match="no output of instance 2, pass 2"):
        roles_by_instance({"output": "", "output-1-2": "", "output-2-1": ""}, 2, "here")


@pytest.mark.parametrize("exit_status", [1, 110, None])
def test_no_good_result_comes_from_runs_if_one_did_not_exit_with_0(exit_status):
    outputs = outputs_of([[(3000, 3.0)], [(1500, 3.0)]])
    try:
        result = parse(outputs, 2, exit_status=exit_status)
    except OutputError as error:
        assert error.reason == "failed"
    else:
        assert not result.complete and not result.metrics


@FEW
@given(instances=GRID, data=st.data())
def test_a_run_of_another_kind_or_size_among_them_is_refused(instances, data):
    outputs = outputs_of(instances)
    role = data.draw(st.sampled_from(sorted(outputs)))
    for foreign in (rados_json("write", 100, 1.0, SIZE), rados_json("read", 100, 1.0, 2 * SIZE)):
        with pytest.raises(OutputError, match=", expected "):
            parse({**outputs, role: foreign}, len(instances))


@FEW
@given(
    roles=st.dictionaries(
        st.one_of(st.text(max_size=12), st.from_regex(r"output-[0-9]{1,3}-[0-9]{1,3}", fullmatch=True)),
        st.text(max_size=60),
        max_size=5,
    ),
    instances=st.integers(1, 4),
)
def test_arbitrary_files_are_never_a_result(roles, instances):
    try:
        result = parse(roles, instances)
    except OutputError as error:
        assert error.where
    else:
        assert not result.complete
