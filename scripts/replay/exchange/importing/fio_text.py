"""fio's normal and terse text, also in a log: its headline figures, where there is no JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from replay.exchange.importing.fio_reports import Workload, size_of, workload_of
from replay.exchange.importing.runs import Found, NotTaken, View, joined, whole_text, without_prefix
from replay.tools.base import UNSTATED, number
from replay.tools.fio_text import Section, sections

_KNOWN = re.compile(r"\(groupid=\d+, jobs=\d+\): err= *\d|(?:^|\W)[345];fio-\d[^;\s]*;[^;\n]*;\d+;\d+;\d")
_BANNER = re.compile(r"\bfio-\d+\.\d+[^;\s]*[ \t\r]*$", re.MULTILINE)
_STATUS = re.compile(r"^.*Run status group \d", re.MULTILINE)
_STARTED = re.compile(r"\bStarting (?:(\d+) (?:process|thread)\w*)(?: and (\d+) (?:process|thread)\w*)?")


class FioText:
    """The format of fio's text."""

    family = "fio"

    @staticmethod
    def knows(text: str) -> bool:
        """Return whether a text contains results of fio as normal or terse text, and none as JSON."""
        return '"fio version"' not in text and _KNOWN.search(text) is not None

    @staticmethod
    def read(text: str) -> list[Found | NotTaken]:
        """Return the runs of a text: one for each workload of jobs that ran at once."""
        banner = _BANNER.search(text)
        view = (banner and without_prefix(text, banner.start())) or whole_text(text)
        found: list[Found | NotTaken] = []
        for version, started, unclear, group in _groups(view.text):
            found += _of_group(version, started, unclear, group, view)
        return found


def _groups(text: str) -> Iterator[tuple[str, int | None, bool, list[Section]]]:
    """Yield (version, jobs started if all are in one group, whether it is unclear what ran at once, sections).

    A report begins with fio's version and ends with the status of its groups. Without either, and in terse text, nobody
    knows whether jobs of one name ran at once, so each name is by itself.
    """
    banners, statuses = [*_BANNER.finditer(text)], [*_STATUS.finditer(text)]
    groups: dict[tuple[int, int, int, str], list[Section]] = {}
    for section in sections(text):
        start = section.spans[-1][0]
        before = sum(one.end() <= start for one in banners), sum(one.end() <= start for one in statuses)
        apart = bool(section.version) or not (banners or statuses)
        groups.setdefault((*before, section.group, section.name if apart else ""), []).append(section)
    for (begun, ended, _, name), several in groups.items():
        banner = banners[begun - 1] if begun else None
        match = _STARTED.search(text, banner.end(), several[0].spans[-1][0]) if banner and not name else None
        only = sum(key[:2] == (begun, ended) for key in groups) == 1
        started = sum(int(count) for count in match.groups() if count) if match and only else None
        yield several[0].version or (banner[0].strip() if banner else ""), started, bool(name), several


def _of_group(
    version: str, started: int | None, unclear: bool, group: Sequence[Section], view: View
) -> Iterator[Found | NotTaken]:
    name = group[0].name
    if failed := [section for section in group if section.error]:
        yield NotTaken(f"{failed[0].name}: error {failed[0].error}: its figures do not count")
        return
    if unclear and len(group) > 1:
        yield NotTaken(f"{name}: the text of {len(group)} jobs does not say whether they ran at once")
        return
    jobs = sum(section.jobs for section in group)
    if started is not None and jobs != started:
        yield NotTaken(f"{name}: {jobs} of {started} jobs reported")
        return
    by_levels: dict[object, tuple[Workload, list[Section]]] = {}
    for section in group:
        workload = _workload(section, view)
        if isinstance(workload, str):
            yield NotTaken(f"{section.name}: {workload}")
            return
        by_levels.setdefault(workload.levels, (workload, []))[1].append(section)
    for workload, several in by_levels.values():
        jobs = sum(section.jobs for section in several)
        at_once = {"workloads_at_once": len(by_levels)} if len(by_levels) > 1 else {}
        spans = sorted({span for section in several for span in section.spans})
        engine = several[0].options.get("ioengine")
        yield Found(
            tool="fio_text",
            parts=joined(one for start, end in joined(spans) for one in view.ranges(start, end)),
            levels={**dict(workload.levels), "jobs": jobs or UNSTATED, **at_once},
            options={"ioengine": engine} if engine else {},
            job=several[0].name[:80],
            version=version[:60] or None,
            notes=workload.notes,
        )


def _workload(section: Section, view: View) -> Workload | str:
    """Return the workload of a section, in the terms of fio's JSON."""
    options = dict(section.options)
    alone = {"iodepth_level": {"1": 100.0}} if options.pop("reached_depth", "") else {}
    if section.version:
        fields = view.text[section.spans[-1][0] : section.spans[-1][1]].split(";")
        values = [number(text) or 0.0 for text in fields[5:9]]
        if len(values) == 4 and (operations := values[2] * values[3] / 1000):
            size = size_of(operations, values[0] * 1024)
            options |= {"bs": str(size)} if size else {}
    return workload_of(alone, {"kb_base": "1024", **options})
