"""What a site's Prometheus says about the OSDs' hosts: its answers are read strictly, and recorded for a cell."""

from __future__ import annotations

import json
import math
import socket
import string
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.clock import Costs
from replay.cluster.hosts import (
    DISK_COUNTERS,
    HostSampler,
    LeftOutError,
    OsdPlace,
    change_between,
    osd_cpu,
    osd_places,
    short_name,
    what_hosts_did,
)
from replay.cluster.prometheus import (
    OsdCpuSeries,
    PrometheusClient,
    PrometheusError,
    PrometheusSource,
    Series,
    scalar_in,
    selector,
    series_in,
)
from replay.derive.computed import computed_metrics, utilisation_of_hosts
from replay.evidence.record import bottleneck_of_hosts
from support.prometheus_server import matrix, serving, success, vector
from support.samples import fixtures

METADATA = [
    {"ceph_daemon": "osd.0", "hostname": "alpha"},
    {"ceph_daemon": "osd.1", "hostname": "beta"},
    {"ceph_daemon": "osd.2", "hostname": "beta"},
]
DISKS = [
    {"ceph_daemon": "osd.0", "device": "/dev/sdb", "instance": "alpha"},
    {"ceph_daemon": "osd.1", "device": "/dev/dm-0", "instance": "beta"},
    {"ceph_daemon": "osd.2", "device": "/dev/dm-1", "instance": "beta"},
]
UNAMES = [
    {"nodename": "beta.example.org", "instance": "192.0.2.2:9100"},
    {"nodename": "alpha.example.org", "instance": "192.0.2.1:9100"},
    {"nodename": "gamma.example.org", "instance": "192.0.2.3:9100"},
]
BEGIN, END = 1000.0, 1008.0
SCRAPES = [999.0, 1001.0, 1003.0, 1005.0, 1007.0, 1009.0]
PLACES = {
    "osd.0": OsdPlace("alpha", "192.0.2.1:9100", "sdb"),
    "osd.1": OsdPlace("beta", "192.0.2.2:9100", "dm-0"),
    "osd.2": OsdPlace("beta", "192.0.2.2:9100", "dm-1"),
}


def each(labels):
    return [Series(one, ((0.0, 1.0),)) for one in labels]


def rising(labels, rate, moments=SCRAPES):
    """Return a counter that rises by `rate` a second."""
    return Series(labels, tuple((moment, 50.0 + rate * (moment - 999.0)) for moment in moments))


def cpus(instance, idle_each, count=4, moments=SCRAPES):
    return [
        rising({"instance": instance, "cpu": str(cpu), "mode": mode}, rate, moments)
        for cpu in range(count)
        for mode, rate in (("idle", idle_each * 0.75), ("iowait", idle_each * 0.25))
    ]


def disks(**busy):
    """Return the three counters of each device: busy for that share of the time, 100 and 10 bytes a second."""
    of_device = {place.device: place.instance for place in PLACES.values()}
    rates = {"busy_seconds": None, "written_bytes": 100.0, "read_bytes": 10.0}
    return {
        word: [
            rising({"instance": of_device[device], "device": device}, share if rate is None else rate)
            for device, share in busy.items()
        ]
        for word, rate in rates.items()
    }


def seen(*, alpha=0.9, beta=0.5, busy=(0.1, 0.2, 0.6), osds=None):
    cpu = cpus("192.0.2.1:9100", alpha) + cpus("192.0.2.2:9100", beta)
    return what_hosts_did(
        PLACES, cpu, disks(**dict(zip(("sdb", "dm-0", "dm-1"), busy, strict=True))), osds or {}, BEGIN, END
    )


def test_the_manager_and_node_exporter_together_say_where_an_osd_is() -> None:
    assert osd_places(each(METADATA), each(DISKS), each(UNAMES)) == PLACES


def test_series_of_two_clusters_are_refused_and_the_key_is_named() -> None:
    other = [{"ceph_daemon": "osd.0", "hostname": "delta"}]
    with pytest.raises(PrometheusError, match=r"more than one osd\.0[\s\S]*prometheus\.labels"):
        osd_places(each(METADATA + other), each(DISKS), each(UNAMES))


