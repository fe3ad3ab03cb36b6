"""Releases of Ceph besides the host's own: their names, and the folder that holds each."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.base.invocation import did_you_mean
from replay.base.paths import ROOT, project_directory

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
        """The release for people, such as `18 (reef)`."""
        return title_of(self.number)

    def to_json(self) -> dict[str, object]:
        """Return the content of the folder's record."""
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
    """Return the name of the data set of one release, of several that share the start of their names."""
    return f"{name}-{release}"


def parse_data_set(data_set: str) -> tuple[str, int] | None:
    """Return what `data_set_of` made a name from; None for any other name, such as that of a second run, `mine-2`."""
    found = _OF_RELEASE.fullmatch(data_set)
    return (found[1], int(found[2])) if found and int(found[2]) in NAMES else None


def older_releases(data_set: Path) -> list[Path]:
    """Return the data sets of older releases beside this one, oldest first, by their names."""
    own = parse_data_set(data_set.name)
    if own is None:
        return []
    older = [data_set.with_name(data_set_of(own[0], release)) for release in sorted(NAMES) if release < own[1]]
    return [path for path in older if path.is_dir()]


def major_of(version: str | None) -> int | None:
    """Return the number of the release that a version such as `18.2.7` belongs to, None if it names none."""
    head = (version or "").partition(".")[0]
    return int(head) if head.isdigit() else None


def with_names(versions: str) -> str:
    """Return versions, written `18.2.4, 18.2.7`, each with its release's name: `18.2.4 (reef), 18.2.7 (reef)`."""
    return ", ".join(
        f"{one} ({name})" if (name := NAMES.get(major_of(one) or 0)) else one for one in versions.split(", ")
    )


def titles_in(versions: str | None) -> str:
    """Return the releases of some versions, written `18.2.4, 18.2.7`, for people; empty if none is known."""
    found = {release for one in (versions or "").split(", ") if (release := major_of(one)) is not None}
    return ", ".join(map(title_of, sorted(found)))


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
    return [found for number in numbers if (found := find_release(number)) is not None]
