"""iperf3: the argv of its client and of its one-off server, and what its JSON says. Strict, pure.

Its exit status is no help: with `--json` a refused connection ends with status 0 or 1, and the key `error`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from replay.tools.base import NetworkTool, OutputError, Result, Run, agrees, number, read_json

#: A server that nobody connects to ends after this time, even if the process that started it is gone.
MOST_SERVER_SECONDS = 120
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
        limit = ["timeout", "--signal=KILL", str(MOST_SERVER_SECONDS)]
        where = ["--bind", bind] if bind else []
        return [*limit, "iperf3", "--server", "--one-off", "--forceflush", "--port", "{port}", *where]

    def hide(self, content: bytes) -> bytes:
        """Return the JSON with a placeholder for addresses and this host's name."""
        return _ADDRESSES.sub(rb'\1"{host}"', _HOST_NAME.sub(rb"\1{host}", content))

    def read(self, run: Run) -> Result:
        """Parse the JSON on stdout. Bytes and rates are what the server received."""
        file = run.file("stdout")
        if run.exit_status is None:
            raise OutputError("iperf3 was killed before it could report", file=file, reason="incomplete")
        report = _Report(run.text("stdout"), file)
        if run.exit_status != 0:
            report.document.refuse(f"exit status {run.exit_status}: its figures do not count", reason="failed")
        report.check_levels(run.levels)
        sent, received = report.total("sum_sent"), report.total("sum_received")
        test = report.document.object("start", "test_start")
        # When time is up, the client does not count the one write of each stream that the server may still receive.
        if received[0] > sent[0] + test.number("num_streams") * test.number("blksize"):
            what = f"{received[0]:.0f} bytes were received, more than the {sent[0]:.0f} that were sent"
            report.document.object("end", "sum_received").refuse(what)
        if not agrees(received[1], sent[1], relative=0.05, absolute=1.0):
            what = f"receiving took {received[1]:g} s, sending {sent[1]:g} s"
            report.document.object("end", "sum_received").refuse(what)
        streams = report.check_streams(received[0])
        metrics = {
            "bytes": received[0],
            "duration_seconds": received[1],
            "bytes_per_second": received[0] / received[1],
            "streams": float(streams),
            "sent_bytes": sent[0],
        }
        retransmits = number(report.document.at("end", "sum_sent", "retransmits").value)
        if retransmits is not None:
            metrics["retransmits"] = retransmits
        for side, name in (("sender", "host"), ("receiver", "remote")):
            percent = number(report.document.at("end", "cpu_utilization_percent", f"{name}_total").value)
            if percent is not None and percent >= 0:
                metrics[f"{side}_cores"] = percent / 100
        return Result(metrics=metrics, series=report.series())


TOOL = Iperf3()


class _Report:
    """iperf3's JSON, read strictly."""

    def __init__(self, text: str, file: str) -> None:
        if not text.strip():
            raise OutputError("it is empty", file=file, line=1, reason="incomplete")
        self.document = read_json(text, file)
        if not isinstance(self.document.value, dict):
            self.document.refuse("no JSON object")
        if "error" in self.document.value:
            self.document.refuse(str(self.document.value["error"])[:200], reason="failed")

    def total(self, key: str) -> tuple[float, float]:
        """Return (bytes, seconds) of one side. Its rate must be their quotient."""
        place = self.document.object("end", key)
        moved, seconds = place.number("bytes"), place.number("seconds")
        if not moved or not seconds:
            place.refuse(f"{moved:.0f} bytes in {seconds:g} s", reason="failed")
        if not agrees(place.number("bits_per_second"), 8 * moved / seconds, relative=1e-5):
            place.refuse("bits_per_second is not bytes divided by seconds")
        return moved, seconds

    def check_levels(self, levels: Mapping[str, Any]) -> None:
        asked: dict[str, Any] = {"protocol": "TCP", "reverse": 0}
        names = (("io_depth", "num_streams"), ("io_size_bytes", "blksize"))
        asked |= {key: levels[level] for level, key in names if level in levels}
        test = self.document.object("start", "test_start")
        for key, wanted in asked.items():
            found = test.at(key).value
            if isinstance(found, bool) or found != wanted:
                test.refuse(f"{key} is {str(found)[:40]}, expected {wanted}")

    def check_streams(self, received: float) -> int:
        """Return the number of streams. Refuse a test that lost one, and totals that are not their sum."""
        streams = int(self.document.object("start", "test_start").number("num_streams"))
        end = self.document.object("end")
        each = [one.object("receiver").number("bytes") for one in end.rows("streams")]
        if len(each) != streams or not all(each):
            alive = sum(bool(moved) for moved in each)
            end.refuse(f"{alive} of {streams} streams moved anything", reason="client_lost")
        if not agrees(math.fsum(each), received, relative=1e-6):
            end.refuse("sum_received is not the sum of the streams")
        return streams

    def series(self) -> tuple[tuple[float, str, float], ...]:
        """Return the rate in bytes/s over time, at the middle of each interval."""
        found = []
        for one in self.document.rows("intervals"):
            place = one.object("sum")
            start, end = place.number("start"), place.number("end")
            if end <= start or (found and start < found[-1][0]):
                place.refuse("intervals do not follow each other")
            rate = place.number("bits_per_second")
            found.append(((start + end) / 2, "bytes_per_second", rate / 8))
        return tuple(found)
