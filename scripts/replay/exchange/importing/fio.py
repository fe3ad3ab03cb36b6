"""The runs in fio's JSON: which of its jobs ran at once and which in a row, and what they were asked to do.

What a report does not state is not assumed. A level is what an option says, or what fio counted: never fio's default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from replay.base.clock import utc_text
from replay.exchange.importing.fio_reports import (
    PRINTED,
    SAME,
    LocatedReport,
    StatedWorkload,
    common,
    in_flight,
    load_options,
    logs_of,
    longest_seconds,
    members,
    reports_in,
    seconds_of,
    workload_of,
)
from replay.exchange.importing.fio_text import asked_of, commands_in, contradiction
from replay.exchange.importing.runs import Found, Level, Ranges, whole_number
from replay.tools.base import UNSTATED
from replay.tools.fio_report import ALL_CLIENTS

_VERSION = re.compile(r"(?:fio-)?(\d+)\.(\d+)\S{0,40}", re.ASCII)
#: fio says so beside a report that lacks a client.
_LOST = re.compile(
    r"^.*(?:failed to connect to|client <[^>\n]*>: (?:exited with|timeout)|client: .*(?:disconnected|timed out)).*$",
    re.MULTILINE,
)
#: The first release that says how many jobs a group had if they were asked for in the section [global].
_STATES_JOBS = (3, 4)
#: More in flight than this share of what was asked for was that of further jobs.
_FULL = 1.05
#: Jobs that start later than the others by more than this share of their time did not run at once.
_AT_ONCE = 0.1


@dataclass(frozen=True)
class _Job:
    """An entry of a report: its place in the list, what fio says of it, its options, when it began if that is known."""

    index: int
    entry: Mapping[str, Any]
    options: Mapping[str, str]
    start: float | None
    seconds: float

    @property
    def name(self) -> str:
        return str(self.entry.get("jobname", ""))[:80]


def knows(text: str) -> bool:
    """Return whether a text contains fio's JSON."""
    return '"fio version"' in text and "{" in text


def read(text: str) -> list[Found | str]:
    """Return the runs of every report in a text: one for each workload of jobs that ran at once."""
    runs: list[Found | str] = []
    for report in reports_in(text):
        runs += [report] if isinstance(report, str) else _of_report(report)
    return runs


def _of_report(report: LocatedReport) -> list[Found | str]:
    version = str(report.value["fio version"])[:60]
    match = _VERSION.fullmatch(version)
    if match is None or int(match[1]) < 2:
        return [f"a report of {version!r}: Replay knows the units of fio 2 and later"]
    lists = [key for key in ("jobs", "client_stats") if isinstance(report.value.get(key), list)]
    if len(lists) != 1:
        return ["it has neither a list 'jobs' nor a list 'client_stats'"]
    if lists[0] == "client_stats" and (lost := _LOST.search(report.before)):
        return [f"a client is missing: {lost[0].strip()[:120]!r}"]
    jobs = _jobs(report, lists[0])
    if not jobs:
        return ["it reports no job"]
    jobs = _with_command(jobs, report.before)
    if isinstance(jobs, str):
        return [jobs]
    stages = _stages(jobs)
    runs: list[Found | str] = []
    for stage, place in zip(stages, _places(stages), strict=True):
        if isinstance(stage, str):
            runs.append(stage)
            continue
        for workload, several in _workloads(stage, (int(match[1]), int(match[2]))):
            if isinstance(workload, str):
                runs.append(workload)
                continue
            runs.append(
                Found(
                    tool="fio_report",
                    parts=_ranges(report, lists[0], [job.index for job in several], len(jobs)),
                    levels=dict(workload.levels),
                    options=common([load_options(job.options) for job in several]),
                    job=several[0].name,
                    place=place,
                    reported_at=_moment(report.value),
                    version=version,
                    notes=workload.notes,
                    logs=logs_of(several[0].options),
                )
            )
    return runs


def _workloads(
    stage: Sequence[_Job], release: tuple[int, int]
) -> Iterator[tuple[StatedWorkload | str, Sequence[_Job]]]:
    """Yield the workloads of jobs that ran at once, with their jobs, and what cannot be taken."""
    jobs: dict[StatedWorkload, list[_Job]] = {}
    problems = 0
    for job in stage:
        workload = workload_of(job.entry, job.options)
        if isinstance(workload, str):
            problems += 1
            yield f"{job.name}: {workload}", [job]
        else:
            jobs.setdefault(workload, []).append(job)
    at_once = len(jobs) + problems
    for workload, several in jobs.items():
        count = _count(several, dict(workload.levels), release)
        if isinstance(count, str):
            yield f"{several[0].name}: {count}", several
            continue
        more = [("workloads_at_once", at_once)] if at_once > 1 else []
        yield replace(workload, levels=(*workload.levels, ("jobs", count or UNSTATED), *more)), several


