"""`replay preflight --write-probe`: tries what a measurement does, on images of a few MiB, and removes them again.

Everything is in the ledger before it exists, and done while the cluster's lock is held, like a measurement.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from replay.base.clock import Waiting
from replay.base.errors import ReplayError
from replay.base.paths import replay_command
from replay.cluster.mirroring import copied_snapshots, take_mirror_snapshot, wait_until_copied
from replay.cluster.site import Site, missing
from replay.design.design import Image
from replay.ownership.images import create_image
from replay.ownership.locks import ClusterLock
from replay.ownership.open_site import OpenSite, opened
from replay.ownership.removal import Remover, remove_entries
from replay.preflight.checks import Findings

#: The account that the probe charges, and the end of its images' names.
PROBE = "write-probe"
SIZE_BYTES = 8 << 20
OBJECT_BYTES = 4 << 20
COPIED_WITHIN_SECONDS = 120.0


def write_probe(site: Site, findings: Findings) -> None:
    """Create, write and remove images, and mirror one there and back; add a finding for each.

    Trouble is a finding. What could not be removed stays in the ledger, and the finding says so.
    """
    try:
        with _opened(site) as (bench, waiting):
            existing = {pool["poolname"] for pool in bench.session.command({"prefix": "osd lspools"})}
            if absent := [pool.name for pool in site.pools.all() if pool.name not in existing]:
                findings.add("probe", "note", f"not tried: the first measurement makes pool {', '.join(absent)}")
                return
            with _removed(bench, waiting, findings), _tried("create and write an image", findings):
                create_image(bench, PROBE, _image())
            if not missing(["second_site"], site) and "second_site" not in findings.lacking():
                _probe_mirroring(bench, waiting, findings)
    except ReplayError as error:
        findings.add("probe", "refused", str(error).splitlines()[0])


def _probe_mirroring(bench: OpenSite, waiting: Callable[..., Waiting], findings: Findings) -> None:
    tried = _tried("mirror an image to the second cluster", findings, word="second_site")
    with _removed(bench, waiting, findings, " from both clusters"), tried:
        made, second = create_image(bench, PROBE, _image("snapshot")), bench.site.second_site
        taken = take_mirror_snapshot(bench.primary_cluster, made.spec)
        copying = waiting(f"the copy of {made.name}", COPIED_WITHIN_SECONDS, mirrored=True)
        wait = wait_until_copied(
            lambda: copied_snapshots(second.cluster, made.spec, while_running=copying.glance),
            taken,
            timeout_seconds=COPIED_WITHIN_SECONDS,
            sleep=copying.pause,
        )
        if wait.outcome != "copied":
            raise ReplayError(
                f"no copy on the second cluster within {COPIED_WITHIN_SECONDS:.0f} s; look at the mirror daemon"
            )


@contextmanager
def _removed(bench: OpenSite, waiting: Callable[..., Waiting], findings: Findings, whence: str = "") -> Iterator[None]:
    """Remove what was made inside, newest first, however that ended; add a finding."""
    try:
        yield
    finally:
        started = time.monotonic()
        site = bench.site
        remover = Remover(site, bench.session, bench.ledger, site.secondary, bench.say, waiting=waiting)
        own = [
            entry
            for entry in bench.ledger.owned()
            if (entry.data_set, entry.site) == (PROBE, site.name) and entry.kind in ("image", "snapshot")
        ]
        outcomes = remove_entries([(remover, reversed(own))])
        left = [outcome for outcome in outcomes if outcome.status == "left"]
        for remaining in left:
            text = f"could not remove {remaining.entry.spec}: {remaining.why}"
            findings.add("probe", "refused", f"{text}; {replay_command('clean', '--site', bench.site.name)}")
        if own and not left:
            findings.add("probe", "ok", f"remove all of it{whence}: {time.monotonic() - started:.1f} s")


@contextmanager
def _tried(what: str, findings: Findings, *, word: str | None = None) -> Iterator[None]:
    """Add a finding: what was done and how long it took, or why it failed. With a `word`, failing takes that away."""
    started = time.monotonic()
    try:
        yield
    except ReplayError as error:
        level = "refused" if word is None else "skip"
        findings.add("probe", level, f"could not {what}: {str(error).splitlines()[0]}", word=word)
    else:
        findings.add("probe", "ok", f"{what}: {time.monotonic() - started:.1f} s")


def _image(mirroring: str | None = None) -> Image:
    return Image(SIZE_BYTES, OBJECT_BYTES, ("layering", "exclusive-lock"), mirroring)


@contextmanager
def _opened(site: Site) -> Iterator[tuple[OpenSite, Callable[..., Waiting]]]:
    """Yield the site, opened like for a measurement, and what makes waits on it.

    Raises RefusedError while something else runs on its cluster, also if that began because a wait outlasted the lock.
    """
    with (
        opened(site, PROBE, lambda _: None, limit=None, wait_seconds=2.0) as bench,
        ClusterLock(site, bench.session, bench.ledger, data_set=PROBE, wait_seconds=2.0, say=lambda _: None) as lock,
    ):

        def still_ours() -> Site:
            # Copying and removing may take longer than the lock lasts.
            lock.keep()
            return site

        yield bench, partial(bench.watch.waiting, still_ours, say=bench.say)