def test_without_a_common_host_there_is_an_error_and_no_guess() -> None:
    with pytest.raises(PrometheusError, match="no host in common"):
        osd_places(each(METADATA), each(DISKS), each([{"nodename": "elsewhere", "instance": "x:9100"}]))


@pytest.mark.parametrize(
    ("name", "short"), [("alpha.example.org", "alpha"), ("ALPHA", "alpha"), ("192.0.2.1", "192.0.2.1"), ("::1", "::1")]
)
def test_a_host_is_known_by_its_short_name_and_an_address_stays_whole(name, short) -> None:
    assert short_name(name) == short


def test_hosts_and_disks_are_recorded_with_the_time_between_scrapes() -> None:
    sample = seen()
    assert "left_out" not in sample
    assert sample["hosts"]["host-1"] == {
        "seconds": 6.0,
        "scrapes": 4,
        "cpus": 4,
        "cpu_idle_seconds": pytest.approx(0.9 * 4 * 6),
        "osds": ["osd.0"],
    }
    assert sample["hosts"]["host-2"]["osds"] == ["osd.1", "osd.2"]
    assert sample["osds"]["osd.2"]["disk"] == {
        "seconds": 6.0,
        "busy_seconds": pytest.approx(3.6),
        "written_bytes": pytest.approx(600),
        "read_bytes": pytest.approx(60),
    }


def test_no_name_of_a_host_and_no_address_gets_into_the_record() -> None:
    text = json.dumps(seen())
    assert not any(word in text for word in ("alpha", "beta", "192.0.2", "9100"))


def test_metrics_are_means_and_the_worst() -> None:
    metrics = computed_metrics({"samples": {"prometheus": seen()}}, {})
    assert metrics == {
        "osd_host_cpu_fraction_mean": pytest.approx(0.3),
        "osd_host_cpu_fraction_worst": pytest.approx(0.5),
        "osd_disk_busy_fraction_mean": pytest.approx(0.3),
        "osd_disk_busy_fraction_worst": pytest.approx(0.6),
        "osd_media_written_bytes_per_second_mean": pytest.approx(100),
        "osd_media_written_bytes_per_second_worst": pytest.approx(100),
        "osd_media_read_bytes_per_second_mean": pytest.approx(10),
        "osd_media_read_bytes_per_second_worst": pytest.approx(10),
    }


def test_cpu_of_each_osd_comes_from_the_exporter_that_the_site_names() -> None:
    series = [
        rising({"groupname": f"osd.{number}", "mode": mode}, 0.25 * (number + 1))
        for number in range(3)
        for mode in ("user", "system")
    ] + [rising({"groupname": "sshd"}, 9.0), rising({}, 9.0)]
    by_osd = osd_cpu(series, "groupname", r"osd[.-](\d+)$")
    assert sorted(by_osd) == ["osd.0", "osd.1", "osd.2"]
    metrics = utilisation_of_hosts(seen(osds=by_osd))
    assert metrics["osd_cores_worst"] == pytest.approx(1.5) and metrics["osd_cores_mean"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("moments", "said"),
    [([], "0 scrapes"), ([1001.0], "1 scrape in 8.0 s"), ([999.0, 1001.0, 1009.0], "1 scrape in")],
)
def test_fewer_than_two_scrapes_inside_the_cell_say_nothing(moments, said) -> None:
    with pytest.raises(LeftOutError, match=said):
        change_between(rising({}, 1.0, moments), BEGIN, END)


def test_a_counter_that_started_again_says_nothing() -> None:
    with pytest.raises(LeftOutError, match="started again"):
        change_between(Series({}, ((1001.0, 9.0), (1003.0, 1.0), (1005.0, 12.0))), BEGIN, END)


def test_unobserved_hosts_are_named_and_there_is_no_mean_of_the_others() -> None:
    sample = what_hosts_did(PLACES, cpus("192.0.2.1:9100", 0.9), disks(sdb=0.1, **{"dm-0": 0.2}), {}, BEGIN, END)
    assert sample["left_out"] == {
        "host-2": "node_exporter does not report its CPUs",
        "osd.2 disk": "node_exporter does not report its disk dm-1",
    }
    assert utilisation_of_hosts(sample) == {}
    assert bottleneck_of_hosts(sample) == "unknown"


