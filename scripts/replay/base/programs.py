"""Releases of Ceph, and where its programs and the benchmark tools are: those of the host, or those of a release.

No other module finds programs. A release's programs see the host's files, except that `/usr` is the release's own.
`unshare` gives the process a mount namespace, the release's `/usr` is mounted over the host's in it, and the program
then replaces the process. So it keeps its pid, parent and open files, and no mount outlives it. For users other than
root, the kernel must allow user namespaces.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from replay.base.errors import ConfigurationError, ReplayError
from replay.base.paths import ROOT, did_you_mean, project_directory, replay_command, setup_command

HOST = "host"
#: Every release by its number, with the name that Ceph gives it.
NAMES = {
    14: "nautilus",
    15: "octopus",
    16: "pacific",
    17: "quincy",
    18: "reef",
    19: "squid",
    20: "tentacle",
}
RECORD = "release.json"
#: What derive writes of a data set beside those of older releases.
COMPARED_RELEASES = "releases.json"
SCHEMA_VERSION = 1
_OF_RELEASE = re.compile(r"(.+)-(\d+)")


@dataclass(frozen=True)
class Release:
    """A release in a folder of its own: `folder/usr` is the `/usr` of a system that has Ceph's programs.

    `source` says what it was made from: a suite of Debian, or an image.
    """

    number: int
    version: str
    source: str
    folder: Path

    @property
    def title(self) -> str:
        return title_of(self.number)

    def to_json(self) -> dict[str, object]:
        return {"schema_version": SCHEMA_VERSION, **{k: v for k, v in asdict(self).items() if k != "folder"}}


def title_of(number: int) -> str:
    """Return a release for people, such as `18 (reef)`."""
    return f"{number} ({NAMES[number]})" if number in NAMES else str(number)


def parse_release(text: str | int) -> int | None:
    """Return the number of a release that a person wrote as `18` or `reef`; None for `host`.

    Raises ConfigurationError for anything else.
    """
    word = str(text).strip().lower()
    if word == HOST:
        return None
    numbers = {name: number for number, name in NAMES.items()}
    if word in numbers:
        return numbers[word]
    if word.isdigit() and int(word) in NAMES:
        return int(word)
    meant = did_you_mean(word, [*(str(number) for number in NAMES), *numbers, HOST])
    raise ConfigurationError(
        f"{str(text)!r} is not a release of Ceph",
        next_step=f"{meant} write a number or a name, such as 18 or reef, or host for the host's own Ceph".strip(),
    )


def data_set_of(name: str, release: int) -> str:
    return f"{name}-{release}"


def older_releases(data_set: Path) -> list[Path]:
    """Return the data sets of older releases beside this one, oldest first, by their names.

    There are none of a name that ends otherwise, such as that of a second run, `mine-2`.
    """
    match = _OF_RELEASE.fullmatch(data_set.name)
    if match is None or int(match[2]) not in NAMES:
        return []
    older = [data_set_of(match[1], release) for release in sorted(NAMES) if release < int(match[2])]
    return [path for name in older if (path := data_set.with_name(name)).is_dir()]


def major_of(version: str | None) -> int | None:
    """Return the number of the release that a version such as `18.2.7` belongs to, None if it names none."""
    head = (version or "").partition(".")[0]
    return int(head) if head.isdigit() else None


def with_names(versions: str) -> str:
    """Return versions, written `18.2.4, 18.2.7`, each with its release's name: `18.2.4 (reef), 18.2.7 (reef)`."""
    return ", ".join(
        f"{version} ({name})" if (name := NAMES.get(major_of(version) or 0)) else version
        for version in versions.split(", ")
    )


def titles_in(versions: str | None) -> str:
    """Return the releases of some versions, written `18.2.4, 18.2.7`, for people; empty if none is known."""
    releases = {release for version in (versions or "").split(", ") if (release := major_of(version)) is not None}
    return ", ".join(map(title_of, sorted(releases)))


def releases_directory() -> Path:
    """Folder of all releases of this checkout; `REPLAY_RELEASES` moves it."""
    if override := os.environ.get("REPLAY_RELEASES"):
        return Path(override).resolve()
    return (ROOT or project_directory()) / ".cache" / "releases"


def release_directory(number: int) -> Path:
    """Return the folder of one release, whether or not it exists."""
    return releases_directory() / str(number)


