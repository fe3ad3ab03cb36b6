"""What a sandbox needs: a release of Ceph with its programs, and free space."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from pathlib import Path

from replay.base.disk import existing, size_text
from replay.base.errors import ConfigurationError, RefusedError, ReplayError
from replay.base.paths import replay_command
from replay.base.programs import (
    HOST,
    HOST_PROGRAMS,
    OF_RELEASE,
    RECORD,
    Programs,
    Release,
    find_release,
    known_releases,
    major_of,
    release_directory,
    releases_directory,
    title_of,
)
from replay.cluster.sandbox_options import GIB, SandboxOptions
from replay.cluster.sandbox_record import SandboxError, all_sandboxes, sandbox_command
from replay.sandbox.release_sources import ReleaseSource, source_of, trim
from replay.sandbox.tools import Say, columns, locked, run
from replay.tools import programs as tool_programs

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
#: What a line between the sites needs besides, and Debian's packages of that.
_OF_LINK = ("ip", "nsenter", "iperf3")
_FURTHER_PACKAGES = {"ip": "iproute2", "nsenter": "util-linux", "iperf3": "iperf3", "crushtool": "ceph-base"}


def check_programs(options: SandboxOptions) -> None:
    """Raise ConfigurationError naming the packages if a program that the sandbox needs is missing.

    Raises ReplayError if a release cannot be entered.
    """
    programs = Programs.of(options.release_number)
    needed = [name for name in PACKAGE_OF_PROGRAM if name != "rbd-mirror" or options.right_osds]
    needed += ["crushtool"] if options.stretch else []
    needed += _OF_LINK if options.link_rtt_seconds is not None else []
    if missing := [name for name in needed if programs.find(name) is None]:
        raise _missing(missing, programs)
    programs.check()


def usual_release() -> str:
    """Return the release of a new sandbox for which none is named: the host's, else the newest one that is here.

    Clients have their programs from where the sandbox has its own, so the host has to have the benchmark tools, too.
    """
    tools = [program.name for program in tool_programs.programs() if program.name in OF_RELEASE]
    if all(HOST_PROGRAMS.find(name) for name in (*PACKAGE_OF_PROGRAM, *tools)):
        return HOST
    known = known_releases()
    return str(known[-1].number) if known else HOST


def _missing(names: list[str], programs: Programs) -> ConfigurationError:
    # The others are the host's, whatever the release.
    if programs.release is not None and (lacking := [name for name in names if name in OF_RELEASE]):
        return ConfigurationError(
            f"it lacks {', '.join(lacking)}",
            where=programs.release.folder,
            next_step="remove this release, and get it from another source: "
            + _remove_command(programs.release.number),
        )
    packages = sorted({{**PACKAGE_OF_PROGRAM, **_FURTHER_PACKAGES}[name] for name in names})
    return ConfigurationError(
        f"not installed: {', '.join(names)}",
        where="sandbox",
        next_step=f"install Debian's packages: sudo apt-get install {' '.join(packages)}",
    )


def free_bytes(folder: Path) -> int:
    """Return the free space for this user on the disk of `folder`, or of its nearest existing parent."""
    return shutil.disk_usage(existing(folder)).free


def check_space(folder: Path, options: SandboxOptions) -> str | None:
    """Raise RefusedError if the sandbox cannot be created here; return a warning if it may outgrow the disk."""
    free = free_bytes(folder)
    if free < options.needed_bytes:
        raise RefusedError(
            f"a sandbox of this size needs {size_text(options.needed_bytes)} free, but only {size_text(free)} are",
            where=folder,
            next_step="free some space, choose another --directory, or use smaller OSDs "
            "(--left-osd-size 4GiB --right-osd-size 4GiB)",
        )
    if free < options.total_osd_bytes:
        return (
            f"the OSDs can grow to {size_text(options.total_osd_bytes)}, but only {size_text(free)} are free: "
            "watch the disk in long campaigns"
        )
    return None


def ceph_version(programs: Programs) -> str:
    """Return the version that `ceph-mon --version` prints, for example `16.2.15`. Raises SandboxError."""
    return run(programs, ["ceph-mon", "--version"]).split()[2]


_PATIENCE_SECONDS = 3600.0


def ensure(number: int | None, say: Say, image: str | None = None) -> Release | None:
    """Return a release, and fetch it if it is missing; None for the host's own.

    It appears whole or not at all. If two programs want it, the second waits for the first. Raises ReplayError.
    """
    if number is None:
        return None
    folder = release_directory(number)

    def suits(release: Release) -> bool:
        return image is None or release.source == source_of(number, image).title

    if (release := find_release(number)) is not None and suits(release):
        return release
    with locked(folder, what=f"Ceph {title_of(number)}", timeout_seconds=_PATIENCE_SECONDS, say=say):
        if (release := find_release(number)) is None:
            return _make(number, folder, source_of(number, image), say)
        if not suits(release):
            raise SandboxError(
                f"Ceph {release.title} is already here, from {release.source}",
                where=folder,
                next_step=f"omit --image, or remove this release first: {_remove_command(number)}",
            )
        return release


def _make(number: int, folder: Path, source: ReleaseSource, say: Say) -> Release:
    needed = int(source.gibibytes * GIB)
    if (free := free_bytes(folder)) < needed:
        raise RefusedError(
            f"Ceph {title_of(number)} needs {size_text(needed)} free, but only {size_text(free)} are",
            where=folder.parent,
            next_step="free some space, or name another folder in REPLAY_RELEASES",
        )
    say(
        f"getting Ceph {title_of(number)} from {source.title} into {folder}: "
        f"takes {source.minutes}, and up to {size_text(needed)} in between"
    )
    began = time.monotonic()
    scratch, log_path = folder.with_name(f".{folder.name}.making"), folder.with_name(f"{folder.name}.log")
    # Nobody can tell whether an interrupted attempt left a whole release, so this one starts over.
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.parent.mkdir(parents=True, exist_ok=True)
    try:
        with log_path.open("w", encoding="utf-8") as log:
            source.unpack(scratch, log)
        trim(scratch)
        release = _identified(number, scratch, source)
        (scratch / RECORD).write_text(json.dumps(release.to_json(), indent=2) + "\n", encoding="utf-8")
        # A folder without a readable record is of no use.
        shutil.rmtree(folder, ignore_errors=True)
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    log_path.unlink()
    made = Release(release.number, release.version, release.source, folder)
    say(f"Ceph {made.version} is available: {size_text(size_bytes(made))}, in {time.monotonic() - began:.0f} s")
    return made


def _identified(number: int, root: Path, source: ReleaseSource) -> Release:
    """Return the release that was unpacked. Raises ReplayError if it cannot run, or is another release."""
    release = Release(number, "unknown", source.title, root)
    programs = Programs(release)
    if missing := [name for name in PACKAGE_OF_PROGRAM if programs.find(name) is None]:
        raise ReplayError(
            f"it lacks {', '.join(missing)}", where=source.title, next_step="name an image that has them: --image IMAGE"
        )
    programs.check_entry()
    version = ceph_version(programs)
    if major_of(version) != number:
        raise ReplayError(
            f"it has Ceph {version}, not {title_of(number)}",
            where=source.title,
            next_step="name a container image that has it: --image IMAGE",
        )
    return Release(number, version, source.title, root)


def remove(number: int) -> int:
    """Remove a release and return how many bytes that frees. Raises RefusedError while a sandbox or a process runs it.

    Other checkouts may share the folder of releases: their sandboxes are known by their processes only.
    """
    folder = release_directory(number)
    with locked(folder, what="this release"):
        release = find_release(number)
        if release is None and not folder.exists():
            raise SandboxError(f"there is no Ceph {title_of(number)} here", where=folder.parent)
        if users := users_of(number):
            raise RefusedError(
                f"Ceph {title_of(number)} is used by the sandbox in {', '.join(map(str, users))}",
                where=folder,
                next_step=f"remove that sandbox first: {sandbox_command('down', users[0])}",
            )
        if pid := _runs_in(folder):
            raise RefusedError(
                f"Ceph {title_of(number)} is used by process {pid}",
                where=folder,
                next_step=f"find out whose it is with ps -fp {pid}, and stop that first",
            )
        freed = size_bytes(release) if release else 0
        gone = folder.with_name(f".{folder.name}.removing")
        shutil.rmtree(gone, ignore_errors=True)
        folder.rename(gone)
        shutil.rmtree(gone)
    return freed


def users_of(number: int) -> list[Path]:
    """Return the folders of this project's sandboxes that run a release."""
    return [Path(each.directory) for each in all_sandboxes() if each.options.release_number == number]


def _runs_in(folder: Path) -> str:
    """Return the pid of a process that has a release's `/usr` for its own; empty if there is none."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "root" / "usr").samefile(folder / "usr"):
                return entry.name
    return ""


def _remove_command(number: int) -> str:
    return replay_command("sandbox", "releases", "--remove", str(number))


def size_bytes(release: Release) -> int:
    """Return the size of a release on disk; a file with several names counts once."""
    seen: dict[int, int] = {}
    for path in release.folder.rglob("*"):
        status = path.lstat()
        seen[status.st_ino] = status.st_blocks * 512
    return sum(seen.values())


def table() -> str:
    """Return the releases as a table for people."""
    releases = known_releases()
    if not releases:
        return f"no releases in {releases_directory()}; {replay_command('sandbox', 'up', '--release', '18')} gets one"
    rows = [("release", "version", "size", "from", "used by")]
    for each in releases:
        users = ", ".join(folder.name for folder in users_of(each.number)) or "-"
        rows.append((each.title, each.version, size_text(size_bytes(each)), each.source, users))
    return "\n".join([*columns(rows), "", f"in {releases_directory()}"])
