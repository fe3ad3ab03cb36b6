"""Reads `config/claims.yaml` and `config/answer.yaml`, and checks them against their schemas.

The rooms `claims` and `answer` interpret them.
"""

from __future__ import annotations

from pathlib import Path

from replay.base.paths import config_directory, program_file
from replay.design.documents import Document, load_validated_document


def claims_path() -> Path:
    """Return the path of the file of the claims. A talk without this file makes no claims."""
    return config_directory() / "claims.yaml"


def load_claims_document() -> Document:
    """Read and check the file of the claims. Raises ConfigurationError naming file, key and what is wrong."""
    return load_validated_document(claims_path(), program_file("schemas", "claims.schema.json"))


def answer_path() -> Path:
    """Return the path of the file that says where the figures in answer.csv come from. A talk may have none."""
    return config_directory() / "answer.yaml"


def load_answer_document() -> Document:
    """Read and check the file. Raises ConfigurationError naming file, key and what is wrong."""
    return load_validated_document(answer_path(), program_file("schemas", "answer.schema.json"))
