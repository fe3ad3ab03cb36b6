"""Fixtures for tests of derive."""

from __future__ import annotations

import pytest


@pytest.fixture
def benchmarks(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    return tmp_path
