"""Speeds up the jobs of a run: one process imports pandas once, and each job is a fork of it.

Importing pandas and scipy costs two seconds of processor time, ten times what most experiments take to derive.
Snakemake still decides what runs and when. A job that finds no warm process does its step itself.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

_VARIABLE = "REPLAY_WARM_JOBS"
#: The modules that the steps need and that take long to import.
_MODULES = (
    "replay.derive.experiment",
    "replay.claims.documents",
    "replay.claims.answer",
    "replay.claims.manifest",
)
_LOOK_SECONDS = 0.05
_FAILED = 1


@contextlib.contextmanager
def warm_jobs() -> Iterator[None]:
    """Keep a warm process for jobs started meanwhile. It ends with this process, however this one ends."""
    with tempfile.TemporaryDirectory(prefix="replay-jobs-") as folder:
        path = str(Path(folder) / "socket")
        argv = [sys.executable, "-m", "replay.claims.workflow.warm", path]
        # Its standard input closes when this process is gone. It has its own session: Snakemake handles interruptions.
        with subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True):
            os.environ[_VARIABLE] = path
            try:
                yield
            finally:
                del os.environ[_VARIABLE]


def run_warm(arguments: Sequence[str]) -> int | None:
    """Let the warm process run a job, and print its output; return its exit status.

    None if there is no such process, or if it does not answer.
    """
    if not (path := os.environ.get(_VARIABLE)):
        return None
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
        except OSError:
            return None
        connection.sendall(json.dumps(list(arguments)).encode() + b"\n")
        said, _, status = connection.makefile("rb").read().decode().rpartition("\0")
    sys.stdout.write(said)
    sys.stdout.flush()
    return int(status) if status else _FAILED


class WarmProcess:
    """Listens for jobs, and runs each one in a fork of itself."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(path)
        self._socket.listen()
        self._running: dict[int, socket.socket] = {}

    def serve(self) -> None:
        """Run jobs until standard input closes; then wait for running jobs."""
        waited_for = [self._socket, sys.stdin]
        while waited_for[1:] or self._running:
            readable, _, _ = select.select(waited_for, [], [], _LOOK_SECONDS)
            if self._socket in readable:
                self._start()
            if sys.stdin in readable:
                waited_for = [self._socket]
            for child in list(self._running):
                self._end(child)
        self._socket.close()

    def _start(self) -> None:
        connection, _ = self._socket.accept()
        arguments = json.loads(connection.makefile("rb").readline())
        child = os.fork()
        if child:
            self._running[child] = connection
            return
        status = _FAILED
        try:
            os.dup2(connection.fileno(), sys.stdout.fileno())
            from replay.claims.workflow.job import main  # noqa: PLC0415 - a job imports this module

            status = main(arguments, warm=False)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _end(self, child: int) -> None:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            with self._running.pop(child) as connection, contextlib.suppress(BrokenPipeError):  # its job was ended
                connection.sendall(f"\0{os.waitstatus_to_exitcode(status)}".encode())


if __name__ == "__main__":
    _process = WarmProcess(sys.argv[1])
    for _module in _MODULES:
        importlib.import_module(_module)
    _process.serve()
