"""The sandbox that tests share."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from replay.sandbox import down, up


@pytest.fixture(scope="session")
def sandbox_directory():
    """Two real clusters in a folder of their own; taken down, and their files removed, at the end."""
    folder = Path(tempfile.mkdtemp(prefix="replay-tests-"))
    try:
        up(folder / "sandbox", left_osd_bytes=8 << 30, right_osd_bytes=8 << 30)
        yield folder / "sandbox"
    finally:
        down(folder / "sandbox")
        shutil.rmtree(folder, ignore_errors=True)
