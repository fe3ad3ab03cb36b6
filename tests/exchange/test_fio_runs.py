"""Which jobs of fio's reports are one run: reports of one run, jobs at once, jobs in a row; and where reports stand."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.foreign_results import behind, direction, fenced, found, job, logged, report
from support.hostile import at_most
from support.samples import output


def jobs_of(text: str | bytes) -> list[list[str]]:
    """Return the names of the jobs of each run in a text, as they are cut out of it."""
    content = text if isinstance(text, bytes) else text.encode()
    return [[one["jobname"] for one in json.loads(run.parts[0].cut(content))["jobs"]] for run in found(content)[0]]


def lasting(seconds: float, *, operations_per_second: int = 1000, **options: str) -> dict:
    """Return a job that ran this long, with a start in milliseconds if `job_start` is given."""
    start = options.pop("job_start", None)
    one = job(options.pop("name", "job"), rw=options.pop("rw", "read"), **options)
    one["read"] = direction(int(operations_per_second * seconds), 4096, milliseconds=int(1000 * seconds))
    return one if start is None else one | {"job_start": int(start)}


# Reports of one run --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stamped", [True, False])
@pytest.mark.parametrize("started", [True, False])
def test_of_the_reports_that_fio_prints_at_intervals_the_last_is_the_run(stamped, started):
    reports = [
        json.loads(report(lasting(seconds, **({"job_start": "5000"} if started else {})), at=seconds))
        for seconds in (1, 2, 3)
    ]
    if not stamped:
        for one in reports:
            del one["timestamp_ms"]
    (run,), reasons = found("\n".join(map(json.dumps, reports)))
    assert reasons == []
    assert json.loads(run.parts[0].cut("\n".join(map(json.dumps, reports)).encode())) == reports[-1]


@pytest.mark.parametrize("starts", [None, (1_000, 11_000)])
def test_runs_that_were_appended_to_one_file_stay_apart(starts):
    ended = (10, 20)
    text = "\n".join(
        report(
            lasting(5, operations_per_second=rate, **({"job_start": str(starts[at])} if starts else {})), at=ended[at]
        )
        for at, rate in enumerate((1000, 1001))
    )
    assert len(found(text)[0]) == 2


def test_a_report_that_was_printed_twice_is_one_run():
    text = report(lasting(2), at=3)
    assert len(found(text + "\n" + text)[0]) == 1
    assert len(found(json.dumps(json.loads(text)) + "\n" + text)[0]) == 1


@at_most(60)
@given(seconds=st.lists(st.integers(1, 50), min_size=2, max_size=6, unique=True), rate=st.integers(50, 10**6))
def test_however_often_fio_reports_a_run_is_one_run(seconds, rate):
    text = "\n".join(report(lasting(at, operations_per_second=rate), at=at) for at in sorted(seconds))
    assert len(found(text)[0]) == 1


# Jobs at once and in a row -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "second",
    [{"wait_for": "a"}, {"startdelay": "10"}, {"startdelay": "10s"}, {"group": 1, "stonewall": "1"}],
)
def test_jobs_of_one_workload_in_a_row_are_neither_a_sum_nor_repetitions(second):
    group = second.pop("group", 0)
    first, other = lasting(5, name="a"), lasting(5, name="b", **second) | {"groupid": group}
    runs, reasons = found(report(first, other))
    assert reasons == []
    assert [(run.place, run.levels["jobs"]) for run in runs] == [("a", 1), ("b", 1)]
    assert jobs_of(report(first, other)) == [["a"], ["b"]]


def test_jobs_that_began_one_after_the_other_are_in_a_row_whatever_their_options_say():
    jobs = lasting(5, name="a", job_start="0"), lasting(5, name="b", job_start="5100")
    assert jobs_of(report(*jobs)) == [["a"], ["b"]]


def test_jobs_in_a_row_with_one_name_are_counted():
    jobs = (lasting(5, job_start=str(start)) | {"groupid": start} for start in (0, 6000, 12_000))
    assert [run.place for run in found(report(*jobs))[0]] == ["job-1", "job-2", "job-3"]


def test_jobs_in_a_row_have_places_of_their_own_also_if_one_is_called_like_a_counted_one():
    jobs = (lasting(5, name=name, job_start=str(6000 * at)) for at, name in enumerate(("a", "a", "a-1")))
    assert len({run.place for run in found(report(*jobs))[0]}) == 3


def test_jobs_without_a_name_ran_at_once_as_any_others():
    (run,), reasons = found(report(lasting(5, name=""), lasting(5, name="")))
    assert (run.levels["jobs"], run.place, reasons) == (2, "", [])


@pytest.mark.parametrize("late", [{"startdelay": "2"}, {"job_start": "2000"}])
def test_jobs_that_ran_at_once_for_a_part_of_their_time_have_no_sum(late):
    first = lasting(5, name="a", **({"job_start": "0"} if "job_start" in late else {}))
    runs, reasons = found(report(first, lasting(5, name="b", **late)))
    assert runs == []
    assert reasons == ["a, b: they ran at once for only a part of their time, so there is no sum"]


def test_a_new_group_without_a_stonewall_ran_at_once():
    runs, _ = found(report(lasting(5, name="a"), lasting(5, name="b", new_group="1") | {"groupid": 1}))
    assert [(run.levels["jobs"], run.place) for run in runs] == [(2, "")]


def of_clients(*jobs: dict) -> str:
    """Return a report of fio's clients for jobs of `lasting`, each with its host."""
    whole = json.loads(report())
    return json.dumps({**{name: value for name, value in whole.items() if name != "jobs"}, "client_stats": jobs})


