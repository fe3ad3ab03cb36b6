"""How many images of which write rate this pair mirrors, how far copies were behind, which setting bounds what. Pure.

Nothing is extrapolated: a rate is that of some runs, at their size of writes and their number of images.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from replay.design.link import RATE, RTT
from replay.exchange.page import NUMBER, STROKE, Column, Row, heading, paragraph, strip, table
from replay.exchange.report.data_set import (
    NOTHING,
    DataSet,
    MeasuredExperiment,
    ReportPart,
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
class MirroringRate:
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


def rates(data: DataSet) -> list[MirroringRate]:
    """Return the rates of mirroring that a data set has: those of pilots, then those of copies that catch up."""
    pilots = _of_all_experiments([rate for each in data.of("write_latency") for rate in _of_pilots(each)])
    return [*pilots, *(rate for experiment in data.of("mirror_replay") for rate in _of_catching_up(experiment))]


def _of_pilots(experiment: MeasuredExperiment) -> Iterator[MirroringRate]:
    """Yield how fast one image was replayed, by the size of its writes: found once a block, before its cells."""
    labels = {variant["name"]: str(variant["label"]) for variant in experiment.entry["variants"]}
    name = experiment.entry["parameters"].get("replay_of", "journal-mirrored")
    farthest = max(experiment.entry["factors"].get(RTT, [None]))
    for levels, runs in experiment.points():
        if "replay_operations_per_second" in runs and "io_size_bytes" in levels and levels.get(RTT) == farthest:
            by_block = runs.groupby("block")["replay_operations_per_second"].first().dropna()
            if not by_block.empty:
                mode, io_size = labels.get(name, str(name)), float(levels["io_size_bytes"])
                rate = tuple(by_block.astype(float))
                yield MirroringRate(experiment.name, mode, 1, io_size, rate, "not known", PILOT, distance_of(levels))


def _of_all_experiments(rates: list[MirroringRate]) -> list[MirroringRate]:
    """Return the rates with the runs of several experiments that found the same one as one."""
    same: dict[str, list[MirroringRate]] = {}
    for rate in rates:
        same.setdefault(rate.name, []).append(rate)
    return [
        replace(
            found[0],
            experiment=", ".join(rate.experiment for rate in found),
            writes=tuple(writes for rate in found for writes in rate.writes),
        )
        for found in same.values()
    ]


def _of_catching_up(experiment: MeasuredExperiment) -> Iterator[MirroringRate]:
    several_lines = len(experiment.entry["factors"].get(RATE, [])) > 1
    for levels, runs in experiment.points():
        if {"images", "io_size_bytes"} <= levels.keys():
            line = f", over {bytes_per_second(float(levels[RATE]))}" if several_lines else ""
            images, io_size = int(levels["images"]), float(levels["io_size_bytes"])
            for variant, rows in experiment.by_variant(runs):
                writes = tuple(rate / images / io_size for rate in values(rows, "bytes_per_second"))
                if writes:
                    label, over = str(variant["label"]), distance_of(levels) + line
                    yield MirroringRate(experiment.name, label, images, io_size, writes, ran_out(rows), IDLE, over)


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
        ratios = values(self.runs, "offered_to_replay_ratio")
        return bool(ratios) and min(ratios) > 1

    @property
    def against_replay(self) -> str:
        """Where the load lies against the rate of its own replay."""
        ratios = values(self.runs, "offered_to_replay_ratio")
        if not ratios:
            return NOTHING
        where = "above" if min(ratios) > 1 else "below" if max(ratios) < 1 else "around"
        return f"{where} ({between(ratios, lambda ratio: f'{ratio:.2f}')} of it)"


def loads(data: DataSet) -> list[Load]:
    """Return the loads under which the copy was watched."""
    return [
        Load(experiment.name, str(variant["label"]), levels, rows)
        for experiment in data.of("mirror_lag")
        for levels, runs in experiment.points()
        for variant, rows in experiment.by_variant(runs)
        if values(rows, "lag_max_seconds")
    ]


def rate(data: DataSet) -> ReportPart:
    """Return how much this pair mirrors, how far behind the copy was, and what of it was not measured."""
    all_rates, tried = rates(data), loads(data)
    missing = []
    if not any(rate.how == PILOT for rate in all_rates):
        command = data.to_measure("write-latency")
        missing.append(f"How many writes a second of one image are replayed as they come. {command}")
    if not any(rate.how == IDLE for rate in all_rates):
        missing.append(f"How fast several images catch up together. {data.to_measure('mirror-replay')}")
    else:
        most = max(rate.images for rate in all_rates)
        missing.append(
            f"More than {number_of(most, 'image')} at once, and images that differ: raise images in mirror-replay."
        )
    if not tried:
        missing.append(f"How far the copy is behind under a load. {data.to_measure('replica-lag')}")
    if not all_rates and not tried:
        return ReportPart(missing=tuple(missing))
    body = [heading("How much this pair can mirror")]
    if all_rates:
        body += [paragraph(_METHOD, "muted"), _chart(all_rates), _table(all_rates)]
    if tried:
        body += [heading("How far the copy was behind", 3), _loads_table(tried)]
    return ReportPart(_headline(all_rates), _basis(all_rates, tried), "\n".join(body), tuple(missing))


def _headline(rates: list[MirroringRate]) -> str:
    # The distances are in the table.
    rates = [rate for rate in rates if not rate.over]
    texts = []
    pilots = [rate for rate in rates if rate.how == PILOT]
    if pilots:
        each = [f"{per_second(rate.slowest)} times a second at {size(rate.io_size_bytes)}" for rate in pilots]
        texts.append(f"{pilots[0].mode}: this pair can mirror one image that writes {' or '.join(each)}.")
    idle = [rate for rate in rates if rate.how == IDLE]
    for rate in idle:
        if rate.images == max(other.images for other in idle):
            all_of_them = bytes_per_second(rate.together(rate.slowest))
            of_each = f"{per_second(rate.slowest)} writes of {size(rate.io_size_bytes)} a second"
            texts.append(
                f"{rate.mode}: {number_of(rate.images, 'image')} together catch up at {all_of_them}, {of_each} each, "
                "while nobody writes."
            )
    return " ".join(texts)


def _basis(rates: list[MirroringRate], tried: list[Load]) -> str:
    texts = []
    if rates:
        counts = [len(rate.writes) for rate in rates]
        texts.append(f"The slowest of {between(counts, str)} runs each." if max(counts) > 1 else "One run each.")
    above = [load for load in tried if load.is_above]
    if above:
        worst = max(above, key=lambda load: largest(load.runs, "lag_max_seconds"))
        at, after = (middle(worst.runs, column) for column in ("bytes_per_second", "duration_seconds"))
        texts.append(
            f"Above the rate of replay a copy falls behind: at {bytes_per_second(at)} it was up to "
            f"{seconds(largest(worst.runs, 'lag_max_seconds'))} behind after {seconds(after)} ({worst.mode}). "
            "A lost site takes that with it."
        )
    return " ".join(texts)


def _chart(rates: list[MirroringRate]) -> str:
    rows = [
        Row(
            rate.name,
            f"{per_second(rate.slowest)} writes/s",
            [(rate.together(writes), STROKE) for writes in rate.writes if writes > 0],
        )
        for rate in rates
    ]
    rows = [row for row in rows if row.marks]
    title = "Bytes a second that were mirrored, all images together"
    key = "❘ one run: bytes a second of all images. Beside it: writes a second of each image, in the slowest run"
    return strip(rows, title, key, bytes_per_second, logarithmic=True) if rows else ""


def _table(rates: list[MirroringRate]) -> str:
    fastest = [max(rate.writes) for rate in rates]
    columns = [
        Column("mode", [f"{rate.mode}{rate.over}" for rate in rates]),
        Column("images", [str(rate.images) for rate in rates], NUMBER),
        Column("writes of", [size(rate.io_size_bytes) for rate in rates], NUMBER),
        Column("writes a second of each, slowest run", [per_second(rate.slowest) for rate in rates], NUMBER),
        Column("fastest run", [per_second(writes) for writes in fastest], NUMBER),
        Column("together, slowest run", [bytes_per_second(rate.together(rate.slowest)) for rate in rates], NUMBER),
        Column("n", [str(len(rate.writes)) for rate in rates], NUMBER),
        Column("ran out of", [rate.limited_by for rate in rates]),
        Column("replayed", [rate.how for rate in rates]),
        Column("experiment", [rate.experiment for rate in rates]),
    ]
    return table(told(columns), "How many images of which write rate were mirrored")


def _loads_table(tried: list[Load]) -> str:
    runs = [load.runs for load in tried]
    columns = [
        Column("mode", [load.mode for load in tried]),
        Column("writes a second", [_offered(load) for load in tried], NUMBER),
        Column("that is", [bytes_per_second(middle(rows, "bytes_per_second")) for rows in runs], NUMBER),
        Column("against its replay", [load.against_replay for load in tried], NUMBER),
        Column("copied meanwhile", [share(middle(rows, "replayed_fraction_during_cell")) for rows in runs], NUMBER),
        Column("furthest behind", [seconds(largest(rows, "lag_max_seconds")) for rows in runs], NUMBER),
        Column("behind at the end, median", [seconds(middle(rows, "lag_end_seconds")) for rows in runs], NUMBER),
        Column("after", [seconds(middle(rows, "duration_seconds")) for rows in runs], NUMBER),
        Column("level again after, median", [seconds(middle(rows, "seconds_to_level")) for rows in runs], NUMBER),
        Column("n", [str(len(rows)) for rows in runs], NUMBER),
        Column("ran out of", [ran_out(rows) for rows in runs]),
        Column("experiment", [load.experiment for load in tried]),
    ]
    return table(told(columns), "Loads that were tried, and how far behind the copy was")


def _offered(load: Load) -> str:
    if "writes_per_second" not in load.levels:
        return NOTHING
    of = f" of {size(float(load.levels['io_size_bytes']))}" if "io_size_bytes" in load.levels else ""
    return f"{per_second(float(load.levels['writes_per_second']))}{of}"


# The settings ---------------------------------------------------------------------------------------------------------


def settings(data: DataSet) -> ReportPart:
    """Return which setting bounded what, and what was the same in all runs."""
    varied = [*_poll_age(data), *_schedule(data), *_images(data)]
    same = _not_varied(data)
    if not varied:
        return ReportPart(missing=("Which setting bounds what: no site was lost, and no number of images compared.",))
    columns = [
        Column("setting", [name for name, _, _ in varied]),
        Column("in use", [used for _, used, _ in varied]),
        Column("what it bounded", [sentence for _, _, sentence in varied]),
    ]
    caption = "Settings in use, and what they bounded"
    body = [heading("Which setting bounds what"), table(columns, caption, stacked=True)]
    return ReportPart(body="\n".join([*body, paragraph(same, "muted")]))


Setting = tuple[str, str, str]


def _worst_by(measured: list[tuple[MeasuredExperiment, pd.DataFrame, str]], setting: str) -> list[tuple[float, float]]:
    """Return the worst loss at each level of a setting, the largest level first: where there is any, next door."""
    measured = [each for each in measured if RTT not in each[1]] or measured
    worst: dict[float, float] = {}
    for _, runs, column in measured:
        if setting in runs:
            for level, value in runs.dropna(subset=[setting, column]).groupby(setting)[column].max().items():
                worst[float(level)] = max(worst.get(float(level), 0.0), float(value))
    return sorted(worst.items(), reverse=True)


def _poll_age(data: DataSet) -> list[Setting]:
    worst = _worst_by(losses(data), "journal_poll_age_seconds")
    if not worst:
        return []
    sentence = "What a mirrored journal loses while replay keeps up: at worst "
    sentence += f"{', '.join(f'{seconds(value)} with {level:g} s' for level, value in worst)}."
    above = [
        (middle(load.runs, "journal_poll_age_seconds"), largest(load.runs, "lag_max_seconds"))
        for load in loads(data)
        if load.is_above and values(load.runs, "journal_poll_age_seconds")
    ]
    if above:
        behind = ", ".join(f"{seconds(value)} behind with {level:g} s" for level, value in sorted(above, reverse=True))
        sentence += f" Above the rate of replay: {behind}."
    return [("rbd_mirror_journal_poll_age", ", ".join(f"{level:g} s" for level, _ in worst), sentence)]


def _schedule(data: DataSet) -> list[Setting]:
    worst = _worst_by(losses(data), "snapshot_interval_seconds")
    if not worst:
        return []
    each = [
        f"{seconds(value)} with {level:g} s{' (more than two intervals)' if value > 2 * level else ''}"
        for level, value in worst
    ]
    sentence = f"What snapshots lose: at worst {', '.join(each)}."
    return [("snapshot schedule", ", ".join(f"{level:g} s" for level, _ in worst), sentence)]


def _images(data: DataSet) -> list[Setting]:
    idle = [rate for rate in rates(data) if rate.how == IDLE and not rate.over]
    numbers = sorted({rate.images for rate in idle})
    if len(numbers) < 2:
        return []
    by_mode: dict[str, list[str]] = {}
    for rate in sorted(idle, key=lambda rate: rate.images):
        by_mode.setdefault(f"{rate.mode}, {size(rate.io_size_bytes)}", []).append(per_second(rate.slowest))
    sentence = "; ".join(f"{mode}: {', '.join(each)}" for mode, each in by_mode.items())
    used = ", ".join(map(str, numbers))
    return [("number of images", used, f"Writes a second of each image, in the slowest run. {sentence}.")]


def _not_varied(data: DataSet) -> str:
    """Return settings that were the same in all of these experiments, as they were recorded."""
    setup = data.manifest.get("setup") or {}
    constant = [f"replicas: {setup['replicas']}"] if setup.get("replicas") is not None else []
    sizes = {experiment.entry["parameters"].get("object_size_bytes") for experiment in data.of(*MIRRORING)} - {None}
    if len(sizes) == 1:
        constant.append(f"object size: {size(float(sizes.pop()))}")
    return f"Not varied: {', '.join(constant)}." if constant else ""
