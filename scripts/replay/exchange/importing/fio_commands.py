"""The command line of fio that stands above its results: what it asks of each job, and what contradicts it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from replay.exchange.importing.fio_reports import SAME
from replay.exchange.importing.runs import bytes_of, commands

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


def asked_of(found: Sequence[Jobs], name: str, *, alone: bool) -> dict[str, str]:
    """Return what the last command line that names a job asks of it; of jobs with one name what it asks of all.

    If no job of the report has another name (`alone`), a command line of one job is about it, whatever its name.
    """
    named = next((jobs for jobs in found if any(one == name for one, _ in jobs)), None)
    if named is None:
        named = found[0] if found and alone and len({one for one, _ in found[0]}) == 1 else []
    mine = [options for one, options in named if one == name] or [options for _, options in named]
    asked = {key: value for key, value in mine[0].items() if all(one.get(key) == value for one in mine)} if mine else {}
    if len({one for one, _ in named}) > 1:
        # A report of a group counts the jobs of all names.
        asked = {key: value for key, value in asked.items() if key not in ("numjobs", "status-interval")}
    return asked


def contradiction(asked: Mapping[str, str], said: Mapping[str, str]) -> str:
    """Return what a report says otherwise than the command line asks, or nothing."""
    for name, text in asked.items():
        if name in _ASKED and name in said and not _agree(name, text.lower(), said[name].lower()):
            return f"the command line above it asks for {name}={text}, its report says {said[name]}"
    return ""


def _agree(name: str, asked: str, said: str) -> bool:
    if name == "rw":
        asked, said = (text.partition(":")[0].replace("readwrite", "rw") for text in (asked, said))
    if name == "bs":
        sizes = {bytes_of(asked), bytes_of(said)}
        # Sizes of reads and writes, or a range, are no single one.
        return asked == said or None in sizes or len(sizes) == 1
    return asked == said
