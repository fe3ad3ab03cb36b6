"""Turns the log of a fail-over trial (docs/experiments.md), its steps and acknowledged writes, into metrics. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replay.tools.base import OutputError, Reader, Result, Run, number
from replay.tools.logs.failover_log import MIRROR_DAEMON_KILLED, check_contents, check_procedure
from replay.tools.logs.steps import Steps, check_end

CSV_HEADER = "write,acknowledged_seconds"


class Failover(Reader):
    """Reads the trials that the protocol of the same name runs."""

    name = "failover"

    def read(self, run: Run) -> Result:
        """Parse the steps (`stdout`) and the writer's acknowledgements.

        Metrics of every trial:
        - `seconds_to_first_write`: from the start of the demotion (planned) or the moment of loss (forced) until the
          second cluster acknowledges its first write.
        - `seconds_without_write`: from the last write that the first cluster acknowledged until then.
        - `promote_seconds`: from the first attempt to the end of the accepted one; `promote_attempts`.
        - `lost_seconds`, `lost_writes`: what the first cluster acknowledged and the second does not have.

        Of a planned trial also `demote_seconds`. Of a forced trial whose levels state an interval also:
        - `recovery_point_seconds`: from the last write that the second cluster has until the loss; `intervals_lost` is
          the same in intervals, `beyond_two_intervals` is 1 if that is more than two, else 0.
        - `promotion_hung`: 1 if the mirror daemon had to be killed before the promotion ended, else 0.

        Raises OutputError, with the reason `data_differ` if the contents match no moment of the first cluster or a
        planned trial lost anything.
        """
        if run.exit_status != 0:
            raise OutputError("the trial did not end well", file=run.file("stdout"), reason="failed")
        kind = run.levels.get("kind")
        if kind not in ("planned", "forced"):
            raise OutputError(f"kind is {kind!r}", file=run.file("stdout"))
        log = Steps(run.text("stdout"), run.file("stdout"))
        times = _acknowledged(run.text("acknowledgements"), run.file("acknowledgements"))
        given_up = check_procedure(log, kind, times)
        write, promotions, first = log.one("write"), log.all("promote"), log.one("first_write")
        acknowledged = log.value(first, "acknowledged_seconds")
        began = log.start(given_up)
        present = check_contents(log, kind, len(times))
        lost = max(0, len(times) - present)
        kept_until = times[min(present, len(times)) - 1] if present else log.start(write)
        metrics = {
            "seconds_to_first_write": acknowledged - began,
            "seconds_without_write": acknowledged - times[-1],
            "promote_seconds": log.end(promotions[-1]) - log.start(promotions[0]),
            "promote_attempts": float(len(promotions)),
            "first_write_seconds": acknowledged - log.start(first),
            "operations": float(len(times)),
            "writes_present": float(present),
            "lost_writes": float(lost),
            "lost_seconds": times[-1] - kept_until if lost else 0.0,
        }
        if kind == "forced" and (interval := _interval(run.levels)):
            metrics |= _recovery_point(began - kept_until, interval)
            metrics["promotion_hung"] = float(bool(log.any(MIRROR_DAEMON_KILLED)))
        if kind == "planned":
            metrics["demote_seconds"] = log.value(given_up, "seconds")
        if any(value < 0 for value in metrics.values()):
            log.refuse("its steps are not in order of time")
        return Result(metrics=metrics)


READER = Failover()


def _interval(levels: Mapping[str, Any]) -> float | None:
    """Return the interval in seconds at which the copy was updated, None if the levels do not say."""
    found = levels.get("snapshot_interval_seconds") or levels.get("journal_poll_age_seconds")
    return None if found is None else float(found)


def _recovery_point(seconds: float, interval: float) -> dict[str, float]:
    # A write may be acknowledged while the daemons are being stopped, a moment after the loss.
    seconds = max(0.0, seconds)
    return {
        "recovery_point_seconds": seconds,
        "intervals_lost": seconds / interval,
        "beyond_two_intervals": float(seconds > 2 * interval),
    }


def _acknowledged(text: str, file: str) -> list[float]:
    """Return when each write was acknowledged, in seconds since the origin, in order.

    Raises OutputError if the writes are not numbered from 0, or a time is earlier than the one before.
    """
    check_end(text, file)
    lines = text.splitlines()
    if not lines or lines[0] != CSV_HEADER:
        raise OutputError(f"the first line is not {CSV_HEADER!r}", file=file, line=1)
    times: list[float] = []
    for line, content in enumerate(lines[1:], start=2):
        index, _, when = content.partition(",")
        seconds = number(when)
        if index != str(len(times)) or seconds is None or (times and seconds < times[-1]):
            raise OutputError(f"not write {len(times)}: {content[:40]!r}", file=file, line=line)
        times.append(seconds)
    if not times:
        raise OutputError("no write was acknowledged", file=file, reason="incomplete")
    return times
