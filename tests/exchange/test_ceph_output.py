"""Output of `rados bench` and `rbd bench` of all releases, alone and in notes, and what is refused."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.exchange.importing.text_outputs import CUT_OFF
from replay.tools import reader
from support.foreign_results import behind, fenced, found, logged, only
from support.hostile import at_most, some_lines_of
from support.samples import output, sample

RADOS, _ = sample("rados-bench-write-4m.txt")
SUMMARY = RADOS[RADOS.index("Total time run") :]
READ, _ = sample("rados-bench-old-seq.txt")
RBD, _ = sample("rbd-bench-write-rand-4k.txt")
#: As `rados bench` of Infernalis and Jewel printed it: other words, columns that run together, no colon.
OLD = """\
 Maintaining 16 concurrent writes of 4194304 bytes to objects of size 4194304 for up to 2 seconds or 0 objects
 Object prefix: benchmark_data_host_1
   sec Cur ops   started  finished  avg MB/s  cur MB/s last lat(s)  avg lat(s)
     0       0         0         0         0         0           -           0
     1      16       100        84   335.933       336   0.0146232   0.1897381
     2      16       200       184   367.943       400    0.101246   0.1742496
 Total time run:         2.12307
Total writes made:      200
Write size:             4194304
Bandwidth (MB/sec):     376.813

Stddev Bandwidth:       45.2548
Max bandwidth (MB/sec): 400
Min bandwidth (MB/sec): 336
Average IOPS            94
Stddev IOPS:            11
Max IOPS:               100
Min IOPS:               84
Average Latency(s):     0.16391
Stddev Latency(s):      0.0726092
Max latency(s):         0.396385
Min latency(s):         0.007925
"""


# rados bench ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(str, id="as it is"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(lambda text: text.replace("for up to 2 seconds", "for up to 20 seconds"), id="an announced time"),
        pytest.param(lambda text: text.replace(" or 0 objects", ""), id="without objects"),
        pytest.param(lambda text: text.replace("Max IOPS:               100", "Max IOPS: -2147483648"), id="garbage"),
        pytest.param(lambda text: text.replace("335.933       336", "  336       336"), id="three digits"),
        pytest.param(lambda text: text.replace("376.813", "377"), id="bandwidth of three digits"),
        pytest.param(fenced, id="Markdown"),
        pytest.param(logged, id="log"),
        pytest.param(lambda text: behind("    ", text), id="indented"),
        pytest.param(lambda text: behind("> ", text), id="quoted"),
    ],
)  # fmt: skip
def test_text_of_old_releases_is_read_wherever_it_stands(change):
    run = only(change(OLD))
    assert run.levels == {"mode": "write", "object_size_bytes": 4 << 20, "threads": 16}
    assert {"operations_per_second", "bytes_per_second", "latency_mean_seconds"} <= run.metrics


def test_writes_and_reads_of_one_note_are_two_runs_and_each_has_the_levels_that_it_states():
    runs, reasons = found(fenced(RADOS) + fenced(READ))
    assert reasons == []
    assert [(run.levels["mode"], run.levels.get("threads")) for run in runs] == [("write", 16), ("read", None)]


def test_a_summary_alone_is_read_as_such():
    run = only(f"# Results\n{SUMMARY}")
    assert run.levels == {"mode": "write", "object_size_bytes": 4 << 20}
    assert run.series == frozenset()
    assert any("a summary alone" in note for note in run.notes)


@pytest.mark.parametrize(
    ("command", "levels"),
    [
        ("$ rados bench -p test 10 seq -t 32", {"mode": "seq", "threads": 32}),
        ("root@host:~# rados bench -p seq 10 rand --concurrent-ios=8", {"mode": "rand", "threads": 8}),
        ("`rados -p test bench 60 rand`", {"mode": "rand"}),
    ],
)
def test_what_only_the_command_line_above_an_output_states_is_a_level(command, levels):
    assert only(f"{command}\n{READ}").levels == {"object_size_bytes": 4 << 20, **levels}


@pytest.mark.parametrize(
    ("command", "text", "why"),
    [
        ("rados bench -p test 10 seq", RADOS, "asks for seq, its output is of writes"),
        ("rados bench -p test 10 write", READ, "asks for write, its output is of reads"),
        ("rados bench -p test 10 write -t 8", RADOS, "asks for threads 8, its output says 16"),
    ],
)
def test_a_command_line_that_contradicts_its_output_is_refused(command, text, why):
    runs, (reason,) = found(f"$ {command}\n{text}")
    assert runs == []
    assert why in reason


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (RADOS.replace("Bandwidth (MB/sec):     553.956", "Bandwidth (MB/sec):     653.956"), ""),
        (RADOS[: RADOS.index("Average Latency")], CUT_OFF),
        (RADOS.replace("Write size:             4194304\nObject size:            4194304\n", ""), "how large"),
    ],
)
def test_a_summary_that_contradicts_itself_or_was_cut_off_is_refused(text, why):
    runs, (reason,) = found(text)
    assert runs == []
    assert why in reason


def test_json_and_text_of_one_note_are_runs_of_their_own():
    report = output("rados-bench-write-64k.json").decode()
    runs, reasons = found(f"$ rados bench -p a 5 write -f json\n{report}\n{fenced(RADOS)}")
    assert reasons == []
    assert [run.levels["object_size_bytes"] for run in runs] == [4 << 20, 65536]


PRETTY = output("rados-bench-seq-64k.json").decode()


@pytest.mark.parametrize("name", ["rados-bench-seq-64k.json", "rados-bench-write-64k.json"])
@pytest.mark.parametrize("change", [fenced, logged, lambda text: behind("    ", text), lambda text: behind("> ", text)])
def test_json_is_read_wherever_it_stands(name, change):
    plain = output(name).decode()
    run = only(change(plain))
    assert (run.levels, run.metrics, run.series) == (only(plain).levels, only(plain).metrics, only(plain).series)


def test_what_the_command_line_behind_the_times_of_a_log_asks_of_json_is_a_level():
    assert only(logged(f"$ rados bench -p a 5 seq -t 32\n{PRETTY}")).levels["threads"] == 32
    runs, (reason,) = found(logged(f"$ rados bench -p a 5 write\n{PRETTY}"))
    assert runs == []
    assert "asks for write, its output is of reads" in reason


@at_most(80)
@given(prefix=st.text("ab|:[]#/.> -", max_size=20).map(lambda text: f"{text} "))
def test_json_is_the_same_whatever_a_log_puts_before_each_line(prefix):
    content = behind(prefix, PRETTY)
    run = only(content)
    assert run.levels == {"mode": "read", "object_size_bytes": 65536}
    assert json.loads(run.parts[0].cut(content.encode())) == json.loads(PRETTY[PRETTY.index("{") :])


@at_most(80)
@given(some_lines_of(logged(PRETTY)))
def test_whatever_is_lost_of_json_in_a_log_a_run_is_read_or_left_out(text):
    runs, reasons = found(text)
    assert runs or reasons


@at_most(80)
@given(some_lines_of(fenced(RADOS) + fenced(READ) + OLD))
def test_whatever_is_lost_of_a_note_a_run_is_read_or_left_out(text):
    runs, reasons = found(text)
    assert runs or reasons
    for run in runs:
        assert run.levels["object_size_bytes"] == 4 << 20


# rbd bench -----------------------------------------------------------------------------------------------------------

LONG = """\
bench  type write io_size 4096 io_threads 1 bytes 8192000 pattern random
  SEC       OPS   OPS/SEC   BYTES/SEC
    1       500   500.00   2.0 MiB/s
    2      1000   500.00   2.0 MiB/s
    3      1500   500.00   2.0 MiB/s
