from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from replay.base.paths import ROOT
from replay.cluster.cluster import Cluster
from replay.sandbox import Sandbox, down, up

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "health"


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
    def write(name: str, text: str) -> Path:
        path = configuration / "sites" / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def live_sandbox() -> Iterator[Sandbox]:
    """Two real clusters in a folder of their own."""
    folder = Path(tempfile.mkdtemp(prefix="replay-site-"))
    try:
        yield up(folder / "sandbox", left_osd_bytes=8 << 30, right_osd_bytes=8 << 30)
    finally:
        down(folder / "sandbox")
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def administrator(live_sandbox: Sandbox) -> Cluster:
    left = live_sandbox.clusters["left"]
    return Cluster(Path(left.conf), left.client, Path(left.keyring), "left")


@pytest.fixture(scope="session")
def second_administrator(live_sandbox: Sandbox) -> Cluster:
    right = live_sandbox.clusters["right"]
    return Cluster(Path(right.conf), right.client, Path(right.keyring), "right")
