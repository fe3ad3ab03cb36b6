"""The output of `rbd bench`, from its header to its summary."""

from __future__ import annotations

from replay.tools import rbd_bench
from replay.tools.base import Reader, Result, Run


class RbdBenchOutput(Reader):
    """Reads the text of one `rbd bench`, in the role `output`."""

    name = "rbd_bench_output"

    def read(self, run: Run) -> Result:
        """Read the text as the tool's own reader does; see `RbdBench.read`."""
        levels = run.levels
        if levels.get("io_type") != "readwrite":
            # Reads or writes alone also have a share of reads as a level, but the header does not state it.
            levels = {name: level for name, level in levels.items() if name != "rw_mix_read"}
        return rbd_bench.TOOL.read(Run({"stdout": run.text("output")}, 0, levels, {"stdout": run.file("output")}))


READER = RbdBenchOutput()
