"""`rados bench`: one run, as JSON or as text; and a cell of several, at once or one after another, each a file."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError, judge, reader
from replay.tools.base import role_of, roles_by_instance
from replay.tools.rados_bench import removed_objects
from support.hostile import at_most
from support.made_up_output import OCCUPIED, rados_json
from support.samples import sample

RADOS = reader("rados_bench")
MIB = 2**20


def parse(name, levels=None, exit_status=None):
    text, status = sample(name)
    return RADOS.parse({"stdout": text}, status if exit_status is None else exit_status, levels or {})


@pytest.mark.parametrize(
    ("name", "mode", "operations", "seconds", "mib_per_second"),
    [
        ("rados-bench-old-write.txt", "write", 28, 19.505620, 5.742),
        ("rados-bench-old-seq.txt", "seq", 28, 0.804869, 139.153),
        ("rados-bench-old-rand.txt", "rand", 405, 10.302229, 157.248),
        ("rados-bench-old-write-4-threads.txt", "write", 18, 13.123548, 5.486),
    ],
)
def test_the_published_runs_give_their_published_bandwidth(name, mode, operations, seconds, mib_per_second):
    metrics = parse(name, {"mode": mode, "object_size_bytes": 4 * MIB}).metrics
    assert metrics["operations"] == operations
    assert metrics["duration_seconds"] == seconds
    assert round(metrics["bytes_per_second"] / MIB, 3) == mib_per_second


def test_the_published_sequential_read_is_too_short_to_count():
    assert judge(parse("rados-bench-old-seq.txt"))[0] == "too_short"


@pytest.mark.parametrize(
    ("name", "operations", "seconds"),
    [
        ("rados-bench-write-64k.json", 9881, 4.008283),
        ("rados-bench-seq-64k.json", 9881, 1.995195),
        ("rados-bench-rand-64k.json", 16784, 3.001238),
        ("rados-bench-o-option.json", 18928, 3.002686),
    ],
)
def test_json_is_read_with_its_numbers_as_strings_and_rates_as_total_over_time(name, operations, seconds):
    metrics = parse(name, {"object_size_bytes": 65536}).metrics
    assert metrics["operations_per_second"] == operations / seconds
    assert metrics["bytes_per_second"] == operations * 65536 / seconds


def test_rates_over_time_come_from_differences_of_finished_operations():
    series = parse("rados-bench-write-64k.json").series
    rates = [value for _, metric, value in series if metric == "operations_per_second"]
    assert rates == [2572, 2270, 2279, 2745]


def test_a_run_against_a_full_cluster_that_was_cut_off_is_incomplete_and_its_series_shows_the_stall():
    result = parse("rados-bench-full.txt")
    assert not result.complete
    assert [value for _, metric, value in result.series if metric == "operations_per_second"][-3:] == [0, 0, 0]


@pytest.mark.parametrize("name", ["rados-bench-err-nopool.txt", "rados-bench-err-nowrite.txt"])
def test_a_failed_run_is_a_typed_error(name):
    with pytest.raises(OutputError) as raised:
        parse(name)
    assert raised.value.reason == "failed"


@pytest.mark.parametrize("levels", [{"mode": "rand"}, {"object_size_bytes": 4096}, {"threads": 4}])
def test_a_run_that_did_something_else_than_requested_is_refused(levels):
    with pytest.raises(OutputError, match=", expected "):
        parse("rados-bench-write-64k.json", levels)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"total_writes_made":"9881"', '"total_writes_made":"9981"'),
        ('"total_time_run":"4.008283"', '"total_time_run":"4.108283"'),
        ('"bandwidth":"154.071572"', '"bandwidth":"156.071572"'),
        ('"average_latency":"0.006477"', '"average_latency":"nan"'),
        ('"total_time_run":"4.008283"', '"total_time_run":"4_008283"'),
    ],
)
def test_statements_that_contradict_each_other_are_refused(before, after):
    text, _ = sample("rados-bench-write-64k.json")
    assert before in text
    with pytest.raises(OutputError):
        RADOS.parse({"output": text.replace(before, after)}, 0, {})


def test_two_runs_in_one_file_are_refused():
    text, _ = sample("rados-bench-write-4m.txt")
    with pytest.raises(OutputError, match="mixed"):
        RADOS.parse({"stdout": text + text}, 0, {})


def test_cleanup_says_how_many_objects_it_removed():
    assert removed_objects(sample("rados-bench-cleanup.txt")[0]) == 9881
    assert removed_objects("nothing of the kind\n") is None


def test_argv_writes_json_to_a_file_and_keeps_the_objects_for_reads():
    argv = RADOS.argv_template({"io_type": "write", "object_size_bytes": 65536, "threads": 4}, {})
    assert " ".join(argv) == (
        "rados --conf {conf} --name {client} --pool {pool} bench {seconds} write -t 4 --run-name {run_name} "
        "-b 65536 --no-cleanup --format json -o {output}"
    )
    assert "-b" not in RADOS.argv_template({"io_type": "read", "io_pattern": "seq", "object_size_bytes": 65536}, {})


def test_a_pass_of_a_few_hundredths_of_a_second_is_right_although_its_time_has_few_digits():
    text = rados_json("read", 512, 0.07371449, 65536)
    metrics = RADOS.parse({"output": text}, 0, {"mode": "seq", "object_size_bytes": 65536}).metrics
    assert metrics["operations_per_second"] == 512 / 0.073714
    with pytest.raises(OutputError, match="not total divided by time"):
        RADOS.parse({"output": text.replace('"0.073714"', '"0.073764"')}, 0, {})


# Several runs in one cell --------------------------------------------------------------------------------------------

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


def parse_runs(outputs, instances=1, *, mode="seq", exit_status=0):
    levels = {"mode": mode, "object_size_bytes": SIZE, "instances": instances}
    return RADOS.parse(outputs, exit_status, levels)


@FEW
@given(instances=GRID)
def test_passes_are_summed_before_they_are_divided_and_instances_rates_are_added(instances):
    metrics = parse_runs(outputs_of(instances), len(instances)).metrics
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
    metrics = parse_runs(outputs_of(instances), len(instances)).metrics
    assert metrics["latency_mean_seconds"] == pytest.approx(expected, abs=1e-6)
    assert metrics["latency_min_seconds"] <= metrics["latency_mean_seconds"] <= metrics["latency_max_seconds"]


def test_an_average_of_averages_would_be_another_number():
    # A pass of 1000/s for 3 s and one of 100/s for 1 s: 3100 operations in 4 s, and not (1000 + 100) / 2.
    metrics = parse_runs(outputs_of([[(3000, 3.0), (100, 1.0)]])).metrics
    assert metrics["operations_per_second"] == 775
    assert metrics["duration_seconds"] == 4


def test_the_passes_of_a_real_sequential_read_are_one_cell():
    text, _ = sample("rados-bench-seq-64k.json")
    one, two = parse_runs({"output": text}), parse_runs({"output": text, "output-1-2": text})
    for metric in ("operations", "bytes", "duration_seconds"):
        assert two.metrics[metric] == 2 * one.metrics[metric]
    for metric in ("operations_per_second", "latency_mean_seconds"):
        assert two.metrics[metric] == pytest.approx(one.metrics[metric])


def test_the_series_of_a_pass_continues_where_the_one_before_ended():
    series = parse_runs(outputs_of([[(3000, 2.0), (2000, 1.5)]])).series
    moments = [elapsed for elapsed, metric, _ in series if metric == "operations_per_second"]
    assert moments == [1.0, 2.0, 3.0]
    assert parse_runs(outputs_of([[(3000, 2.0)], [(2000, 1.5)]]), 2).series == (), "there is no series of a sum"


def test_a_single_run_is_itself():
    text, _ = sample("rados-bench-write-64k.json")
    assert parse_runs({"output": text}, mode="write") == RADOS.parse({"stdout": text}, 0, {})


def test_an_instance_without_output_is_a_lost_client():
    outputs = outputs_of([[(3000, 3.0)], [(1500, 3.0)], [(10, 3.0)]])
    del outputs["output-2-1"]
    with pytest.raises(OutputError, match="1 of 3 instances left no output: 2") as raised:
        parse_runs(outputs, 3)
    assert raised.value.reason == "client_lost"


def test_an_unexpected_instance_is_refused():
    with pytest.raises(OutputError, match="output of 2 instances, expected 1"):
        parse_runs(outputs_of([[(3000, 3.0)], [(1500, 3.0)]]), 1)


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
        result = parse_runs(outputs, 2, exit_status=exit_status)
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
            parse_runs({**outputs, role: foreign}, len(instances))


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
        result = parse_runs(roles, instances)
    except OutputError as error:
        assert error.where
    else:
        assert not result.complete
