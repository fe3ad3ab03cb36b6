"""Writes manifest.json, which says what a data set holds. The deck and every chart label read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from replay.base.releases import titles_in
from replay.base.tables import json_text, write_if_changed
from replay.claims.margins import with_margins
from replay.claims.model import Claim
from replay.derive.part import read_part
from replay.derive.sampling import costliest
from replay.evidence.data_set import MANIFEST, experiments_in, read_campaign


def write_manifest(data_set: Path, claims: Iterable[Claim] = ()) -> bool:
    """Write manifest.json from each experiment's derived entry; return whether it changed.

    Call it while holding `exclusive(data_set)`. An experiment that was never derived here keeps its entry; one without
    raw output has none. `claims` state the margins of ratio charts.
    """
    path = data_set / MANIFEST
    entries = _previous(path)
    present = {name: read_part(data_set / name) for name in experiments_in(data_set)}
    entries = {name: entry for name, entry in entries.items() if name in present}
    entries |= {name: {**part.entry, "provenance": part.facts} for name, part in present.items() if part}
    entries = with_margins(entries, claims)
    return write_if_changed(path, json_text(manifest(data_set.name, read_campaign(data_set), entries)))


def manifest(name: str, campaign: Mapping[str, Any], entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the manifest of a data set from its campaign and its experiments' entries."""
    provenance = [entry["provenance"] for entry in entries.values()]

    def gathered(key: str) -> list[str]:
        return sorted({value for one in provenance for value in one.get(key, ())})

    return {
        "schema_version": 1,
        "data_set": name,
        "label": campaign.get("label") or name,
        "site": campaign.get("site"),
        "site_label": campaign.get("site_label"),
        "limitation": campaign.get("limitation"),
        "altered": False,
        "setup": _with_releases(
            _setup(
                campaign.get("setup") or {},
                cpu=gathered("processors"),
                kernel=gathered("kernels"),
                ceph_version=gathered("ceph_versions"),
                librbd_version=gathered("librbd_versions"),
            )
        ),
        **_upper_bounds(entries),
        **({"samplers": found} if (found := costliest(entries)) else {}),
        "measured_from": min((one["measured_from"] for one in provenance if one["measured_from"]), default=None),
        "measured_to": max((one["measured_to"] for one in provenance if one["measured_to"]), default=None),
        "machines": gathered("machines"),
        "git_commits": gathered("git_commits"),
        "git_dirty": any(one["git_dirty"] for one in provenance),
        "experiments": {key: entries[key] for key in sorted(entries)},
    }


def _setup(noted: Mapping[str, Any], **seen: list[str]) -> dict[str, Any]:
    """Return the set-up that was noted when the data set was started, updated with what the runs saw.

    Each of `seen` lists everything that cells were measured on, because a data set can be resumed on another host.
    """
    return {**noted, **{key: ", ".join(found) for key, found in seen.items() if key in noted and found}}


def _with_releases(setup: Mapping[str, Any]) -> dict[str, Any]:
    """Return the set-up with the releases of daemons and client, such as `16 (pacific)`, if they are known."""
    names = {"ceph_release": "ceph_version", "client_release": "librbd_version"}
    return {**setup, **{name: found for name, key in names.items() if (found := titles_in(setup.get(key)))}}


def _upper_bounds(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the upper bounds that experiments found, under `ceilings`; empty if there are none."""
    found = {
        key: {"experiment": name, **one}
        for name, entry in sorted(entries.items())
        for key, one in entry.get("ceilings", {}).items()
    }
    return {"ceilings": found} if found else {}


def _previous(path: Path) -> dict[str, Any]:
    """Return the entries of an earlier manifest. An unreadable one is ignored, because it can be derived again."""
    try:
        entries = json.loads(path.read_text())["experiments"]
        return {name: entry for name, entry in entries.items() if "provenance" in entry}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