# Jobs ----------------------------------------------------------------------------------------------------------------


def _jobs(report: LocatedReport, key: str) -> list[_Job]:
    shared = _options(report.value.get("global options"))
    kept = []
    for index, entry in enumerate(report.value[key]):
        if isinstance(entry, dict) and entry.get("jobname") != ALL_CLIENTS:
            options = shared | _options(entry.get("job options"))
            start = entry.get("job_start")
            start_seconds = start / 1000 if isinstance(start, int) else None
            kept.append(_Job(index, entry, options, start_seconds, longest_seconds([entry])))
    return kept


def _options(value: Any) -> dict[str, str]:
    """Return options by their usual names; a flag without a value is 1."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        return {}
    return {
        SAME.get(name, name): "1" if text == "" else str(text)
        for name, text in value.items()
        if isinstance(text, str | int | float)
    }


def _with_command(jobs: Sequence[_Job], before: str) -> list[_Job] | str:
    """Return jobs with the options that only the command line above the report states, or what contradicts it."""
    commands, alone = commands_in(before), len({job.name for job in jobs}) == 1
    told = []
    for job in jobs:
        asked = asked_of(commands, job.name, alone=alone)
        if why := contradiction(asked, job.options):
            return why
        told.append(replace(job, options={**asked, **job.options}))
    return told


def _client(job: _Job) -> tuple[str, str]:
    return str(job.entry.get("hostname")), str(job.entry.get("port"))


def _stages(jobs: Sequence[_Job]) -> list[list[_Job] | str]:
    """Return the jobs that ran at once, one list after the other in time.

    fio starts all clients together, but each has a clock of its own, and counts its own groups.
    """
    clients: dict[tuple[str, str], list[_Job]] = {}
    for job in jobs:
        clients.setdefault(_client(job), []).append(job)
    rows = [_stages_of_client(of_client) for of_client in clients.values()]
    if len(rows) == 1:
        return rows[0]
    delays = {frozenset(job.options.get("startdelay", "0") for job in of_client) for of_client in clients.values()}
    if len({*map(len, rows)}) > 1 or len(delays) > 1:
        return ["its clients differ in their jobs in a row or in startdelay, so it is unclear which ran at once"]
    stages: list[list[_Job] | str] = []
    ended = [0.0] * len(rows)
    for parts in zip(*rows, strict=True):
        at_once = [job for part in parts if not isinstance(part, str) for job in part]
        unclear = [part for part in parts if isinstance(part, str)]
        # No client waits for the others before it goes on.
        if not unclear and max(ended) - min(ended) > _AT_ONCE * max(job.seconds for job in at_once):
            unclear = [_without_sum(at_once)]
        stages.append(unclear[0] if unclear else sorted(at_once, key=lambda job: job.index))
        lasted = [0.0 if isinstance(part, str) else max(job.seconds for job in part) for part in parts]
        ended = [end + seconds for end, seconds in zip(ended, lasted, strict=True)]
    return stages


def _stages_of_client(jobs: Sequence[_Job]) -> list[list[_Job] | str]:
    if all(job.start is not None and job.seconds for job in jobs):
        return _by_time([(job, job.start) for job in jobs])
    number, group, numbers = 0, None, {}
    for job in jobs:
        # A group begins after the one before, unless only its figures are apart.
        if group is not None and job.entry.get("groupid") != group:
            number = max(number, *numbers.values()) + ("new_group" not in job.options or "stonewall" in job.options)
        group = job.entry.get("groupid")
        awaited = numbers.get(job.options.get("wait_for"))
        numbers[job.name] = mine = number if awaited is None else awaited + 1
        numbers[job.index] = mine
    stages: list[list[_Job] | str] = []
    for number in sorted({numbers[job.index] for job in jobs}):
        here = [job for job in jobs if numbers[job.index] == number]
        delays = [seconds_of(job.options.get("startdelay", "0")) or 0.0 for job in here]
        stages += _by_time(list(zip(here, delays, strict=True))) if any(delays) else [here]
    return stages


def _by_time(started: Sequence[tuple[_Job, float]]) -> list[list[_Job] | str]:
    """Return jobs by when they began: those that ran at once; why not for those that did for a part of the time."""
    stages: list[list[tuple[_Job, float]]] = []
    end = 0.0
    for job, start in sorted(started, key=lambda pair: pair[1]):
        if not stages or start >= end - _AT_ONCE * job.seconds:
            stages.append([])
        stages[-1].append((job, start))
        end = max(end, start + job.seconds) if len(stages[-1]) > 1 else start + job.seconds
    groups: list[list[_Job] | str] = []
    for stage in stages:
        starts, longest = [start for _, start in stage], max(job.seconds for job, _ in stage)
        if max(starts) - min(starts) > _AT_ONCE * longest:
            groups.append(_without_sum([job for job, _ in stage]))
        else:
            groups.append([job for job, _ in sorted(stage, key=lambda pair: pair[0].index)])
    return groups


def _without_sum(jobs: Sequence[_Job]) -> str:
    names = ", ".join(dict.fromkeys(job.name for job in jobs))
    return f"{names[:80]}: they ran at once for only a part of their time, so there is no sum"


def _places(stages: Sequence[list[_Job] | str]) -> list[str]:
    """Return names of the places of jobs in a row: those of their jobs, with numbers where they are the same."""
    if len(stages) == 1:
        return [""]
    names = ["" if isinstance(stage, str) else stage[0].name for stage in stages]
    places = [
        name if names.count(name) == 1 else f"{name}-{names[: place + 1].count(name)}"
        for place, name in enumerate(names)
    ]
    # The second of two jobs `a` would have the name of a job `a-2`.
    return places if len({*places}) == len(places) else [f"{name}-{place}" for place, name in enumerate(names, 1)]


def _count(jobs: Sequence[_Job], levels: Mapping[str, Level], release: tuple[int, int]) -> int | str:
    """Return how many jobs of these levels ran: `numjobs` of a group that is reported as one, else the entries.

    0 if the report does not say, and a reason if it contradicts itself.
    """
    by_name: dict[tuple[str, ...], list[_Job]] = {}
    for job in jobs:
        by_name.setdefault((*_client(job), job.name), []).append(job)
    total = 0
    for several in by_name.values():
        options = several[0].options
        asked = whole_number(options.get("numjobs", "1"))
        if asked is None:
            return f"numjobs={options['numjobs'][:20]} is not a number"
        if len(several) == 1 and "numjobs" not in options and (not options or release < _STATES_JOBS):
            return 0
        if len(several) == 1 and "group_reporting" in options and _has_more_sections(several[0], levels, asked):
            return 0
        if len(several) not in (1, asked) and asked > 1:
            return f"{len(several)} of {asked} jobs reported"
        total += max(asked, len(several))
    return total


def _has_more_sections(job: _Job, levels: Mapping[str, Level], asked: int) -> bool:
    """Return whether a group that is reported as one has jobs of more sections than the one that says how many.

    fio names a group after its first section, and echoes the options of its last one.
    """
    depth = levels["io_depth"]
    is_beyond = isinstance(depth, int) and in_flight(job.entry) > _FULL * depth * max(1, asked)
    return is_beyond or job.options.get("name", job.name)[:80] != job.name


def _moment(report: Mapping[str, Any]) -> str | None:
    """Return when fio printed the report."""
    for key, (unit, _) in PRINTED.items():
        value = report.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value / unit < 4e9:
            return utc_text(datetime.fromtimestamp(value / unit, UTC))
    return None


def _ranges(report: LocatedReport, key: str, chosen: Sequence[int], jobs: int) -> Ranges:
    """Return where a report of only the chosen entries is. A run of all of them is the whole report."""
    if len(chosen) == jobs:
        return report.view.ranges_of([(report.start, report.end)])
    text = report.view.text
    at, end = next((begin, stop) for name, begin, stop in members(text, report.start) if name == key)
    entries = [(begin, stop) for _, begin, stop in members(text, at)]
    ranges = [(report.start, at + 1)]
    for place, index in enumerate(chosen):
        ranges.append(entries[index])
        if place + 1 < len(chosen):
            # Another entry follows, so there is a comma.
            ranges.append((entries[index][1], entries[index + 1][0]))
    ranges.append((end - 1, report.end))
    return report.view.ranges_of(ranges)
