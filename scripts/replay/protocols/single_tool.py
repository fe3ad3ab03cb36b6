"""One benchmark tool on one image: for `rbd bench`. Pilots size its cells, an observer waits for mirroring."""

from __future__ import annotations

from replay.design.needs import Needs
from replay.measure.protocol import Protocol
from replay.protocols.drivers.sized_tool import OneTool
from replay.protocols.drivers.tool import RBD_BENCH_FACTORS, RBD_BENCH_OPTIONS
from replay.protocols.observers.mirror import Mirror, MirrorPosition
from replay.protocols.targets.images import Images


class SingleTool(Protocol):
    """Runs a tool that takes the number of bytes to transfer (`{io_total_bytes}`) on the variant's image."""

    needs = Needs(factors=RBD_BENCH_FACTORS, options=RBD_BENCH_OPTIONS, programs=("rbd",), mirroring="may be")
    target = Images()
    driver = OneTool()
    observers = (MirrorPosition(), Mirror())
    overhead_seconds = 0.3
    pilot_share = 0.6
    writes_are_known = True


PROTOCOL = SingleTool
