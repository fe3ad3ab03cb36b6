"""Fixtures for tests of several rooms: a sandbox of real Ceph, and a separate configuration."""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from replay.base.paths import ROOT
from replay.cluster.cluster import Cluster
from replay.sandbox import Sandbox, down, load, up
from support import guardian
from support.administrator import administrator_of, close_sessions
from support.campaign import Campaign
from support.hostile import at_most
from support.releases import RELEASE
from support.snakemakes import Snakemakes
from support.tiny import Bench

settings.register_profile("replay", at_most(100))
settings.load_profile("replay")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where tests of one mark are asked for, do not import the files that have none: it takes each worker seconds."""
    mark = config.option.markexpr
    if not mark.isidentifier() or collection_path.suffix != ".py":
        return None
    return True if f"mark.{mark}" not in collection_path.read_text(encoding="utf-8") else None


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what stays to the end: modules and tests, a million objects."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what takes long first: nothing then runs alone at the end, beside workers without work.

    A group of tests runs in one worker, and so takes long; what is slow and a group, even of one test, takes longest.
    Each of these begins in a worker of its own. Of the others on a sandbox, those that measure take longer.
    """

    def later(item: pytest.Item) -> int:
        is_slow = item.get_closest_marker("slow")
        if item.get_closest_marker("xdist_group"):
            return 0 if is_slow else 1
        if not item.get_closest_marker("sandbox"):
            return 4
        if is_slow:
            return 2
        return 3 if {"bench", "campaign"} & set(getattr(item, "fixturenames", ())) else 4

    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=later)


@pytest.fixture(scope="session")
def run_folder() -> Iterator[Path]:
    """A folder on a disk for sandboxes; however the tests end, a guardian takes down the sandboxes in it."""
    folder = Path(tempfile.mkdtemp(prefix="replay-test-", dir="/var/tmp")).resolve()
    folder.chmod(0o755)  # some tests start programs as another user
    with subprocess.Popen(
        [sys.executable, guardian.__file__, folder], stdin=subprocess.PIPE, start_new_session=True
    ) as one:
        os.environ[guardian.VARIABLE] = str(folder)
        yield folder
        del os.environ[guardian.VARIABLE]
    assert one.returncode == 0, "the tests left something running; it was ended"


@pytest.fixture(scope="session")
def sandbox_directory(run_folder: Path) -> Iterator[Path]:
    """Two real clusters in a separate folder, for all tests of this process that leave them unchanged."""
    folder = Path(tempfile.mkdtemp(prefix="shared-", dir=run_folder)) / "sandbox"
    try:
        up(folder, left_osd_bytes=8 << 30, right_osd_bytes=8 << 30, release=RELEASE)
        yield folder
    finally:
        close_sessions()
        down(folder)


@pytest.fixture
def live_sandbox(sandbox_directory: Path) -> Sandbox:
    """The running sandbox, according to its current state file."""
    return load(sandbox_directory)


@pytest.fixture(scope="session")
def administrator(sandbox_directory: Path) -> Cluster:
    """The cluster `left` with all rights."""
    return administrator_of(load(sandbox_directory), "left")


@pytest.fixture(scope="session")
def second_administrator(sandbox_directory: Path) -> Cluster:
    """The cluster `right` with all rights."""
    return administrator_of(load(sandbox_directory), "right")


@pytest.fixture(scope="session")
def snakemakes() -> Iterator[Snakemakes]:
    """The process of which each run of Snakemake is a fork."""
    with Snakemakes() as one:
        yield one


@pytest.fixture
def benchmarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data sets, which is empty."""
    monkeypatch.setenv("REPLAY_BENCHMARKS", str(tmp_path))
    return tmp_path


@pytest.fixture
def configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate configuration folder with the project's experiments; ledgers go to the test's folder."""
    folder = tmp_path / "config"
    (folder / "sites").mkdir(parents=True)
    shutil.copytree(ROOT / "config" / "experiments", folder / "experiments")
    monkeypatch.setenv("REPLAY_CONFIG", str(folder))
    monkeypatch.setenv("REPLAY_STATE", str(tmp_path / "state"))
    return folder


@pytest.fixture
def write_site(configuration: Path) -> Callable[[str, str], Path]:
    """How to write a site's file, by name and text; returns its path. Its programs are those of the tests' release."""
    programs = "" if RELEASE == "host" else f"client_release: {RELEASE}\n"

    def write(name: str, text: str) -> Path:
        path = configuration / "sites" / f"{name}.yaml"
        path.write_text(f"{text.rstrip()}\n{programs}", encoding="utf-8")
        return path

    return write


@pytest.fixture
def bench(tmp_path, sandbox_directory, snakemakes):
    """A small design that measures in seconds, on the sandbox that all share."""
    made = Bench(tmp_path, sandbox_directory, snakemakes=snakemakes)
    made.write_config()
    before = made.images()
    yield made
    assert made.images() == before, "a test left an image behind"


@pytest.fixture
def campaign(tmp_path, sandbox_directory, snakemakes):
    """A campaign of a test's own, on the sandbox that all share."""
    made = Campaign(tmp_path, sandbox_directory, snakemakes=snakemakes)
    yield made
    for pid in made.measuring():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert made.images() == {"left": [], "right": []}, "a test left an image behind"
