"""How many images of which write rate this pair mirrors, how far copies were behind, which setting bounds what. Pure.

Nothing is extrapolated: a rate is that of some runs, at their size of writes and their number of images.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from replay.design.link import RTT
from replay.exchange.page import NUMBER, STROKE, Column, Row, heading, paragraph, strip, table
from replay.exchange.report.data_set import (
    NOTHING,
    DataSet,
    Measured,
    Part,
    between,
    bytes_per_second,
    distance_of,
    largest,
    middle,
    number_of,
    per_second,
    ran_out,
    seconds,
    share,
    size,
    told,
    values,
)
from replay.exchange.report.price_and_loss import LOST, losses

#: The protocols of mirroring.
MIRRORING = ("write_latency", *LOST, "mirror_replay", "mirror_lag")
#: How a rate was found.
PILOT, IDLE = "while it is written", "while nobody writes"
_METHOD = (
    "A rate is that at which the second site got everything. While it is written: one image is written as fast as it "
    "goes, until all is replayed. While nobody writes: replay was stopped before, and then catches up. An image that "
    "writes faster falls behind; one that writes slower was not tried at every rate. Writes a second are those of each "
    "image."
)


@dataclass(frozen=True)
class Rate:
    """A rate of mirroring: the writes a second of each image, run by run, and what is known of those runs.

    `over` says how far apart the sites were, where that is a level.
    """

    experiment: str
    mode: str
    images: int
    io_size_bytes: float
    writes: tuple[float, ...]
    limited_by: str
    how: str
    over: str = ""

    @property
    def slowest(self) -> float:
        """The writes a second of each image in the slowest run: what all of the runs could mirror."""
        return min(self.writes)

    def together(self, writes: float) -> float:
        """Return the bytes a second of all images at this many writes a second of each."""
        return writes * self.images * self.io_size_bytes

    @property
    def name(self) -> str:
        """The images, the size of their writes, the mode, and the distance."""
        return f"{number_of(self.images, 'image')}, {size(self.io_size_bytes)}, {self.mode}{self.over}"


def rates(data: DataSet) -> list[Rate]:
    """Return the rates of mirroring that a data set has: those of pilots, then those of copies that catch up."""
    pilots = [rate for one in data.of("write_latency") for rate in _of_pilots(one)]
    return [*pilots, *(rate for one in data.of("mirror_replay") for rate in _of_catching_up(one))]


def _of_pilots(one: Measured) -> Iterator[Rate]:
    """Yield how fast one image was replayed, by the size of its writes: found once a block, before its cells."""
    labels = {variant["name"]: str(variant["label"]) for variant in one.entry["variants"]}
    name = one.entry["parameters"].get("replay_of", "journal-mirrored")
    farthest = max(one.entry["factors"].get(RTT, [None]))
    for levels, runs in one.points():
        if "replay_operations_per_second" in runs and "io_size_bytes" in levels and levels.get(RTT) == farthest:
            found = runs.groupby("block")["replay_operations_per_second"].first().dropna()
            if not found.empty:
                mode, io_size = labels.get(name, str(name)), float(levels["io_size_bytes"])
                rate = tuple(found.astype(float))
                yield Rate(one.name, mode, 1, io_size, rate, "not known", PILOT, distance_of(levels))


def _of_catching_up(one: Measured) -> Iterator[Rate]:
    for levels, runs in one.points():
        if {"images", "io_size_bytes"} <= levels.keys():
            images, io_size = int(levels["images"]), float(levels["io_size_bytes"])
            for variant, rows in one.by_variant(runs):
                found = tuple(rate / images / io_size for rate in values(rows, "bytes_per_second"))
                if found:
                    label, over = str(variant["label"]), distance_of(levels)
                    yield Rate(one.name, label, images, io_size, found, ran_out(rows), IDLE, over)


@dataclass(frozen=True)
class Load:
    """A load that was tried: a mode's runs at one rate of writes."""

    experiment: str
    mode: str
    levels: Mapping[str, Any]
    runs: pd.DataFrame

    @property
    def is_above(self) -> bool:
        """Whether every run was offered more than its own replay copied."""
        found = values(self.runs, "offered_to_replay_ratio")
        return bool(found) and min(found) > 1

    @property
    def against_replay(self) -> str:
        """Where the load lies against the rate of its own replay."""
        found = values(self.runs, "offered_to_replay_ratio")
        if not found:
            return NOTHING
        where = "above" if min(found) > 1 else "below" if max(found) < 1 else "around"
        return f"{where} ({between(found, lambda one: f'{one:.2f}')} of it)"


def loads(data: DataSet) -> list[Load]:
    """Return the loads under which the copy was watched."""
    return [
        Load(one.name, str(variant["label"]), levels, rows)
        for one in data.of("mirror_lag")
        for levels, runs in one.points()
        for variant, rows in one.by_variant(runs)
        if values(rows, "lag_max_seconds")
    ]


