"""Reads `config/claims.yaml` and checks it against its schema. The room `claims` interprets it."""

from __future__ import annotations

from pathlib import Path

from replay.base.paths import config_directory, program_file
from replay.config.documents import Document, load_validated_document


def claims_path() -> Path:
    """Return the path of the file of the claims. A talk without this file makes no claims."""
    return config_directory() / "claims.yaml"


def load_claims_document() -> Document:
    """Read and check the file of the claims. Raises ConfigurationError naming file, key and what is wrong."""
    return load_validated_document(claims_path(), program_file("schemas", "claims.schema.json"))
