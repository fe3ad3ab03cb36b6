"""A small design that measures in seconds, on the sandbox that all share."""

from __future__ import annotations

import pytest

from support.tiny import Bench


@pytest.fixture
def bench(tmp_path, sandbox_directory):
    made = Bench(tmp_path, sandbox_directory)
    made.write_config()
    before = made.images()
    yield made
    assert made.images() == before, "a test left an image behind"