elapsed: 4   ops: 2000   ops/sec: 500   bytes/sec: 2.0 MiB/s
"""


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(str, id="as it is"),
        pytest.param(fenced, id="Markdown"),
        pytest.param(logged, id="log"),
        pytest.param(lambda text: behind("\t", text), id="indented"),
        pytest.param(lambda text: re.sub(r"^ +2 .*", "...", text, flags=re.MULTILINE), id="elided"),
    ],
)  # fmt: skip
def test_rbd_bench_is_read_wherever_it_stands(change):
    run = only(change(LONG))
    assert run.levels == {"io_type": "write", "io_pattern": "rand", "io_size_bytes": 4096, "io_threads": 1}
    assert {"operations_per_second", "bytes_per_second"} <= run.metrics


def test_a_run_so_slow_that_its_rate_is_rounded_has_that_of_its_bytes():
    text = """\
bench  type write io_size 4194304 io_threads 1 bytes 20971520 pattern sequential
  SEC       OPS   OPS/SEC   BYTES/SEC
elapsed:    40  ops:        5  ops/sec:     0.12  bytes/sec: 519028.87
"""
    read = reader("rbd_bench_output").parse({"output": text}, None, only(text).levels)
    assert read.metrics["bytes_per_second"] == pytest.approx(519028.87)
    assert read.metrics["operations_per_second"] == pytest.approx(519028.87 / 4194304)


def test_a_command_line_that_contradicts_rbd_bench_is_refused():
    runs, (reason,) = found(f"$ rbd bench --io-type write --io-size 8K pool/image\n{RBD}")
    assert runs == []
    assert "asks for io_size_bytes 8192, its output says 4096" in reason


def test_several_runs_of_one_note_are_separate_and_a_cut_one_is_named():
    runs, reasons = found(f"{fenced(LONG)}{fenced(RBD)}{fenced(LONG[: LONG.index('elapsed')])}")
    assert [run.levels["io_threads"] for run in runs] == [1, 16]
    assert reasons == [CUT_OFF]


@at_most(80)
@given(some_lines_of(fenced(LONG) + RBD))
def test_whatever_is_lost_of_rbd_bench_a_run_is_read_or_left_out(text):
    runs, reasons = found(text)
    assert runs or reasons
    assert len(runs) <= len(re.findall(r"^bench ", text, re.MULTILINE))
