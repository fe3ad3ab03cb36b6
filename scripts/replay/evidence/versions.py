"""The versions in evidence: those of the cluster's daemons and of the client, as sidecars record them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from replay.base.releases import NAMES, major_of, title_of

#: What to call daemons, by their keys in a sidecar's `versions`.
DAEMONS = {"osd": "OSDs", "mon": "monitors", "mgr": "managers", "rbd_mirror": "mirror daemons"}
SECOND_SITE = "second_site"
CLIENT = "client"
Versions = Mapping[str, Any]


def ceph_versions(versions: Versions) -> set[str]:
    """Return the versions of all daemons that a sidecar names, including those of the second cluster."""
    return {version for _, found in _daemons(versions) for version in found}


def client_version(versions: Versions) -> str | None:
    """Return the client's version, which is that of librbd; None if unknown."""
    return versions.get("librbd")


def releases_in(versions: Versions) -> dict[str, frozenset[int]]:
    """Return the major releases of daemons and client, by what each is called. Unknown ones are left out."""
    client = [version] if (version := client_version(versions)) else []
    found = [*_daemons(versions), (CLIENT, client)]
    majors = {what: frozenset(filter(None, map(major_of, said))) for what, said in found}
    return {what: releases for what, releases in majors.items() if releases}


@dataclass(frozen=True)
class Change:
    """Daemons, or the client, with another release now: their major releases when measured, and those of now."""

    what: str
    measured: frozenset[int]
    now: frozenset[int]


def changes(measured: Versions, now: Versions) -> list[Change]:
    """Return what is known to have another major release now than when it was measured, OSDs first."""
    before, after = releases_in(measured), releases_in(now)
    return [Change(what, before[what], after[what]) for what in after if before.get(what, after[what]) != after[what]]


def in_words(changed: list[Change]) -> str:
    """Return changes in words: `OSDs and monitors 16 (pacific), now 18 (reef); client 16 (pacific), now 18 (reef)`."""
    alike: dict[tuple[str, str], list[str]] = {}
    for one in changed:
        alike.setdefault((_titles(one.measured), _titles(one.now)), []).append(one.what)
    return "; ".join(f"{_listed(what)} {measured}, now {now}" for (measured, now), what in alike.items())


def unknown_releases(versions: Versions) -> list[str]:
    """Return a sentence for each release that Replay does not know, and one about releases that are unknown."""
    found = releases_in(versions)
    majors = sorted({release for releases in found.values() for release in releases} - NAMES.keys())
    said = [f"Replay does not know Ceph {release}, but measures it all the same" for release in majors]
    if untold := [what for what in ("OSDs", CLIENT) if what not in found]:
        said.append(f"the release of {' and '.join(untold)} is unknown, so it is not recorded")
    return said


def _daemons(versions: Versions) -> Iterator[tuple[str, list[str]]]:
    """Yield what the daemons of both clusters are called, and their versions: several if they are mixed."""
    for key, what in DAEMONS.items():
        yield what, versions.get(key) or []
    for key, what in DAEMONS.items():
        yield f"{what} of the second cluster", (versions.get(SECOND_SITE) or {}).get(key) or []


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _titles(releases: frozenset[int]) -> str:
    return " and ".join(map(title_of, sorted(releases)))
