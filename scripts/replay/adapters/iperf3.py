"""iperf3: the argv of its client and of its one-off server, and what its JSON says. Strict, pure.

Its exit status says nothing: with `--json` a refused connection ends with status 0 or 1, and the key `error`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from replay.adapters.base import OutputError, Result, agrees, number

#: What a server prints when it accepts connections; it has to be told to flush that.
LISTENING = "Server listening on"
#: A server that nobody connects to ends by itself, also where whoever started it is gone.
MOST_SERVER_SECONDS = 120


class Iperf3:
    """The iperf3 adapter: one TCP test, from the client to the server."""

    name = "iperf3"
    program = "iperf3"
    client_options_in = "argv"

    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the client's argv. `levels`: `io_size_bytes` of each write, `io_depth` parallel streams."""
        argv = ["iperf3", "--client", "{server}", "--port", "{port}", "--json", "--time", "{seconds}"]
        return [*argv, "--length", str(levels["io_size_bytes"]), "--parallel", str(levels["io_depth"])]

    def environment_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
        """Return nothing: iperf3 reads no environment."""
        return {}

    def result_files(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, str]:
        """Return nothing: the JSON comes on stdout."""
        return {}

    def parse(
        self,
        outputs: Mapping[str, str],
        exit_status: int | None,
        levels: Mapping[str, Any],
        *,
        names: Mapping[str, str] | None = None,
    ) -> Result:
        """Parse the JSON on stdout; see `Adapter.parse`. Bytes and rates are those that the server received."""
        file = (names or {}).get("stdout", "stdout")
        if exit_status is None:
            raise OutputError("iperf3 was killed before it could report", file=file, reason="incomplete")
        report = _Report(outputs.get("stdout", ""), file)
        if exit_status != 0:
            report.refuse(f"exit status {exit_status}: its figures do not count", reason="failed")
        report.check_levels(levels)
        sent, received = report.total("sum_sent"), report.total("sum_received")
        if received[0] > sent[0]:
            report.refuse(f"{received[0]:.0f} bytes were received of {sent[0]:.0f} that were sent")
        streams = report.check_streams(received[0])
        metrics = {
            "bytes": received[0],
            "duration_seconds": received[1],
            "bytes_per_second": received[0] / received[1],
            "streams": float(streams),
            "sent_bytes": sent[0],
        }
        retransmits = number(report.at("end", "sum_sent").get("retransmits"))
        if retransmits is not None:
            metrics["retransmits"] = retransmits
        for side, key in (("sender", "host_total"), ("receiver", "remote_total")):
            percent = number(report.at("end", "cpu_utilization_percent").get(key))
            if percent is not None and percent >= 0:
                metrics[f"{side}_cores"] = percent / 100
        return Result(metrics=metrics, series=report.series())


ADAPTER = Iperf3()


def server_argv(bind: str | None = None) -> list[str]:
    """Return the argv of a server on `{port}` that serves one client and ends; on all addresses without `bind`."""
    limit = ["timeout", "--signal=KILL", str(MOST_SERVER_SECONDS)]
    where = ["--bind", bind] if bind else []
    return [*limit, "iperf3", "--server", "--one-off", "--forceflush", "--port", "{port}", *where]


class _Report:
    """iperf3's JSON, read strictly."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        if not text.strip():
            self.refuse("it is empty", reason="incomplete")
        try:
            self.data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise OutputError(
                f"not JSON: {error}"[:200], file=file, line=getattr(error, "lineno", None), reason="unparsable"
            ) from None
        if not isinstance(self.data, dict):
            self.refuse("no JSON object")
        if "error" in self.data:
            self.refuse(str(self.data["error"])[:200], reason="failed")

    def refuse(self, what: str, reason: str = "unparsable") -> NoReturn:
        raise OutputError(what, file=self.file, reason=reason)

    def at(self, *keys: str) -> Mapping[str, Any]:
        here: Any = self.data
        for key in keys:
            here = here.get(key) if isinstance(here, dict) else None
        if not isinstance(here, dict):
            self.refuse(f"no object {'.'.join(keys)!r}")
        return here

    def rows(self, value: Any, what: str) -> Sequence[Any]:
        return value if isinstance(value, list) else self.refuse(f"{what} is no list")

    def value(self, place: Any, key: str) -> float:
        value = number(place.get(key)) if isinstance(place, dict) else None
        return value if value is not None and value >= 0 else self.refuse(f"no number {key!r}")

    def total(self, key: str) -> tuple[float, float]:
        """Return (bytes, seconds) of one side; its rate must be the one divided by the other."""
        place = self.at("end", key)
        moved, seconds = self.value(place, "bytes"), self.value(place, "seconds")
        if not moved or not seconds:
            self.refuse(f"{key}: {moved:.0f} bytes in {seconds:g} s", reason="failed")
        if not agrees(self.value(place, "bits_per_second"), 8 * moved / seconds, relative=1e-5):
            self.refuse(f"{key}: bits_per_second is not bytes divided by seconds")
        return moved, seconds

    def check_levels(self, levels: Mapping[str, Any]) -> None:
        asked: dict[str, Any] = {"protocol": "TCP", "reverse": 0}
        names = (("io_depth", "num_streams"), ("io_size_bytes", "blksize"))
        asked |= {key: levels[level] for level, key in names if level in levels}
        test = self.at("start", "test_start")
        for key, wanted in asked.items():
            if isinstance(test.get(key), bool) or test.get(key) != wanted:
                self.refuse(f"{key} is {str(test.get(key))[:40]}, asked for was {wanted}")

    def check_streams(self, received: float) -> int:
        """Return how many streams there were. Refuse a test that lost one, and totals that are not their sum."""
        streams = int(self.value(self.at("start", "test_start"), "num_streams"))
        found = self.rows(self.at("end").get("streams"), "end.streams")
        each = [self.value(one.get("receiver") if isinstance(one, dict) else None, "bytes") for one in found]
        if len(each) != streams or not all(each):
            alive = sum(bool(moved) for moved in each)
            self.refuse(f"{alive} of {streams} streams moved anything", reason="client_lost")
        if not agrees(sum(each), received, relative=1e-6):
            self.refuse("sum_received is not the sum of the streams")
        return streams

    def series(self) -> tuple[tuple[float, str, float], ...]:
        """Return what was sent over time: the middle of each interval, and its rate."""
        found = []
        for one in self.rows(self.data.get("intervals"), "intervals"):
            place = one.get("sum") if isinstance(one, dict) else None
            start, end = self.value(place, "start"), self.value(place, "end")
            if end <= start or (found and start < found[-1][0]):
                self.refuse("intervals do not follow each other")
            found.append(((start + end) / 2, "bytes_per_second", self.value(place, "bits_per_second") / 8))
        return tuple(found)
