"""The output of `rados bench`, text or JSON: of one run, or of several instances that ran at once."""

from __future__ import annotations

from dataclasses import replace

from replay.tools import rados_bench
from replay.tools.base import Reader, Result, Run


class RadosBenchOutput(Reader):
    """Reads the outputs. Each role (`output`, `output-2-1`, …) is the output of one instance."""

    name = "rados_bench_output"

    def read(self, run: Run) -> Result:
        """Read the outputs as the tool's own reader does; see `RadosBench.read`."""
        return rados_bench.TOOL.read(replace(run, exit_status=0))


READER = RadosBenchOutput()
