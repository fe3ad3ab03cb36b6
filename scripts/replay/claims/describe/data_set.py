"""Writes the files about a whole data set: manifest.json, recording.json, releases.json, datapackage.json."""

from __future__ import annotations

from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.claims.describe.datapackage import write_datapackage
from replay.claims.describe.manifest import write_manifest
from replay.claims.describe.recording import write_recording
from replay.claims.describe.releases import write_releases
from replay.claims.load import load_book
from replay.claims.model import Book
from replay.design.talk_files import claims_path
from replay.evidence.layout import exclusive


def describe_data_set(data_set: Path) -> None:
    """Write these files from the derived tables and verdicts, each only if it changes.

    Only the newer of several releases has a releases.json. Raises EvidenceError if a manifest beside it cannot be read.
    """
    book = _book(data_set)
    with exclusive(data_set):
        write_manifest(data_set, book.claims if book else ())
        write_recording(data_set)
        if book:
            write_releases(data_set, book)
        write_datapackage(data_set)


def mark_altered(data_set: Path) -> None:
    """Mark a copy as altered in manifest.json before its first table changes."""
    with exclusive(data_set):
        write_manifest(data_set)


def _book(data_set: Path) -> Book | None:
    """Return the talk's claims; None if there are none, or if they are invalid, which judging them reports."""
    try:
        return load_book(data_set) if claims_path().exists() else None
    except ConfigurationError:
        return None
