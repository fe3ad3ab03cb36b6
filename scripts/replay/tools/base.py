"""What all tools and readers share: their interfaces, the result, the typed error, strict numbers. Pure: no I/O."""

from __future__ import annotations

import itertools
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, ClassVar, NoReturn

from replay.base.errors import ConfigurationError, ReplayError
from replay.design.needs import Factor

#: A cell shorter than this is void: the tool's clock and its start-up would decide the figure.
MINIMUM_SECONDS = 1.0
#: The level of a factor that a foreign result does not state. No reader compares it with anything.
UNSTATED = "unstated"

_NUMBER = re.compile(r"[+-]?(?:\d{1,19}(?:\.\d{0,19})?|\.\d{1,19})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_SIZE = re.compile(r"(\d{1,15}) ?([kmgtp]?)(i?)b?", re.ASCII | re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_ROLE = re.compile(r"output(?:-([1-9]\d{0,4})-([1-9]\d{0,4}))?", re.ASCII)
#: (elapsed_seconds, metric, value) of each figure over time.
Series = tuple[tuple[float, str, float], ...]
#: What a row over time says: the second, and how many operations were finished by then.
Row = tuple[float, float]


class OutputError(ReplayError):
    """A tool's output does not say what was measured. The message names the file and the line.

    In JSON it names the key instead of the line. A problem of a whole file, such as a missing file or a killed tool,
    has neither.

    `reason` is a reason of invalidity: `unparsable`, `failed`, `client_lost`, `incomplete`, or `too_short` if the run
    ended before the tool's clock moved.
    """

    def __init__(self, what: str, *, file: str, line: int | None = None, reason: str = "unparsable") -> None:
        self.file = file
        self.line = line
        self.reason = reason
        super().__init__(
            what,
            where=file if line is None else f"{file}:{line}",
            next_step="read the file; the set is void and is measured again",
        )


@dataclass(frozen=True)
class Result:
    """The result of one run of a tool.

    - `metrics`: in base units, with the unit in the name: `operations`, `bytes`, `duration_seconds`,
      `operations_per_second`, `bytes_per_second`, `latency_p99_seconds`, …
    - `series`: (elapsed_seconds, metric, value).
    - `entities`: (kind, id, metric, value) of OSDs and placement groups before the tool ran.
    - `complete`: False if the output was cut off; `metrics` is empty then.
    - `notes`: what a person should know about a figure that is missing or of another kind than usual.
    """

    metrics: Mapping[str, float] = field(default_factory=dict)
    series: Series = ()
    entities: tuple[tuple[str, str, str, float], ...] = ()
    complete: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """The files that one run left. `texts` maps each file's role to its content, `names` to its name, for errors.

    `levels` are the requested levels, without those that nobody stated. `exit_status` is None if the tool was killed.
    """

    texts: Mapping[str, str]
    exit_status: int | None
    levels: Mapping[str, Any]
    names: Mapping[str, str] = field(default_factory=dict)

    def text(self, role: str) -> str:
        """Return a file's text, empty if there is no such file."""
        return self.texts.get(role, "")

    def file(self, role: str) -> str:
        return self.names.get(role, role)


class Reader(ABC):
    """Reads the files of an experiment's cells. `name` is the value of the experiment's key `tool`."""

    name: str

    def parse(
        self,
        outputs: Mapping[str, str],
        exit_status: int | None,
        levels: Mapping[str, Any],
        *,
        names: Mapping[str, str] | None = None,
    ) -> Result:
        """Parse a run's files, `outputs` by role; see `Run`. Raises OutputError."""
        stated = {name: level for name, level in levels.items() if level != UNSTATED}
        return self.read(Run(outputs, exit_status, stated, names or {}))

    @abstractmethod
    def read(self, run: Run) -> Result:
        """Return a run's result.

        Raises OutputError if the files do not say what was measured, or say that it was not `run.levels`.
        """


class Tool(Reader):
    """One benchmark tool: builds its argv and reads its output, and does nothing else.

    `program` is the program that it runs, `package` Debian's package of it, empty if there is none, and
    `version_arguments` make it print its version. `own_levels` are levels that only this tool knows, besides those of
    the protocol. `result_files` has the files that it writes besides stdout and stderr, role to suffix; the role is the
    file's placeholder in the argv.
    """

    program: ClassVar[str]
    package: ClassVar[str] = ""
    version_arguments: ClassVar[tuple[str, ...]] = ("--version",)
    own_levels: ClassVar[tuple[Factor, ...]] = ()
    result_files: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def argv_template(self, levels: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
        """Return the argv, with placeholders: `{conf} {client} {keyring} {pool} {namespace} {image} {seed} {output}` …

        On a file it is `{file}`. `{io_total_bytes}` or `{operations}` says how much to do.

        Raises KeyError if a level that it needs is missing.
        """


class NetworkTool(Tool):
    """A tool with a client and a server. Its argv is the client's, with placeholders `{server} {port} {seconds}`."""

    #: What the server prints when it accepts connections.
    listening: ClassVar[str]

    @abstractmethod
    def server_argv(self, bind: str | None = None) -> list[str]:
        """Return the argv of a server on `{port}` of `bind`, or of all addresses, that serves one client and ends.

        It ends after `{most_seconds}` in any case, even if the process that started it is gone.
        """

    def hide(self, content: bytes) -> bytes:
        """Return the output with placeholders in place of the addresses and hosts that the tool prints."""
        return content


def render(template: list[str], values: Mapping[str, Any]) -> list[str]:
    """Fill a template's placeholders. Raises ConfigurationError naming one that has no value."""

    def value(match: re.Match[str]) -> str:
        if values.get(match[1]) is None:
            raise ConfigurationError(f"the placeholder {match[0]} has no value", where=" ".join(template))
        return str(values[match[1]])

    return [_PLACEHOLDER.sub(value, word) for word in template]


def client_options(options: Mapping[str, Any]) -> list[str]:
    """Return Ceph configuration options as arguments: `{"rbd_cache": False}` becomes `--rbd_cache=false`."""
    given = options.get("client_options") or {}
    return [f"--{name.replace('-', '_').replace(' ', '_')}={option_text(value)}" for name, value in given.items()]


def option_text(value: Any) -> str:
    """Return a value as Ceph and fio write it: booleans in lower case."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def connection(options: Mapping[str, Any]) -> list[str]:
    """Return the arguments that select the cluster and the user; `options["keyring"]` adds the keyring."""
    argv = ["--conf", "{conf}", "--name", "{client}"]
    if options.get("keyring"):
        argv += ["--keyring", "{keyring}"]
    return argv


def judge(result: Result, minimum_seconds: float = MINIMUM_SECONDS) -> tuple[str, str] | None:
    """Return why a parsed run is void, as (reason, detail), or None when it is good."""
    if not result.complete:
        return "incomplete", "the tool's output was cut off"
    seconds = result.metrics.get("duration_seconds")
    if seconds is not None and seconds < minimum_seconds:
        return "too_short", f"the run lasted {seconds:.3g} s, less than {minimum_seconds:g} s"
    return None


def number(text: Any) -> float | None:
    """Return `text` (a string, int or float) as a finite number, or None: no `nan`, `inf`, `1_000`, `true`."""
    kind = type(text)  # much faster than isinstance, and derive calls this several hundred thousand times
    if kind is str:
        if not _NUMBER.fullmatch(text):
            return None
    elif kind is not float and kind is not int:
        return None
    try:
        value = float(text)
    except OverflowError:
        return None
    return value if isfinite(value) else None


def bytes_of(text: str | None, *, kilo: int = 1024, kibi: int = 1024) -> int | None:
    """Return a size in bytes, of which `4K` are four `kilo` and `4Ki` four `kibi`; None if it is none."""
    match = _SIZE.fullmatch(text or "")
    return int(match[1]) * (kibi if match[3] else kilo) ** _POWERS[match[2].lower()] if match else None


def role_of(instance: int, number: int) -> str:
    """Return the role of the result file of an instance's pass, both counted from 1."""
    return "output" if (instance, number) == (1, 1) else f"output-{instance}-{number}"


def roles_by_instance(outputs: Mapping[str, str], instances: int, file: str) -> list[list[str]]:
    """Return the roles of each instance's passes, in order, for the requested number of instances.

    Instances ran at once, and passes one after another; each left a file of its own. All instances make the same number
    of passes. Raises OutputError if a run is missing, because a sum without it would be wrong, or if there are more
    instances.
    """
    outputs_left = {(int(match[1] or 1), int(match[2] or 1)) for role in outputs if (match := _ROLE.fullmatch(role))}
    seen, passes = {instance for instance, _ in outputs_left}, max((number for _, number in outputs_left), default=0)
    if lost := set(range(1, instances + 1)) - seen:
        raise OutputError(
            f"{len(lost)} of {instances} instances left no output: {', '.join(map(str, sorted(lost)))}",
            file=file,
            reason="client_lost",
        )
    wanted = {(instance, number) for instance in range(1, instances + 1) for number in range(1, passes + 1)}
    if outputs_left - wanted:
        raise OutputError(f"output of {len(seen)} instances, expected {instances}", file=file)
    if wanted - outputs_left:
        instance, number = min(wanted - outputs_left)
        raise OutputError(f"no output of instance {instance}, pass {number}", file=file, reason="incomplete")
    return [[role_of(instance, number) for number in range(1, passes + 1)] for instance in range(1, instances + 1)]


def agrees(value: float, expected: float, *, relative: float = 0.0, absolute: float = 0.0) -> bool:
    """Return whether two statements of one quantity agree within their rounding."""
    return abs(value - expected) <= relative * abs(expected) + absolute


def rounding_of(text: str) -> float:
    """Return half a unit of the last printed digit: `1.9` gives 0.05, `35` gives 0.5, `1.2e+06` gives 50000."""
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(exponent or 0) - decimals)


def rates(rows: Iterable[Row], operation_bytes: float, file: str) -> Series:
    """Return operations/s and bytes/s from differences between consecutive rows, at the second of the later one."""
    series = []
    for (second, finished), (later, more) in itertools.pairwise(rows):
        if later <= second or more < finished:
            what = f"time or operations go backwards at second {later:g}: output of two runs is mixed"
            raise OutputError(what, file=file)
        rate = (more - finished) / (later - second)
        series.append((later, "operations_per_second", rate))
        series.append((later, "bytes_per_second", rate * operation_bytes))
    return tuple(series)


# A tool's JSON, in which each value knows the keys that lead to it, so that errors name them -------------------------


Key = str | int


@dataclass(frozen=True)
class Place:
    """A value in a document, and the keys that lead to it. `value` is also None if there is no such value."""

    file: str
    value: Any
    keys: tuple[Key, ...] = ()

    @property
    def name(self) -> str:
        """The keys as one text, `jobs[0].read`; empty for the outermost value."""
        return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in self.keys).removeprefix(".")

    def at(self, *keys: Key) -> Place:
        """Return the place that further keys lead to."""
        inner = self.value
        for key in keys:
            if isinstance(key, int):
                inner = inner[key] if isinstance(inner, list) and key < len(inner) else None
            else:
                inner = inner.get(key) if isinstance(inner, dict) else None
        return Place(self.file, inner, (*self.keys, *keys))

    def refuse(self, what: str, *, reason: str = "unparsable") -> NoReturn:
        """Raise OutputError about this value."""
        raise OutputError(f"{self.name}: {what}" if self.keys else what, file=self.file, reason=reason)

    def number(self, key: Key) -> float:
        """Return the finite number of 0 or more at a key. Raises OutputError."""
        value = number(self.at(key).value)
        if value is None or value < 0:
            self.refuse(f"no number {key!r}")
        return value

    def object(self, *keys: Key) -> Place:
        """Return the place of a JSON object. Raises OutputError if there is none."""
        place = self.at(*keys)
        if not isinstance(place.value, dict):
            self.refuse(f"no object {'.'.join(map(str, keys))!r}")
        return place

    def rows(self, key: Key) -> list[Place]:
        """Return the places of a list's members. Raises OutputError if there is no list."""
        listed = self.at(key)
        if not isinstance(listed.value, list):
            self.refuse(f"no list {key!r}")
        return [listed.at(index) for index in range(len(listed.value))]


def read_json(text: str, file: str, *, start: int = 0) -> Place:
    """Return the outermost place of the only JSON document in `text` from `start` on.

    Raises OutputError for anything but JSON, and if anything follows: output of two runs is mixed.
    """
    try:
        return Place(file, json.loads(text[start:]))
    except json.JSONDecodeError as error:
        line = text.count("\n", 0, start) + error.lineno
        raise OutputError(f"not JSON: {error.msg}", file=file, line=line) from None
    except (ValueError, RecursionError) as error:
        raise OutputError(f"not a tool's JSON: {error}"[:200], file=file) from None
