"""The runs in fio's normal and terse text, where there is no JSON, and the command lines above results. Pure.

A report begins with fio's version and ends with the status of its groups. With `--status-interval` fio prints sections
and status again and again below one version, and each counts from the start of the run, so only the last ones count.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from replay.exchange.importing.fio_reports import LONGER, SAME, StatedWorkload, measured_size, workload_of
from replay.exchange.importing.runs import Found, TextView, commands, view_of, whole_number, whole_text
from replay.tools.base import UNSTATED, bytes_of
from replay.tools.fio_text import JobSection, sections, terse_directions

_KNOWN = re.compile(r"\(groupid=\d+, jobs=\d+\): err= *\d|(?:^|\W)[345];fio-\d[^;\s]*;[^;\n]*;\d+;\d+;\d")
_BANNER = re.compile(r"\bfio-\d+\.\d+[^;\s]*[ \t\r]*$", re.MULTILINE)
_STATUS = re.compile(r"^.*Run status group \d", re.MULTILINE)
#: What fio prints below its version. A script may have said the version before, in a line of its own.
_STARTED = re.compile(r"\bStarting (?:(\d{1,9}) (?:process|thread)\w*)(?: and (\d{1,9}) (?:process|thread)\w*)?")
_PROCESS = re.compile(r": err= *\d+: pid=(\d+)", re.ASCII)
_LASTED = re.compile(r"(?:/|runt= *)(\d{1,15})msec", re.ASCII)


@dataclass(frozen=True)
class _Printed:
    """A section, what is known of the fio that printed it, and how many statuses stand before it."""

    section: JobSection
    invocation: int
    banner: re.Match[str] | None
    ended: int
    commands: Sequence[Jobs]

    @property
    def start(self) -> int:
        return self.section.spans[-1][0]


def knows(text: str) -> bool:
    """Return whether a text contains results of fio as normal or terse text, and none as JSON."""
    return '"fio version"' not in text and _KNOWN.search(text) is not None


def read(text: str) -> list[Found | str]:
    """Return the runs of a text: one for each workload of jobs that ran at once."""
    views = (view_of(text, anchor) for anchor in (_BANNER, _STARTED))
    view = next((view for view in views if _KNOWN.search(view.text)), whole_text(text))
    return [run for group in _groups(view.text) for run in _of_group(view, *group)]


# Which sections are one run ------------------------------------------------------------------------------------------


def _groups(text: str) -> Iterator[tuple[list[_Printed], str, int | None, bool]]:
    """Yield the sections of jobs that ran at once, the version of their fio, how many jobs it started, and `unclear`.

    How many is None if the text does not say, or if they are of several groups; `unclear`: they may have run at once.
    Without a version or a status, and in terse text, nobody knows whether jobs of one name ran at once, so each name is
    by itself.
    """
    banners, statuses = [*_BANNER.finditer(text)], [*_STATUS.finditer(text)]
    groups: dict[tuple[int, int, int, str], list[_Printed]] = {}
    for entry in _last_printed(_printed(text, banners, statuses), text):
        apart = bool(entry.section.version) or not (banners or statuses)
        key = (entry.invocation, entry.ended, entry.section.group, entry.section.name if apart else "")
        groups.setdefault(key, []).append(entry)
    for key, several in groups.items():
        banner, apart = several[0].banner, bool(key[-1])
        match = _STARTED.search(text, banner.end(), several[0].start) if banner and not apart else None
        only = sum(other[:2] == key[:2] for other in groups) == 1
        started = sum(int(count) for count in match.groups() if count) if match and only else None
        version = several[0].section.version or (banner[0].strip() if banner else "")
        yield several, version, started, apart


def _printed(text: str, banners: Sequence[re.Match[str]], statuses: Sequence[re.Match[str]]) -> list[_Printed]:
    """Return the sections. A version begins the output of another fio, and so does a command line."""
    begins, ends = [match.end() for match in banners], [match.end() for match in statuses]
    printed: list[_Printed] = []
    last = begun = invocation = 0
    banner: re.Match[str] | None = None
    commands: Sequence[Jobs] = []
    for section in sections(text):
        start, end = section.spans[-1]
        above, versions = text[last:start], bisect_right(begins, start)
        here = commands_in(above)
        if here or versions > begun:
            invocation, banner, commands = invocation + 1, banners[versions - 1] if versions > begun else None, here
        elif not banner and above.strip():
            commands = []
        printed.append(_Printed(section, invocation, banner, bisect_right(ends, start), commands))
        last, begun = end, versions
    return printed


def _last_printed(printed: Sequence[_Printed], text: str) -> list[_Printed]:
    """Return the sections without those that fio printed again later, and without terse text of the same jobs.

    A process's section after another status replaces the one before. Without a version above both, it may be another
    run's, unless it lasted longer.
    """
    normal = {_block(entry) for entry in printed if not entry.section.version}
    kept: list[_Printed] = []
    latest: dict[tuple[object, ...], _Printed] = {}
    counted: Counter[tuple[object, ...]] = Counter()
    for entry in printed:
        section = entry.section
        process = _PROCESS.search(text, *section.spans[-1])
        named = entry.invocation, section.group, section.name, process and process[1], section.version
        place = counted[named, entry.ended]
        counted[named, entry.ended] += 1
        before = latest.get((named, place))
        longer = 1.0 if entry.banner else LONGER
        if before and before.ended < entry.ended and _lasted(entry, text) >= longer * _lasted(before, text):
            kept.remove(before)
        latest[named, place] = entry
        kept.append(entry)
    return [entry for entry in kept if not (entry.section.version and _block(entry) in normal)]


def _block(printed: _Printed) -> tuple[int, int, int, str]:
    return printed.invocation, printed.ended, printed.section.group, printed.section.name


def _lasted(printed: _Printed, text: str) -> int:
    match = _LASTED.search(text, *printed.section.spans[-1])
    return int(match[1]) if match else 0


# What they were asked to do ------------------------------------------------------------------------------------------


def _of_group(
    view: TextView, printed: Sequence[_Printed], version: str, started: int | None, unclear: bool
) -> Iterator[Found | str]:
    """Yield the runs of sections as `_groups` has them, or why there are none."""
    several = [entry.section for entry in printed]
    name, alone = several[0].name, len({section.name for section in several}) == 1
    asked = {entry.section.name: asked_of(entry.commands, entry.section.name, alone=alone) for entry in printed}
    if unclear and "status-interval" in asked[name]:
        # Terse reports follow one another without a word: each has a line for each job, or one for all.
        jobs = 1 if "group_reporting" in asked[name] else whole_number(asked[name].get("numjobs")) or 1
        several = several[-jobs:]
    if failed := [section for section in several if section.error]:
        yield f"{failed[0].name}: error {failed[0].error}: its figures do not count"
        return
    jobs = sum(section.jobs for section in several)
    if started is not None and jobs != started:
        yield f"{name}: {jobs} of {started} jobs reported"
        return
    if why := _unclear(several, asked[name], jobs, apart=unclear):
        yield f"{name}: {why}"
        return
    sections_of: dict[StatedWorkload, list[JobSection]] = {}
    for section in several:
        workload = _workload(section, asked[section.name], view)
        if isinstance(workload, str):
            yield f"{section.name}: {workload}"
            return
        sections_of.setdefault(workload, []).append(section)
    for workload, here in sections_of.items():
        counted = sum(section.jobs for section in here)
        if not counted and len(sections_of) == 1:
            counted = whole_number(asked[name].get("numjobs"))
        options = {**asked[here[0].name], **here[0].options}
        at_once = {"workloads_at_once": len(sections_of)} if len(sections_of) > 1 else {}
        spans = sorted({span for section in here for span in section.spans})
        yield Found(
            tool="fio_text",
            parts=view.ranges_of(spans),
            levels={**dict(workload.levels), "jobs": counted or UNSTATED, **at_once},
            options={key: options[key] for key in ("ioengine", "direct") if key in options},
            job=here[0].name[:80],
            version=version[:60] or None,
            notes=workload.notes,
        )


def _unclear(sections: Sequence[JobSection], asked: Mapping[str, str], jobs: int, *, apart: bool) -> str:
    """Return why it is unclear which jobs ran at once, or what the command line says otherwise; or nothing.

    Terse text does not count jobs: each line is one, or a whole group.
    """
    expected, grouped = whole_number(asked.get("numjobs")), "group_reporting" in asked
    if apart and len(sections) > 1 and (jobs or grouped or len(sections) != expected):
        return f"the text of {len(sections)} jobs does not say whether they ran at once"
    reported = jobs or (0 if grouped else len(sections))
    if expected and reported and reported != expected and len({section.name for section in sections}) == 1:
        return f"the command line above it asks for numjobs={expected}, its text is of {reported}"
    return ""


def _workload(section: JobSection, asked: Mapping[str, str], view: TextView) -> StatedWorkload | str:
    """Return the workload of a section, in the terms of fio's JSON."""
    options = dict(section.options)
    alone = {"iodepth_level": {"1": 100.0}} if options.pop("reached_depth", "") else {}
    if section.version:
        line = view.text[slice(*section.spans[-1])]
        size = measured_size(lambda: terse_directions(line, ""))
        options |= {"bs": str(size)} if size else {}
    return contradiction(asked, options) or workload_of(alone, {"kb_base": "1024", **asked, **options})


