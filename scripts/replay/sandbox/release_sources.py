"""Where a release comes from: packages of a suite of Debian, unpacked, or the file system of a container image.

Neither needs root, and neither runs anything that it unpacks. Only `/usr` is kept, which a release's programs see
instead of the host's.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from replay.base.errors import ConfigurationError, ReplayError
from replay.base.programs import OF_RELEASE, title_of
from replay.cluster.running import kill_group
from replay.sandbox.tools import remove_all_but
from replay.tools.programs import programs

#: Ceph's packages, the system's Python with Ceph's modules, and what runs other programs; tools name their own.
_PACKAGES = (
    *("ceph-base", "ceph-common", "ceph-mon", "ceph-mgr", "ceph-osd", "rbd-mirror"),
    *("python3-rados", "python3-rbd", "coreutils"),
)
MIRROR_VARIABLE = "REPLAY_DEBIAN_MIRROR"
_SUITES = {16: "bookworm", 18: "trixie", 20: "unstable"}
#: Folders that nothing here reads.
_NEEDLESS = ("share/doc", "share/man", "share/locale", "share/info", "share/lintian")
# Packages of older suites contain files in /bin and /lib, which are links into /usr.
_MERGED = 'for n in bin sbin lib lib64; do mkdir -p "$1/usr/$n" && ln -s "usr/$n" "$1/$n"; done'


def packages() -> list[str]:
    """Return Debian's packages that make a release, with those of the tools that it provides."""
    of_tools = {program.package for program in programs() if program.name in OF_RELEASE}
    return [*_PACKAGES, *sorted(of_tools - set(_PACKAGES))]


@dataclass(frozen=True)
class Suite:
    """Packages of a Debian suite, from the archive that this machine uses anyway."""

    name: str
    #: The space that it needs, and how long it takes, for people.
    gibibytes: float = 1.3
    minutes: str = "1 to 5 minutes"

    @property
    def title(self) -> str:
        """The source's name, for people and for the release's record."""
        return f"Debian's packages ({self.name})"

    def unpack(self, root: Path, log: IO[str]) -> None:
        """Have mmdebstrap unpack the packages and their dependencies below `root`; none of their scripts runs."""
        archive = debian_archive()
        with tempfile.TemporaryDirectory(prefix="replay-mmdebstrap-") as folder:
            argv = [mmdebstrap(Path(folder), log), "--mode=chrootless", "--variant=extract"]
            if os.geteuid() == 0:
                argv.append("--skip=check/chrootless")  # which warns about packages' scripts: none runs
            argv += [f"--include={','.join(packages())}", f"--setup-hook={_MERGED}"]
            if self.name == "unstable":
                # A snapshot mirror has an old list of a suite that changes daily.
                argv.append('--aptopt=Acquire::Check-Valid-Until "false"')
            run_logged([*argv, self.name, str(root), archive], log, where=self.title)


@dataclass(frozen=True)
class ContainerImage:
    """A container image, by podman or docker."""

    name: str
    gibibytes: float = 4.0
    minutes: str = "1 to 10 minutes"

    @property
    def title(self) -> str:
        return f"the image {self.name}"

    def unpack(self, root: Path, log: IO[str]) -> None:
        """Make a container that never runs, and unpack its `/usr` into `root`."""
        engine = next((program for name in ("podman", "docker") if (program := shutil.which(name))), None)
        if engine is None:
            raise ReplayError(
                "neither podman nor docker is installed",
                where=self.title,
                next_step="install podman, or omit --image to use Debian's packages",
            )
        container = run_logged([engine, "create", self.name, "true"], log, where=self.title).split()[-1]
        try:
            archive = root / "image.tar"
            root.mkdir()
            run_logged([engine, "export", "--output", str(archive), container], log, where=self.title)
            unpack_usr(archive, root)
            archive.unlink()
        finally:
            run_logged([engine, "rm", "--force", container], log, where=self.title)


