"""Reads every file below the folders that were named, and records the outcome for each."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay.exchange.importing.cbt import Folder, Output, combined, named_levels, output_of, rank
from replay.exchange.importing.files import LeftOut, SourceFile, files_below
from replay.exchange.importing.recognise import FIO_LOG, read_outputs, recognise
from replay.exchange.importing.runs import Part, Run
from replay.tools import OutputError

#: fio's logs over time by the option that asks for them: the endings of their names, the first that there is.
_LOG_ENDINGS = {"iops": ("iops",), "bw": ("bw",), "lat": ("clat", "lat")}
_LOG_NAME = re.compile(r"(?P<begin>.+)_(?P<ending>iops|bw|clat|lat)(?:\.(?P<number>\d{1,6}))?\.log", re.ASCII)
_SNIFFED = 200
_SAME_RUN = "it contains the same run as "


@dataclass
class Collected:
    """All runs and all files that were found: `sources` by (folder, path), and what was left out, with the reason."""

    runs: list[Run] = field(default_factory=list)
    sources: dict[tuple[int, str], SourceFile] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    def content(self, key: tuple[int, str]) -> bytes:
        """Return the bytes of a file that was found."""
        return self.sources[key].location.read_bytes()


def collect(folders: list[Path], unpacked: Path, tell: Callable[[str], None] = lambda _: None) -> Collected:
    """Return the content of the folders. `unpacked` is an empty folder for archives; `tell` gets the progress.

    Raises ConfigurationError for a wrong folder.
    """
    found = Collected()
    runs: list[Run] = []
    texts: dict[tuple[int, str, str], str] = {}
    logs: dict[tuple[int, str], Part] = {}
    # The first of several copies counts.
    for count, one in enumerate(sorted(files_below(folders, unpacked), key=lambda one: rank(one.path)), 1):
        if count % 100 == 0:
            tell(f"{count} files")
        if isinstance(one, LeftOut):
            found.left_out.append(one)
            continue
        found.sources[one.folder, one.path] = one
        try:
            content = one.location.read_bytes()
        except OSError as error:
            found.left_out.append(LeftOut(one.folder, one.path, f"it cannot be read: {error.strerror}"))
            continue
        if FIO_LOG.match(content[:_SNIFFED].decode("ascii", "replace")):
            digest = hashlib.sha256(content).hexdigest()
            logs[one.folder, one.path] = Part(one.folder, one.path, digest, len(content), ((0, len(content)),))
        here, reasons = recognise(one.folder, one.path, content)
        found.left_out += [LeftOut(one.folder, one.path, why) for why in reasons]
        for run in here:
            # A tool prints its rates and its time: two runs do not print the same text, however it is indented.
            text = b"".join(run.parts[0].cut(content).split())
            key = (one.folder, run.tool, hashlib.sha256(text).hexdigest())
            if first := texts.get(key):
                why = "it contains a run twice" if first == one.path else f"{_SAME_RUN}{first}"
                found.left_out.append(LeftOut(one.folder, one.path, why))
            else:
                texts[key] = one.path
                runs.append(named_levels(run))
    together, left = combined(runs, _failed(found.left_out), lambda run: _problem(run, found))
    found.left_out += left
    found.runs = _with_logs(_in_order_of(together, runs), logs, found)
    return found


def _failed(left_out: Iterable[LeftOut]) -> Mapping[Folder, Mapping[Output, str]]:
    """Return by folder which outputs of a run hold none, and why; copies and CBT's own files do not count."""
    failed: dict[Folder, dict[Output, str]] = {}
    for one in left_out:
        output, above = output_of(one.path), one.path.rpartition("/")[0]
        copied = one.why.removeprefix(_SAME_RUN) if one.why.startswith(_SAME_RUN) else ""
        # Two outputs of one run cannot be the same: then one of them is lost.
        twice = copied.rpartition("/")[0] == above and output_of(copied) != output
        if output and (twice or not (copied or one.why.startswith("CBT's own"))):
            failed.setdefault((one.folder, above), {})[output] = one.why
    return failed


def _problem(run: Run, found: Collected) -> str:
    """Return why the outputs of a run of several clients cannot be read together, or nothing."""
    try:
        texts = [part.cut(found.content((part.folder, part.path))) for part in run.parts]
        read_outputs(run.tool, texts, run.levels, run.path)
    except OutputError as error:
        return f"together with the others in its folder: {error.what}"
    except OSError as error:
        return f"it cannot be read again: {error.strerror}"
    return ""


def _with_logs(runs: list[Run], logs: Mapping[tuple[int, str], Part], found: Collected) -> list[Run]:
    """Return the runs with fio's logs over time beside their reports, if it is clear whose they are.

    A log that belongs to a run is no longer left out.
    """
    by_name: dict[tuple[int, str, str], dict[str, list[Part]]] = {}
    for (folder, path), part in logs.items():
        above, _, name = path.rpartition("/")
        if match := _LOG_NAME.fullmatch(name):
            by_name.setdefault((folder, above, match["begin"]), {}).setdefault(match["ending"], []).append(part)
    claimed: dict[tuple[int, str, str], int] = {}
    for run in runs:
        for begin in set(run.logs.values()):
            key = (run.folder, run.path.rpartition("/")[0], begin)
            claimed[key] = claimed.get(key, 0) + 1
    result = []
    for run in runs:
        above = run.path.rpartition("/")[0]
        parts: list[Part] = []
        for kind, begin in run.logs.items():
            key = (run.folder, above, begin)
            endings = by_name.get(key, {}) if claimed[key] == 1 else {}
            ending = next((one for one in _LOG_ENDINGS[kind] if one in endings), "")
            several = endings.get(ending, [])
            # A sum over only some of the jobs would be wrong.
            if len(several) == run.levels.get("jobs"):
                parts += [replace(part, role=f"log-{ending}-{place}") for place, part in enumerate(several, 1)]
        result.append(_with_series(run, parts, found) if parts else run)
    return result


def _with_series(run: Run, parts: list[Part], found: Collected) -> Run:
    """Return a run with logs, or as it was if they cannot be read."""
    try:
        texts = [part.cut(found.content((part.folder, part.path))) for part in run.parts]
        logs = {part.role: found.content((part.folder, part.path)) for part in parts}
        read = read_outputs(run.tool, texts, run.levels, run.path, logs)
    except (OutputError, OSError):
        return run
    taken = {(part.folder, part.path) for part in parts}
    found.left_out = [one for one in found.left_out if (one.folder, one.path) not in taken]
    series = frozenset(metric for _, metric, _ in read.series)
    return replace(run, parts=(*run.parts, *parts), series=series)


def _in_order_of(runs: Iterable[Run], order: list[Run]) -> list[Run]:
    place: dict[tuple[int, str], int] = {}
    for index, run in enumerate(order):
        place.setdefault((run.folder, run.path), index)
    return sorted(runs, key=lambda run: place[run.folder, run.path])
