"""Runs Ceph's tools: with a timeout, interruptible, and with only the sandbox's settings in the environment."""

from __future__ import annotations

import json
import os
import selectors
import shlex
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from replay.base.programs import Programs
from replay.cluster.sandbox_layout import Layout
from replay.sandbox.errors import InterruptedStart, SandboxError
from replay.sandbox.processes import daemon_environment


class Interrupt:
    """Set by the main thread on Ctrl-C; it ends every wait of a worker thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Ask all waits to end."""
        self._event.set()

    def pause(self, seconds: float) -> None:
        """Sleep. Raises InterruptedStart."""
        if self._event.wait(seconds):
            raise InterruptedStart

    def wait_until(self, ready: Callable[[], bool], *, what: str, where: Path | str, timeout_seconds: float) -> None:
        """Poll until `ready()`. Raises SandboxError that names what was awaited (`what`) and its log (`where`)."""
        deadline = time.monotonic() + timeout_seconds
        while not ready():
            if time.monotonic() > deadline:
                raise SandboxError(
                    f"{what}: timed out after {timeout_seconds:g} s", where=where, next_step="read the logs named here"
                )
            self.pause(0.05)


def run(programs: Programs, argv: list[str], *, timeout_seconds: float = 60.0) -> str:
    """Run one of `programs` and return its stdout. Raises SandboxError with its last line of output."""
    shown = " ".join(argv)
    try:
        done = subprocess.run(
            programs.command(argv),
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            stdin=subprocess.DEVNULL,
            env=daemon_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise SandboxError(f"it did not end within {timeout_seconds:g} s", where=shown) from error
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise SandboxError(f"exit status {done.returncode}: {lines[-1] if lines else 'nothing printed'}", where=shown)
    return done.stdout


def rbd(layout: Layout, cluster: str, *args: str, timeout_seconds: float = 60.0) -> str:
    """Run `rbd` on a cluster as the sandbox's administrator."""
    argv = ["rbd", "--conf", str(layout.conf(cluster)), *args]
    return run(layout.programs, argv, timeout_seconds=timeout_seconds)


class CephSession:
    """One long-lived `ceph` program that answers commands one after the other.

    Starting `ceph` costs 0.35 s of CPU, a command on an open connection almost nothing, and starting two clusters needs
    dozens of commands. Monitor commands only: the program learns the manager's when it connects, which may be too
    early.
    """

    def __init__(self, layout: Layout, cluster: str, fsid: str) -> None:
        self._conf, self._buffer = layout.conf(cluster), b""
        # The answer to a command that is sent after each other one: it shows that the answer before it is complete.
        self._end = json.dumps({"fsid": fsid}, separators=(",", ":"))
        self._process = subprocess.Popen(
            layout.programs.command(["ceph", "--conf", str(self._conf), "--connect-timeout", "30", "--format", "json"]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**daemon_environment(), "PYTHONUNBUFFERED": "1"},
        )
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)

    def __enter__(self) -> CephSession:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        self._process.stdin.close()
        self._process.kill()
        self._process.stdout.close()
        self._process.wait()

    def run(self, *words: str, timeout_seconds: float = 60.0) -> str:
        """Run one command and return its output. Raises SandboxError if Ceph reports an error."""
        command = shlex.join(words)
        try:
            self._process.stdin.write(f"{command}\nfsid\n".encode())
            self._process.stdin.flush()
        except OSError as error:
            raise self._failed(command, self._rest() or "the program ended") from error
        lines = self._read_answer(command, time.monotonic() + timeout_seconds)
        if errors := [line for line in lines if line.startswith(("Error ", "Invalid command", "error handling"))]:
            raise self._failed(command, errors[0])
        return "\n".join(lines)

    def json(self, *words: str, timeout_seconds: float = 60.0) -> Any:
        """Run one command and return its answer, parsed."""
        lines = self.run(*words, timeout_seconds=timeout_seconds).splitlines()
        # Messages come first, then the document, which some commands print in several lines.
        begins = next((number for number, line in enumerate(lines) if line.startswith(("{", "["))), len(lines))
        try:
            return json.loads("\n".join(lines[begins:]))
        except json.JSONDecodeError as error:
            raise self._failed(shlex.join(words), f"printed no JSON: {error}") from error

    def _read_answer(self, command: str, deadline: float) -> list[str]:
        lines: list[str] = []
        while True:
            while b"\n" in self._buffer:
                line, _, self._buffer = self._buffer.partition(b"\n")
                text = line.decode("utf-8", "replace").rstrip()
                if text == self._end:
                    return lines
                if text:
                    lines.append(text)
            if not self._selector.select(timeout=max(0.0, deadline - time.monotonic())):
                raise self._failed(command, "no answer in time")
            chunk = os.read(self._process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise self._failed(command, lines[-1] if lines else "the program ended")
            self._buffer += chunk

    def _rest(self) -> str:
        self._process.wait()
        lines = (self._buffer + self._process.stdout.read()).decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _failed(self, command: str, said: str) -> SandboxError:
        return SandboxError(said, where=f"ceph {command} ({self._conf})")
