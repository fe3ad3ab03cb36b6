"""A fail-over trial (docs/experiments.md): its steps and acknowledged writes as metrics. Pure.

The log does not count its lines. Instead each step occurs once and in order, and promotions are numbered. What the
second cluster holds must be what the first one had acknowledged at some moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from replay.tools.base import OutputError, Reader, Result, Run, number
from replay.tools.cell_logs import Step, Steps, check_end

#: The step that kills a mirror daemon that holds on to the image.
MIRROR_DAEMON_KILLED = "mirror_daemon_killed"
#: Steps that run beside others and so have no place in the order: a snapshot while the writer writes, and killing the
#: mirror daemon while a promotion or the first write waits for it.
_BESIDE = ("snapshot", MIRROR_DAEMON_KILLED)
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
        - `promote_seconds`: from the first attempt to the end of the accepted one; `promote_attempts`. In a stretch
          cluster, whose level `mode` says so, nothing is promoted.
        - `lost_seconds`, `lost_writes`: what the first cluster acknowledged and the second does not have.

        Of a planned trial also `demote_seconds`. Of a forced trial whose levels state an interval also:
        - `recovery_point_seconds`: from the last write that the second cluster has until the loss; `intervals_lost` is
          the same in intervals, `beyond_two_intervals` is 1 if that is more than two, else 0.
        - `promotion_hung`: 1 if the mirror daemon had to be killed before the second cluster could write, else 0.

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
        promoted = run.levels.get("mode") != "stretch"
        given_up = check_trial(log, kind, len(times), promoted=promoted)
        write, promotions, first = log.one("write"), log.any("promote"), log.one("first_write")
        acknowledged = log.value(first, "acknowledged_seconds")
        began = log.start(given_up)
        present = check_contents(log, kind, len(times))
        lost = max(0, len(times) - present)
        kept_until = times[min(present, len(times)) - 1] if present else log.start(write)
        metrics = {
            "seconds_to_first_write": acknowledged - began,
            "seconds_without_write": acknowledged - times[-1],
            "first_write_seconds": acknowledged - log.start(first),
            "operations": float(len(times)),
            "writes_present": float(present),
            "lost_writes": float(lost),
            "lost_seconds": times[-1] - kept_until if lost else 0.0,
        }
        if promotions:
            metrics["promote_seconds"] = log.end(promotions[-1]) - log.start(promotions[0])
            metrics["promote_attempts"] = float(len(promotions))
        if kind == "forced" and (interval := _interval(run.levels)):
            metrics |= _recovery_point(began - kept_until, interval)
            metrics["promotion_hung"] = float(bool(log.any(MIRROR_DAEMON_KILLED)))
        if kind == "planned":
            metrics["demote_seconds"] = log.value(given_up, "seconds")
        if any(value < 0 for value in metrics.values()):
            log.refuse("its steps are not in order of time")
        return Result(metrics=metrics)


FAILOVER = Failover()


def check_trial(log: Steps, kind: str, acknowledged: int, *, promoted: bool = True) -> Step:
    """Return the step that gave up the first cluster. `acknowledged` writes are listed beside the log.

    `promoted` says whether the copy had to be promoted before the second site could write.

    Raises OutputError if the steps do not make up a trial of that kind.
    """
    log.check_order()
    write, first = log.one("write"), log.one("first_write")
    promotions = log.all("promote") if promoted else []
    given_up = log.one("demote" if kind == "planned" else "disaster")
    names = [str(step["step"]) for step in (write, given_up, *promotions, first)]
    _check_order(log, names + ["verify"] * (2 if kind == "planned" else 1))
    if promoted:
        _check_promotions(log, promotions)
    # The frozen writer of a forced trial has no status.
    for step in [given_up, first, *log.any("verify"), *([write] if kind == "planned" else [])]:
        if step["exit_status"] != 0:
            log.refuse(f"{step['step']} ended with status {step['exit_status']}", step, reason="failed")
    if log.value(write, "acknowledged") != acknowledged:
        log.refuse(f"{write['acknowledged']} writes acknowledged, the list has {acknowledged}", write)
    return given_up


def check_contents(log: Steps, kind: str, acknowledged: int) -> int:
    """Return how many writes the second cluster holds. Raises OutputError (`data_differ`) if the data contradict it."""

    def differ(what: str, step: Step) -> NoReturn:
        log.refuse(what, step, reason="data_differ")

    verified = log.all("verify")
    sides = [str(step.get("side")) for step in verified]
    if sides != (["first", "second"] if kind == "planned" else ["second"]):
        log.refuse(f"the trial verified {sides}", verified[-1], reason="incomplete")
    for side, step in zip(sides, verified, strict=True):
        if not isinstance(step.get("sha256"), str) or step["sha256"] != step.get("expected_sha256"):
            unexplained = log.value(step, "unexplained_blocks")
            differ(f"{unexplained:.0f} blocks of the {side} cluster's image come from no write", step)
    first, second = verified[0], verified[-1]
    present = int(log.value(second, "writes_present"))
    if second.get("first_write_present") is not True:
        differ("the first write after the promotion is missing", second)
    if present > acknowledged + 1:
        differ(f"{present} writes are there, {acknowledged} were acknowledged, and at most one was under way", second)
    if kind == "planned":
        if first["sha256"] != second["sha256"]:
            differ("the two clusters' images differ", second)
        if present < acknowledged:
            differ(f"a planned fail-over lost {acknowledged - present} of {acknowledged} writes", second)
        if log.value(first, "writes_present") != present:
            differ("the two clusters' images are the same, yet hold different numbers of writes", second)
    return present


def _check_order(log: Steps, expected: list[str]) -> None:
    """Refuse steps out of order, except those beside others. A step that is missing at the end is reported later."""
    found = [step for step in log.steps if step["step"] not in _BESIDE]
    for step, name in zip(found, expected, strict=False):
        if step["step"] != name:
            log.refuse(f"{step['step']!r} stands where {name!r} belongs: logs of two runs are mixed", step)
    if len(found) > len(expected):
        log.refuse(f"{found[len(expected)]['step']!r} follows the end of the trial", found[len(expected)])


def _check_promotions(log: Steps, promotions: list[Step]) -> None:
    """Refuse promotions unless they are attempts 1, 2, … and only the last one was accepted."""
    if promotions[-1]["exit_status"] != 0:
        log.refuse("no promotion was accepted", promotions[-1], reason="failed")
    for attempt, step in enumerate(promotions, start=1):
        if step.get("attempt") != attempt:
            what = f"attempt {str(step.get('attempt'))[:20]} stands where attempt {attempt} belongs"
            log.refuse(what, step, reason="incomplete")
        if step["exit_status"] == 0 and step is not promotions[-1]:
            log.refuse("a promotion follows one that was accepted", step)


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
