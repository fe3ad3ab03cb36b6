"""Writes and reads the JSON documents of evidence."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from typing import Any

from replay.base.errors import EvidenceError
from replay.design.design import canonical_json
from replay.evidence.sums import RESTORE


def pretty_json(value: Any) -> bytes:
    """Return JSON for people: sorted keys, one entry a line, a final newline."""
    return (json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False) + "\n").encode()


def design_file(public: Mapping[str, Any], digest: str) -> tuple[str, bytes]:
    """Return the name and content of the file that records a design."""
    return f"design-{digest}.json", (canonical_json(public) + "\n").encode()


def plain(path: str, content: bytes) -> bytes:
    """Return stored content, decompressed if the path ends in `.gz`. Raises EvidenceError if it is not gzip."""
    if not path.endswith(".gz"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise EvidenceError(f"not a gzip file: {error}", where=path, next_step=RESTORE) from None


def parse_json(path: str, content: bytes) -> dict[str, Any]:
    """Return the JSON object in a file. Raises EvidenceError unless it is an object of schema version 1."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"not JSON: {error}", where=path, next_step=RESTORE) from None
    if not isinstance(data, dict) or data.get("schema_version") != 1:
        raise EvidenceError(
            "not an object of schema_version 1", where=path, next_step="use the version of Replay that wrote it"
        )
    return data
