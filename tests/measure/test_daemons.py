"""What daemons did between two readings: from recorded counters, and from made-up ones."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.clock import Costs
from replay.cluster.cluster import CephCommandError
from replay.measure.daemons import COUNTERS, DaemonSampler, LocalProcess, counters_in, read_process
from replay.measure.sets import CommitLatencies
from support.samples import fixture_json

#: `perf dump` of the three OSDs of a sandbox (16.2.15) around 64 random writes of 4 KiB by rbd bench.
BEFORE, AFTER = (fixture_json("ceph", f"osds-{moment}.json") for moment in ("before", "after"))
WRITES, IO_BYTES = 64, 4096


class Session:
    """Answers as a cluster whose OSDs give one `perf dump` after the other; an error is raised."""

    def __init__(self, *moments):
        self.moments = moments
        self.asked = 0

    def command(self, command, *, timeout_seconds=30.0, target="mon"):
        if target == "mon":
            return list(range(len(self.moments[0])))
        assert command == {"prefix": "perf dump"}
        moment, number = divmod(self.asked, len(self.moments[0]))
        self.asked += 1
        answer = self.moments[moment][f"osd.{number}"]
        if isinstance(answer, Exception):
            raise answer
        return answer


def sampler(session, *, second=None, processes=None, **more):
    bench = SimpleNamespace(
        session=session, secondary=second, costs=Costs(), sampler=None, daemons_are_here=False, site=None
    )
    return DaemonSampler(bench, processes=processes or {}, **more)


def between(*moments, **more):
    made = sampler(Session(*moments), **more)
    return made.between(made.read(), made.read())


def total(sample, stage, counter, cluster="primary"):
    return sum(one[stage][counter] for name, one in sample[cluster].items() if name.startswith("osd."))


def test_every_counter_is_found_in_what_an_osd_of_16_2_says():
    found = counters_in(BEFORE["osd.0"])
    assert {stage: set(counters) for stage, counters in found.items()} == {
        stage: set(counters) for stage, counters in COUNTERS.items()
    }


def test_each_of_the_recorded_writes_is_one_operation_and_two_copies():
    sample = between(BEFORE, AFTER)
    assert list(sample["primary"]) == ["osd.0", "osd.1", "osd.2"]
    assert total(sample, "client", "write_operations") == pytest.approx(WRITES, abs=6), "a watch or two besides"
    assert total(sample, "client", "write_in_bytes") == WRITES * IO_BYTES
    # Opening and closing the image takes and releases a lock, and these writes have copies, too.
    assert 2 * WRITES <= total(sample, "replication", "operations") <= 2 * WRITES + 40
    written = total(sample, "store", "big_bytes") + total(sample, "store", "small_bytes")
    assert written == pytest.approx(3 * WRITES * IO_BYTES, rel=0.05)


def test_the_samplers_own_cost_is_recorded_and_charged():
    made = sampler(Session(BEFORE, AFTER))
    sample = made.between(made.read(), made.read())
    charged = made.bench.costs.seconds["sample"]
    assert 0 <= sample["cost_seconds"] <= round(charged, 4) and charged > 0


def test_names_of_newer_releases_are_found_too():
    newer = {"write_big_bytes": 8192, "issued_deferred_write_bytes": 4096}
    assert counters_in({"bluestore": newer}) == {"store": {"big_bytes": 8192, "deferred_bytes": 4096}}


def test_a_missing_counter_is_absent_and_not_zero():
    before, after = copy.deepcopy(BEFORE), copy.deepcopy(AFTER)
    for moment in (before, after):
        del moment["osd.1"]["osd"]["subop"]
        del moment["osd.2"]["bluefs"]
    sample = between(before, after)
    assert "operations" not in sample["primary"]["osd.1"]["replication"]
    assert "in_bytes" in sample["primary"]["osd.1"]["replication"]
    assert "database" not in sample["primary"]["osd.2"]
    assert "media" not in sample["primary"]["osd.0"], "of a daemon elsewhere the kernel here says nothing"


def test_an_osd_that_does_not_answer_is_left_out_and_named():
    after = {**AFTER, "osd.1": CephCommandError("error 13: Permission denied", where="ceph perf dump")}
    sample = between(BEFORE, after)
    assert list(sample["primary"]) == ["osd.0", "osd.2"]
    assert sample["unanswered"] == ["primary osd.1: error 13: Permission denied"]
    assert sample["left_out"] == ["primary osd.1"]


def test_counters_that_started_again_are_left_out_rather_than_counted():
    sample = between(AFTER, BEFORE)
    assert "primary" not in sample
    assert sample["left_out"] == ["primary osd.0", "primary osd.1", "primary osd.2"]


def test_the_second_cluster_is_separate_and_can_be_left_out():
    made = sampler(Session(BEFORE, AFTER), second=Session(AFTER, AFTER))
    sample = made.between(made.read(), made.read())
    assert total(sample, "client", "write_operations", "secondary") == 0
    made = sampler(Session(BEFORE, AFTER), second=Session(AFTER, AFTER), secondary=False)
    assert "secondary" not in made.between(made.read(), made.read())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
sections = st.dictionaries(
    st.sampled_from(["osd", "bluestore", "bluefs"]),
    st.dictionaries(
        st.sampled_from(["op", "op_w", "subop", "bluestore_write_big", "write_big", "logged_bytes"]), json_values
    )
    | json_values,
)


@given(sections | json_values)
def test_whatever_a_daemon_answers_gives_counts_or_nothing(answer):
    for counters in counters_in(answer).values():
        assert counters
        assert all(0 <= value < 2**64 for value in counters.values())


# Processes ---------------------------------------------------------------------------------------------------------

STAT = "77 ({name}) S 1 77 77 0 -1 4194560 1 0 0 0 250 150 0 0 20 0 40 0 {started} 900 100\n"


def process(tmp_path, *, name="ceph-osd", started=1000, io="rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\n"):
    folder = tmp_path / "77"
    folder.mkdir(exist_ok=True)
    (folder / "stat").write_text(STAT.format(name=name, started=started))
    (folder / "io").unlink(missing_ok=True)
    if io is not None:
        (folder / "io").write_text(io)
    return read_process(LocalProcess(77, "ceph-osd"), tmp_path)


def test_a_daemon_here_also_has_cpu_seconds_and_storage_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr("replay.measure.daemons.os.sysconf", lambda name: 100)
    found = process(tmp_path)
    assert found.counters == {"cpu": {"seconds": 4.0}, "media": {"read_bytes": 4096, "write_bytes": 8192}}
    assert found.started == 1000


def test_storage_bytes_that_may_not_be_read_are_absent(tmp_path):
    assert set(process(tmp_path, io=None).counters) == {"cpu"}


@pytest.mark.parametrize("name", ["bash", "ceph-mon", "a) R 1 (ceph-osd"])
def test_a_pid_that_another_program_has_now_is_not_a_daemon(tmp_path, name):
    assert process(tmp_path, name=name) is None
    assert read_process(LocalProcess(78, "ceph-osd"), tmp_path) is None, "nobody has that pid"


def test_a_daemon_that_was_restarted_in_between_is_left_out(tmp_path):
    processes = {"primary": {"osd.0": LocalProcess(77, "ceph-osd"), "mgr": LocalProcess(77, "ceph-osd")}}
    made = sampler(Session(BEFORE, AFTER), processes=processes, proc=tmp_path)
    process(tmp_path, started=1000)
    before = made.read()
    process(tmp_path, started=2000)
    sample = made.between(before, made.read())
    assert sample["left_out"] == ["primary osd.0", "primary mgr"]
    assert list(sample["primary"]) == ["osd.1", "osd.2"]


def test_a_cell_records_each_osds_commit_latency_unless_its_user_may_not_ask():
    def refused(command):
        raise CephCommandError("access denied", where="osd perf")

    measured = SimpleNamespace(samples={})
    observer = CommitLatencies()
    observer.bench = SimpleNamespace(session=SimpleNamespace(command=refused))
    observer.ended(None, measured)
    assert measured.samples == {}
    perf = {"osd_perf_infos": [{"id": number, "perf_stats": {"commit_latency_ms": 4}} for number in (10, 2)]}
    observer.bench.session.command = lambda command: perf
    observer.ended(None, measured)
    assert measured.samples == {"osd_commit_latency_seconds": {"osd.2": 0.004, "osd.10": 0.004}}
