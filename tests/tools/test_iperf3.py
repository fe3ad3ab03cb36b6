"""iperf3: its arguments, and its JSON: received bytes, or a typed error whatever the exit status."""

from __future__ import annotations

import json

import pytest

from replay.tools import OutputError, reader, render
from support.samples import sample

IPERF3 = reader("iperf3")
LOOPBACK = {"io_size_bytes": 131072, "io_depth": 1}
FOUR = {"io_size_bytes": 4096, "io_depth": 4}


def parse(text, levels=LOOPBACK, exit_status=0):
    return IPERF3.parse({"stdout": text}, exit_status, levels, names={"stdout": "x/network.stdout"})


def changed(name, *path, value):
    """Return a sample's JSON with one value of it replaced."""
    data = json.loads(sample(name)[0])
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(data)


def test_figures_are_those_that_the_server_received():
    metrics = parse(sample("iperf3-loopback.json")[0]).metrics
    assert metrics["bytes"] == 11840389120
    assert metrics["duration_seconds"] == 2.000091
    assert metrics["bytes_per_second"] == pytest.approx(47359401627.225967 / 8)
    assert (metrics["sent_bytes"], metrics["retransmits"], metrics["streams"]) == (11844976640, 0, 1)
    assert metrics["sender_cores"] == pytest.approx(0.243588229)


def test_streams_are_added_up():
    result = parse(sample("iperf3-4-streams.json")[0], FOUR)
    assert (result.metrics["bytes"], result.metrics["streams"]) == (1434550947, 4)
    [(middle, metric, rate)] = result.series
    assert (round(middle, 1), metric) == (0.5, "bytes_per_second")
    assert rate == pytest.approx(result.metrics["sent_bytes"] / 1.0, rel=0.01)


def test_a_refused_connection_is_a_failure_even_with_exit_status_0():
    text, _ = sample("iperf3-err-refused.json")
    for status in (0, 1):
        with pytest.raises(OutputError, match="Connection refused") as caught:
            parse(text, exit_status=status)
        assert (caught.value.reason, caught.value.file) == ("failed", "x/network.stdout")


def test_a_killed_run_and_one_without_output_are_incomplete():
    for text, status in ((sample("iperf3-loopback.json")[0], None), ("", 0), ("  \n", 1)):
        with pytest.raises(OutputError) as caught:
            parse(text, exit_status=status)
        assert caught.value.reason == "incomplete"


@pytest.mark.parametrize(
    ("path", "value", "said", "reason"),
    [
        (("start", "test_start", "num_streams"), 2, "num_streams is 2, expected 1", "unparsable"),
        (("start", "test_start", "blksize"), 4096, "blksize is 4096", "unparsable"),
        (("start", "test_start", "protocol"), "UDP", "protocol is UDP", "unparsable"),
        (("start", "test_start", "reverse"), 1, "reverse is 1", "unparsable"),
        (("end", "streams"), [], "0 of 1 streams", "client_lost"),
        (("end", "streams", 0, "receiver", "bytes"), 0, "0 of 1 streams", "client_lost"),
        (("end", "sum_received", "seconds"), 4.0, "bits_per_second is not bytes divided by seconds", "unparsable"),
        (("end", "sum_received", "bytes"), 0, "0 bytes", "failed"),
        (("end", "sum_sent", "bytes"), "many", "no number 'bytes'", "unparsable"),
        (("end", "sum_sent"), None, "no object 'end.sum_sent'", "unparsable"),
        (("intervals", 1, "sum", "start"), -1, "no number 'start'", "unparsable"),
        (("intervals",), {}, "no list 'intervals'", "unparsable"),
    ],
)
def test_a_report_that_contradicts_itself_or_the_levels_is_refused(path, value, said, reason):
    with pytest.raises(OutputError, match=said) as caught:
        parse(changed("iperf3-loopback.json", *path, value=value))
    assert caught.value.reason == reason


def test_the_client_is_asked_for_json_and_the_server_serves_one_client_and_ends():
    argv = render(IPERF3.argv_template(FOUR, {}), {"server": "127.0.0.1", "port": 5, "seconds": 3})
    assert argv[:2] == ["iperf3", "--client"] and "--json" in argv
    assert argv[-4:] == ["--length", "4096", "--parallel", "4"]
    server = render(IPERF3.server_argv("127.0.0.1"), {"port": 5, "most_seconds": 300})
    assert server[:3] == ["timeout", "--signal=KILL", "300"]
    assert "--one-off" in server and server[-2:] == ["--bind", "127.0.0.1"]
    assert "--bind" not in IPERF3.server_argv()
    assert IPERF3.result_files == {}
