"""A campaign of a test's own, on the sandbox that all share."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

from support.campaign import Campaign


@pytest.fixture
def campaign(tmp_path, sandbox_directory):
    made = Campaign(tmp_path, sandbox_directory)
    yield made
    for pid in made.measuring():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert made.images() == {"left": [], "right": []}, "a test left an image behind"
