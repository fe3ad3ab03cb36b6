"""A server on loopback that answers queries like a site's Prometheus, from a table."""

from __future__ import annotations

import json
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: The test's function: from the query's form (`query`, `time`) to (status, body), or to (status, body, other address).
Answer = Callable[[dict[str, str]], tuple[int, bytes] | tuple[int, bytes, str]]


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Yield the address of a server, and the list of its requests (form and `Authorization`)."""
    asked: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = dict(urllib.parse.parse_qsl(body))
            asked.append({**form, "path": self.path, "authorization": self.headers.get("Authorization", "")})
            status, content, *location = answer(form)
            self.send_response(status)
            for address in location:
                self.send_header("Location", address)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            asked.append({"path": self.path, "authorization": self.headers.get("Authorization", "")})
            self.send_error(404)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def success(kind: str, result: Any) -> bytes:
    """Return an answer of the API."""
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": result}}).encode()


def matrix(*series: tuple[dict[str, str], list[tuple[float, float]]]) -> bytes:
    """Return an answer with raw samples: (labels, [(moment, value), …]) each."""
    return success(
        "matrix", [{"metric": labels, "values": [[t, str(v)] for t, v in pairs]} for labels, pairs in series]
    )


def vector(*labels: dict[str, str]) -> bytes:
    """Return an answer with one series of the value 1 for each set of labels."""
    return success("vector", [{"metric": one, "value": [0.0, "1"]} for one in labels])
