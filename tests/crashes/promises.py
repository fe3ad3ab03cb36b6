"""What holds after a crash. Everything here runs in a process of its own, on a ground that was laid out for it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path

from crashes.ground import CLUSTER, COMMANDS, COPIES, DATA_SET, EXPERIMENT, FSID, RAW, SITE
from replay.evidence.read import list_raw, verify
from replay.ownership.ledger import Ledger
from replay.ownership.write_budget import WriteBudget
from support.evidence import evidence_of

#: A recorded file's path and content.
Evidence = dict[str, bytes]


def recorded() -> Evidence:
    """Return what was recorded: listed in SHA256SUMS, and whole."""
    return evidence_of(Path(RAW))


def measured_cells() -> Evidence:
    """Return the cells of an attempt that is still being written: a kill must not take them away."""
    found = {}
    for sidecar in Path(RAW).glob("block-*.open/block-*/*/.attempt-*.partial/*.json"):
        folder = sidecar.parent
        name = "/".join([*folder.parent.parts[-2:], folder.name[1:].removesuffix(".partial")])
        for path in folder.glob(f"{sidecar.stem}.*"):
            found[f"{name}/{path.name}"] = path.read_bytes()
    return found


def ledger_names_what_exists() -> None:
    """Assert that the ledger names every image and the lock, and that the account has every byte on media."""
    owned = {(entry.kind, entry.name) for entry in Ledger(FSID).owned()}
    images = {("image", path.name) for path in Path(CLUSTER, "replay").iterdir()}
    locks = {("lock", "replay-lock")} if Path(CLUSTER, "lock").exists() else set()
    assert owned >= images | locks, f"the ledger does not name {sorted((images | locks) - owned)}"
    media = Path(CLUSTER, "media")
    written = COPIES * sum(map(int, media.read_text().split())) if media.exists() else 0
    account = WriteBudget.of(FSID, SITE, DATA_SET).total()
    assert account >= written, f"the account has {account:.0f} of {written} bytes that were written to media"


def nothing_is_left() -> None:
    """Assert that neither the cluster nor the ledger has anything."""
    assert not any(Path(CLUSTER, "replay").iterdir()), "an image is left"
    assert not Path(CLUSTER, "lock").exists(), "the lock is left"
    assert Ledger(FSID).owned() == [], "the ledger still names something"


def measuring_completes(kept: Evidence, command: str) -> None:
    """Assert that the next run completes, has everything that was recorded, and leaves nothing."""
    runs(command)
    found = recorded()
    lost = [name for name, content in kept.items() if found.get(name) != content]
    assert not lost, f"lost or changed: {lost}"
    listing = list_raw(RAW)
    assert sum(1 for _ in verify(listing)) > 0
    assert not listing.open_blocks, "a block is still open"
    hidden = [path.name for path in Path(RAW).iterdir() if path.name.startswith(".")]
    assert not hidden, f"left in raw/: {hidden}"
    nothing_is_left()


def deriving_completes(wanted: Evidence) -> None:
    """Assert that the next run derives exactly the files that an undisturbed one does."""
    runs("derive")
    found = derived()
    differing = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
    assert not differing, f"differ from what an undisturbed run derives: {differing}"


def derived() -> Evidence:
    """Return all files of the data set."""
    folder = Path("benchmarks", DATA_SET)
    raw = folder / EXPERIMENT / "raw"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_relative_to(raw)
    }


def cleaning_completes() -> None:
    """Assert that the next `clean` removes the rest."""
    runs("clean")
    nothing_is_left()


def runs(command: str) -> None:
    """Run a command; raise AssertionError with what it said if it fails."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = COMMANDS[command]()
    assert status == 0, f"{command} ended with {status}: {said.getvalue()[-1500:]}"


Check = Callable[[], None]
