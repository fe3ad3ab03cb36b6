"""Derives a data set in this process: its experiments, then verdicts, answer and descriptions.

The rules of the Snakefile call the same functions, each in a job of its own. `replay derive --watch` and
`replay import` call them here.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError, ReplayError
from replay.base.programs import titles_in
from replay.base.tables import json_text, write_if_changed
from replay.claims.answer import write_answer
from replay.claims.descriptions import write_datapackage, write_recording
from replay.claims.documents import six_digits, write_claims, write_releases
from replay.claims.load import load_book
from replay.claims.model import Claim, Condition, Region
from replay.derive.computed import costliest
from replay.derive.part import Derived, read_part, refuse_altered_tables
from replay.evidence.data_set import MANIFEST, experiments_in, named_experiments, read_campaign, recorded_in
from replay.evidence.durable import locked


def derive_data_set(data_set: Path, experiments: Sequence[str] = ()) -> list[Derived]:
    """Derive the named experiments, or all that have raw output, then judge the claims, answer and describe.

    Raises EvidenceError naming the missing or altered file; intact experiments are derived anyway.
    """
    from replay.derive.experiment import derive_experiments  # noqa: PLC0415 - judging does without pandas

    names = named_experiments(data_set, experiments)
    try:
        return list(derive_experiments(data_set / name for name in names))
    finally:
        judge_and_describe(data_set)


def judge_and_describe(data_set: Path) -> None:
    """Judge the claims, answer the question and describe the data set, even if claims or answer are invalid.

    Raises EvidenceError, and writes nothing, if a table is not what deriving wrote.
    """
    with locked(data_set), contextlib.ExitStack() as afterwards:
        refuse_altered_tables(data_set)
        # Even if judging fails; what is added last comes first.
        afterwards.callback(_describe, data_set)
        afterwards.callback(write_answer, data_set)
        write_claims(data_set)


# Again whenever raw output arrives, at the lowest priority: no benchmark loses CPU time to it -------------------------


POLL_SECONDS = 0.1


@dataclass
class Watcher:
    """Derives the experiments of a data set whose SHA256SUMS changed since the last check."""

    data_set: Path
    experiments: tuple[str, ...]
    complain: Callable[[str], None]
    _seen: dict[str, tuple[tuple[int, int, int], ...]] = field(default_factory=dict)

    def look(self) -> list[Derived]:
        """Derive what changed. Reports an error once, and tries the experiment again at its next change."""
        from replay.derive.experiment import derive_experiment  # noqa: PLC0415 - judging does without pandas

        derived = []
        for name in experiments_in(self.data_set):
            if self.experiments and name not in self.experiments:
                continue
            # SHA256SUMS of the raw output and of its open blocks are replaced whenever something is recorded.
            state = tuple(_status(path) for path in recorded_in(self.data_set / name / "raw"))
            if self._seen.get(name) == state:
                continue
            self._seen[name] = state
            try:
                derived.append(derive_experiment(self.data_set / name))
            except ReplayError as error:
                self.complain(str(error))
        if derived:
            try:
                judge_and_describe(self.data_set)
            except ReplayError as error:
                self.complain(str(error))
        return derived


def _status(path: Path) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0, 0, 0  # it was sealed meanwhile
    return status.st_mtime_ns, status.st_size, status.st_ino


def watch(data_set: Path, experiments: tuple[str, ...]) -> None:
    """Check every tenth of a second until standard input closes (then once more) or SIGTERM arrives."""
    _lower_priority()
    stopped, open_input = threading.Event(), True
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    watcher = Watcher(data_set, experiments, lambda text: print(text, file=sys.stderr, flush=True))
    while not stopped.is_set():
        watcher.look()
        if not open_input:
            return
        readable, _, _ = select.select([sys.stdin], [], [], POLL_SECONDS)
        open_input = not readable or bool(os.read(sys.stdin.fileno(), 4096))


def _lower_priority() -> None:
    """Run at nice 19 and, if the system supports it, only on idle CPU time."""
    with contextlib.suppress(OSError):
        os.nice(19)
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


# Describes a data set: manifest.json, which the deck and every chart label read, and the files beside it.
# The manifest has what derive says of each experiment, and the margin of each ratio chart: the differences that do not
# count, according to claims of no difference.


#: The key of a chart's margin. It comes from today's claims, never from those that were registered.
KEY = "margin"


def _describe(data_set: Path) -> None:
    """Write manifest.json, recording.json, releases.json and datapackage.json from the derived tables and verdicts.

    Each is written only if it changes. Only the newer of several releases has a releases.json. Raises EvidenceError if
    a manifest beside it cannot be read.
    """
    book = None
    with contextlib.suppress(ConfigurationError):  # there may be no claims, and judging reports those that are invalid
        book = load_book(data_set)
    write_manifest(data_set, book.claims if book else ())
    write_recording(data_set)
    if book:
        write_releases(data_set, book)
    write_datapackage(data_set)


def write_manifest(data_set: Path, claims: Iterable[Claim]) -> None:
    """Write manifest.json from each experiment's derived entry if it changes.

    Call it while holding `locked(data_set)`. An experiment that was never derived here keeps its entry; one without
    raw output has none. `claims` state the margins of ratio charts.
    """
    path = data_set / MANIFEST
    entries = _previous(path)
    present = {name: read_part(data_set / name) for name in experiments_in(data_set)}
    entries = {name: entry for name, entry in entries.items() if name in present}
    entries |= {name: {**part.entry, "provenance": part.provenance} for name, part in present.items() if part}
    entries = with_margins(entries, claims)
    write_if_changed(path, json_text(manifest(data_set.name, read_campaign(data_set), entries)))


def manifest(name: str, campaign: Mapping[str, Any], entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the manifest of a data set from its campaign and its experiments' entries."""
    provenance = [entry["provenance"] for entry in entries.values()]

    def gathered(key: str) -> list[str]:
        return sorted({value for each in provenance for value in each.get(key, ())})

    return {
        "schema_version": 1,
        "data_set": name,
        "label": campaign.get("label") or name,
        **{key: campaign.get(key) for key in ("site", "site_label", "limitation")},
        "altered": False,
        "setup": _setup(
            campaign.get("setup") or {},
            cpu=gathered("processors"),
            kernel=gathered("kernels"),
            ceph_version=gathered("ceph_versions"),
            librbd_version=gathered("librbd_versions"),
        ),
        **_upper_bounds(entries),
        **({"samplers": sampler} if (sampler := costliest(entries)) else {}),
        "measured_from": min((each["measured_from"] for each in provenance if each["measured_from"]), default=None),
        "measured_to": max((each["measured_to"] for each in provenance if each["measured_to"]), default=None),
        "machines": gathered("machines"),
        "git_commits": gathered("git_commits"),
        "git_dirty": any(each["git_dirty"] for each in provenance),
        "experiments": {key: entries[key] for key in sorted(entries)},
    }