def rate(data: DataSet) -> Part:
    """Return how much this pair mirrors, how far behind the copy was, and what of it was not measured."""
    found, tried = rates(data), loads(data)
    missing = []
    if not any(one.how == PILOT for one in found):
        command = data.to_measure("write-latency")
        missing.append(f"How many writes a second of one image are replayed as they come. {command}")
    if not any(one.how == IDLE for one in found):
        missing.append(f"How fast several images catch up together. {data.to_measure('mirror-replay')}")
    else:
        most = max(one.images for one in found)
        missing.append(
            f"More than {number_of(most, 'image')} at once, and images that differ: raise images in mirror-replay."
        )
    if not tried:
        missing.append(f"How far the copy is behind under a load. {data.to_measure('replica-lag')}")
    if not found and not tried:
        return Part(missing=tuple(missing))
    body = [heading("How much this pair can mirror")]
    if found:
        body += [paragraph(_METHOD, "muted"), _chart(found), _table(found)]
    if tried:
        body += [heading("How far the copy was behind", 3), _loads_table(tried)]
    return Part(_headline(found), _basis(found, tried), "\n".join(body), tuple(missing))


def _headline(found: list[Rate]) -> str:
    # The distances are in the table.
    found = [one for one in found if not one.over]
    texts = []
    pilots = [one for one in found if one.how == PILOT]
    if pilots:
        each = [f"{per_second(one.slowest)} times a second at {size(one.io_size_bytes)}" for one in pilots]
        texts.append(f"{pilots[0].mode}: this pair can mirror one image that writes {' or '.join(each)}.")
    idle = [one for one in found if one.how == IDLE]
    for one in idle:
        if one.images == max(other.images for other in idle):
            all_of_them = bytes_per_second(one.together(one.slowest))
            of_each = f"{per_second(one.slowest)} writes of {size(one.io_size_bytes)} a second"
            texts.append(
                f"{one.mode}: {number_of(one.images, 'image')} together catch up at {all_of_them}, {of_each} each, "
                "while nobody writes."
            )
    return " ".join(texts)


def _basis(found: list[Rate], tried: list[Load]) -> str:
    texts = []
    if found:
        counts = [len(one.writes) for one in found]
        texts.append(f"The slowest of {between(counts, str)} runs each." if max(counts) > 1 else "One run each.")
    above = [one for one in tried if one.is_above]
    if above:
        worst = max(above, key=lambda one: largest(one.runs, "lag_max_seconds"))
        at, after = (middle(worst.runs, column) for column in ("bytes_per_second", "duration_seconds"))
        texts.append(
            f"Above the rate of replay a copy falls behind: at {bytes_per_second(at)} it was up to "
            f"{seconds(largest(worst.runs, 'lag_max_seconds'))} behind after {seconds(after)} ({worst.mode}). "
            "A lost site takes that with it."
        )
    return " ".join(texts)


def _chart(found: list[Rate]) -> str:
    rows = [
        Row(
            one.name,
            f"{per_second(one.slowest)} writes/s",
            [(one.together(writes), STROKE) for writes in one.writes if writes > 0],
        )
        for one in found
    ]
    rows = [row for row in rows if row.marks]
    title = "Bytes a second that were mirrored, all images together"
    key = "❘ one run: bytes a second of all images. Beside it: writes a second of each image, in the slowest run"
    return strip(rows, title, key, bytes_per_second, logarithmic=True) if rows else ""


def _table(found: list[Rate]) -> str:
    fastest = [max(one.writes) for one in found]
    columns = [
        Column("mode", [f"{one.mode}{one.over}" for one in found]),
        Column("images", [str(one.images) for one in found], NUMBER),
        Column("writes of", [size(one.io_size_bytes) for one in found], NUMBER),
        Column("writes a second of each, slowest run", [per_second(one.slowest) for one in found], NUMBER),
        Column("fastest run", [per_second(writes) for writes in fastest], NUMBER),
        Column("together, slowest run", [bytes_per_second(one.together(one.slowest)) for one in found], NUMBER),
        Column("n", [str(len(one.writes)) for one in found], NUMBER),
        Column("ran out of", [one.limited_by for one in found]),
        Column("replayed", [one.how for one in found]),
        Column("experiment", [one.experiment for one in found]),
    ]
    return table(told(columns), "How many images of which write rate were mirrored")


