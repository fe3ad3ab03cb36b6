"""What can go wrong with a sandbox, as errors that a person reads."""

from __future__ import annotations

from replay.cluster.sandbox_record import SandboxError

__all__ = ["BusyPortError", "InterruptedStart", "MissingProgramsError", "NoSpaceError", "SandboxError"]


class MissingProgramsError(SandboxError):
    """Programs of Ceph are not installed; names the Debian packages."""

    exit_status = 2


class NoSpaceError(SandboxError):
    """The disk has too little free space; names the figure that is needed."""

    exit_status = 4


class BusyPortError(SandboxError):
    """Another process listens on the port of a monitor that exists already; names the process."""


class InterruptedStart(BaseException):
    """Raised in worker threads when the person interrupts; never shown."""
