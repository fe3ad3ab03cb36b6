"""Writes the files about a whole data set: manifest.json, recording.json, datapackage.json."""

from __future__ import annotations

from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.claims.load import load_book
from replay.claims.model import Claim
from replay.config.talk_files import claims_path
from replay.describe.datapackage import write_datapackage
from replay.describe.manifest import write_manifest
from replay.describe.recording import write_recording
from replay.raw.layout import exclusive


def describe_data_set(data_set: Path) -> None:
    """Write the three files from the derived tables and verdicts, each only if it changes."""
    with exclusive(data_set):
        write_manifest(data_set, _claims(data_set))
        write_recording(data_set)
        write_datapackage(data_set)


def mark_altered(data_set: Path) -> None:
    """Mark a copy as altered in manifest.json before its first table changes."""
    with exclusive(data_set):
        write_manifest(data_set)


def _claims(data_set: Path) -> tuple[Claim, ...]:
    """Return the talk's claims; empty if there are none, or if they are invalid, which judging them reports."""
    try:
        return load_book(data_set).claims if claims_path().exists() else ()
    except ConfigurationError:
        return ()
