"""Errors of a sandbox, for people."""

from __future__ import annotations

from replay.cluster.sandbox_record import SandboxError


class MissingProgramsError(SandboxError):
    """Ceph programs are not installed; names their packages."""

    exit_status = 2


class NoSpaceError(SandboxError):
    """The disk has too little free space; says how much is needed."""

    exit_status = 4


class BusyPortError(SandboxError):
    """Another process listens on the port of an existing monitor; names the process."""


class InterruptedStart(BaseException):
    """Raised in worker threads on an interruption; never shown."""
