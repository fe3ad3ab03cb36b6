"""dd: what it is told to do, what it says, and what must not count. Put here what your program prints, good and bad."""

from __future__ import annotations

import pytest

from replay.tools import OutputError, judge, render
from replay.tools.my_tool import TOOL

LEVELS = {"io_type": "write", "io_pattern": "seq", "io_size_bytes": 4096, "flush": "each"}
GOOD = "10000+0 records in\n10000+0 records out\n40960000 bytes (41 MB, 39 MiB) copied, 2.5 s, 16 MB/s\n"
FULL = "dd: error writing '{file}': No space left on device\n45056 bytes (45 kB, 44 KiB) copied, 0.1 s, 451 kB/s\n"


def read(printed, status=0):
    return TOOL.parse({"stderr": printed}, status, LEVELS)


def test_it_writes_as_often_as_it_is_told():
    argv = render(TOOL.argv_template(LEVELS, {}), {"file": "/x", "operations": 10000})
    assert argv[2:] == ["dd", "if=/dev/zero", "of=/x", "oflag=direct,dsync", "conv=notrunc", "bs=4096", "count=10000"]


def test_what_it_says_becomes_metrics():
    result = read(GOOD)
    assert judge(result) is None
    assert result.metrics["operations_per_second"] == 4000
    assert result.metrics["latency_mean_seconds"] == pytest.approx(0.00025)


@pytest.mark.parametrize(("printed", "status"), [("", 0), (GOOD[:60], 0), (GOOD, None), (FULL, 1)])
def test_what_does_not_say_it_whole_is_refused(printed, status):
    with pytest.raises(OutputError):
        read(printed, status)
