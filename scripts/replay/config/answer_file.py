"""Reads `config/answer.yaml` and checks it against its schema. The room `answer` interprets it."""

from __future__ import annotations

from pathlib import Path

from replay.base.paths import config_directory, program_file
from replay.config.documents import Document, load_validated_document


def answer_path() -> Path:
    """Return the path of the file that says where the figures in answer.csv come from. A talk may have none."""
    return config_directory() / "answer.yaml"


def load_answer_document() -> Document:
    """Read and check the file. Raises ConfigurationError naming file, key and what is wrong."""
    return load_validated_document(answer_path(), program_file("schemas", "answer.schema.json"))
