"""iperf3: the argv of its client and of its one-off server, and what its JSON says. Strict, pure.

Its exit status is no help: with `--json` a refused connection ends with status 0 or 1, and the key `error`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from replay.tools.base import NetworkTool, OutputError, Place, Result, Run, agrees, number, read_json

_ADDRESSES = re.compile(rb'("(?:local_host|remote_host|host)":\s*)"[^"]*"')
_HOST_NAME = re.compile(rb'("system_info":\s*"\S+ )\S+')


class Iperf3(NetworkTool):
    """One TCP test, from the client to the server."""

    name = "iperf3"
    program = package = "iperf3"
    listening = "Server listening on"

    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the client's argv. `levels`: `io_size_bytes` of each write, `io_depth` parallel streams."""
        argv = ["iperf3", "--client", "{server}", "--port", "{port}", "--json", "--time", "{seconds}"]
        return [*argv, "--length", str(levels["io_size_bytes"]), "--parallel", str(levels["io_depth"])]

    def server_argv(self, bind: str | None = None) -> list[str]:
        """Return the argv of a server that serves one client and ends. `--forceflush` shows when it is listening."""
        limit = ["timeout", "--signal=KILL", "{most_seconds}"]
        where = ["--bind", bind] if bind else []
        return [*limit, "iperf3", "--server", "--one-off", "--forceflush", "--port", "{port}", *where]

    def hide(self, content: bytes) -> bytes:
        """Return the JSON with a placeholder for addresses and this host's name."""
        return _ADDRESSES.sub(rb'\1"{host}"', _HOST_NAME.sub(rb"\1{host}", content))

    def read(self, run: Run) -> Result:
        """Parse the JSON on stdout. Bytes and rates are what the server received."""
        file, text = run.file("stdout"), run.text("stdout")
        if run.exit_status is None:
            raise OutputError("iperf3 was killed before it could report", file=file, reason="incomplete")
        if not text.strip():
            raise OutputError("it is empty", file=file, line=1, reason="incomplete")
        report = read_json(text, file)
        if error := report.at("error").value:
            report.refuse(str(error)[:200], reason="failed")
        if run.exit_status != 0:
            report.refuse(f"exit status {run.exit_status}: its figures do not count", reason="failed")
        _check_levels(report.object("start", "test_start"), run.levels)
        (sent, _), (received, seconds) = (_total(report.object("end", key)) for key in ("sum_sent", "sum_received"))
        metrics = {
            "bytes": received,
            "duration_seconds": seconds,
            "bytes_per_second": received / seconds,
            "streams": float(_count_streams(report)),
            "sent_bytes": sent,
        }
        retransmits = number(report.at("end", "sum_sent", "retransmits").value)
        if retransmits is not None:
            metrics["retransmits"] = retransmits
        for side, name in (("sender", "host"), ("receiver", "remote")):
            percent = number(report.at("end", "cpu_utilization_percent", f"{name}_total").value)
            if percent is not None and percent >= 0:
                metrics[f"{side}_cores"] = percent / 100
        return Result(metrics=metrics, series=_series(report))


TOOL = Iperf3()


def _total(place: Place) -> tuple[float, float]:
    """Return (bytes, seconds) of one side. Its rate must be their quotient."""
    moved, seconds = place.number("bytes"), place.number("seconds")
    if not moved or not seconds:
        place.refuse(f"{moved:.0f} bytes in {seconds:g} s", reason="failed")
    if not agrees(place.number("bits_per_second"), 8 * moved / seconds, relative=1e-5):
        place.refuse("bits_per_second is not bytes divided by seconds")
    return moved, seconds


def _check_levels(test: Place, levels: Mapping[str, Any]) -> None:
    asked: dict[str, Any] = {"protocol": "TCP", "reverse": 0}
    names = (("io_depth", "num_streams"), ("io_size_bytes", "blksize"))
    asked |= {key: levels[level] for level, key in names if level in levels}
    for key, wanted in asked.items():
        stated = test.at(key).value
        if stated != wanted:
            test.refuse(f"{key} is {str(stated)[:40]}, expected {wanted}")


def _count_streams(report: Place) -> int:
    """Return the number of streams. Refuse a test that lost one."""
    streams = int(report.object("start", "test_start").number("num_streams"))
    end = report.object("end")
    each = [row.object("receiver").number("bytes") for row in end.rows("streams")]
    if len(each) != streams or not all(each):
        alive = sum(bool(moved) for moved in each)
        end.refuse(f"{alive} of {streams} streams moved anything", reason="client_lost")
    return streams


def _series(report: Place) -> tuple[tuple[float, str, float], ...]:
    """Return the rate in bytes/s over time, at the middle of each interval."""
    series = []
    for row in report.rows("intervals"):
        place = row.object("sum")
        middle = (place.number("start") + place.number("end")) / 2
        series.append((middle, "bytes_per_second", place.number("bits_per_second") / 8))
    return tuple(series)
