"""Tests that need a program of this machine."""

from __future__ import annotations

import os
import shutil

import pytest

#: Set by the full `npm test`, which installs every program, so that a missing one is a failure.
WHOLE = "REPLAY_TEST_WHOLE"


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip a test, with the reason, if a program is missing that only the full `npm test` installs."""
    lacking = [name for name in names if shutil.which(name) is None]
    reason = f"{' and '.join(lacking)} not installed here: `npm test` installs all programs, and runs this test"
    return pytest.mark.skipif(bool(lacking) and WHOLE not in os.environ, reason=reason)
