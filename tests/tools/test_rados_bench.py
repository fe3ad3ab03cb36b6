import pytest

from replay.tools import OutputError, judge, reader
from replay.tools.rados_bench import removed_objects
from support.made_up_output import rados_json
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
