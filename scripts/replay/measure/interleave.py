"""`replay interleave`: measures several releases of Ceph in turns, block by block, each in a sandbox of its own.

What changes on a machine over hours then changes for all of them, so block k of one release and block k of another are
a pair. The order within a block is random; the data sets' name and the block's number seed it. Each release has a data
set of its own, with all the provenance that `replay measure` records. The receipts' times show the actual order.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from replay.base.clock import elapsed_text
from replay.base.errors import INTERRUPTED, ConfigurationError, handling
from replay.base.paths import replay_command
from replay.base.programs import data_set_of, title_of
from replay.cluster import sandbox_record
from replay.cluster.sandbox_record import default_directory
from replay.cluster.site_file import load_site
from replay.design.configuration import experiment_names, load_experiment
from replay.design.design import plan_digest, shuffled
from replay.design.expansion import expand
from replay.evidence.data_set import raw_directory, sealed_block
from replay.evidence.read import list_raw
from replay.measure.command import INTO_SHIPPED, require_consent
from replay.preflight.plan import design_for, plans
from replay.sandbox import lifecycle
from replay.sandbox.tools import undisturbed

SITE = "sandbox"
DEFAULT_NAME = "interleaved"
#: Block k of all releases should be measured within this time, so that drift affects them alike.
TOGETHER_SECONDS = 3600.0


@dataclass(frozen=True)
class Turn:
    """One block of one release, with its data set and the folder of its sandbox."""

    block: int
    release: int
    data_set: str
    sandbox: Path


def run(options: argparse.Namespace, *, beforehand: Callable[[str], None] = lambda data_set: None) -> int:
    """Measure in turns. Returns 0, 130 if interrupted, or the exit status of the turn that failed.

    `beforehand` is called with each data set, and raises ReplayError to end all before anything runs.
    """
    names = options.experiment or experiment_names(options.scale)
    releases = list(dict.fromkeys(options.release))
    if len(releases) < 2:
        raise ConfigurationError("there is nothing to interleave", next_step="give --release twice or more")
    wanted = {name: options.blocks or expand(load_experiment(name), options.scale).blocks for name in names}
    by_block = turns_of(options.data or DEFAULT_NAME, releases, max(wanted.values()))
    for turn in by_block[0]:
        beforehand(turn.data_set)
    for turns in by_block:
        print(f"block {turns[0].block}: {', '.join(title_of(turn.release) for turn in turns)}")
    if options.dry_run:
        return 0
    for turn in by_block[0]:
        require_consent(turn.data_set, given=options.into_shipped)
    for turns in by_block:
        chosen = [name for name, blocks in wanted.items() if turns[0].block <= blocks]
        if status := measure_block(turns, chosen, options.scale):
            command = replay_command("interleave", *_words(options))
            print(f"next: {'to continue,' if status == INTERRUPTED else 'fix the cause, then'} run {command}")
            return status
    print("\n".join(("", *_next_steps(by_block[0]))))
    return 0


def turns_of(name: str, releases: Sequence[int], blocks: int) -> list[list[Turn]]:
    """Return the turns of each block in random order. Pure, except that the environment says where sandboxes are."""
    return [
        [
            Turn(block, int(release), data_set_of(name, int(release)), default_directory(f"release-{release}"))
            for release in shuffled(map(str, releases), "interleave", name, block)
        ]
        for block in range(1, blocks + 1)
    ]


def measure_block(
    turns: Sequence[Turn],
    names: Sequence[str],
    scale: str,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Measure what is missing of one block, release by release. Returns 0, or the exit status of the failed turn."""
    began: float | None = None
    for turn in turns:
        if is_done(turn, names, scale):
            print(f"block {turn.block} of {turn.data_set} has been measured already")
            continue
        began = clock() if began is None else began
        if status := _measure(turn, names, scale):
            return status
    if began is not None and (seconds := clock() - began) > TOGETHER_SECONDS:
        print(
            f"note: block {turns[0].block} took {elapsed_text(seconds)}: drift in that time adds to the difference "
            "between its releases; measure fewer experiments at a time to bring them closer together"
        )
    return 0


