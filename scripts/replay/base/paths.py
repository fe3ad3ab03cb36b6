"""Where things are. The checkout's root, and the state that lives outside of it."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def benchmarks_directory() -> Path:
    """Folder of all data sets; `REPLAY_BENCHMARKS` moves it (tests do)."""
    return Path(os.environ.get("REPLAY_BENCHMARKS", ROOT / "benchmarks"))


def config_directory() -> Path:
    """Folder of sites, experiments and schemas; `REPLAY_CONFIG` moves it (tests do)."""
    return Path(os.environ.get("REPLAY_CONFIG", ROOT / "config"))


def state_directory() -> Path:
    """Folder of what must outlive a checkout: the ledgers. `REPLAY_STATE`, else the XDG state folder."""
    if override := os.environ.get("REPLAY_STATE"):
        return Path(override)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "replay"