def _loads_table(tried: list[Load]) -> str:
    runs = [one.runs for one in tried]
    columns = [
        Column("mode", [one.mode for one in tried]),
        Column("writes a second", [_offered(one) for one in tried], NUMBER),
        Column("that is", [bytes_per_second(middle(one, "bytes_per_second")) for one in runs], NUMBER),
        Column("against its replay", [one.against_replay for one in tried], NUMBER),
        Column("copied meanwhile", [share(middle(one, "replayed_fraction_during_cell")) for one in runs], NUMBER),
        Column("furthest behind", [seconds(largest(one, "lag_max_seconds")) for one in runs], NUMBER),
        Column("behind at the end, median", [seconds(middle(one, "lag_end_seconds")) for one in runs], NUMBER),
        Column("after", [seconds(middle(one, "duration_seconds")) for one in runs], NUMBER),
        Column("level again after, median", [seconds(middle(one, "seconds_to_level")) for one in runs], NUMBER),
        Column("n", [str(len(one)) for one in runs], NUMBER),
        Column("ran out of", [ran_out(one) for one in runs]),
        Column("experiment", [one.experiment for one in tried]),
    ]
    return table(told(columns), "Loads that were tried, and how far behind the copy was")


def _offered(one: Load) -> str:
    if "writes_per_second" not in one.levels:
        return NOTHING
    of = f" of {size(float(one.levels['io_size_bytes']))}" if "io_size_bytes" in one.levels else ""
    return f"{per_second(float(one.levels['writes_per_second']))}{of}"


# The settings ---------------------------------------------------------------------------------------------------------


def settings(data: DataSet) -> Part:
    """Return which setting bounded what, and what was the same in all runs."""
    found = [*_poll_age(data), *_schedule(data), *_images(data)]
    same = _not_varied(data)
    if not found:
        return Part(missing=("Which setting bounds what: no site was lost, and no number of images compared.",))
    columns = [
        Column("setting", [name for name, _, _ in found]),
        Column("in use", [used for _, used, _ in found]),
        Column("what it bounded", [said for _, _, said in found]),
    ]
    caption = "Settings in use, and what they bounded"
    body = [heading("Which setting bounds what"), table(columns, caption, stacked=True)]
    return Part(body="\n".join([*body, paragraph(same, "muted")]))


Setting = tuple[str, str, str]


def _worst_by(found: list[tuple[Measured, pd.DataFrame, str]], setting: str) -> list[tuple[float, float]]:
    """Return the worst loss at each level of a setting, the largest level first."""
    worst: dict[float, float] = {}
    for _, runs, column in found:
        if setting in runs:
            for level, value in runs.dropna(subset=[setting, column]).groupby(setting)[column].max().items():
                worst[float(level)] = max(worst.get(float(level), 0.0), float(value))
    return sorted(worst.items(), reverse=True)


def _poll_age(data: DataSet) -> list[Setting]:
    worst = _worst_by(losses(data), "journal_poll_age_seconds")
    if not worst:
        return []
    said = "What a mirrored journal loses while replay keeps up: at worst "
    said += f"{', '.join(f'{seconds(value)} with {level:g} s' for level, value in worst)}."
    above = [
        (middle(one.runs, "journal_poll_age_seconds"), largest(one.runs, "lag_max_seconds"))
        for one in loads(data)
        if one.is_above and values(one.runs, "journal_poll_age_seconds")
    ]
    if above:
        behind = ", ".join(f"{seconds(value)} behind with {level:g} s" for level, value in sorted(above, reverse=True))
        said += f" Above the rate of replay: {behind}."
    return [("rbd_mirror_journal_poll_age", ", ".join(f"{level:g} s" for level, _ in worst), said)]


def _schedule(data: DataSet) -> list[Setting]:
    worst = _worst_by(losses(data), "snapshot_interval_seconds")
    if not worst:
        return []
    each = [
        f"{seconds(value)} with {level:g} s{' (more than two intervals)' if value > 2 * level else ''}"
        for level, value in worst
    ]
    said = f"What snapshots lose: at worst {', '.join(each)}."
    return [("snapshot schedule", ", ".join(f"{level:g} s" for level, _ in worst), said)]


def _images(data: DataSet) -> list[Setting]:
    found = [one for one in rates(data) if one.how == IDLE]
    numbers = sorted({one.images for one in found})
    if len(numbers) < 2:
        return []
    by_mode: dict[str, list[str]] = {}
    for one in sorted(found, key=lambda one: one.images):
        by_mode.setdefault(f"{one.mode}, {size(one.io_size_bytes)}", []).append(per_second(one.slowest))
    said = "; ".join(f"{mode}: {', '.join(each)}" for mode, each in by_mode.items())
    used = ", ".join(map(str, numbers))
    return [("number of images", used, f"Writes a second of each image, in the slowest run. {said}.")]


def _not_varied(data: DataSet) -> str:
    """Return settings that were the same in all of these experiments, as they were recorded."""
    setup = data.manifest.get("setup") or {}
    found = [f"replicas: {setup['replicas']}"] if setup.get("replicas") is not None else []
    sizes = {one.entry["parameters"].get("object_size_bytes") for one in data.of(*MIRRORING)} - {None}
    if len(sizes) == 1:
        found.append(f"object size: {size(float(sizes.pop()))}")
    return f"Not varied: {', '.join(found)}." if found else ""
