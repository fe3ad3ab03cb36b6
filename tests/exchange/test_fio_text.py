"""The runs in fio's normal and terse text: reports of one run, jobs, and the command line above them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.tools import reader
from support.foreign_results import found, job, only, report
from support.hostile import at_most, some_lines_of

HEADER = "job: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=16\n"
BANNER = "fio-3.33\n"
STATUS = """
Run status group 0 (all jobs):
   READ: bw=39.1MiB/s (40.0MB/s), 39.1MiB/s-39.1MiB/s, io=391MiB (410MB), run=10000-10000msec
"""
COMMAND = "$ fio --name=job --rw=randread --bs=4k --iodepth=16 --ioengine=libaio --direct=1"


def section(seconds: int = 10, *, name: str = "job", error: int = 0, process: int = 1) -> str:
    """Return what fio prints of a job of 10,000 operations of 4 KiB per second."""
    operations = 10_000 * seconds
    return f"""\
{name}: (groupid=0, jobs=1): err= {error}: pid={process}: Fri May  3 10:00:00 2024
  read: IOPS=10.0k, BW=39.1MiB/s (41.0MB/s)({operations / 256:.0f}MiB/{1000 * seconds}msec)
    slat (nsec): min=1000, max=9000, avg=2000.00, stdev=10.00
    clat (usec): min=100, max=9000, avg=1500.00, stdev=100.00
     lat (usec): min=102, max=9002, avg=1502.00, stdev=100.00
    clat percentiles (usec):
     |  1.00th=[  500], 50.00th=[ 1400], 95.00th=[ 3000], 99.00th=[ 4000], 99.90th=[ 8000]
  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=0.1%, 16=100.0%, 32=0.0%, >=64=0.0%
     issued rwts: total={operations},0,0,0 short=0,0,0,0 dropped=0,0,0,0
"""


def text_of(*, error: int = 0, started: str = "Starting 1 process", banner: str = BANNER) -> str:
    return f"{HEADER}{banner}{started}\n\n{section(error=error)}{STATUS}"


def terse(seconds: int = 10) -> str:
    """Return a line of fio's terse text, version 3, of a job of 10,000 reads of 4 KiB per second."""
    latency = ["100", "9000", "1500.0", "100.0"]
    reads = [f"{40_000 * seconds}", "40000", "10000", f"{1000 * seconds}", *["0"] * 4, *latency]
    reads += ["99.000000%=4000", *["0%=0"] * 19, *latency, *["0"] * 5]
    writes = [*["0"] * 12, *["0%=0"] * 20, *["0"] * 9]
    return ";".join(["3", "fio-3.33", "job", "0", "0", *reads, *writes, "1.0%", "2.0%", "9", "0", "1"]) + "\n"


def operations(run, text: str) -> float:
    return (
        reader(run.tool)
        .parse({"output": run.parts[0].cut(text.encode()).decode()}, None, run.levels)
        .metrics["operations"]
    )


def test_headline_figures_are_read_as_such():
    run = only(text_of())
    assert run.levels == {"rw": "randread", "io_size_bytes": 4096, "io_depth": 16, "jobs": 1}
    assert (run.version, run.options) == ("fio-3.33", {"ioengine": "libaio"})
    assert {"operations_per_second", "latency_mean_seconds", "latency_p99_seconds"} <= run.metrics
    assert any("only headline figures" in note for note in run.notes)


def test_text_behind_the_times_of_a_log_is_the_same():
    text = "".join(f"[{at:3}.5] pod-1 | {line}\n" for at, line in enumerate(text_of().splitlines()))
    run = only(text)
    assert run.levels == only(text_of()).levels
    assert run.metrics == only(text_of()).metrics


def test_a_version_that_a_script_says_before_hides_nothing():
    text = text_of()
    log = "".join(f"[{at:3}.5] pod-1 | {line}\n" for at, line in enumerate(text.splitlines()))
    for run in (only(f"Version: fio-3.33\n{output}") for output in (text, log)):
        assert (run.levels, run.metrics, run.version) == (only(text).levels, only(text).metrics, "fio-3.33")
    assert only(f"Version: fio-3.33\n{terse()}").levels == only(terse()).levels


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (text_of(error=5), "job: error 5: its figures do not count"),
        (text_of(started="Starting 2 processes"), "job: 1 of 2 jobs reported"),
        (text_of().replace("/10000msec", "/5000msec"), ""),
    ],
)
def test_text_of_a_run_that_failed_or_contradicts_itself_is_refused(text, why):
    runs, (reason,) = found(text)
    assert runs == []
    assert why in reason