#: The jobs of a command line: the name and the options of each. A command line that names a job file has one without a
#: name.
Jobs = Sequence[tuple[str, Mapping[str, str]]]
_ASKED = frozenset({
    "rw", "bs", "iodepth", "numjobs", "rwmixread", "rwmixwrite", "ioengine", "direct", "status-interval",
})  # fmt: skip
#: Anything else stands for a value, such as `$BS` and `<size>`.
_VALUE = re.compile(r"\w[\w:,./-]*", re.ASCII)


def commands_in(text: str) -> list[Jobs]:
    """Return the jobs of each command line in a text, the last one first."""
    return [_jobs(words) for words in commands(text, "fio") if any(word.startswith("-") for word in words)]


def _jobs(words: Sequence[str]) -> Jobs:
    """Return the jobs that the words after `fio` describe. What comes before the first `--name` is for all of them."""
    shared: dict[str, str] = {}
    jobs: list[tuple[str, dict[str, str]]] = []
    options = shared
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if not word.startswith("-"):
            continue
        # fio takes `-rw=read` and `--rw read`, too.
        name, sign, value = word.lstrip("-").partition("=")
        name, value = SAME.get(name, name), value if sign else following
        if name == "name" and value == "global":
            options = shared
        elif name == "name":
            options = dict(shared)
            jobs.append((value, options))
        elif name == "group_reporting":
            options[name] = "1"
        elif name in _ASKED and _VALUE.fullmatch(value):
            options[name] = value
    return jobs or [("", shared)]


