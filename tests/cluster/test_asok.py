"""The client of a daemon's admin socket, against a socket that answers like Ceph's."""

import json
import socket
import struct
import threading

import pytest

from replay.cluster.cluster import AdminSocketError, ask
from support.patience import patient


@pytest.fixture
def daemon(tmp_path):
    """Start a one-answer daemon: `daemon(answer, pieces)` returns the socket's path and a list of its requests."""
    threads = []

    def start(payload: bytes, *, claimed: int | None = None, piece: int = 1 << 20):
        path, requests = tmp_path / "d.asok", []
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen(1)

        def serve():
            connection, _ = listener.accept()
            with connection:
                request = b""
                while not request.endswith(b"\0"):
                    request += connection.recv(7)
                requests.append(json.loads(request[:-1]))
                answer = struct.pack(">I", len(payload) if claimed is None else claimed) + payload
                for begin in range(0, len(answer), piece):
                    connection.sendall(answer[begin : begin + piece])

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        threads.append((thread, listener))
        return path, requests

    yield start
    for thread, listener in threads:
        thread.join(patient(5))
        listener.close()


def test_a_command_is_sent_as_json_and_its_answer_parsed(daemon):
    path, requests = daemon(b'{"state": "leader"}')
    assert ask(path, "mon_status") == {"state": "leader"}
    assert requests == [{"prefix": "mon_status", "format": "json"}]


def test_arguments_are_passed_on(daemon):
    path, requests = daemon(b"{}")
    ask(path, {"prefix": "config get", "var": "osd_memory_target"})
    assert requests == [{"prefix": "config get", "var": "osd_memory_target", "format": "json"}]


def test_an_answer_in_small_pieces_is_put_together(daemon):
    path, _ = daemon(json.dumps({"values": list(range(2000))}).encode(), piece=3)
    assert ask(path, "perf dump")["values"][-1] == 1999


def test_text_and_an_empty_text_are_answers_too(daemon):
    assert ask(daemon(b"just text\n")[0], "x") == "just text\n"


def test_an_empty_answer_is_none(daemon):
    assert ask(daemon(b"")[0], "x") is None


def test_a_declined_command_is_an_error(daemon):
    path, _ = daemon(b"ERROR: (22) Invalid argument\nunknown command")
    with pytest.raises(AdminSocketError, match="was declined: ERROR: \\(22\\)"):
        ask(path, "bogus")


def test_an_answer_that_breaks_off_is_an_error(daemon):
    path, _ = daemon(b'{"half": ', claimed=1000)
    with pytest.raises(AdminSocketError, match="before its answer was complete"):
        ask(path, "perf dump")


def test_a_missing_socket_is_an_error_that_names_it(tmp_path):
    with pytest.raises(AdminSocketError, match=r"absent\.asok: no answer to 'perf dump'"):
        ask(tmp_path / "absent.asok", "perf dump")


def test_waiting_for_a_silent_daemon_ends_at_the_timeout(tmp_path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "silent.asok"))
        listener.listen(1)
        with pytest.raises(AdminSocketError, match="timed out"):
            ask(tmp_path / "silent.asok", "perf dump", timeout_seconds=0.2)