@pytest.mark.parametrize(
    "text",
    [
        text_of().replace("IOPS=10.0k", "IOPS=1.0.0k"),
        text_of().replace("groupid=0", f"groupid={'9' * 5000}"),
        terse().replace(";40000;10000;", ";40000;nan;"),
    ],
    ids=["a rate", "a group", "terse"],
)
def test_text_whose_figures_are_no_numbers_is_left_out(text):
    runs, reasons = found(text)
    assert runs == []
    assert reasons


def test_text_beside_the_json_of_a_run_counts_once():
    assert only(f"{text_of()}\n{report(job(rw='randread', bs='4k'))}").tool == "fio_report"


def test_terse_text_beside_the_normal_text_of_a_run_counts_once():
    text = f"{HEADER}{BANNER}Starting 1 process\n{terse()}{section()}{STATUS}"
    assert only(text).levels == only(text_of()).levels
    assert len(found(f"{text_of()}\n$ fio --minimal again.fio\n{terse()}")[0]) == 2


@at_most(80)
@given(some_lines_of(f"{COMMAND} --numjobs=1\n{text_of()}{section(20)}{STATUS}{terse()}"))
def test_damaged_text_is_read_or_left_out(text):
    runs, reasons = found(text)
    assert runs or reasons


# Reports of one run --------------------------------------------------------------------------------------------------


@at_most(60)
@given(
    seconds=st.lists(st.integers(1, 90), min_size=2, max_size=6).map(sorted),
    processes=st.lists(st.integers(1, 99_999), min_size=1, max_size=4, unique=True),
)
def test_however_often_fio_prints_a_run_is_one_run_with_the_figures_of_the_last_report(seconds, processes):
    blocks = ("".join(section(at, process=one) for one in processes) + STATUS for at in seconds)
    text = f"{HEADER}...\n{BANNER}Starting {len(processes)} processes\n\n{''.join(blocks)}"
    run = only(text)
    assert run.levels["jobs"] == len(processes)
    assert operations(run, text) == 10_000 * seconds[-1] * len(processes)


def test_intervals_of_jobs_with_other_names_are_one_report():
    header = HEADER + HEADER.replace("job:", "other:").replace("randread", "read")
    blocks = "".join(section(at) + section(at, name="other", process=2) + STATUS for at in (1, 2, 3))
    runs, reasons = found(f"{header}{BANNER}Starting 2 processes\n\n{blocks}")
    assert reasons == []
    assert [(run.levels["rw"], run.levels["workloads_at_once"]) for run in runs] == [("randread", 2), ("read", 2)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"{text_of()}\n{text_of()}", 2),
        (f"{text_of()}{section(process=2)}{STATUS}", 2),
        (f"{section(10)}{STATUS}{section(20)}{STATUS}", 1),
        (f"{section(10)}{STATUS}{section(10)}{STATUS}", 2),
    ],
    ids=["another version line", "another process", "no version, but longer", "no version, as long"],
)
def test_text_of_another_run_is_told_from_a_later_report(text, count):
    runs, reasons = found(text)
    # The same text twice is one run, which `collect` finds out.
    assert (len(runs), reasons) == (count, [])


# The command line above it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [text_of(), terse()], ids=["normal", "terse"])
@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("--bs=8k", "asks for bs=8k, its report says 4096"),
        ("--numjobs=4", "asks for numjobs=4, its text is of 1"),
        ("-bs 64k -group_reporting", "asks for bs=64k"),
    ],
)
def test_a_command_line_that_contradicts_the_text_is_refused(text, asked, why):
    runs, (reason,) = found(f"$ fio --name=job {asked}\n{text}")
    assert runs == []
    assert why in reason


@pytest.mark.parametrize("asked", ["--rw=randwrite", "--iodepth=1", "--ioengine=psync", "--rw=read"])
def test_a_command_line_that_contradicts_what_only_normal_text_says_is_refused(asked):
    runs, (reason,) = found(f"$ fio --name=job {asked}\n{text_of()}")
    assert runs == []
    assert "the command line above it asks for" in reason


