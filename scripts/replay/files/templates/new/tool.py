"""dd on one file: its argv, and what it says at its end. An example that works: put your own program in its place.

Pure: it builds words and reads text. Replay runs the program, and keeps all that it prints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from replay.design.needs import Factor
from replay.tools.base import OutputError, Result, Run, Tool, number

#: `40960000 bytes (41 MB, 39 MiB) copied, 2.5 s, 16 MB/s`
_COPIED = re.compile(r"^(\d+) bytes (?:\([^)]*\) )?copied, ([0-9.e+-]+) s,", re.MULTILINE)


class MyTool(Tool):
    """Goes through a file from its start, one operation after another, past the page cache."""

    name = "my_tool"
    program, package = "dd", "coreutils"
    own_levels = (Factor("flush", "which writes wait until the disk has them", words=("each", "none")),)

    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the argv. Replay fills `{file}`, and `{operations}` so that a cell lasts as long as its scale says."""
        ends = ["if={file}", "of=/dev/null", "iflag=direct"]
        if levels["io_type"] == "write":
            flags = "direct,dsync" if levels.get("flush") == "each" else "direct"
            ends = ["if=/dev/zero", "of={file}", f"oflag={flags}", "conv=notrunc"]
        return ["env", "LC_ALL=C", "dd", *ends, f"bs={levels['io_size_bytes']}", "count={operations}"]

    def read(self, run: Run) -> Result:
        """Return the metrics, in base units. Refuse output that does not say what was asked for, whole."""
        match = _COPIED.search(run.text("stderr"))
        seconds = number(match[2]) if match else None
        if run.exit_status != 0 or not seconds or match[1] == "0":
            raise OutputError("dd did not copy all, or does not say so", file=run.file("stderr"), reason="failed")
        copied = int(match[1])
        operations = copied / run.levels["io_size_bytes"]
        metrics = {"duration_seconds": seconds, "bytes": float(copied), "operations": operations}
        metrics |= {"bytes_per_second": copied / seconds, "operations_per_second": operations / seconds}
        return Result(metrics={**metrics, "latency_mean_seconds": seconds / operations})


TOOL = MyTool()
