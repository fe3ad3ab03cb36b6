"""Copies of data sets: the name they were measured under (`campaign.json`), and their alterations (`altered.json`).

Deriving, describing and measuring all use this module. A data set with `altered.json` is altered. If that file cannot
be read, that is an error; the data set never counts as unaltered.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from replay.base.errors import EvidenceError

ALTERED = "altered.json"
CAMPAIGN = "campaign.json"
MANIFEST = "manifest.json"
_ANEW = "restore it, or copy the data set again"


@dataclass(frozen=True)
class AlteredFile:
    """A raw file that differs from what was measured.

    `path` is relative to the data set. `recorded_sha256` is the digest that SHA256SUMS had before, `found_sha256` that
    of the file found instead, None if the file was gone.
    """

    path: str
    recorded_sha256: str
    found_sha256: str | None


@dataclass(frozen=True)
class Stamp:
    """The content of `altered.json`: the data set that was measured, and every alteration in order."""

    copied_from: str
    files: tuple[AlteredFile, ...] = ()

    @property
    def paths(self) -> list[str]:
        """The altered files, each once, sorted."""
        return sorted({one.path for one in self.files})

    def summary(self) -> dict[str, Any]:
        """Return the entry for manifest.json: `copied_from`, and the number of altered files."""
        return {"copied_from": self.copied_from, "files": len(self.paths)}

    def sentence(self) -> str:
        """Return the stamp in words, to follow ALTERED DATA."""
        count = len(self.paths)
        files = f"{count} raw files are" if count != 1 else "1 raw file is"
        return f"a copy of {self.copied_from!r} of which {files} not as measured ({ALTERED} names them)"

    def document(self) -> dict[str, Any]:
        """Return the content of `altered.json`."""
        return {"schema_version": 1, "copied_from": self.copied_from, "files": [asdict(one) for one in self.files]}


def read_stamp(data_set: Path) -> Stamp | None:
    """Return the content of a data set's `altered.json`; None without that file, when raw files are as measured.

    Raises EvidenceError naming the file if it cannot be read or is not such a stamp.
    """
    path = data_set / ALTERED
    data = _read_object(path)
    if data is None:
        return None
    try:
        files = tuple(AlteredFile(**one) for one in data["files"])
        stamp = Stamp(data["copied_from"], files)
        if data["schema_version"] != 1 or not files or not stamp.copied_from or not all(map(_is_sound, files)):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise EvidenceError(
            "it does not say what was altered (schema_version 1, copied_from, files)", where=path, next_step=_ANEW
        ) from None
    return stamp


def read_campaign(data_set: Path) -> dict[str, Any]:
    """Return the content of a data set's `campaign.json`; empty without that file.

    Raises EvidenceError naming the file if it is not a JSON object.
    """
    return _read_object(data_set / CAMPAIGN) or {}


def measured_as(data_set: Path) -> str | None:
    """Return the name under which a data set was measured. A copied or renamed folder has another name.

    None if `campaign.json` is missing or does not say. Raises EvidenceError as `read_campaign` does.
    """
    name = read_campaign(data_set).get("data_set")
    return name if isinstance(name, str) and name else None


def _is_sound(one: AlteredFile) -> bool:
    found = one.found_sha256
    return all(isinstance(text, str) for text in (one.path, one.recorded_sha256, "" if found is None else found))


def _read_object(path: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise EvidenceError(f"not JSON: {error}", where=path, next_step=_ANEW) from None
    if not isinstance(data, dict):
        raise EvidenceError("not a JSON object", where=path, next_step=_ANEW)
    return data
