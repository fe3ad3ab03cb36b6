"""What samplers saw while a cell was measured, verbatim: one CSV of `elapsed_seconds,entity,metric,value`."""

from __future__ import annotations

import json
from collections.abc import Iterable

HEADER = "elapsed_seconds,entity,metric,value"
#: The last row of a table counts the rows before it, so that a table that was cut off can be recognised.
FOOTER = ("sampler", "rows")


class SampleTable:
    """Rows of samples. Entities and metrics are words without commas; values are numbers."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, str]] = []

    def add(self, elapsed_seconds: float, entity: str, metric: str, value: float) -> None:
        """Add one value. Whole numbers stay whole, however large."""
        self._rows.append((elapsed_seconds, f"{elapsed_seconds:.6f},{entity},{metric},{json.dumps(value)}"))

    def add_lines(self, lines: Iterable[str]) -> None:
        """Add rows that another process printed in this format."""
        self._rows += [(float(line.partition(",")[0]), line) for line in lines]

    def content(self) -> bytes:
        """Return the table in order of time, with its header and its last row."""
        rows = [line for _, line in sorted(self._rows, key=lambda row: row[0])]
        end = max((seconds for seconds, _ in self._rows), default=0.0)
        return "\n".join([HEADER, *rows, f"{end:.6f},{','.join(FOOTER)},{len(rows)}", ""]).encode()
