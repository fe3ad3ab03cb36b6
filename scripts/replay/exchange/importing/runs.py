"""The runs of tools found in files, before they are arranged as points, variants and repetitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from replay.exchange.importing.text import Ranges

Level = str | int


@dataclass(frozen=True)
class Found:
    """A run as one file reports it.

    `tool` is the Reader that reads it. `parts` are the characters of the file that report it. `levels` are the factors
    that every run of the tool has; a level that the file does not state is missing. `options` are all others that may
    change what it measures, as text. `job` is the name that a person gave it, `place` its place among the jobs of its
    report that ran one after another. `reported_at` is when it ended according to the tool, in UTC. `notes` say what a
    person should know about its levels. `logs` are the beginnings of the names of its logs over time, by their kind.
    """

    tool: str
    parts: Ranges
    levels: Mapping[str, Level]
    options: Mapping[str, str] = field(default_factory=dict)
    job: str = ""
    place: str = ""
    reported_at: str | None = None
    version: str | None = None
    notes: tuple[str, ...] = ()
    logs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NotTaken:
    """A part of a known tool's file that is not imported, and why."""

    why: str


@dataclass(frozen=True)
class Part:
    """The place of a run's text: bytes of an original. `whole`: all of them. `role` is that of its file."""

    folder: int
    path: str
    sha256: str
    size: int
    ranges: Ranges
    encoding: str = "utf-8"
    role: str = ""

    @property
    def whole(self) -> bool:
        """Whether the text of the run is the original itself."""
        return self.ranges == ((0, self.size),)

    def cut(self, original: bytes) -> bytes:
        """Return the text of the run in UTF-8."""
        part = b"".join(original[start:end] for start, end in self.ranges)
        return part if self.encoding == "utf-8" else part.decode(self.encoding).encode()


@dataclass(frozen=True)
class Run:
    """A run whose outputs were read: the facts of `Found`, the places of its texts, and the metrics that it states.

    `parts` are the outputs of processes that ran at once, then its logs over time. `series` are the metrics that it
    states over time.
    """

    tool: str
    parts: tuple[Part, ...]
    levels: Mapping[str, Level]
    options: Mapping[str, str]
    job: str
    place: str
    reported_at: str | None
    version: str | None
    metrics: frozenset[str]
    series: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    logs: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> int:
        """The number of the folder in which it was found."""
        return self.parts[0].folder

    @property
    def path(self) -> str:
        """The file in which it was found: the first one, if there are several."""
        return self.parts[0].path