@pytest.mark.parametrize(
    ("state", "limit"),
    [
        ({"beta": 0.1}, "cpu"),
        ({"busy": (0.1, 0.85, 0.2)}, "disk"),
        ({"beta": 0.1, "busy": (0.1, 0.85, 0.2)}, "cpu"),
        ({}, "none"),
    ],
)
def test_the_busiest_host_and_the_busiest_disk_decide(state, limit) -> None:
    assert bottleneck_of_hosts(seen(**state)) == limit


def test_one_busy_host_decides_even_if_another_was_not_seen() -> None:
    sample = what_hosts_did(PLACES, cpus("192.0.2.1:9100", 0.05), disks(sdb=0.1), {}, BEGIN, END)
    assert bottleneck_of_hosts(sample) == "cpu"
    assert bottleneck_of_hosts({"unanswered": "no route"}) == "unknown"


def answers(form):
    """Answer as a server whose clock is 100 s ahead of the sampler's."""
    query = form["query"]
    if query == "time()":
        return 200, success("scalar", [1108.0, "1108"])
    for name, labels in (("ceph_osd_metadata", METADATA), ("ceph_disk_occupation", DISKS), ("node_uname_info", UNAMES)):
        if query.startswith(name):
            return 200, vector(*labels)
    moments = [moment + 100 for moment in SCRAPES]
    if query.startswith("node_cpu"):
        return 200, matrix(
            *((s.labels, list(s.samples)) for host in ("1", "2") for s in cpus(f"192.0.2.{host}:9100", 0.5, 2, moments))
        )
    word = next(word for word, name in DISK_COUNTERS.items() if query.startswith(name))
    moved = disks(sdb=0.1, **{"dm-0": 0.2, "dm-1": 0.3})[word]
    return 200, matrix(*((s.labels, [(t + 100, v) for t, v in s.samples]) for s in moved))


def test_a_server_is_asked_for_the_time_of_the_cell_by_its_own_clock(tmp_path) -> None:
    password = tmp_path / "password"
    password.write_text("secret\n")
    with serving(answers) as (url, asked):
        source = PrometheusSource(url, labels={"cluster": 'a"b'}, user="replay", password_file=password)
        sampler = HostSampler(PrometheusClient(source), Costs(), clock=lambda: 1008.0)
        sample = sampler.between(BEGIN, END)
        sampler.between(BEGIN, END)
    assert sample["clock_ahead_seconds"] == 100.0 and sample["seconds"] == 8.0
    assert sample["hosts"]["host-1"]["scrapes"] == 4 and sample["osds"]["osd.1"]["disk"]["busy_seconds"] == 1.2
    assert bottleneck_of_hosts(sample) == "none"
    queries = [one["query"] for one in asked]
    assert queries.count(r'ceph_osd_metadata{cluster="a\"b"}') == 1, "places are asked for once"
    ranged = next(one for one in asked if one["query"].startswith("node_cpu"))
    assert ranged["query"] == (
        r'node_cpu_seconds_total{instance=~"192\\.0\\.2\\.1:9100|192\\.0\\.2\\.2:9100",mode=~"idle|iowait"}[9s]'
    )
    assert ranged["time"] == "1108.000"
    assert {one["path"] for one in asked} == {"/api/v1/query"}
    assert {one["authorization"] for one in asked} == {"Basic cmVwbGF5OnNlY3JldA=="}


def test_a_server_to_which_an_answer_redirects_does_not_get_the_password(tmp_path) -> None:
    password = tmp_path / "password"
    password.write_text("secret\n")
    with serving(answers) as (elsewhere, asked), serving(lambda form: (302, b"", f"{elsewhere}/login")) as (url, first):
        client = PrometheusClient(PrometheusSource(url, user="replay", password_file=password))
        with pytest.raises(PrometheusError, match="answered 404"):
            client.now()
    assert [one["authorization"] for one in first] == ["Basic cmVwbGF5OnNlY3JldA=="]
    assert asked == [{"path": "/login", "authorization": ""}]


