"""Block device images for one block: new, filled, in the ledger before they exist, removed afterwards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from replay.design.design import CellSet, Image
from replay.design.sizing import Write
from replay.ownership.image_removal import PATIENCE_SECONDS, RemovalOutcome
from replay.ownership.ledger import Entry, unique_name
from replay.ownership.open_site import BlockImage, OpenSite
from replay.ownership.removal import Remover, refuse_left

#: The slowest rate at which `rbd` may fill an image, in bytes a second; slower is an error rather than an endless wait.
SLOWEST_FILL_BYTES_PER_SECOND = 1 << 20
FILL_IO_BYTES = 4 << 20


def create_image(
    bench: OpenSite,
    suffix: str,
    image: Image,
    *,
    fill_with: Callable[[OpenSite, BlockImage], None] | None = None,
    journal_pool: str | None = None,
    pool: str | None = None,
) -> BlockImage:
    """Create an image, fill it, then enable journaling and mirroring, so that their cost does not include filling.

    `fill_with` writes other contents than `fill_image` does. `pool` replaces the site's pool for the whole image. The
    journal goes to `journal_pool`, else to the site's journal pool if it names one, else to the image's pool.
    Raises CephCommandError if a command fails; everything created by then is in the ledger.
    """
    pools = bench.site.pools
    own_pool, cluster = pool is not None, bench.primary_cluster
    pool, namespace = (pool, "") if pool is not None else (pools.data.name, pools.data.namespace or "")
    name = unique_name(suffix)
    late = [feature for feature in image.features if feature == "journaling"]
    early = [feature for feature in image.features if feature not in late]
    with bench.costs.measure("prepare"):
        entry = bench.ledger.intend(
            "image",
            pool,
            namespace,
            name,
            site=bench.site.name,
            data_set=bench.data_set,
            details={"size_bytes": image.size_bytes, "mirrored": image.mirroring is not None},
        )
        made = BlockImage(pool, namespace, name, image, entry)
        options = ["--size", f"{image.size_bytes}B", "--object-size", f"{image.object_size_bytes}B"]
        for feature in early or ["layering"]:
            options += ["--image-feature", feature]
        if pools.data_pool is not None and not own_pool:
            options += ["--data-pool", pools.data_pool.name]
        look = bench.waiting(f"{made.name} to be made", None).glance
        cluster.run("rbd", "create", *options, made.spec, while_running=look)
        made.rbd_id = cluster.json("rbd", "info", made.spec, while_running=look)["id"]
        bench.ledger.confirm(entry, {"id": made.rbd_id})
        (fill_with or fill_image)(bench, made)
        for feature in late:
            journal = journal_pool or (pools.journal.name if pools.journal is not None else None)
            place = ["--journal-pool", journal] if journal is not None else []
            cluster.run("rbd", "feature", "enable", *place, made.spec, feature, while_running=look)
        if image.mirroring:
            cluster.run("rbd", "mirror", "image", "enable", made.spec, image.mirroring, while_running=look)
    return made


def fill_image(bench: OpenSite, made: BlockImage) -> None:
    """Write every byte of an image once, at the site's rate, so that reads find data and writes overwrite data.

    The bytes come from `rbd bench`, which writes one repeated byte: do not measure on a pool that compresses.
    """
    size = made.image.size_bytes
    limits = bench.site.ceilings
    slowest = min(SLOWEST_FILL_BYTES_PER_SECOND, 0.5 * (limits.rate_bytes_per_second or math.inf))
    bench.reserve(f"filling {made.name}", Write(size, pool=made.pool, adds=True))
    timeout_seconds = 60 + size / slowest
    waiting = bench.waiting(f"{made.name} to be filled", timeout_seconds)
    bench.primary_cluster.run(
        "rbd",
        "bench",
        *("--io-type", "write", "--io-pattern", "full-seq"),
        *("--io-size", str(min(FILL_IO_BYTES, size)), "--io-threads", "4", "--io-total", str(size)),
        made.spec,
        "--rbd_cache=false",
        *(f"--{name}={value}" for name, value in limits.client_options().items()),
        timeout_seconds=timeout_seconds,
        while_running=waiting.glance,
    )


def remove_images(bench: OpenSite, images: Iterable[BlockImage], *, patience_seconds: float = PATIENCE_SECONDS) -> None:
    """Remove images that this process created, and wait until their mirrored copies are gone.

    Raises ReplayError naming those that cannot be removed: they stay in the ledger for `replay clean`.
    """
    wanted = {made.entry_id for made in images}
    outcomes = _remove(bench, lambda entry: entry.id in wanted, patience_seconds)
    refuse_left(bench.site, outcomes, "image(s) could not be removed", lambda entry: entry.spec)


def remove_owned_leftovers(bench: OpenSite) -> int:
    """Remove the images that an earlier run on this site left behind: only those in the ledger whose ids match.

    Returns how many were removed; says which could not be.
    """
    outcomes = _remove(bench, lambda entry: entry.kind == "image" and entry.site == bench.site.name, 120.0)
    for outcome in outcomes:
        if outcome.status == "left":
            bench.say(f"{outcome.entry.spec} was not removed: {outcome.why}")
    return sum(outcome.status == "removed" for outcome in outcomes)


def _remove(bench: OpenSite, chosen: Callable[[Entry], bool], patience_seconds: float) -> list[RemovalOutcome]:
    """Remove the chosen entries of both clusters' ledgers; wait for copies last."""
    sides = [(bench.session, bench.ledger, bench.site.secondary)]
    if bench.secondary is not None and bench.secondary_ledger is not None:
        sides.append((bench.secondary, bench.secondary_ledger, bench.site.primary))
    outcomes: list[RemovalOutcome] = []
    with bench.costs.measure("prepare"):
        removers = []
        for session, ledger, mirror in sides:
            remover = Remover(
                bench.site,
                session.cluster,
                session,
                ledger,
                mirror,
                bench.say,
                patience_seconds,
                poll_seconds=0.25,
                waiting=bench.waiting,
            )
            removers.append(remover)
            for entry in [entry for entry in ledger.owned() if chosen(entry)]:
                if (outcome := remover.remove(entry)) is not None:
                    outcomes.append(outcome)
        for remover in removers:
            outcomes += remover.finish()
    return outcomes


def create_images(
    bench: OpenSite,
    sets: Iterable[CellSet],
    factor: str,
    images: dict[str, list[BlockImage]],
    *,
    create: Callable[[str, Image, str], BlockImage] | None = None,
) -> None:
    """Create and fill the images that `levels[factor]` asks for and that `images` (by the variants' image name) lacks.

    Each is added as soon as it is complete. `create` (name, image, name of the variant's images) replaces
    `create_image`. Raises CephCommandError if a command fails; everything created by then is in the ledger.
    """
    wanted: dict[str, tuple[Image, int]] = {}
    for cell in (cell for cell_set in sets for cell in cell_set.cells):
        name, count = cell.variant.image_name, int(cell.levels[factor])
        wanted[name] = (cell.variant.image, max(count, wanted[name][1] if name in wanted else 0))
    for name, (image, count) in wanted.items():
        made = images.setdefault(name, [])
        for number in range(len(made) + 1, count + 1):
            bench.say(f"image {number} of {count} for {name}: create and fill")
            suffix = f"{name}-{number}"
            made.append(create(suffix, image, name) if create else create_image(bench, suffix, image))
