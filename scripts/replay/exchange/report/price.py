"""What a write pays: typical and tail by mode of mirroring, where the load is below saturation. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from replay.design.link import RTT
from replay.exchange.page import NUMBER, Column, heading, paragraph, table
from replay.exchange.report.figure import DOT, RING, Row, strip
from replay.exchange.report.read import DataSet, Measured
from replay.exchange.report.words import (
    NOTHING,
    Part,
    between,
    distance_of,
    largest,
    middle,
    n_of,
    per_second,
    ran_out,
    seconds,
    share,
    size,
    times,
    told,
    values,
)

_TYPICAL, _TAIL, _RARE = "latency_p50_seconds", "latency_p99_seconds", "latency_p99_9_seconds"
_ONE_WRITER = "one-writer"
#: Mirroring that mostly happens after the client has ended costs it nothing while it writes.
_MOSTLY = 0.8
_METHOD = (
    "All modes take turns in random order within a block, on images of their own. Typical: the median; slowest of 100: "
    "the 99th percentile, where a run has enough writes for it. A figure is the median over the runs, the slowest of "
    "all that of all runs. ÷: the mean of the ratios within a block, with its 95 % interval; one that contains 1 means "
    "that these runs cannot tell the two apart."
)


def price(data: DataSet) -> Part:
    """Return what writes pay, and what of it was not measured."""
    places = [(one, levels, runs) for one in data.of("write_latency") for levels, runs in one.points()]
    # What arrives at an offered rate comes first: only there the tail means something. Distances come later.
    places.sort(key=lambda place: (place[1].get("load") == _ONE_WRITER, RTT in place[1]))
    if not places:
        return Part(missing=(f"What a write pays. {data.to_measure('write-latency')}",))
    missing = []
    if all(levels.get("load") == _ONE_WRITER for _, levels, _ in places):
        missing.append(
            "The slowest of a hundred writes, at a rate that every mode keeps up with: only a writer that waits for "
            f"each write was measured, which writes little in slow moments. {data.to_measure('write-latency')}"
        )
    body = [heading("What a write pays"), paragraph(_METHOD, "muted")]
    body += [_point(*place) for place in places]
    return Part(_headline(*places[0]), _basis(*places[0]), "\n".join(body), tuple(missing))


def _has_tail(levels: Mapping[str, Any]) -> bool:
    return levels.get("load") != _ONE_WRITER


def _is_mirrored(runs: pd.DataFrame) -> bool:
    """Return whether something was copied in these runs, or was to be."""
    return bool(values(runs, "replayed_fraction_during_cell") or values(runs, "snapshots_taken_in_cell"))


def _headline(one: Measured, levels: Mapping[str, Any], runs: pd.DataFrame) -> str:
    """Return what the mirrored modes pay, and what the reference does."""
    found = [
        (variant, rows) for variant, rows in one.by_variant(runs) if variant.get("reference") or _is_mirrored(rows)
    ]
    found.sort(key=lambda pair: bool(pair[0].get("reference")))
    texts = []
    for variant, rows in found:
        typical = seconds(middle(rows, _TYPICAL))
        tail = seconds(middle(rows, _TAIL)) if _has_tail(levels) else NOTHING
        if texts:
            texts.append(f"{variant['label']}: {typical}" + ("" if tail == NOTHING else f" and {tail}"))
        else:
            slowest = "" if tail == NOTHING else f", the slowest of a hundred {tail}"
            texts.append(f"{variant['label']}: the typical write of {_size(levels)} takes {typical}{slowest}")
    return ". ".join(texts) + "." if texts else ""


def _basis(one: Measured, levels: Mapping[str, Any], runs: pd.DataFrame) -> str:
    groups = [*one.by_variant(runs)]
    said = f"{_load(levels, runs)}; {n_of(rows for _, rows in groups)}. What ran out: {ran_out(runs)}."
    late = [str(variant["label"]) for variant, rows in groups if (copied := _copied(rows)) and copied[0] < _MOSTLY]
    if late:
        said += f" Less than {share(_MOSTLY)} was copied while the client wrote: {', '.join(late)}."
        said += " What copying the rest costs a write is not in these figures."
    return said


def _load(levels: Mapping[str, Any], runs: pd.DataFrame) -> str:
    """Return in words how writes came."""
    apart = distance_of(levels)
    if levels.get("load") == _ONE_WRITER:
        return f"One writer of {_size(levels)} that waits for each write{apart}"
    rates = values(runs, "offered_operations_per_second")
    at = f", {between(rates, per_second)} a second, the same for every mode" if rates else ""
    return f"Writes of {_size(levels)}{at}{apart}"


def _size(levels: Mapping[str, Any]) -> str:
    return size(float(levels["io_size_bytes"])) if "io_size_bytes" in levels else "the size of this experiment"


def _copied(runs: pd.DataFrame) -> tuple[float, str] | None:
    """Return the part that was copied while the client wrote, as a fraction and in words; None if nothing was to be."""
    if (replayed := middle(runs, "replayed_fraction_during_cell")) is not None:
        return replayed, share(replayed)
    taken, synced = middle(runs, "snapshots_taken_in_cell"), middle(runs, "snapshots_synced_in_cell")
    return (synced / taken, f"{synced:g} of {taken:g}") if taken and synced is not None else None


def _snapshots(runs: pd.DataFrame) -> str:
    """Return how often snapshots came, whatever was ordered."""
    if (distance := middle(runs, "snapshot_distance_median_seconds")) is not None:
        return f"each {seconds(distance)}"
    taken = middle(runs, "snapshots_taken_in_cell")
    return f"{taken:g} in {middle(runs, 'duration_seconds'):.0f} s" if taken else NOTHING


def _to_disk(runs: pd.DataFrame) -> str:
    """Return the bytes that reach the disks of each site for each byte that the client writes."""
    here, there = (middle(runs, column) for column in ("media_bytes_per_byte", "second_media_bytes_per_byte"))
    if here is None:
        return NOTHING
    return f"{here:.1f}" if there is None else f"{here:.1f} + {there:.1f}"


def _point(one: Measured, levels: Mapping[str, Any], runs: pd.DataFrame) -> str:
    """Return the chart and the table of one load."""
    groups = [*one.by_variant(runs)]
    title = _load(levels, runs)
    chart = _chart(groups, title) if _has_tail(levels) else ""
    return "\n".join([heading(title, 3), chart, _table(one, groups, levels, title)])


def _chart(groups: list[tuple[Mapping[str, Any], pd.DataFrame]], title: str) -> str:
    rows = []
    for variant, runs in groups:
        found = [(middle(runs, _TYPICAL), DOT), (middle(runs, _TAIL), RING)]
        marks = [(value, kind) for value, kind in found if value]
        if marks:
            said = ", ".join(seconds(value) for value, _ in marks)
            rows.append(Row(str(variant["label"]), said, marks, joined=True))
    key = "● typical write, ○ slowest of a hundred"
    return strip(rows, title, key, seconds, logarithmic=True) if len(rows) > 1 else ""


def _table(
    one: Measured, groups: list[tuple[Mapping[str, Any], pd.DataFrame]], levels: Mapping[str, Any], title: str
) -> str:
    tables = [runs for _, runs in groups]
    labels = [str(variant["label"]) for variant, _ in groups]

    def figures(name: str, column: str) -> Column:
        return Column(name, [seconds(middle(runs, column)) for runs in tables], NUMBER)

    def ratios(name: str, column: str) -> Column:
        turned = one.entry.get("ratio_direction") == "reference/variant"
        divided = f"{one.reference} ÷ {name}" if turned else f"{name} ÷ {one.reference}"
        return Column(divided, [times(one.ratio(column, levels, label)) for label in labels], NUMBER)

    tail = [
        figures("slowest of 100", _TAIL),
        ratios("slowest of 100", _TAIL),
        figures("slowest of 1,000", _RARE),
        Column("slowest of all", [seconds(largest(runs, "latency_max_seconds")) for runs in tables], NUMBER),
    ]
    columns = [
        Column("mode", labels),
        figures("typical", _TYPICAL),
        ratios("typical", _TYPICAL),
        *(tail if _has_tail(levels) else []),
        Column("bytes to disk per byte, first + second site", [_to_disk(runs) for runs in tables], NUMBER),
        Column("n", [str(len(runs)) for runs in tables], NUMBER),
        Column("snapshots taken", [_snapshots(runs) for runs in tables], NUMBER),
        Column("copied meanwhile", [found[1] if (found := _copied(runs)) else NOTHING for runs in tables], NUMBER),
        Column("ran out of", [ran_out(runs) for runs in tables]),
    ]
    return table(told(columns), f"{one.name}: {title}")