def test_answers_of_a_real_server_are_understood() -> None:
    answers = fixtures("prometheus")

    def recorded(name, kind):
        return series_in(answers[f"{name}.json"], kind)

    metadata, occupied, unames = (
        recorded(name, "vector") for name in ("ceph_osd_metadata", "ceph_disk_occupation", "node_uname_info")
    )
    places = osd_places(metadata, occupied, unames)
    assert places == {f"osd.{number}": OsdPlace("vm", "127.0.0.1:19100", "vda") for number in range(3)}
    cpu = recorded("node_cpu_seconds_total", "matrix")
    counters = {word: recorded(name, "matrix") for word, name in DISK_COUNTERS.items()}
    end = scalar_in(answers["time.json"])
    sample = what_hosts_did(places, cpu, counters, {}, end - 8, end)
    [host] = sample["hosts"].values()
    assert host["osds"] == ["osd.0", "osd.1", "osd.2"] and host["cpus"] == 2 and host["scrapes"] == 8
    assert 0 <= host["cpu_idle_seconds"] <= host["cpus"] * (host["seconds"] + 0.1)
    assert utilisation_of_hosts(sample).keys() >= {"osd_host_cpu_fraction_worst", "osd_disk_busy_fraction_mean"}


def test_an_own_series_of_the_osds_is_asked_for_as_the_site_says() -> None:
    own = OsdCpuSeries('busy{job="x"}', "name", r"osd(\d)")

    def answer(form):
        if form["query"].startswith("busy"):
            return 200, matrix(({"name": "osd1"}, [(1101.0, 1.0), (1107.0, 4.0)]))
        return answers(form)

    with serving(answer) as (url, asked):
        sampler = HostSampler(PrometheusClient(PrometheusSource(url, osd_cpu=own)), Costs(), clock=lambda: 1008.0)
        sample = sampler.between(BEGIN, END)
    assert sample["osds"]["osd.1"]["cpu"] == {"seconds": 6.0, "cpu_seconds": 3.0}
    assert 'busy{job="x"}[9s]' in [one["query"] for one in asked]
    assert "osd_cores_mean" not in utilisation_of_hosts(sample), "two OSDs are missing"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((503, b"busy"), "answered 503"),
        ((422, b'{"status":"error","errorType":"execution","error":"too many samples"}'), "too many samples"),
        ((200, b"<html>a dashboard</html>"), "not one of the API"),
        ((200, b'{"status":"error","errorType":"bad_data","error":"parse"}'), "bad_data: parse"),
    ],
)
def test_a_server_in_trouble_is_reported_and_the_cell_stays_valid(answer, said) -> None:
    told: list[str] = []
    with serving(lambda form: answer) as (url, asked):
        sampler = HostSampler(PrometheusClient(PrometheusSource(url)), Costs(), say=told.append)
        samples = [sampler.between(BEGIN, END) for _ in range(4)]
    sample = samples[0]
    assert said in told[0]
    assert sample["unanswered"] in ("it did not answer", "its answer was not understood") and "hosts" not in sample
    assert len(asked) == len(told) == 3 and "not asked again" in samples[3]["unanswered"]
    assert utilisation_of_hosts(sample) == {} and bottleneck_of_hosts(sample) == "unknown"


def test_an_answer_about_too_many_series_says_how_to_ask_for_fewer(monkeypatch) -> None:
    monkeypatch.setattr("replay.cluster.prometheus.LARGEST_ANSWER_BYTES", 20)
    with serving(answers) as (url, _), pytest.raises(PrometheusError, match=r"more than[\s\S]*prometheus\.labels"):
        PrometheusClient(PrometheusSource(url)).now()


def test_an_error_that_quotes_hosts_stays_out_of_the_record() -> None:
    def answer(form):
        if form["query"].startswith("node_cpu"):
            return 500, b'{"status":"error","error":"192.0.2.1 of alpha"}'
        return answers(form)

    told: list[str] = []
    with serving(answer) as (url, _):
        sampler = HostSampler(PrometheusClient(PrometheusSource(url)), Costs(), say=told.append, clock=lambda: 1008.0)
        sample = sampler.between(BEGIN, END)
    assert "192.0.2.1" in told[0]
    assert not any(word in json.dumps(sample) for word in ("alpha", "192.0.2", "9100", "127.0.0.1"))


