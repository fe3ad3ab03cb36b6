"""Fixtures for tests of derive."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """The folder of an experiment."""
    return tmp_path / "demo" / "rbd-journaling"
