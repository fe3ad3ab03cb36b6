"""Checks what a sandbox requires: programs, of the host or of a release, and free space."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from replay.base.invocation import replay_command
from replay.base.programs import HOST_PROGRAMS, Programs
from replay.base.releases import HOST, known_releases
from replay.cluster.sandbox_record import SandboxError
from replay.design.sandbox_options import SandboxOptions, show_size
from replay.sandbox.tools import MissingProgramsError, NoSpaceError

PACKAGE_OF_PROGRAM = {
    "ceph-mon": "ceph-mon",
    "ceph-mgr": "ceph-mgr",
    "ceph-osd": "ceph-osd",
    "ceph": "ceph-common",
    "rbd": "ceph-common",
    "ceph-authtool": "ceph-common",
    "monmaptool": "ceph-base",
    "rbd-mirror": "rbd-mirror",
}


def check_programs(options: SandboxOptions) -> None:
    """Raise MissingProgramsError naming the packages if a program that the sandbox needs is missing.

    Raises ReplayError if a release cannot be entered.
    """
    programs = Programs.of(options.release_number)
    needed = [name for name in PACKAGE_OF_PROGRAM if name != "rbd-mirror" or options.right_osds]
    if missing := [name for name in needed if programs.find(name) is None]:
        raise _missing(missing, programs)
    programs.check()


def usual_release() -> str:
    """Return the release of a new sandbox for which none is named: the host's, else the newest one that is here."""
    if all(HOST_PROGRAMS.find(name) for name in PACKAGE_OF_PROGRAM):
        return HOST
    here = known_releases()
    return str(here[-1].number) if here else HOST


def _missing(names: list[str], programs: Programs) -> MissingProgramsError:
    if programs.release is not None:
        remove = replay_command("sandbox", "releases", "--remove", str(programs.release.number))
        return MissingProgramsError(
            f"it lacks {', '.join(names)}",
            where=programs.release.folder,
            next_step=f"remove this release, and get it from another source: {remove}",
        )
    packages = sorted({PACKAGE_OF_PROGRAM.get(name, name) for name in names})
    return MissingProgramsError(
        f"not installed: {', '.join(names)}",
        where="sandbox",
        next_step=f"install Debian's packages: sudo apt-get install {' '.join(packages)}",
    )


def free_bytes(folder: Path) -> int:
    """Return the free space for this user on the disk of `folder`, or of its nearest existing parent."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def check_space(folder: Path, options: SandboxOptions) -> str | None:
    """Raise NoSpaceError if the sandbox cannot be created here; return a warning if it may outgrow the disk."""
    free = free_bytes(folder)
    if free < options.needed_bytes:
        raise NoSpaceError(
            f"a sandbox of this size needs {show_size(options.needed_bytes)} free, but only {show_size(free)} are",
            where=folder,
            next_step="free some space, choose another --directory, or use smaller OSDs "
            "(--left-osd-size 4GiB --right-osd-size 4GiB)",
        )
    if free < options.total_osd_bytes:
        return (
            f"the OSDs can grow to {show_size(options.total_osd_bytes)}, but only {show_size(free)} are free: "
            "watch the disk in long campaigns"
        )
    return None


def ceph_version(programs: Programs) -> str:
    """Return the version that `ceph-mon --version` prints, for example `16.2.15`. Raises SandboxError."""
    argv = programs.command(["ceph-mon", "--version"])
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    words = done.stdout.split()
    if len(words) < 3:
        said = done.stderr.strip().splitlines()
        raise SandboxError(
            f"ceph-mon --version prints no version: {said[-1] if said else f'exit status {done.returncode}'}",
            where=programs.release.folder if programs.release else str(programs.find("ceph-mon")),
        )
    return words[2]
