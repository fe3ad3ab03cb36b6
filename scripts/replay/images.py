"""Block device images for one block: fresh, filled, recorded in the ledger before they exist, removed after."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

from replay.ceph.cluster import CephCommandError
from replay.context import Bench
from replay.design import Image
from replay.errors import ReplayError
from replay.ledger import unique_name

#: `rbd` writes this many bytes a second at the very least while it fills; slower is an error, not a wait for ever.
SLOWEST_FILL_BYTES_PER_SECOND = 1 << 20
FILL_IO_BYTES = 4 << 20


@dataclass
class BlockImage:
    """An image on the primary cluster that Replay created."""

    pool: str
    namespace: str
    name: str
    image: Image
    entry_id: str
    rbd_id: str = ""

    @property
    def spec(self) -> str:
        """`pool[/namespace]/name`, as the rbd program takes it."""
        return "/".join(part for part in (self.pool, self.namespace, self.name) if part)


def create_image(bench: Bench, suffix: str, image: Image, *, fill: bool = True) -> BlockImage:
    """Create an image, fill it, then switch on journaling and mirroring: filling is not part of what they cost.

    Raises CephCommandError when a command fails; what was created by then stands in the ledger.
    """
    pools = bench.site.pools
    pool, namespace, cluster = pools.data.name, pools.data.namespace or "", bench.primary_cluster
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
        if pools.data_pool is not None:
            options += ["--data-pool", pools.data_pool.name]
        cluster.run("rbd", "create", *options, made.spec)
        made.rbd_id = cluster.json("rbd", "info", made.spec)["id"]
        bench.ledger.confirm(entry, {"id": made.rbd_id})
        if fill:
            fill_image(bench, made)
        for feature in late:
            journal_pool = ["--journal-pool", pools.journal.name] if pools.journal is not None else []
            cluster.run("rbd", "feature", "enable", *journal_pool, made.spec, feature)
        if image.mirroring:
            cluster.run("rbd", "mirror", "image", "enable", made.spec, image.mirroring)
    return made


def fill_image(bench: Bench, made: BlockImage) -> None:
    """Write every byte of an image once, so that reads find data and writes overwrite.

    The bytes come from `rbd bench`, which writes one repeated byte: do not measure on a pool that compresses.
    """
    size = made.image.size_bytes
    bench.primary_cluster.run(
        "rbd",
        "bench",
        *("--io-type", "write", "--io-pattern", "full-seq"),
        *("--io-size", str(min(FILL_IO_BYTES, size)), "--io-threads", "4", "--io-total", str(size)),
        made.spec,
        "--rbd_cache=false",
        timeout_seconds=60 + size / SLOWEST_FILL_BYTES_PER_SECOND,
    )


def remove_image(bench: Bench, made: BlockImage, *, patience_seconds: float = 45.0) -> None:
    """Remove an image that this process created, waiting for its watchers to go.

    Raises ReplayError when it cannot be removed: it then stays in the ledger, and `npm run clean` takes it up.
    """
    cluster = bench.primary_cluster
    deadline = time.monotonic() + patience_seconds
    with bench.costs.measure("prepare"):
        if made.image.mirroring:
            with contextlib.suppress(CephCommandError):
                cluster.run("rbd", "mirror", "image", "disable", "--force", made.spec, timeout_seconds=60)
        while True:
            done = cluster.run("rbd", "rm", "--no-progress", made.spec, check=False, timeout_seconds=120)
            if done.returncode in (0, 2):  # 2: it is gone already
                bench.ledger.removed(made.entry_id)
                return
            if time.monotonic() > deadline:
                raise ReplayError(
                    f"could not be removed: {done.stderr.strip().splitlines()[-1:] or done.returncode}",
                    where=made.spec,
                    next_step=f"it stands in the ledger; run: npm run clean -- --site {bench.site.name}",
                )
            time.sleep(1.0)


def remove_owned_leftovers(bench: Bench) -> int:
    """Remove what earlier runs on this site left behind. Only what is in the ledger and is what the ledger says.

    Returns how many images were removed.
    """
    count = 0
    for entry in bench.ledger.owned():
        if entry.kind != "image" or entry.site != bench.site.name:
            continue
        known_id = entry.facts.get("id")
        done = bench.primary_cluster.run("rbd", "info", "--format", "json", entry.spec, check=False)
        if done.returncode == 2:
            bench.ledger.removed(entry.id)
            continue
        made = BlockImage(
            entry.pool,
            entry.namespace,
            entry.name,
            Image(0, 0, (), "journal" if entry.details.get("mirrored") else None),
            entry.id,
        )
        current_id = bench.primary_cluster.json("rbd", "info", entry.spec)["id"]
        if known_id and current_id != known_id:
            bench.say(f"{entry.spec} is not the image that Replay created; it is left alone")
            continue
        remove_image(bench, made)
        count += 1
    return count
