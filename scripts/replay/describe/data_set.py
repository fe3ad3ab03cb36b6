"""Writes what speaks of a whole data set: manifest.json, recording.json, datapackage.json."""

from __future__ import annotations

from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.claims import claims_path
from replay.claims.load import load_book
from replay.claims.model import Claim
from replay.describe.datapackage import write_datapackage
from replay.describe.manifest import write_manifest
from replay.describe.recording import write_recording
from replay.raw.layout import exclusive


def describe_data_set(data_set: Path) -> None:
    """Write the three files, each where it changes, from what was derived and judged."""
    with exclusive(data_set):
        write_manifest(data_set, _claims())
        write_recording(data_set)
        write_datapackage(data_set)


def mark_altered(data_set: Path) -> None:
    """Have manifest.json say that a copy is altered, before the first of its tables changes."""
    with exclusive(data_set):
        write_manifest(data_set)


def _claims() -> tuple[Claim, ...]:
    """Return the talk's claims. None where it makes none, or where they make no sense: judging them says so."""
    try:
        return load_book().claims if claims_path().exists() else ()
    except ConfigurationError:
        return ()