@pytest.mark.parametrize(
    "command",
    [
        COMMAND,
        "$ sudo fio -filename=/dev/x -direct=1 -rw=randread -bs=4096 -iodepth 16 -numjobs=1 -name=job",
        "$ fio --direct=1 \\\n    --blocksize=4K \\\n    --readwrite=randread:8 --name=job",
        "$ fio --name=global --direct=1 --name=first --bs=64k --rw=write --name=job --bs=4k",
        "$ fio --name=job --direct=1 --bs=$BS --iodepth=<depth> --rw='${RW}'",
        "$ fio --name=job --direct=1 && fio --name=other --bs=64k",
        "$ fio --name=job --direct=1\n$ fio --name=other --bs=64k",
    ],
)
def test_a_command_line_that_says_the_same_adds_what_the_text_does_not_say(command):
    run = only(f"{command}\n{text_of()}")
    assert run.levels == only(text_of()).levels
    assert run.options == {"ioengine": "libaio", "direct": "1"}


def test_terse_text_has_the_levels_of_the_command_line_above_it():
    run = only(f"{COMMAND} --minimal --numjobs=4 --group_reporting\n{terse()}")
    assert run.levels == {"rw": "randread", "io_size_bytes": 4096, "io_depth": 16, "jobs": 4}
    alone = {"rw": "unstated", "io_size_bytes": 4096, "io_depth": "unstated", "jobs": "unstated"}
    assert only(terse()).levels == alone
    first, second = found(f"{COMMAND}\n{terse()}\n$ fio --minimal --name=job --iodepth=4\n{terse(20)}")[0]
    assert (first.levels["rw"], second.levels["rw"], second.levels["io_depth"]) == ("randread", "unstated", 4)
    assert found(f"{COMMAND}\n{terse()}\n$ date\nFriday\n{terse(20)}")[0] == []


def test_terse_text_of_writes_has_their_size():
    fields = terse().split(";")
    reads, writes = fields[5:46], fields[46:87]
    assert only(";".join([*fields[:5], *writes, *reads, *fields[87:]])).levels["io_size_bytes"] == 4096


def test_terse_lines_of_all_jobs_that_the_command_line_asks_for_are_one_run():
    text = terse() + terse(20)
    run = only(f"{COMMAND} --numjobs=2\n{text}")
    assert (run.levels["jobs"], operations(run, f"{COMMAND} --numjobs=2\n{text}")) == (2, 300_000)
    for command in ("", COMMAND, f"{COMMAND} --numjobs=3", f"{COMMAND} --numjobs=2 --group_reporting"):
        assert found(f"{command}\n{text}")[0] == []


def test_of_terse_reports_at_intervals_that_the_command_line_asks_for_the_last_counts():
    for more, jobs in (("--group_reporting", 1), ("", 1), ("--numjobs=2", 2)):
        lines = "".join(terse(seconds) * jobs for seconds in (1, 2, 3))
        text = f"{COMMAND} --minimal --status-interval=1 {more}\n{lines}"
        assert operations(only(text), text) == 30_000 * jobs


def test_a_command_line_is_not_that_of_the_next_output():
    runs, reasons = found(COMMAND + "\n" + text_of() + "\n" + text_of(banner="fio-3.35\n"))
    assert reasons == []
    assert [run.options.get("direct") for run in runs] == ["1", None]


WORDS = st.sampled_from([
    "--name", "--name=job", "--name=global", "--name=other", "--rw", "--rw=randread", "-rw=write", "--bs=4k", "--bs",
    "--bs=8k,4k", "--iodepth=16", "--numjobs=1", "--numjobs", "--group_reporting", "--", "-", "=", "--=", "job.fio",
    "|", "16", "'", '"', "\\", "$BS", "\u200b",
])  # fmt: skip


@at_most(200)
@given(st.lists(WORDS, max_size=8).map(" ".join))
def test_whatever_a_command_line_says_the_text_below_is_read_as_it_is_or_refused(words):
    runs, reasons = found(f"$ fio {words}\n{text_of()}")
    assert runs or reasons
    for run in runs:
        assert run.levels == only(text_of()).levels