def asked_of(commands: Sequence[Jobs], name: str, *, alone: bool) -> dict[str, str]:
    """Return what the last command line that names a job asks of it; of jobs with one name what it asks of all.

    If no job of the report has another name (`alone`), a command line of one job is about it, whatever its name.
    """
    named = next((jobs for jobs in commands if any(job == name for job, _ in jobs)), None)
    if named is None:
        named = commands[0] if commands and alone and len({job for job, _ in commands[0]}) == 1 else []
    mine = [options for job, options in named if job == name] or [options for _, options in named]
    first = mine[0] if mine else {}
    asked = {key: value for key, value in first.items() if all(options.get(key) == value for options in mine)}
    if len({job for job, _ in named}) > 1:
        # A report of a group counts the jobs of all names.
        asked = {key: value for key, value in asked.items() if key not in ("numjobs", "status-interval")}
    return asked


def contradiction(asked: Mapping[str, str], printed: Mapping[str, str]) -> str:
    """Return what a report says otherwise than the command line asks, or nothing."""
    for name, text in asked.items():
        if name in _ASKED and name in printed and not _agree(name, text.lower(), printed[name].lower()):
            return f"the command line above it asks for {name}={text}, its report says {printed[name]}"
    return ""


def _agree(name: str, asked: str, printed: str) -> bool:
    if name == "rw":
        asked, printed = (text.partition(":")[0].replace("readwrite", "rw") for text in (asked, printed))
    if name == "bs":
        sizes = {bytes_of(asked), bytes_of(printed)}
        # Sizes of reads and writes, or a range, are no single one.
        return asked == printed or None in sizes or len(sizes) == 1
    return asked == printed
