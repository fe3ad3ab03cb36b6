"""One row of elbencho's CSV of results, below the CSV's header. Strict, pure.

The columns are those that elbencho writes. It quotes no field: it writes blanks for the commas inside one, and leaves
quotation marks as they are (`"elbencho" "--write" `), which strict CSV would not. Of each pair `[first]` and `[last]`,
`[last]` counts: what all threads had done when the slowest one was finished. elbencho cuts all figures off to whole
numbers: rates in operations/s and MiB/s, times in milliseconds, latencies in microseconds.
"""

from __future__ import annotations

import math
import re

from replay.tools.base import OutputError, Place, Reader, Result, Run

MIB = 2**20
#: The operations that are I/O. All others create, look up or remove entries, or wait for caches.
OPERATION = re.compile(r"(?P<kind>READ|WRITE|RWMIX(?P<mix>\d{1,3}))", re.ASCII)
_MIX = "rwmix read "


def fields_of(text: str, file: str) -> dict[str, str]:
    """Return column to text for the only row below a header. Raises OutputError unless it is one header and one row."""
    rows = [line.removesuffix("\r").split(",") for line in text.split("\n") if line.strip()]
    if len(rows) != 2:
        raise OutputError(f"expected a header and one row, found {len(rows)} lines", file=file)
    header, row = rows
    if len(header) != len(row):
        raise OutputError(f"the row has {len(row)} columns, its header {len(header)}", file=file, line=2)
    return dict(zip(header, row, strict=True))


def io_type_of(operation: str) -> tuple[str, int | None] | None:
    """Return an operation as (read, write or rw; the percentage of reads for rw), None if it is not I/O."""
    match = OPERATION.fullmatch(operation)
    if match is None:
        return None
    return ("rw", int(match["mix"])) if match["mix"] else (match["kind"].lower(), None)


class ElbenchoRow(Reader):
    """Reads one result, in the role `output`."""

    name = "elbencho_row"

    def read(self, run: Run) -> Result:
        """Read header and row; see `Reader.read`. The metrics of a mixed row are the sums of reads and writes."""
        file = run.file("output")
        row = Place(file, fields_of(run.text("output"), file))
        operation = row.at("operation").value or ""
        kind = io_type_of(operation)
        if kind is None:
            row.refuse(f"{operation[:40]!r} is neither reading nor writing")
        if run.levels.get("io_type", kind[0]) != kind[0]:
            row.refuse(f"it did {kind[0]}, expected {run.levels['io_type']}")
        return Result(metrics=_mixed(row) if kind[0] == "rw" else _of_direction(row, ""))


ELBENCHO_ROW = ElbenchoRow()


def _of_direction(row: Place, prefix: str) -> dict[str, float]:
    """Return the metrics of a row, or, with a `prefix`, those of the reads of a mixed row."""
    milliseconds = row.number("time ms [last]")
    if not milliseconds:
        row.refuse("the run lasted less than a millisecond", reason="too_short")
    rate, mebibytes_per_second = row.number(f"{prefix}IOPS [last]"), row.number(f"{prefix}MiB/s [last]")
    size = row.number("block size")
    # All figures are cut off to whole numbers, and the last block of a file may be smaller than the others.
    if mebibytes_per_second > (rate + 1) * size / MIB + 1:
        row.refuse(f"{mebibytes_per_second:.0f} MiB/s are more than {rate:.0f} blocks of {size:.0f} bytes each second")
    if row.at(f"{prefix}MiB [last]").value:
        moved = row.number(f"{prefix}MiB [last]")
        least, most = moved / (milliseconds + 1) * 1000, (moved + 1) / milliseconds * 1000
        if not least - 1 <= mebibytes_per_second <= most + 1:
            row.refuse(f"{moved:.0f} MiB in {milliseconds:.0f} ms are not {mebibytes_per_second:.0f} MiB/s")
    result = {
        "duration_seconds": milliseconds / 1000,
        "operations_per_second": rate,
        "bytes_per_second": mebibytes_per_second * MIB,
    }
    for column, name in (("min", "min"), ("avg", "mean"), ("max", "max")):
        if row.at(f"{prefix}IO lat us [{column}]").value:
            result[f"latency_{name}_seconds"] = row.number(f"{prefix}IO lat us [{column}]") / 1e6
    return result


def _mixed(row: Place) -> dict[str, float]:
    parts = {"write": _of_direction(row, ""), "read": _of_direction(row, _MIX)}
    summed = ("operations_per_second", "bytes_per_second")
    return {
        "duration_seconds": parts["write"]["duration_seconds"],
        **{name: math.fsum(part[name] for part in parts.values()) for name in summed},
        **{
            f"{which}_{name}": value
            for which, part in parts.items()
            for name, value in part.items()
            if name != "duration_seconds"
        },
    }
