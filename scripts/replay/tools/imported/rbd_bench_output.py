"""What `rbd bench` printed, from its header to its summary."""

from __future__ import annotations

from replay.tools import rbd_bench
from replay.tools.base import Reader, Result, Run


class RbdBenchOutput(Reader):
    """The text of one `rbd bench`, in the role `output`."""

    name = "rbd_bench_output"

    def read(self, run: Run) -> Result:
        """Read the text as the tool's own reader does; see `RbdBench.read`."""
        levels = run.levels
        if levels.get("io_type") != "readwrite":
            # Of reads or writes alone a share of reads is a level, and the header does not say it.
            levels = {name: level for name, level in levels.items() if name != "rw_mix_read"}
        return rbd_bench.TOOL.read(Run({"stdout": run.text("output")}, 0, levels, {"stdout": run.file("output")}))


READER = RbdBenchOutput()
