"""`rbd bench`: its rate in releases that round and in those that do not, and over time, where a collapse shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import OutputError, judge, reader, render
from support.samples import sample

RBD = reader("rbd-bench")
WRITE_4K = {"io_type": "write", "io_pattern": "rand", "io_size_bytes": 4096}

OLD = """\
bench  type write io_size 4096 io_threads 16 bytes 41943040 pattern random
  SEC       OPS   OPS/SEC   BYTES/SEC
    1     11264  11278.12  46195179.52
elapsed:     0  ops:    10240  ops/sec: 11277.53  bytes/sec: 46192762.88
""".replace("    1     11264  11278.12  46195179.52\n", "")


def parse(text, exit_status=0, levels=None):
    return RBD.parse({"stdout": text}, exit_status, levels or {})


@pytest.mark.parametrize(
    ("name", "operations", "rate", "size", "seconds"),
    [
        ("rbd-bench-read-rand-4k.txt", 32768, 13932, 4096, 2.352),
        ("rbd-bench-read-seq-64k.txt", 8192, 8393.44, 65536, 0.976),
        ("rbd-bench-slow-512B.txt", 512, 3878.79, 512, 0.132),
        ("rbd-bench-tiny-elapsed0.txt", 1024, 6736.84, 4096, 0.152),
        ("rbd-bench-write-full-seq-4k.txt", 4096, 46545.5, 4096, 0.088),
        ("rbd-bench-write-rand-4k.txt", 10240, 11277.5, 4096, 0.908),
    ],
)
def test_a_new_release_s_rate_is_operations_times_size_and_its_time_is_operations_over_rate(
    name, operations, rate, size, seconds
):
    text, status = sample(name)
    metrics = parse(text, status).metrics
    assert metrics["operations"] == operations
    assert metrics["operations_per_second"] == rate
    assert metrics["bytes_per_second"] == pytest.approx(rate * size, rel=1e-12)
    assert metrics["duration_seconds"] == pytest.approx(seconds, abs=5e-6)
    assert metrics["bytes"] == operations * size


def test_an_old_release_s_plain_bytes_are_read_as_the_new_release_s_rounded_units():
    old, new = parse(OLD).metrics, parse(sample("rbd-bench-write-rand-4k.txt")[0]).metrics
    assert old == pytest.approx(new, rel=1e-5)


def test_a_rate_above_one_gibibyte_per_second_is_not_taken_from_the_rounded_figure():
    text = (
        "bench  type read io_size 4194304 io_threads 16 bytes 2147483648 pattern sequential\n"
        "  SEC       OPS   OPS/SEC   BYTES/SEC\n"
        "elapsed: 1   ops: 512   ops/sec: 260.163   bytes/sec: 1.0 GiB/s\n"
    )
    assert parse(text).metrics["bytes_per_second"] == 260.163 * 4194304


def test_reads_and_writes_of_a_mixed_run_are_separate():
    text, status = sample("rbd-bench-rw-70-4k.txt")
    metrics = parse(text, status, {"io_type": "rw", "rw_mix_read": 70}).metrics
    assert (metrics["read_operations"], metrics["write_operations"]) == (10737, 4623)
    assert metrics["read_operations_per_second"] == 6142.45
    assert metrics["operations_per_second"] == 8787.19


def test_the_cut_off_log_of_an_old_release_is_a_series_that_collapses_and_is_marked_incomplete():
    text, _ = sample("rbd-bench-old-cut-off.txt")
    result = parse(text, None, {"io_type": "write", "io_pattern": "seq", "io_size_bytes": 4096})
    rates = [value for _, metric, value in result.series if metric == "operations_per_second"]
    assert not result.complete
    assert dict(result.metrics) == {}
    assert rates[0] > 5000
    assert (min(rates[1:]), max(rates[1:])) == (54, 680)
    assert judge(result)[0] == "incomplete"


def test_a_run_that_hung_when_an_osd_died_keeps_its_series_and_gives_no_figure():
    result = parse(sample("rbd-bench-osdkill-hang.txt")[0], None)
    assert not result.complete
    assert [value for _, name, value in result.series if name == "operations_per_second"] == [1232, 1264]


@pytest.mark.parametrize(
    "name",
    [
        "rbd-bench-err-bad-iotype.txt",
        "rbd-bench-err-missing-image.txt",
        "rbd-bench-err-missing-pool.txt",
        "rbd-bench-err-mon-unreachable.txt",
        "rbd-bench-err-no-iotype.txt",
        "rbd-bench-err-too-big-io.txt",
        "rbd-bench-full-hang.txt",
        "rbd-bench-full-timeout.txt",
    ],
)
def test_a_failed_run_is_a_typed_error_that_quotes_its_message(name):
    text, status = sample(name)
    with pytest.raises(OutputError) as raised:
        parse(text, status)
    assert raised.value.reason == "failed"
    assert status != 0


def test_a_summary_beside_exit_status_110_is_not_believed():
    with pytest.raises(OutputError, match="exit status is 110") as raised:
        parse(OLD, 110)
    assert raised.value.reason == "failed"


@pytest.mark.parametrize(
    "levels",
    [{"io_type": "read"}, {"io_pattern": "seq"}, {"io_size_bytes": 8192}, {"io_threads": 1}, {"io_total_bytes": 4096}],
)
def test_a_run_that_did_something_else_than_requested_is_refused(levels):
    with pytest.raises(OutputError, match=", expected "):
        parse(OLD, levels=levels)


def test_levels_that_agree_with_the_header_are_accepted():
    assert parse(OLD, levels={**WRITE_4K, "io_threads": 16, "io_total_bytes": 41943040}).complete


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ops/sec: 11277.53", "ops/sec: 1127.753"),
        ("elapsed:     0", "elapsed:     1"),
        ("46192762.88", "46192862.88"),
        ("io_size 4096", "io_size 8192"),
        ("11277.53", "nan"),
    ],
)
def test_statements_that_contradict_each_other_are_refused_with_file_and_line(before, after):
    with pytest.raises(OutputError) as raised:
        RBD.parse({"stdout": OLD.replace(before, after)}, 0, {}, names={"stdout": "raw/a.stdout"})
    assert raised.value.where.startswith("raw/a.stdout:")


def test_two_runs_in_one_file_are_refused_with_the_line_where_the_second_begins():
    with pytest.raises(OutputError, match="expected nothing after the summary") as raised:
        parse(OLD + OLD)
    assert raised.value.line == 4


def test_argv_names_image_levels_and_client_options():
    argv = RBD.argv_template(
        WRITE_4K, {"io_threads": 16, "client_options": {"rbd_cache": False, "rados_osd_op_timeout": "6"}}
    )
    assert " ".join(argv) == (
        "rbd --conf {conf} --name {client} bench --io-type write --io-size 4096 --io-threads 16 --io-pattern rand "
        "--io-total {io_total_bytes} {pool}/{image} --rbd_cache=false --rados_osd_op_timeout=6"
    )


def test_argv_of_a_site_with_keyring_and_namespace_is_filled_in():
    template = RBD.argv_template(WRITE_4K, {"keyring": True, "namespace": True})
    values = {"conf": "/c", "client": "client.x", "keyring": "/k", "io_total_bytes": 4096,
              "pool": "p", "namespace": "n", "image": "i"}  # fmt: skip
    argv = render(template, values)
    assert argv[:7] == ["rbd", "--conf", "/c", "--name", "client.x", "--keyring", "/k"]
    assert argv[-1] == "p/n/i"


# Over time: differences instead of printed averages -------------------------------------------------------------------

OVER_TIME = reader("rbd-bench-over-time")
EXTRA = {"early_operations_per_second", "late_operations_per_second", "late_share_of_early"}


def log(counts, seconds=None, size=4096):
    """Return the output of a run that had done `counts` operations after each second."""
    seconds = seconds or range(1, len(counts) + 1)
    total, end = counts[-1], float(max(seconds))
    rows = []
    for row, (second, count) in enumerate(zip(seconds, counts, strict=True)):
        # Over five rows; before there are as many, since the start, with the operations in flight.
        start, before = (seconds[row - 5], counts[row - 5]) if row >= 5 else (0, -16)
        over_five = (count - before) / (second - start)
        rows.append(f"{second:>5} {count:>9} {over_five:>9.6f} {over_five * size:>11.2f}")
    rate = total / end
    return "\n".join(
        [
            f"bench  type write io_size {size} io_threads 16 bytes {total * size} pattern sequential",
            "  SEC       OPS   OPS/SEC   BYTES/SEC",
            *rows,
            f"elapsed: {int(end)}   ops: {total}   ops/sec: {rate:.6f}   bytes/sec: {rate * size:.2f}",
            "",
        ]
    )


def over_time(text, exit_status=0):
    return OVER_TIME.parse({"stdout": text}, exit_status, {})


def rates(result):
    return [(moment, value) for moment, metric, value in result.series if metric == "operations_per_second"]


def test_a_collapse_is_noticed_at_once_even_if_the_printed_column_is_a_mean_of_five_rows():
    result = over_time(log([5000, 5100, 5200, 5250, 5300, 5350]))
    assert rates(result) == [(0.5, 5000), (1.5, 100), (2.5, 100), (3.5, 50), (4.5, 50), (5.5, 50)]
    assert result.metrics["early_operations_per_second"] == 5000
    assert result.metrics["late_operations_per_second"] == 50
    assert result.metrics["late_share_of_early"] == pytest.approx(0.01)


def test_a_second_without_a_row_is_part_of_the_next_rows_mean():
    result = over_time(log([1000, 1500, 2500, 2600, 2700], seconds=[1, 2, 4, 5, 6]))
    assert rates(result)[2] == (3.0, 500)
    assert result.metrics["late_operations_per_second"] == pytest.approx((2700 - 2500) / 2)


def test_a_stall_over_the_whole_second_half_is_the_late_rate():
    result = over_time(log([1000, 1900, 2800, 2850], seconds=[1, 2, 3, 8]))
    assert result.metrics["late_operations_per_second"] == pytest.approx(50 / 5)
    assert result.metrics["late_share_of_early"] == pytest.approx(0.01)


def test_a_run_too_short_for_a_second_half_has_only_the_tool_s_figures():
    text, status = sample("rbd-bench-read-rand-4k.txt")
    result = over_time(text, status)
    assert dict(result.metrics) == dict(RBD.parse({"stdout": text}, status, {}).metrics)
    assert not EXTRA & set(result.metrics)


def test_a_first_second_without_any_operation_has_no_share():
    assert "late_share_of_early" not in over_time(log([0, 10, 20, 30, 40])).metrics


@given(st.lists(st.integers(0, 10**6), min_size=4, max_size=40).filter(lambda steps: steps[0] > 0))
def test_the_series_adds_up_to_the_operations_and_the_late_rate_is_that_of_the_second_half(steps):
    counts = [sum(steps[: n + 1]) for n in range(len(steps))]
    result = over_time(log(counts))
    assert sum(value for _, value in rates(result)) == pytest.approx(counts[-1])
    late = steps[(len(steps) + 1) // 2 :]
    assert result.metrics["late_operations_per_second"] == pytest.approx(sum(late) / len(late))


@given(st.integers(0, 400))
def test_a_log_that_is_cut_off_anywhere_is_an_error_or_incomplete_and_never_gives_a_figure(cut):
    whole = log([5000, 5100, 5200, 5250, 5300, 5350])
    try:
        result = over_time(whole[: min(cut, len(whole) - 1)], None)
    except OutputError as error:
        assert error.where.startswith("stdout:")
    else:
        assert not result.complete
        assert dict(result.metrics) == {}
