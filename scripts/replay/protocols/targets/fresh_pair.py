"""An image with known contents and its copy, fresh for each trial of a fail-over."""

from __future__ import annotations

import math
import random

from replay.base.errors import ReplayError
from replay.cluster.running.background import Background
from replay.design.design import Cell
from replay.design.media import Write
from replay.evidence.record import Measured, Wait
from replay.measure.protocol import Target
from replay.ownership.images import BlockImage, create_image
from replay.ownership.open_site import OpenSite
from replay.protocols.drivers.trial.pair import MirroredPair
from replay.protocols.drivers.trial.trial import client_argv, client_spec
from replay.protocols.observers.mirror import Copies

FILL_SECONDS_AT_MOST = 300.0


class FreshPair(Target):
    """For each cell, an image with known contents and its copy. Both are removed after the cell."""

    def begin(self) -> None:
        """Start without a pair."""
        self.copies = Copies(self.bench)
        self.pairs: list[MirroredPair] = []
        self.content_seed = 0

    def prepare(self, cell: Cell) -> list[Wait]:
        """Create, fill and mirror an image, and wait until the second cluster has it."""
        self.close()
        self.content_seed = random.SystemRandom().getrandbits(31)

        def fill(bench: OpenSite, made: BlockImage) -> None:
            # Recorded before it is filled, so that it is removed after an interruption.
            self.pairs.append(MirroredPair(self.bench, made))
            self._fill(cell, made)

        create_image(self.bench, f"{cell.variant.name}-{cell.levels['kind']}", cell.variant.image, fill_with=fill)
        self.copies.await_first(self.pairs[-1].made)
        self.pairs[-1].own_copy()
        return []

    def restore(self, cell: Cell, measured: Measured) -> list[Wait]:
        """Remove the image from both clusters."""
        self.close()
        return []

    def close(self) -> None:
        """Remove what an interrupted trial left on both clusters."""
        while self.pairs:
            self.pairs[-1].remove()
            self.pairs.pop()

    def _fill(self, cell: Cell, made: BlockImage) -> None:
        size = made.image.size_bytes
        self.bench.charge(f"filling {made.name}", Write(size, pool=made.pool, adds=True))
        patience = max(
            FILL_SECONDS_AT_MOST, 60 + 2 * size / (self.bench.site.ceilings.rate_bytes_per_second or math.inf)
        )
        options = dict(cell.variant.client_options)
        spec = client_spec(self.bench.primary_cluster, made, options, seed=self.content_seed)
        filling = Background(
            client_argv("fill", spec),
            programs=self.bench.programs,
            slot=self.bench.slot,
            ready_within_seconds=patience,
        )
        try:
            if filling.end(patience) != 0:
                raise ReplayError(f"the image could not be filled: {filling.complaint()}", where=made.spec)
        finally:
            filling.kill()
