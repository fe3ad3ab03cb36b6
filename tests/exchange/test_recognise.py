"""The runs in a file of results, their options, and the parts that are left out, with the reason."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.foreign_results import ELBENCHO_HEADER, direction, elbencho_row, found, job, only, report
from support.hostile import at_most, damaged_lines
from support.samples import output


def test_fio_s_options_come_from_its_job_and_global_options():
    run = only(report(job(rw="randrw", bs="16k", rwmixread="70", filename="/dev/x"), iodepth="32", direct="1"))
    assert run.levels == {"rw": "randrw", "io_size_bytes": 16384, "io_depth": 32, "rw_mix_read": 70, "jobs": 1}
    assert run.options == {"direct": "1", "filename": "/dev/x"}
    assert (run.version, run.reported_at) == ("fio-3.33", "2023-11-14T22:13:20.000Z")
    assert {"operations_per_second", "latency_p99_seconds", "read_bytes"} <= run.metrics | {"latency_p99_seconds"}


def test_a_level_that_a_report_does_not_state_is_unstated_and_never_fio_s_default():
    one = job()
    one["read"] = direction(20_000, 8192)
    assert only(report(one)).levels == {"rw": "unstated", "io_size_bytes": 8192, "io_depth": "unstated", "jobs": 1}
    assert only(report(job(rw="randrw"))).levels["rw_mix_read"] == "unstated"


def test_a_report_without_options_says_only_what_fio_counted():
    one = job() | {"latency_depth": 32, "iodepth_level": {"1": 0.1, "32": 99.9}}
    del one["job options"]
    levels = {"rw": "unstated", "io_size_bytes": 4096, "io_depth": 32, "jobs": "unstated"}
    assert only(report(one)).levels == levels


@pytest.mark.parametrize(
    ("engine", "shares", "depth"),
    [
        ("psync", None, 1),
        ("psync", {"1": 100.0}, 1),
        ("libaio", {"1": 100.0}, 1),
        ("libaio", {"1": 0.1, "8": 99.9}, 8),
        ("psync", {"1": 0.1, "8": 99.9}, 8),  # io_submit_mode=offload
    ],
)
def test_a_synchronous_engine_has_one_operation_in_flight_whatever_iodepth_said(engine, shares, depth):
    one = job(rw="randread", iodepth="8", ioengine=engine) | ({"iodepth_level": shares} if shares else {})
    run = only(report(one))
    assert run.levels["io_depth"] == depth
    said = (f"{engine} had 1 operation in flight, whatever iodepth said",) if depth == 1 else ()
    assert run.notes == said


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ({"bs": "4k"}, 4096),
        ({"bs": "4KiB"}, 4000),
        ({"bs": "4k", "kb_base": "1000"}, 4000),
        ({"bs": "4KiB", "kb_base": "1000"}, 4096),
    ],
)
def test_sizes_are_what_fio_makes_of_them(options, size):
    one = job(rw="randread")
    one["job options"] |= options
    one["read"] = direction(20_000, size)
    assert only(report(one)).levels["io_size_bytes"] == size


def test_an_option_that_contradicts_the_figures_is_refused():
    one = job(rw="read", bs="4k")
    one["read"] = direction(20_000, 8192)
    runs, reasons = found(report(one))
    assert runs == []
    assert "moved 163840000 bytes in 20000 operations of 4096" in reasons[0]


def test_thousands_of_operations_in_flight_after_the_ramp_are_no_contradiction():
    one = job(rw="randread", bs="4k", iodepth="32", numjobs="64")
    one["read"] |= {"io_bytes": (20_000 + 2000) * 4096, "bw_bytes": 22_000 * 2048}
    assert only(report(one)).levels["io_depth"] == 32


def test_bytes_of_operations_that_were_begun_in_a_long_ramp_are_those_that_were_completed():
    one = job(rw="read", bs="4k", operations=5000)
    one["read"] |= {"io_bytes": 9000 * 4096, "bw_bytes": 4500 * 4096}
    assert found(report(one))[0] == []
    one["read"]["clat_ns"]["N"] = 9000
    assert "operations_per_second" in only(report(one)).metrics


@pytest.mark.parametrize(
    ("around", "whole"),
    [("{}", True), ("\n\n{}\n", True), ("fio: a warning\n<host> said\n{}\n", False), ("{}\n  read: IOPS=1\n", False)],
)
def test_text_around_fio_s_json_is_not_part_of_the_run(around, whole):
    text = around.format(report(job()))
    (part,) = only(text).parts
    assert part.whole == whole
    assert json.loads(part.cut(text.encode()))["jobs"][0]["jobname"] == "job"


def test_jobs_of_numjobs_are_one_run_whether_they_are_reported_as_a_group_or_each():
    each = only(report(*[job(numjobs="3") for _ in range(3)]))
    group = only(report(job(numjobs="3")))
    assert each.levels["jobs"] == group.levels["jobs"] == 3


@pytest.mark.parametrize("told", [{"name": "other"}, {"iodepth": "1"}])
def test_a_group_of_several_sections_does_not_say_how_many_jobs_it_had(told):
    one = job(rw="randread", iodepth="2")  # 10,000 a second, of 200 µs each
    assert only(report(one, group_reporting="1")).levels["jobs"] == 1
    one["job options"] |= told
    assert only(report(one, group_reporting="1")).levels["jobs"] == "unstated"


def test_a_report_that_lacks_a_job_is_left_out():
    assert found(report(job(numjobs="3"), job(numjobs="3"))) == ([], ["job: 2 of 3 jobs reported"])


def test_jobs_after_a_stonewall_are_separate_runs_cut_from_the_bytes_of_the_report():
    text = report(job("a", rw="read"), job("b", rw="write", group=1), job("c", rw="randread", group=2)).encode()
    runs, _ = found(text)
    assert [run.levels["rw"] for run in runs] == ["read", "write", "randread"]
    for run, name in zip(runs, "abc", strict=True):
        (part,) = run.parts
        assert not part.whole
        assert [one["jobname"] for one in json.loads(part.cut(text))["jobs"]] == [name]
    assert all("workloads_at_once" not in run.levels for run in runs)


def test_unlike_jobs_that_ran_at_once_say_so():
    runs, _ = found(report(job("a", rw="read"), job("b", rw="write"), job("a2", rw="read")))
    assert [(run.levels["rw"], run.levels["jobs"], run.levels["workloads_at_once"]) for run in runs] == [
        ("read", 2, 2),
        ("write", 1, 2),
    ]


def test_a_character_that_json_writes_in_two_halves_is_one():
    text = report(job("\N{ROCKET}", rw="read"))
    assert "\\ud83d\\ude80" in text
    assert only(text).job == "\N{ROCKET}"


def test_names_in_non_latin_scripts_do_not_shift_the_bytes_of_a_cut():
    one, other = job("schlüssel-読む", rw="read"), job("b", rw="write", group=1)
    text = json.dumps({"fio version": "fio-3.1", "jobs": [one, other]}, indent=1, ensure_ascii=False).encode()
    runs, reasons = found(text)
    assert reasons == []
    assert [json.loads(run.parts[0].cut(text))["jobs"][0]["jobname"] for run in runs] == ["schlüssel-読む", "b"]


@pytest.mark.parametrize(("name", "clients"), [("1", 1), ("2", 2), ("2-jsonplus", 2), ("8", 8)])
def test_clients_and_their_sum_are_one_run(name, clients):
    assert only(output(f"fio-client-server-{name}.json")).levels["jobs"] == clients


def test_the_first_releases_of_fio_3_report_less_and_are_read_too():
    one = job(rw="randread")
    stats = one["read"]
    del stats["bw_bytes"], stats["clat_ns"]["N"], stats["lat_ns"]["N"]
    text = report(one, version="fio-3.1").replace('"99.900000": 2000000', '"99.900000": 2000000, "0.00": 0, "0.00": 0')
    assert only(text).levels["rw"] == "randread"


@pytest.mark.parametrize("version", ["fio-1.59", "x"])
def test_a_release_whose_units_are_not_known_is_named(version):
    assert found(report(job(), version=version)) == (
        [],
        [f"a report of {version!r}: Replay knows the units of fio 2 and later"],
    )


@pytest.mark.parametrize(("version", "jobs"), [("fio-3.3", "unstated"), ("fio-3.4", 1), ("fio-2.21", "unstated")])
def test_releases_that_do_not_say_how_many_jobs_a_group_had_leave_it_unstated(version, jobs):
    assert only(report(job(rw="randread"), version=version, group_reporting="1")).levels["jobs"] == jobs
    assert only(report(job(numjobs="4"), version=version)).levels["jobs"] == 4


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"bssplit": "4k/50:8k/50"}, "its block sizes vary"),
        ({"bsrange": "4k-64k"}, "its block sizes vary"),
        ({"rw": "trim"}, "rw=trim is neither reading nor writing"),
        ({"iodepth": "many"}, "iodepth=many is not a number"),
    ],
)
def test_a_job_without_a_single_level_is_left_out(options, why):
    one = job()
    one["job options"] |= options
    runs, (reason,) = found(report(one))
    assert runs == []
    assert why in reason


def test_a_block_size_for_each_direction_is_that_of_the_only_one():
    one = job(rw="randwrite", bs="16k")
    one["job options"]["bs"] = "4k,16k"
    assert only(report(one)).levels["io_size_bytes"] == 16384


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("rbd-bench-write-rand-4k.txt", {"io_type": "write", "io_pattern": "rand", "io_size_bytes": 4096}),
        ("rbd-bench-rw-70-4k.txt", {"io_type": "readwrite", "rw_mix_read": 70}),
        ("rados-bench-write-4m.txt", {"mode": "write", "object_size_bytes": 4 << 20, "threads": 16}),
        ("rados-bench-old-seq.txt", {"mode": "read", "object_size_bytes": 4 << 20}),
        ("rados-bench-write-64k.json", {"mode": "write", "object_size_bytes": 65536, "threads": 16}),
    ],
)
def test_output_of_ceph_s_own_tools_is_recognised_by_its_content(name, levels):
    content = output(name)
    run = only(content, "results.bin")
    assert levels.items() <= run.levels.items()
    assert only(b"a warning\n" + content, "results.bin").levels == run.levels


@pytest.mark.parametrize("name", ["rbd-bench-old-cut-off.txt", "rados-bench-full.txt", "rbd-bench-osdkill-hang.txt"])
def test_a_run_that_was_cut_off_is_left_out(name):
    assert found(output(name)) == ([], ["a run without a summary: it was cut off"])


def test_each_row_of_elbencho_s_csv_is_a_run_with_the_header_above_it():
    text = ELBENCHO_HEADER + elbencho_row("MKDIRS") + elbencho_row("READ") + elbencho_row("WRITE", size=65536, iops=900)
    assert '"--hosts" "node1 node2 " ' in text  # which csv's strict reader refuses
    runs, reasons = found(text, "results.csv")
    assert reasons == ["1 row of 'MKDIRS': only READ, WRITE and RWMIX are imported"]
    assert [(run.levels["io_type"], run.levels["io_size_bytes"], run.levels["threads"]) for run in runs] == [
        ("read", 4096, 8),
        ("write", 65536, 8),
    ]
    assert runs[0].parts[0].cut(text.encode()).decode() == ELBENCHO_HEADER + elbencho_row("READ")
    assert (runs[0].version, runs[0].reported_at) == ("elbencho 3.0-27", "2026-05-22T16:09:38.000Z")


def test_reads_and_writes_of_a_mixed_row_are_summed_up():
    reads = {"rwmix read IOPS [last]": "700", "rwmix read MiB/s [last]": "2"}
    run = only(ELBENCHO_HEADER + elbencho_row("RWMIX70", iops=300, **reads))
    assert (run.levels["io_type"], run.levels["rw_mix_read"]) == ("rw", 70)
    assert {"read_operations_per_second", "write_operations_per_second"} <= run.metrics


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"MiB/s [last]": "999"}, "999 MiB/s are more than"),
        ({"MiB [last]": "9999"}, "are not 19 MiB/s"),
        ({"IOPS [last]": ""}, "no number 'IOPS [last]'"),
        ({"block size": "4k"}, "'block size' is not a number"),
        ({"random": ""}, "whether the I/O was random"),
        ({"time ms [last]": "0"}, "less than a millisecond"),
    ],
)
def test_a_row_that_contradicts_itself_is_left_out(fields, why):
    runs, (reason,) = found(ELBENCHO_HEADER + elbencho_row(**fields))
    assert runs == []
    assert why in reason


def command_of(*words: str) -> dict[str, str]:
    return {"command": " ".join(f'"{word}"' for word in ("/opt/bin/elbencho", *words)) + " "}


def test_an_option_that_only_elbencho_s_command_states_is_an_option():
    words = ("--block", "4096", "--blockvarpct", "100", "--nofdsharing", "--rotatehosts=2", "/mnt/files")
    options = only(ELBENCHO_HEADER + elbencho_row(**command_of(*words))).options
    expected = {"command blockvarpct": "100", "command nofdsharing": "1", "command rotatehosts": "2"}
    assert expected.items() <= options.items()
    assert "command block" not in options


def test_accounts_passwords_and_servers_are_no_options():
    told = {"http_host": "s3.lan", "http_s3_key": "hidden", "http_s3_keyid": "me", "http_s3_region": "eu"}
    assert only(report(job(rw="read", **told))).options == {"http_s3_region": "eu"}
    words = ("--s3endpoints", "http://10.0.0.1", "--s3aclgrantee=me", "--s3secret", "hidden", "--s3fastget", "/mnt")
    options = only(ELBENCHO_HEADER + elbencho_row(**command_of(*words))).options
    assert [name for name in options if name.startswith("command s3")] == ["command s3fastget"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--block", "8K"), "its command line asks for io_size_bytes 8192, its output says 4096"),
        (("-t", "16"), "its command line asks for threads 16, its output says 8"),
    ],
)
def test_a_command_that_contradicts_its_row_is_refused(words, why):
    runs, (reason,) = found(ELBENCHO_HEADER + elbencho_row(**command_of(*words, "/mnt/files")))
    assert runs == []
    assert why in reason


def test_a_date_without_a_time_zone_is_ignored():
    assert only(ELBENCHO_HEADER + elbencho_row(**{"ISO date": "2026-05-22T16:09:38"})).reported_at is None


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x7fELF\0\0", "not text"),
        (b"\xff\xfe{", "not UTF-16 text"),
        (b"\xff{", "not UTF-8 text"),
        (b"1000, 23, 0, 4096, 0\n2000, 25, 0, 4096, 0\n", "looks like one of fio's logs over time"),
        (b'{"Total time run": "10.1", "Bandwidth (MB/sec)": "100"}', "CBT's own summary"),
        (b'{"fio version": "fio-3.33", "jobs": [', "not whole JSON"),
        (b'{"fio version": "fio-3.33"}', "it has neither a list 'jobs'"),
        (b'{"fio version": "fio-3.33", "jobs": []}', "it reports no job"),
        (b"Label,Phase,RuntimeMS,Rank,MixType,Done%\n,WRITE,5000,Total,,0\n", "elbencho's statistics over time"),
        (b'ISO DATE: 2022-03-09T15:40:28-0800\nCOMMAND LINE: "elbencho"\n', "looks like elbencho's results as text"),
        (b"hello", "contains none of fio's results"),
        (b'{"fio version": ' + b"[" * 100_000, "not whole JSON"),
        (b"[" * 2000 + b'{"fio version": "fio-3.33"}' + b"]" * 2000, ""),
        (b'{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "read": {"total_ios": 1e999}}]}', "beyond what any"),
        (b'{"fio version": "fio-3.33", "jobs": [{"jobname": "a\\udcff"}]}', "half of a character"),
        (b'{"fio version": "fio-3.33", "jobs": [{"jobname": "\\ud83d b"}]}', "half of a character"),
    ],
)
def test_a_file_without_a_result_is_left_out_with_its_reason(content, why):
    runs, (reason,) = found(content)
    assert runs == []
    assert why in reason


WHOLE = {
    "fio": report(job("a", rw="read", numjobs="2"), job("b", rw="write", group=1), iodepth="4"),
    "clients": output("fio-client-server-2.json").decode(),
    "rbd": output("rbd-bench-rw-70-4k.txt").decode(),
    "rados": output("rados-bench-write-4m.txt").decode(),
    "rados JSON": output("rados-bench-seq-64k.json").decode(),
    "elbencho": ELBENCHO_HEADER + elbencho_row("READ") + elbencho_row("RWMIX50"),
}


@pytest.mark.parametrize("name", WHOLE)
@at_most(60)
@given(data=st.data())
def test_a_damaged_file_is_read_or_left_out_and_nothing_else(name, data):
    text = data.draw(damaged_lines(WHOLE[name], WHOLE["fio"]))
    runs, reasons = found(text)
    assert runs or reasons
    for run in runs:
        assert all(0 <= start < end <= part.size for part in run.parts for start, end in part.ranges)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("fio-3.33"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["jobs", "job options", "read", "bs", "jobname", "groupid"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@at_most(200)
@given(value=st.dictionaries(st.sampled_from(["jobs", "client_stats", "global options", "timestamp_ms"]), JSON))
def test_a_report_of_wrong_types_is_left_out(value):
    runs, reasons = found(json.dumps({"fio version": "fio-3.33", **value}))
    assert runs == []
    assert reasons


@at_most(200)
@given(content=st.binary(max_size=300))
def test_any_bytes_are_read_or_left_out(content):
    for around in (b"%s", b'{"fio version": "fio-3.33"%s', b"ISO date,%s\n%s", b"   sec Cur ops   started  finished%s"):
        runs, reasons = found(around.replace(b"%s", content))
        assert runs == []
        assert reasons