def test_a_server_that_is_not_there_is_named_with_what_to_do() -> None:
    with serving(answers) as (url, _):
        pass
    with pytest.raises(PrometheusError, match=r"does not answer[\s\S]*remove prometheus from the site") as caught:
        PrometheusClient(PrometheusSource(url)).now()
    assert caught.value.where == url


def test_a_server_that_does_not_speak_http_is_named_too() -> None:
    def greet(server: socket.socket) -> None:
        with server.accept()[0] as connection:
            connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")
            while connection.recv(1 << 16):
                pass

    with socket.create_server(("127.0.0.1", 0)) as server:
        greeting = threading.Thread(target=greet, args=(server,), daemon=True)
        greeting.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(PrometheusError, match=r"does not answer: SSH-2\.0-OpenSSH_9\.6"):
            PrometheusClient(PrometheusSource(url)).now()
        greeting.join()


def test_asking_is_part_of_the_runners_own_cost() -> None:
    costs = Costs()
    with serving(answers) as (url, _):
        HostSampler(PrometheusClient(PrometheusSource(url)), costs).between(BEGIN, END)
    assert costs.seconds["sample"] > 0


def test_values_that_are_not_numbers_are_left_out() -> None:
    body = success("matrix", [{"metric": {}, "values": [[1, "NaN"], [2, "3"], [3, "+Inf"]]}])
    assert series_in(body, "matrix") == [Series({}, ((2.0, 3.0),))]
    assert series_in(success("vector", [{"metric": {}, "value": [1, "NaN"]}]), "vector") == []


@pytest.mark.parametrize(
    "result",
    [
        [{"metric": {}, "values": [[1]]}],
        [{"metric": {}}],
        [{"values": []}],
        ["series"],
        {"metric": {}},
    ],
)
def test_an_answer_of_another_form_is_an_error(result) -> None:
    with pytest.raises(PrometheusError):
        series_in(success("matrix", result), "matrix")


def test_a_vector_is_not_a_matrix_and_a_number_must_be_one() -> None:
    with pytest.raises(PrometheusError, match="a vector, but a matrix"):
        series_in(vector({}), "matrix")
    with pytest.raises(PrometheusError, match="not finite"):
        scalar_in(success("scalar", [1, "NaN"]))
    assert scalar_in(success("scalar", [1, "1.5"])) == 1.5


def test_a_selector_quotes_its_labels() -> None:
    assert selector("up", {}) == "up"
    assert selector("up", {"b": 'x"y', "a": "1"}) == r'up{a="1",b="x\"y"}'


WHOLE = matrix(({"instance": "a:1", "cpu": "0"}, [(1.0, 2.0), (2.0, 3.0)]), ({"instance": "b:1"}, [(1.0, 7.0)]))


@given(st.integers(0, len(WHOLE) - 1))
def test_an_answer_that_was_cut_short_is_an_error(length) -> None:
    with pytest.raises(PrometheusError):
        series_in(WHOLE[:length], "matrix")


@given(st.binary(max_size=200) | st.text(string.printable, max_size=200).map(str.encode))
def test_foreign_bytes_are_an_error_and_never_a_series(body) -> None:
    with pytest.raises(PrometheusError):
        series_in(body, "matrix")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["metric", "values", "x"]), inner),
    max_leaves=12,
)


@given(JSON)
def test_any_result_is_series_of_finite_values_or_an_error(result) -> None:
    try:
        found = series_in(success("matrix", result), "matrix")
    except PrometheusError:
        return
    assert all(one.samples and all(math.isfinite(value) for _, value in one.samples) for one in found)


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 1e9)), unique_by=lambda pair: pair[0]))
def test_a_change_is_never_negative_and_lies_inside(samples) -> None:
    series = Series({}, tuple(sorted(samples)))
    try:
        change = change_between(series, 20.0, 60.0)
    except LeftOutError:
        return
    assert change.value >= 0 and 0 < change.seconds <= 40.0 and change.scrapes >= 2
