"""Blocks of scripted campaigns, each a process of its own: the real runner, guard and account; no cluster.

    python scripted_block.py

Each line of standard input is JSON: `folder`, `block`, `ceiling`, `kill_after` (pieces, or null) and `said` (a file for
what the block says). It is answered with the exit status of the block. Each block is a fork of this process, which has
imported what it needs, and does nothing but fork.

What reaches the media is a line in `folder`/media for each piece, synced. With `kill_after` the process kills itself
after so many pieces of its own, in the middle of whatever it does. `folder`/void names the attempts that become void.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from replay.base.clock import Costs, utc_now
from replay.base.errors import ReplayError
from replay.base.progress import Progress
from replay.cluster.site import Ceilings, Pool, Pools
from replay.design.configuration import load_experiment
from replay.design.design import Design
from replay.design.expansion import expand
from replay.design.sizing import Write
from replay.evidence.record import Measured
from replay.evidence.seal import recover
from replay.measure import sets
from replay.measure.bench import Bench
from replay.measure.block import measure_sets
from replay.measure.guard import Guard
from replay.measure.protocol import Driver, Protocol
from replay.ownership.ledger import Ledger
from replay.ownership.open_site import ClusterWatch
from replay.ownership.write_budget import MediaCopies, WriteBudget

FSID = "11111111-2222-3333-4444-555555555555"
COPIES = 3
FILL_BYTES, PILOT_BYTES, CELL_BYTES, PIECES = 400, 100, 200, 4
ANSWERS: dict[str, Any] = {
    "osd perf": {"osd_perf_infos": []},
    "osd df": {"nodes": [{"id": 0, "name": "osd.0", "kb": 100, "kb_used": 10}]},
    "osd pool get": {"size": COPIES},
}
STATUS = {
    "health": {"status": "HEALTH_OK", "checks": {}},
    "pgmap": {"pgs_by_state": [{"state_name": "active+clean", "count": 33}]},
}


class Media:
    """The record of pieces, each on disk before the next one is written."""

    def __init__(self, path: Path, kill_after: int | None) -> None:
        self.path, self.left = path, kill_after

    def write(self, client_bytes: int) -> None:
        for _ in range(PIECES):
            with self.path.open("a") as file:
                file.write(f"{COPIES * client_bytes // PIECES}\n")
                file.flush()
                os.fsync(file.fileno())
            if self.left is not None:
                self.left -= 1
                if self.left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)


class Scripted(Protocol):
    """Fills, runs a pilot, and writes in each cell exactly the announced amount."""

    driver = Driver()
    writes_are_known = True
    media: Media
    void: set[str]

    def open_block(self, raw, sets) -> None:
        for what, size, adds in (("filling", FILL_BYTES, True), ("pilot", PILOT_BYTES, False)):
            self.bench.budget.reserve(what, Write(size, adds=adds))
            self.media.write(size)

    def expected_writes(self, cell) -> list[Write]:
        return [Write(CELL_BYTES)]

    def run(self, cell, seed: int) -> Measured:
        started = utc_now()
        self.media.write(CELL_BYTES)
        invalid = ("failed", "as the script says") if cell.variant.name in self.void else None
        if invalid is None:
            self.bench.budget.commit(Write(CELL_BYTES))
        self.void.discard(cell.variant.name)
        return Measured(["scripted"], {}, 0, started, utc_now(), 1.0, {}, invalid=invalid)


def design() -> Design:
    """Two sets of two cells."""
    whole = expand(load_experiment("rbd-journaling"), "quick")
    names = [variant.name for variant in whole.variants[:2]]
    sets = [replace(one, cells=tuple(cell for cell in one.cells if cell.variant.name in names)) for one in whole.sets]
    return replace(whole, sets=tuple(sets[:2]))


def main(folder: Path, block: int, ceiling: float, kill_after: int | None) -> int:
    site: Any = SimpleNamespace(
        name="scripted",
        pools=Pools(Pool("replay")),
        ceilings=Ceilings(bytes_written_to_media_per_run=ceiling),
        time_window=None,
        secondary=None,
        sandbox=None,
    )
    session: Any = SimpleNamespace(
        fsid=lambda: FSID, status=lambda **_: STATUS, command=lambda command: ANSWERS[command["prefix"]], cluster=None
    )
    copies = MediaCopies(site, session)
    bench = Bench(
        site=site,
        data_set="campaign",
        session=session,
        ledger=Ledger(FSID),
        slot=None,  # type: ignore[arg-type]
        costs=Costs(),
        watch=ClusterWatch(session),
        sampler=None,  # type: ignore[arg-type]
        budget=WriteBudget.of(FSID, "scripted", "campaign", media_bytes=copies.media_bytes, limit=ceiling),
        say=print,
        daemons_are_here=False,
    )
    sets.versions = lambda *_: {}
    raw = folder / "raw"
    recover(raw)
    Scripted.media = Media(folder / "media", kill_after)
    Scripted.void = set((folder / "void").read_text().split()) if (folder / "void").exists() else set()
    try:
        measure_sets(Scripted(bench, design()), block, raw, Progress(), Guard(bench))
    except ReplayError as error:
        print(error)
        return error.exit_status
    return 0


def forked(folder: Path, said: str, **asked: Any) -> int:
    """Run a block in a fork; return its exit status, negative where a signal ended it."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    status = 1
    try:
        for descriptor in (1, 2):
            os.dup2(os.open(said, os.O_CREAT | os.O_APPEND | os.O_WRONLY), descriptor)
        os.environ["REPLAY_STATE"] = str(folder / "state")
        status = main(folder, **asked)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(status)


if __name__ == "__main__":
    for line in iter(sys.stdin.readline, ""):
        asked = json.loads(line)
        print(forked(Path(asked.pop("folder")), **asked), flush=True)