def _setup(noted: Mapping[str, Any], **seen: list[str]) -> dict[str, Any]:
    """Return the set-up that was noted when the data set was started, updated with what the runs saw.

    Each of `seen` lists everything that cells were measured on, because a data set can be resumed on another host. The
    releases of daemons and client are added, such as `16 (pacific)`, if they are known, and the sites in words.
    """
    setup = {**noted, **{key: ", ".join(values) for key, values in seen.items() if key in noted and values}}
    names = {"ceph_release": "ceph_version", "client_release": "librbd_version"}
    titled = {name: titles for name, key in names.items() if (titles := titles_in(setup.get(key)))}
    return {**setup, **titled, **({"sites": _sites(setup)} if "clusters" in setup else {})}


def _sites(setup: Mapping[str, Any]) -> str:
    """Return how many clusters there are, over how many sites, and how far apart if that is one figure."""
    if setup["clusters"] == 1:
        return "one cluster over both sites" if setup.get("stretch") else "one cluster"
    apart = setup.get("round_trip_seconds")
    return "two clusters" if apart is None else f"two clusters, {apart * 1e3:g} ms apart"


def _upper_bounds(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the upper bounds that experiments found, under `ceilings`; empty if there are none."""
    bounds = {
        key: {"experiment": name, **bound}
        for name, entry in sorted(entries.items())
        for key, bound in entry.get("ceilings", {}).items()
    }
    return {"ceilings": bounds} if bounds else {}


def _previous(path: Path) -> dict[str, Any]:
    """Return the entries of an earlier manifest. An unreadable one is ignored, because it can be derived again."""
    try:
        entries = json.loads(path.read_bytes())["experiments"]
        return {name: entry for name, entry in entries.items() if "provenance" in entry}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def with_margins(experiments: Mapping[str, Mapping[str, Any]], claims: Iterable[Claim]) -> dict[str, Mapping[str, Any]]:
    """Return a manifest's experiments with the margin of each ratio chart, if the claims state exactly one.

    A claim states a margin if one of its conditions of no difference (`within_factor`) divides the chart's reference by
    one of its variants, or the reverse, at the same points, and some of these are on the chart. If two margins differ,
    there is none, because one picture cannot show both.
    """
    conditions = [
        (claim, condition)
        for claim in claims
        for condition in claim.conditions
        if isinstance(condition, Condition) and condition.region.equivalence and len(condition.terms) == 2
    ]
    made: dict[str, Mapping[str, Any]] = {}
    for name, entry in experiments.items():
        own = [(claim.id, condition) for claim, condition in conditions if claim.experiment == name]
        charts = {}
        for key, chart in entry["charts"].items():
            kept = {part: value for part, value in chart.items() if part != KEY}
            margin = _margin(chart, entry, own) if str(chart.get("metric")).startswith("ratio-") else None
            charts[key] = {**kept, KEY: margin} if margin else kept
        made[name] = {**entry, "charts": charts}
    return made


def _margin(
    chart: Mapping[str, Any], entry: Mapping[str, Any], conditions: Iterable[tuple[str, Condition]]
) -> dict[str, Any] | None:
    """Return `low`, `high`, the series that they apply to and the claims that state them.

    Returns None if no claim states them, or if two claims differ.
    """
    stated: dict[tuple[float, float], list[tuple[str, str]]] = {}
    for claim, condition in conditions:
        if (pair := _as_drawn(condition, chart, entry)) is not None:
            series, region = pair
            stated.setdefault((region.low, region.high), []).append((series, claim))
    if len(stated) != 1:
        return None
    [((low, high), drawn)] = stated.items()
    return {
        "low": six_digits(low),
        "high": six_digits(high),
        "series": list(dict.fromkeys(series for series, _ in drawn)),
        "claims": list(dict.fromkeys(claim for _, claim in drawn)),
    }


def _as_drawn(condition: Condition, chart: Mapping[str, Any], entry: Mapping[str, Any]) -> tuple[str, Region] | None:
    """Return the series that a condition compares with the reference, and its region as the chart draws it.

    Returns None if the chart does not draw what the condition compares.
    """
    if condition.metric != chart.get("column"):
        return None
    (_, over), (_, under) = condition.terms
    reference = next((each["name"] for each in entry["variants"] if each.get("reference")), None)
    if over.levels != under.levels or (over.variant == reference) == (under.variant == reference):
        return None
    if any(level not in over.levels.get(factor, ()) for factor, level in chart["workload"].items()):
        return None
    variant = under.variant if over.variant == reference else over.variant
    label = next((each["label"] for each in entry["variants"] if each["name"] == variant), None)
    if label not in chart["series"]:
        return None
    region = condition.region
    if (over.variant == reference) == (entry["ratio_direction"] == "reference/variant"):
        return label, region
    return label, Region(1 / region.high, 1 / region.low, equivalence=True)