ReleaseSource = Suite | ContainerImage


def source_of(number: int, image: str | None) -> ReleaseSource:
    """Return the source of a release. Raises ConfigurationError if Debian has no packages of it."""
    if image is not None:
        return ContainerImage(image)
    if number not in _SUITES:
        known = ", ".join(title_of(each) for each in _SUITES)
        raise ConfigurationError(
            f"Debian has no packages of Ceph {title_of(number)}, only of {known}",
            next_step="name a container image that has it: --image IMAGE",
        )
    return Suite(_SUITES[number])


def debian_archive() -> str:
    """Return the address of the Debian archive that this machine's apt uses. Raises ReplayError if it uses none."""
    if named := os.environ.get(MIRROR_VARIABLE):
        return named
    targets = ""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        argv = ["apt-get", "indextargets", "--format", "$(ORIGIN)|$(SITE)", "Created-By: Packages"]
        targets = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False).stdout
    for line in targets.splitlines():
        origin, _, site = line.partition("|")
        if origin == "Debian" and site:
            return site
    raise ReplayError(
        "apt's sources on this machine name no Debian archive (or its lists were never fetched)",
        next_step=f"run sudo apt-get update; on another distribution name an archive as {MIRROR_VARIABLE}, "
        "or use a container image: --image IMAGE",
    )


def mmdebstrap(folder: Path, log: IO[str]) -> str:
    """Return mmdebstrap: the installed one, else the one in its package, which is unpacked into `folder`."""
    if installed := shutil.which("mmdebstrap"):
        return installed
    where = "Debian's package mmdebstrap"
    run_logged(["apt-get", "download", "mmdebstrap"], log, where=where, cwd=folder)
    (package,) = folder.glob("mmdebstrap_*.deb")
    run_logged(["dpkg-deb", "--extract", str(package), str(folder)], log, where=where)
    return str(folder / "usr" / "bin" / "mmdebstrap")


def run_logged(argv: Sequence[str], log: IO[str], *, where: str, cwd: Path | None = None) -> str:
    """Run a program, add its messages to `log`, and return its stdout. Raises ReplayError with its last words.

    An interruption ends the program and everything that it started.
    """
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=cwd,
            start_new_session=True,
        )
    except OSError as error:
        raise ReplayError(f"{argv[0]}: {error.strerror}", where=where, next_step=f"install {argv[0]}") from error
    try:
        printed, messages = process.communicate()
    except BaseException:
        kill_group(process, grace_seconds=10.0)
        raise
    log.write(f"== {' '.join(argv)}\n{messages}")
    if process.returncode != 0:
        lines = messages.strip().splitlines()
        raise ReplayError(
            f"{Path(argv[0]).name} ended with status {process.returncode}: {lines[-1] if lines else 'it said nothing'}",
            where=where,
            next_step=f"read {log.name}",
        )
    return printed


def unpack_usr(archive: Path, root: Path) -> None:
    """Unpack the `/usr` of an archived file system as files of this user. Raises ReplayError if there is none.

    Devices, and files that would be outside of `root`, are left out.
    """

    def wanted(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
        name = member.name.removeprefix("./")
        if not name.startswith("usr/") or not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
            return None
        return tarfile.tar_filter(member, folder)

    try:
        with tarfile.open(archive) as opened:
            opened.extractall(root, filter=wanted)
    except (tarfile.TarError, OSError) as error:
        raise ReplayError(f"cannot be unpacked: {error}", where=archive, next_step="try another image") from error
    if not (root / "usr" / "bin").is_dir():
        raise ReplayError("it has no /usr/bin", where=archive, next_step="name an image that has Ceph's programs")


def trim(root: Path) -> None:
    """Remove everything except `/usr`, and the folders of `/usr` that nothing reads."""
    remove_all_but("usr", root)
    for name in _NEEDLESS:
        shutil.rmtree(root / "usr" / name, ignore_errors=True)