def find_release(number: int) -> Release | None:
    """Return a release that this machine has, None if it does not or the record cannot be read."""
    folder = release_directory(number)
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        if record.pop("schema_version") != SCHEMA_VERSION:
            return None
        return Release(**record, folder=folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def known_releases() -> list[Release]:
    """Return every release that this machine has, oldest first."""
    folders = releases_directory().glob("[0-9]*/")
    numbers = sorted(int(folder.name) for folder in folders if folder.name.isdigit())
    return [release for number in numbers if (release := find_release(number)) is not None]


# The programs of the host, or of a release ----------------------------------------------------------------------------

#: The Python that has Ceph's modules `rados` and `rbd`: they come with Ceph's packages.
SYSTEM_PYTHON = "/usr/bin/python3"
#: The programs that a release provides where one is used. `timeout` is one because it runs one of the others.
OF_RELEASE = frozenset(
    {
        *("ceph", "rbd", "rados", "rbd-mirror", "rbd-nbd", "ceph-mon", "ceph-mgr", "ceph-osd"),
        *("ceph-authtool", "monmaptool", "crushtool", "fio", "iperf3", "timeout", "python3"),
    }
)
# Debian keeps daemons in /usr/bin, other distributions in /usr/sbin, which an ordinary user's PATH may lack.
_FOLDERS = ("/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin")
_ENTER = 'mount --bind "$0/usr" /usr && exec "$@"'
_DIES_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")


class MissingProgramError(ReplayError):
    """A program is not installed; the error says how to get it."""


@dataclass(frozen=True)
class Programs:
    """Where programs come from: the host, or a release; and the site in whose network they run.

    `entry` is what leads a program into the network namespace of a sandbox's site, empty for the host's network.
    """

    release: Release | None = None
    entry: tuple[str, ...] = ()

    @classmethod
    def of(cls, number: int | None) -> Programs:
        """Return the programs of the release with a number; None stands for the host's.

        Raises ReplayError if this machine does not have the release.
        """
        programs = cls.wanted(number)
        if programs.release is not None:
            _refuse_absent(programs.release)
        return programs

    @classmethod
    def wanted(cls, number: int | None) -> Programs:
        """Like `of`, but also for a release that this machine does not have; `check` reports that later."""
        if number is None:
            return cls()
        return cls(find_release(number) or Release(number, "", "", release_directory(number)))

    def inside(self, entry: Sequence[str]) -> Programs:
        """Return the same programs as they run in a site's network namespace."""
        return replace(self, entry=tuple(entry))

    def find(self, name: str) -> Path | None:
        """Return a program's absolute path as the program itself sees it, None if there is no such program.

        `name` may also be a path.
        """
        if self.release is None or Path(name).name not in OF_RELEASE:
            absolute = shutil.which(name) or shutil.which(name, path=":".join(_FOLDERS))
            return Path(absolute) if absolute else None
        for folder in (Path("/usr/bin"), Path("/usr/sbin")):
            path = folder / Path(name).name
            if os.access(self.release.folder / path.relative_to("/"), os.X_OK):
                return path
        return None

    def folder_of(self, name: str) -> Path | None:
        """Return a folder of Ceph's libraries, such as `rados-classes`, as programs see it; None if there is none."""
        root = self.release.folder if self.release else Path("/")
        paths = [path for place in ("lib64", "lib", "lib/*") for path in sorted((root / "usr").glob(f"{place}/{name}"))]
        return Path("/") / paths[0].relative_to(root) if paths else None

    def command(self, argv: Sequence[str], *, dies_with_parent: bool = False) -> list[str]:
        """Return the argv that runs `argv` with the program found here. The running program sees `argv` itself.

        With `dies_with_parent` the kernel kills it when the thread that started it ends. Raises MissingProgramError if
        the program is not installed.
        """
        program = self.find(argv[0])
        if program is None:
            inside = f" in Ceph {self.release.title}" if self.release else ""
            raise MissingProgramError(
                f"the program {argv[0]} is not installed{inside}",
                where=self.release.folder if self.release else "",
                next_step=setup_command(),
            )
        # Entering a user namespace clears the parent-death signal, so it is set afterwards.
        bound = _DIES_WITH_PARENT if dies_with_parent else ()
        if self.release is None or program.name not in OF_RELEASE:
            return [*self.entry, *bound, str(program), *argv[1:]]
        namespaces = ["--mount"] if os.geteuid() == 0 else ["--map-root-user", "--mount"]
        enter = [*self.entry, "unshare", *namespaces, "--", *bound, "sh", "-c", _ENTER, str(self.release.folder)]
        return [*enter, str(program), *argv[1:]]

    def check(self) -> None:
        """Raise ReplayError if this machine does not have the release, or cannot run its programs."""
        if self.release is not None:
            _refuse_absent(self.release)
        self.check_entry()

    def check_entry(self) -> None:
        """Raise ReplayError if this machine cannot run the release's programs.

        This also works for a release that is still being fetched and has no record yet.
        """
        if self.release is None:
            return
        where = f"Ceph {self.release.title} in {self.release.folder}"
        if hidden := [str(path) for path in (Path.cwd(), self.release.folder) if path.resolve().is_relative_to("/usr")]:
            raise ReplayError(
                f"{hidden[0]} is in /usr, which the release's own /usr would hide",
                where=where,
                next_step="move it elsewhere, for example to your home directory, and run this again",
            )
        argv = self.command(["ceph-authtool", "--version"])
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        except OSError as error:
            raise ReplayError(f"cannot be entered: {error}", where=where, next_step="install util-linux") from error
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise ReplayError(
                f"cannot be entered: {lines[-1] if lines else f'exit status {done.returncode}'}",
                where=where,
                next_step="run this as root, or let users have namespaces of their own: "
                "sudo sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu 24.04 or later "
                "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0 (in a container: run it with --privileged)",
            )


def _refuse_absent(release: Release) -> None:
    if find_release(release.number) is None:
        raise ReplayError(
            f"Ceph {release.title} is not on this machine",
            next_step=f"get it: {replay_command('sandbox', 'releases', '--get', str(release.number))}",
        )


HOST_PROGRAMS = Programs()
