"""One benchmark tool on one image: the procedure of `rbd bench`. Pilots size its cells, a watch waits for mirroring."""

from __future__ import annotations

from replay.design.needs import Needs
from replay.measure.procedure import Procedure
from replay.protocols.drivers.one_tool import OneTool
from replay.protocols.drivers.options import RBD_BENCH_FACTORS, RBD_BENCH_OPTIONS
from replay.protocols.targets.images import Images
from replay.protocols.watches.mirror import Mirror
from replay.protocols.watches.mirror_position import MirrorPosition


class SingleTool(Procedure):
    """Runs a tool that takes the number of bytes to transfer (`{io_total_bytes}`) on the variant's image."""

    needs = Needs(factors=RBD_BENCH_FACTORS, options=RBD_BENCH_OPTIONS, programs=("rbd",), mirroring="may be")
    target = Images()
    driver = OneTool()
    watches = (MirrorPosition(), Mirror())
    overhead_seconds = 0.3
    pilot_share = 0.6
    writes_are_known = True


PROTOCOL = SingleTool
