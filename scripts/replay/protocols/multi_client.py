"""Several clients at once, started together in one cell by fio's client/server mode."""

from __future__ import annotations

from replay.design.needs import Needs
from replay.measure.protocol import Protocol
from replay.protocols.drivers.fio import FioClients
from replay.protocols.drivers.tool import CLIENTS, FIO_FACTORS, FIO_OPTIONS
from replay.protocols.targets.images import Images


class MultiClient(Protocol):
    """Runs `levels["clients"]` fio clients at once, each on its own image."""

    needs = Needs(
        tools=("fio",),
        factors=(CLIENTS, *FIO_FACTORS),
        options=FIO_OPTIONS,
        programs=("fio",),
        programs_elsewhere=("ssh",),
    )
    target = Images(count="clients")
    driver = FioClients()
    overhead_seconds = 2.7


PROTOCOL = MultiClient