@pytest.mark.parametrize("apart", [None, 0, 3_000, 60_000])
def test_jobs_in_a_row_on_several_hosts_are_the_sums_of_the_hosts_whatever_their_clocks_say(apart):
    jobs = [
        lasting(
            5, name=name, **({"stonewall": "1"} if group else {}),
            **({} if apart is None else {"job_start": str(1000 + host * apart + group * 5100)}),
        ) | {"groupid": group, "hostname": f"node{host}", "port": 8765}
        for host in (0, 1)
        for group, name in enumerate("ab")
    ]  # fmt: skip
    runs, reasons = found(of_clients(*jobs))
    assert reasons == []
    assert [(run.place, run.levels["jobs"]) for run in runs] == [("a", 2), ("b", 2)]


def test_jobs_in_a_row_that_several_hosts_did_not_begin_together_have_no_sum():
    jobs = [
        lasting(seconds, name=name) | {"groupid": group, "hostname": f"node{host}"}
        for host, seconds in enumerate((5, 8))
        for group, name in enumerate("ab")
    ]
    runs, reasons = found(of_clients(*jobs))
    assert [(run.place, run.levels["jobs"]) for run in runs] == [("a", 2)]
    assert reasons == ["b: they ran at once for only a part of their time, so there is no sum"]


@pytest.mark.parametrize("more", [{"startdelay": "2"}, {"name": "b"}])
def test_clients_that_did_not_run_the_same_jobs_in_a_row_have_no_sum(more):
    first = [lasting(5, name="a", startdelay="0") | {"hostname": "node0"}]
    if "name" in more:
        first.append(lasting(5, name="b", stonewall="1") | {"groupid": 1, "hostname": "node0"})
    other = lasting(5, **{"name": "a", **more}) | {"hostname": "node1"}
    runs, reasons = found(of_clients(*first, other))
    assert runs == []
    assert reasons == ["its clients differ in their jobs in a row or in startdelay, so it is unclear which ran at once"]


# What is missing or contradicts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "fio: failed to connect to 10.0.0.2:8765",
        "client <10.0.0.2>: exited with error 1",
        "fio: client: 10.0.0.2, disconnected",
    ],
)
def test_a_report_of_clients_that_lacks_one_is_refused(said):
    text = f"{said}\n{output('fio-client-server-2.json').decode()}"
    runs, (reason,) = found(text)
    assert runs == []
    assert reason.startswith("a client is missing")


