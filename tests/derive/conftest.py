"""Fixtures for tests of derive."""

from __future__ import annotations

import pytest

from support.datasets import copied, measured


@pytest.fixture
def benchmarks(tmp_path, monkeypatch):
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    return tmp_path


@pytest.fixture
def copy(benchmarks):
    """A copy named what-if of a data set that was measured as mine."""
    measured(benchmarks / "mine")
    return copied(benchmarks / "mine", benchmarks / "what-if")
