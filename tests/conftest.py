"""What tests of several rooms share: a sandbox of real Ceph, and a configuration of the test's own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from replay.base.paths import ROOT
from replay.cluster.cluster import Cluster
from replay.sandbox import Sandbox, down, load, up


@pytest.fixture(scope="session")
def sandbox_directory() -> Iterator[Path]:
    """Two real clusters in a folder of their own; taken down, and their files removed, at the end."""
    folder = Path(tempfile.mkdtemp(prefix="replay-tests-"))
    try:
        up(folder / "sandbox", left_osd_bytes=8 << 30, right_osd_bytes=8 << 30)
        yield folder / "sandbox"
    finally:
        down(folder / "sandbox")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def live_sandbox(sandbox_directory: Path) -> Sandbox:
    """The running sandbox, as its state file tells of it now."""
    return load(sandbox_directory)


@pytest.fixture(scope="session")
def administrator(sandbox_directory: Path) -> Cluster:
    """The cluster `left` with all rights."""
    return _administrator(sandbox_directory, "left")


@pytest.fixture(scope="session")
def second_administrator(sandbox_directory: Path) -> Cluster:
    """The cluster `right` with all rights."""
    return _administrator(sandbox_directory, "right")


def _administrator(directory: Path, name: str) -> Cluster:
    one = load(directory).clusters[name]
    return Cluster(Path(one.conf), one.client, Path(one.keyring), name)


@pytest.fixture
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration folder of the test's own, with the project's experiments; ledgers go to the test's folder."""
    folder = tmp_path / "config"
    (folder / "sites").mkdir(parents=True)
    shutil.copytree(ROOT / "config" / "experiments", folder / "experiments")
    monkeypatch.setenv("REPLAY_CONFIG", str(folder))
    monkeypatch.setenv("REPLAY_STATE", str(tmp_path / "state"))
    return folder


@pytest.fixture
def write_site(configuration: Path) -> Callable[[str, str], Path]:
    """How to write a site's file, by name and text; returns its path."""

    def write(name: str, text: str) -> Path:
        path = configuration / "sites" / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write