def is_done(turn: Turn, names: Sequence[str], scale: str) -> bool:
    """Return whether a turn's block is sealed for all experiments. This needs no running cluster.

    Without the sandbox that measured it, what that one lacked is taken from the recorded designs.
    """
    if not sandbox_record.exists(turn.sandbox):
        return all(_is_sealed(turn, name, scale) for name in names)
    with _default_sandbox(turn.sandbox):
        site = load_site(SITE)
        designs = [design_for(site, name, scale) for name in names]
    packs = [
        sealed_block(raw_directory(turn.data_set, block.experiment), block.block, block.plan)
        for block in plans(turn.data_set, designs, turn.block)
        if block.block == turn.block
    ]
    return all(pack.exists() for pack in packs)


def _is_sealed(turn: Turn, name: str, scale: str) -> bool:
    """Return whether a block of today's design is sealed, without what a sandbox of a recorded design lacked."""
    raw = raw_directory(turn.data_set, name)
    if not raw.is_dir():
        return False
    lacking = [
        {skip["requires"]: skip["detail"] for skip in recorded["skipped"]}
        for recorded in list_raw(raw).designs().values()
    ]
    designs = [expand(load_experiment(name), scale, missing=missing) for missing in lacking]
    return any(sealed_block(raw, turn.block, plan_digest(design, turn.block)).exists() for design in designs)


def _measure(turn: Turn, names: Sequence[str], scale: str) -> int:
    """Start the turn's sandbox, measure the block, and stop the sandbox again, whatever happens.

    A sandbox that this turn made is removed after its block: a stopped one keeps tens of GiB, which the next release
    needs. It stays if it was there before, and for its logs if the block was interrupted or failed.

    Returns the exit status of `replay measure`. Raises ReplayError if the sandbox does not start.
    """
    started = time.monotonic()
    existed, status = sandbox_record.exists(turn.sandbox), None
    print(f"\nblock {turn.block}, Ceph {title_of(turn.release)}: starting its sandbox", flush=True)
    try:
        lifecycle.up(turn.sandbox, release=str(turn.release), say=lambda line: print(f"  {line}", flush=True))
        ready = time.monotonic()
        chosen = [word for name in names for word in ("--experiment", name)]
        argv = [sys.executable, "-m", "replay", "measure", "--site", SITE, "--data", turn.data_set, "--scale", scale]
        # Consent to measure into a data set that ships was asked for before the first turn.
        argv += ["--blocks", str(turn.block), INTO_SHIPPED, *chosen]
        status = _run(argv, {**os.environ, **_as_default(turn.sandbox)})
        print(f"block {turn.block}, Ceph {title_of(turn.release)}: stopping its sandbox", flush=True)
    finally:
        ended = time.monotonic()
        with undisturbed():
            lifecycle.down(turn.sandbox, keep=existed or status != 0)
    changing = ready - started + time.monotonic() - ended
    print(f"block {turn.block} of {turn.data_set}: starting and stopping its sandbox took {changing:.0f} s")
    return status


def _run(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program that cleans up after itself when it is interrupted; return its exit status.

    Ctrl-C reaches the program directly, and this process waits until it has cleaned up. SIGTERM is passed on.
    """
    process = subprocess.Popen(argv, env=environment)
    handlers = {
        signal.SIGINT: lambda number, frame: None,
        signal.SIGTERM: lambda number, frame: process.send_signal(signal.SIGINT),
    }
    with handling(handlers):
        return process.wait()


def _as_default(sandbox: Path) -> Mapping[str, str]:
    """Return the environment variables with which the site `sandbox` means this folder's."""
    return {"REPLAY_SANDBOX_DIR": str(sandbox)}


@contextlib.contextmanager
def _default_sandbox(sandbox: Path) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(_as_default(sandbox))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _words(options: argparse.Namespace) -> list[str]:
    """Return the options as words to type again."""
    words = [word for release in options.release for word in ("--release", str(release))]
    words += ["--data", options.data] if options.data else []
    words += ["--scale", options.scale]
    words += [word for name in options.experiment or () for word in ("--experiment", name)]
    words += [INTO_SHIPPED] if options.into_shipped else []
    return words + (["--blocks", str(options.blocks)] if options.blocks else [])


def _next_steps(turns: Sequence[Turn]) -> list[str]:
    newest, *others = [turn.data_set for turn in sorted(turns, key=lambda turn: -turn.release)]
    lines = [f"to compare: {replay_command('claims', '--data', newest, '--against', name)}" for name in others]
    names = [turn.sandbox.name for turn in turns if sandbox_record.exists(turn.sandbox)]
    return lines + [
        f"to remove a sandbox: {replay_command('sandbox', 'down', '--name', name)}" for name in sorted(names)
    ]
