"""`config/answer.yaml`: where it is, and its content, checked against its schema. What it means is `answer/`."""

from __future__ import annotations

from pathlib import Path

from replay.base.paths import config_directory, program_file
from replay.config.documents import Document, load_validated_document


def answer_path() -> Path:
    """Return the file that says where the figures of answer.csv come from. A talk without it has no such table."""
    return config_directory() / "answer.yaml"


def load_answer_document() -> Document:
    """Read and check the file. Raises ConfigurationError naming file, key and what is wrong."""
    return load_validated_document(answer_path(), program_file("schemas", "answer.schema.json"))
