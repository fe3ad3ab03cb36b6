"""Fixtures for tests of `exchange`."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay.exchange import talk


@pytest.fixture
def benchmarks(tmp_path, monkeypatch) -> Path:
    """A folder of data sets, which is empty."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(folder))
    return folder


@pytest.fixture
def without_deck(monkeypatch):
    """The figures of the slides stay open, so that titles name their values."""
    monkeypatch.setattr(talk.shutil, "which", lambda name: None)
