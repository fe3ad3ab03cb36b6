"""Reads every file below the folders that were named, and records the outcome for each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from replay.exchange.importing.cbt import combined, named_levels, rank
from replay.exchange.importing.files import LeftOut, SourceFile, files_below
from replay.exchange.importing.found import Run
from replay.exchange.importing.recognise import read_outputs, recognise
from replay.tools import OutputError


@dataclass
class Collected:
    """All runs and all files that were found: `sources` by (folder, path), and what was left out, with the reason."""

    runs: list[Run] = field(default_factory=list)
    sources: dict[tuple[int, str], SourceFile] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    def content(self, key: tuple[int, str]) -> bytes:
        """Return the bytes of a file that was found."""
        return self.sources[key].location.read_bytes()


def collect(folders: list[Path], tell: Callable[[str], None] = lambda _: None) -> Collected:
    """Return the content of the folders; `tell` gets the progress. Raises ConfigurationError for a wrong folder."""
    found = Collected()
    runs: list[Run] = []
    texts: dict[tuple[int, str, str], str] = {}
    # The first of several copies counts.
    for count, one in enumerate(sorted(files_below(folders), key=lambda one: rank(one.path)), 1):
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
        here, reasons = recognise(one.folder, one.path, content)
        found.left_out += [LeftOut(one.folder, one.path, why) for why in reasons]
        for run in here:
            # A tool prints its rates and its time: two runs do not print the same text.
            key = (one.folder, run.tool, hashlib.sha256(run.parts[0].cut(content).strip()).hexdigest())
            if (first := texts.setdefault(key, one.path)) != one.path:
                found.left_out.append(LeftOut(one.folder, one.path, f"it contains the same run as {first}"))
            else:
                runs.append(named_levels(run))
    together, left = combined(runs, lambda run: _problem(run, found))
    found.runs, found.left_out = _in_order_of(together, runs), found.left_out + left
    return found


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


def _in_order_of(runs: Iterable[Run], order: list[Run]) -> list[Run]:
    place: dict[tuple[int, str], int] = {}
    for index, run in enumerate(order):
        place.setdefault((run.folder, run.path), index)
    return sorted(runs, key=lambda run: place[run.folder, run.path])
