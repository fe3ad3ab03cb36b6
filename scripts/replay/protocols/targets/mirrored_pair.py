"""An image and its copy on the second cluster, fresh for each cell, made at the poll age that the cell asks for."""

from __future__ import annotations

import json
import math
import random

from replay.base.errors import ReplayError, cleaning_up
from replay.base.programs import SYSTEM_PYTHON
from replay.cluster.cluster import Cluster
from replay.cluster.running import last_line, run_tool
from replay.design.design import Cell
from replay.design.needs import NUMBER, Factor
from replay.design.sizing import Write
from replay.evidence.record import Measured, Wait
from replay.measure.bench import Bench
from replay.measure.protocol import Target
from replay.ownership.daemon_settings import PollAge
from replay.ownership.images import BlockImage, create_image
from replay.ownership.removal import remove_images
from replay.protocols.drivers import trial_client
from replay.protocols.drivers.tool import cluster_values
from replay.protocols.observers.copies import REPLAYING, STOPPED, Copies
from replay.protocols.targets.images import FreshImage, Images

FILL_SECONDS_AT_MOST = 300.0
#: The level of the poll age.
LEVEL = "journal_poll_age_seconds"
POLL_AGE_FACTOR = Factor(
    LEVEL, "how long the mirror daemon waits before it looks again at a journal without entries", kind=NUMBER
)


class MirroredPair:
    """An image and its copy. The second cluster's ledger names the copy before it can become primary."""

    def __init__(self, bench: Bench, made: BlockImage) -> None:
        self.bench = bench
        self.made = made
        self.copy: BlockImage | None = None

    @property
    def there(self) -> BlockImage:
        """The image as the second site has it: its copy, or in a stretch cluster the image itself."""
        return self.copy or self.made

    def own_copy(self) -> None:
        """Enter the copy in the second cluster's ledger: once promoted, it is not removed along with its original."""
        bench, ledger = self.bench, self.bench.secondary_ledger
        place = (self.made.pool, self.made.namespace, self.made.name)
        entry = ledger.intend(
            "image",
            *place,
            site=bench.site.name,
            data_set=bench.data_set,
            details={"size_bytes": self.made.image.size_bytes},
        )
        self.copy = BlockImage(*place, self.made.image, entry)
        self.copy.rbd_id = bench.site.secondary.json("rbd", "info", self.copy.spec)["id"]
        ledger.confirm(entry, {"id": self.copy.rbd_id})

    def remove(self) -> None:
        """Remove both, the original first: while that exists and is primary, the daemon would copy it again.

        Raises ReplayError if one cannot be removed. A ledger then still names it, and `replay clean` removes it.
        """
        remove_images(self.bench, [self.made] if self.copy is None else [self.made, self.copy])


class FreshPair(Target):
    """For each cell, an image with known contents and its copy. Both are removed after the cell."""

    def begin(self) -> None:
        self.copies = Copies(self.bench)
        self.pair: MirroredPair | None = None
        self.content_seed = 0

    def prepare(self, cell: Cell) -> list[Wait]:
        """Create, fill and mirror an image, and wait until the second cluster has it."""
        self.close()
        self.content_seed = random.SystemRandom().getrandbits(31)
        create_image(
            self.bench,
            f"{cell.variant.name}-{cell.levels['kind']}",
            cell.variant.image,
            fill_with=lambda _, made: self._fill(cell, made),
        )
        if cell.variant.image.mirroring is not None:
            self.copies.await_first(self.pair.made)
            self.pair.own_copy()
        return []

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        self.close()
        return []

    def close(self) -> None:
        """Remove what an interrupted trial left on both clusters."""
        if self.pair is not None:
            self.pair.remove()
            self.pair = None

    def _fill(self, cell: Cell, made: BlockImage) -> None:
        # Recorded before it is filled, so that it is removed after an interruption.
        self.pair = MirroredPair(self.bench, made)
        size = made.image.size_bytes
        self.bench.budget.reserve(f"filling {made.name}", Write(size, pool=made.pool, adds=True))
        patience = max(
            FILL_SECONDS_AT_MOST, 60 + 2 * size / (self.bench.site.ceilings.rate_bytes_per_second or math.inf)
        )
        options = dict(cell.variant.client_options)
        run = run_tool(
            client_argv("fill", self.bench.primary_cluster, made, options, seed=self.content_seed),
            timeout_seconds=patience,
            programs=self.bench.programs,
            slot=self.bench.slot,
        )
        if run.exit_status != 0:
            why = last_line(run.stderr)[:200] or f"exit status {run.exit_status}, silent"
            raise ReplayError(f"the image could not be filled: {why}", where=made.spec)


def client_argv(
    mode: str, cluster: Cluster, image: BlockImage, options: dict[str, str], *, seed: int, **more: float
) -> list[str]:
    """Return the argv that runs `trial_client.py` with the Python that has Ceph's modules.

    `more` is origin and writes_per_second, if the mode needs them.
    """
    spec = {
        **cluster_values(cluster),
        "options": options,
        "pool": image.pool,
        "namespace": image.namespace,
        "image": image.name,
        "seed": seed,
        **more,
    }
    return [SYSTEM_PYTHON, "-E", trial_client.__file__, mode, json.dumps(spec)]


class Polled(Target):
    """Sets the poll age before a cell's image is made, and restores it after the cell. Inherit it before a target."""

    poll_age: PollAge | None = None

    def prepare(self, cell: Cell) -> list[Wait]:
        """Set the poll age of a cell that has one, then prepare its image."""
        self._restore()
        if (seconds := cell.levels.get(LEVEL)) is None:
            return super().prepare(cell)
        poll_age = PollAge(self.bench)
        try:
            poll_age.set(float(seconds))
            return super().prepare(cell)
        finally:
            # Not earlier: preparing a cell closes the previous one, which would restore this poll age.
            self.poll_age = poll_age

    def close(self) -> None:
        """Remove what is left, then set the poll age back, whether or not that could be removed."""
        with cleaning_up(super().close, self._restore):
            pass

    def _restore(self) -> None:
        if self.poll_age is not None:
            self.poll_age.restore()
            self.poll_age = None


class PolledPair(Polled, FreshPair):
    """A fresh image and its copy for each cell."""


class PolledImage(Polled, FreshImage):
    """A fresh image for each cell."""


class PolledImages(Polled, Images):
    """A block's images. The replay of an image takes the cell's poll age when it begins, so it begins anew."""

    def prepare(self, cell: Cell) -> list[Wait]:
        """Set the poll age of a cell that has one, and start the replay of its image again."""
        waits = super().prepare(cell)
        if LEVEL in cell.levels:
            copies, [made] = Copies(self.bench), self.of(cell)
            daemon = copies.require_daemon()
            with self.bench.costs.measure("prepare"):
                daemon.stop(made.name)
                copies.await_state([made.name], STOPPED)
                daemon.start(made.name)
                copies.await_state([made.name], REPLAYING)
        return waits
