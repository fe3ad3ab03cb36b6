"""What a sandbox requires from the host: programs and free space."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from replay.config.sandbox_options import SandboxOptions, show_size
from replay.sandbox.errors import MissingProgramsError, NoSpaceError

PACKAGE_OF_PROGRAM = {
    "ceph-mon": "ceph-mon",
    "ceph-mgr": "ceph-mgr",
    "ceph-osd": "ceph-osd",
    "ceph": "ceph-common",
    "rbd": "ceph-common",
    "monmaptool": "ceph-base",
    "rbd-mirror": "rbd-mirror",
}
# Debian keeps daemons in /usr/bin, other distributions in /usr/sbin, which an ordinary user's PATH may lack.
_EXTRA_FOLDERS = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin")


def find_program(name: str) -> Path | None:
    """Return the absolute path of a program, or None."""
    found = shutil.which(name) or shutil.which(name, path=":".join(_EXTRA_FOLDERS))
    return Path(found).resolve() if found else None


def program(name: str) -> str:
    """Return the absolute path of a program of Ceph. Raises MissingProgramsError."""
    found = find_program(name)
    if found is None:
        raise _missing([name])
    return str(found)


def check_programs(options: SandboxOptions) -> None:
    """Raise MissingProgramsError naming the packages, when a program that the sandbox needs is absent."""
    needed = [name for name in PACKAGE_OF_PROGRAM if name != "rbd-mirror" or options.right_osds]
    if missing := [name for name in needed if find_program(name) is None]:
        raise _missing(missing)


def _missing(names: list[str]) -> MissingProgramsError:
    packages = sorted({PACKAGE_OF_PROGRAM.get(name, name) for name in names})
    return MissingProgramsError(
        f"not installed: {', '.join(names)}",
        where="sandbox",
        next_step=f"install Debian's packages: sudo apt-get install {' '.join(packages)}",
    )


def free_bytes(folder: Path) -> int:
    """Return the space free to this user on the disk of `folder`, or of its nearest existing parent."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def check_space(folder: Path, options: SandboxOptions) -> str | None:
    """Raise NoSpaceError when the sandbox cannot be created here; return a warning when it may outgrow the disk."""
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


def ceph_version() -> str:
    """Return what `ceph --version` says of the release, for example `16.2.15`."""
    said = subprocess.run([program("ceph-mon"), "--version"], capture_output=True, text=True, timeout=30).stdout
    words = said.split()
    return words[2] if len(words) > 2 else "unknown"