@pytest.mark.parametrize(
    "jobs",
    [
        [job(rw="randread", bs="4k", numjobs="3") for _ in range(3)],
        [job(rw="randread", bs="8k"), job("other", rw="randread", bs="4k")],
        [job("other", rw="randread", bs="8k"), job(rw="randread", bs="4k", group=1)],
    ],
    ids=["numjobs", "another name", "another group"],
)
def test_every_job_of_a_report_is_compared_with_what_the_command_line_asks_of_it(jobs):
    command = "$ fio --rw=randread --name=job --bs=8k --name=other --bs=8k"
    runs, reasons = found(f"{command}\n{report(*jobs)}")
    assert (runs, reasons) == ([], ["the command line above it asks for bs=8k, its report says 4k"])


def test_a_command_line_of_several_jobs_says_the_levels_of_each():
    jobs = [job("a", rw="read"), job("b", rw="write")]
    for one in jobs:
        one["job options"] = {}
    command = "fio --iodepth=4 --ioengine=libaio --name=a --rw=read --name=b --rw=randwrite \\\n  --iodepth=8"
    runs, reasons = found(f"$ {command}\n{report(*jobs)}")
    assert reasons == []
    assert [(run.levels["rw"], run.levels["io_depth"], run.options) for run in runs] == [
        ("read", 4, {"ioengine": "libaio"}),
        ("randwrite", 8, {"ioengine": "libaio"}),
    ]


def test_the_command_line_above_the_first_report_of_a_run_is_that_of_the_last():
    reports = "\n".join(report(lasting(seconds), at=seconds) for seconds in (1, 2, 3))
    assert found(f"$ fio --name=job --rw=read --iodepth=8\n{reports}")[0][0].levels["io_depth"] == 8
    assert found(f"$ fio --name=job --rw=write\n{reports}")[0] == []


def test_percentages_of_a_mix_that_left_no_write_are_no_contradiction():
    one = job(rw="randrw", rwmixread="100")
    one["read"], one["write"] = direction(20_000, 4096), direction(0, 4096)
    (run,), _ = found(report(one))
    assert run.levels["rw_mix_read"] == 100


# Where a report stands -----------------------------------------------------------------------------------------------

PLAIN = report(job(rw="randread", bs="4k"))
MINIFIED = json.dumps(json.loads(PLAIN))
WRAPPED = {
    "BOM": b"\xef\xbb\xbf" + PLAIN.encode(),
    "UTF-16": PLAIN.encode("utf-16"),
    "UTF-16, big-endian": b"\xfe\xff" + PLAIN.encode("utf-16-be"),
    "CRLF": PLAIN.replace("\n", "\r\n").encode(),
    "minified": MINIFIED.encode(),
    "list": f"[\n{PLAIN}\n]".encode(),
    "inside another document": json.dumps({"host": "x", "results": {"fio": [json.loads(PLAIN)]}}).encode(),
    "JSON lines": f'{{"note": "x"}}\n{MINIFIED}\n'.encode(),
    "indented": behind("    ", PLAIN).encode(),
    "quoted": behind("> ", PLAIN).encode(),
    "after a prompt": f"$ fio --output-format=json job.fio >{PLAIN}".encode(),
    "Markdown": fenced(PLAIN).encode(),
    "log": logged(PLAIN).encode(),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_report_is_the_same_wherever_it_stands(name):
    (plain,), _ = found(PLAIN)
    (run,), reasons = found(WRAPPED[name])
    assert reasons == []
    assert (run.levels, run.options, run.metrics, run.reported_at) == (
        plain.levels, plain.options, plain.metrics, plain.reported_at,
    )  # fmt: skip
    (part,) = run.parts
    assert json.loads(part.cut(WRAPPED[name]).decode("utf-8-sig")) == json.loads(PLAIN)


@at_most(80)
@given(
    before=st.text(st.characters(codec="utf-8"), max_size=30),
    after=st.text(st.characters(codec="utf-8"), max_size=30),
    encoding=st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]),
)
def test_what_stands_around_a_report_changes_nothing_of_it(before, after, encoding):
    text = f"{before}\n{PLAIN}\n{after}"
    content = text.encode(encoding)
    runs, _ = found(content)
    assert len(runs) <= 1
    for run in runs:
        assert json.loads(run.parts[0].cut(content).decode("utf-8-sig")) == json.loads(PLAIN)
        assert run.levels["rw"] == "randread"
