"""How many images of which write rate this pair mirrors, how far copies were behind, which setting bounds what. Pure.

Nothing is extrapolated: a rate is that of some runs, at their size of writes and their number of images.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from replay.design.link import RATE, RTT
from replay.exchange.page import NUMBER, STROKE, Column, Row, paragraph, section, strip, table
from replay.exchange.report.data_set import (
    NOTHING,
    DataSet,
    MeasuredMode,
    ReportPart,
    Runs,
    between,
    bytes_per_second,
    number_of,
    per_second,
    seconds,
    share,
    size,
    told,
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
    over: str

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
    pilots: dict[str, MirroringRate] = {}
    for rate in _of_pilots(data):
        found = pilots.setdefault(rate.name, rate)
        if found is not rate:  # what several experiments found is one rate, with the runs of all of them
            pilots[rate.name] = replace(
                found, experiment=f"{found.experiment}, {rate.experiment}", writes=(*found.writes, *rate.writes)
            )
    return [*pilots.values(), *_of_catching_up(data)]


def _of_pilots(data: DataSet) -> Iterator[MirroringRate]:
    """Yield how fast one image was replayed, by the size of its writes: found once a block, before its cells."""
    replayed = "replay_operations_per_second"
    for place in data.places("write_latency"):
        entry, levels = place.experiment.entry, place.levels
        at_farthest = levels.get(RTT) == max(entry["factors"].get(RTT, [None]))
        if place.values(replayed) and "io_size_bytes" in levels and at_farthest:
            writes = tuple(place.table.groupby("block")[replayed].first().dropna().astype(float))
            labels = {variant["name"]: str(variant["label"]) for variant in entry["variants"]}
            name = entry["parameters"].get("replay_of", "journal-mirrored")
            mode, io_size = labels.get(name, str(name)), float(levels["io_size_bytes"])
            yield MirroringRate(place.experiment.name, mode, 1, io_size, writes, "not known", PILOT, place.distance)


def _of_catching_up(data: DataSet) -> Iterator[MirroringRate]:
    for place in data.places("mirror_replay"):
        name, levels = place.experiment.name, place.levels
        if {"images", "io_size_bytes"} <= levels.keys():
            images, io_size = int(levels["images"]), float(levels["io_size_bytes"])
            several_lines = len(place.experiment.entry["factors"].get(RATE, [])) > 1
            over = place.distance + (f", over {bytes_per_second(float(levels[RATE]))}" if several_lines else "")
            for mode in place.modes:
                writes = tuple(rate / images / io_size for rate in mode.values("bytes_per_second"))
                if writes:
                    yield MirroringRate(name, mode.label, images, io_size, writes, mode.ran_out, IDLE, over)


def loads(data: DataSet) -> list[MeasuredMode]:
    """Return the loads under which the copy was watched."""
    return [mode for place in data.places("mirror_lag") for mode in place.modes if mode.values("lag_max_seconds")]


def _are_above(runs: Runs) -> bool:
    """Return whether every run was offered more than its own replay copied."""
    return min(runs.values("offered_to_replay_ratio"), default=0.0) > 1


def _against_replay(runs: Runs) -> str:
    """Return where a load lies against the rate of its own replay."""
    ratios = runs.values("offered_to_replay_ratio")
    if not ratios:
        return NOTHING
    where = "above" if min(ratios) > 1 else "below" if max(ratios) < 1 else "around"
    return f"{where} ({between(ratios, lambda ratio: f'{ratio:.2f}')} of it)"


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
    parts = []
    if all_rates:
        parts += [paragraph(_METHOD, "muted"), _chart(all_rates), _table(all_rates)]
    if tried:
        parts.append(section("How far the copy was behind", _loads_table(tried), level=3))
    body = section("How much this pair can mirror", *parts)
    return ReportPart(_headline(all_rates), _basis(all_rates, tried), body, tuple(missing))


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


def _basis(rates: list[MirroringRate], tried: list[MeasuredMode]) -> str:
    texts = []
    if rates:
        counts = [len(rate.writes) for rate in rates]
        texts.append(f"The slowest of {between(counts, str)} runs each." if max(counts) > 1 else "One run each.")
    above = [mode for mode in tried if _are_above(mode)]
    if above:
        worst = max(above, key=lambda mode: mode.largest("lag_max_seconds"))
        at, after = (worst.middle(column) for column in ("bytes_per_second", "duration_seconds"))
        texts.append(
            f"Above the rate of replay a copy falls behind: at {bytes_per_second(at)} it was up to "
            f"{seconds(worst.largest('lag_max_seconds'))} behind after {seconds(after)} ({worst.label}). "
            "A lost site takes that with it."
        )
    return " ".join(texts)


def _chart(rates: list[MirroringRate]) -> str:
    rows = []
    for rate in rates:
        marks = [(rate.together(writes), STROKE) for writes in rate.writes if writes > 0]
        if marks:
            rows.append(Row(rate.name, f"{per_second(rate.slowest)} writes/s", marks))
    title = "Bytes a second that were mirrored, all images together"
    key = "❘ one run: bytes a second of all images. Beside it: writes a second of each image, in the slowest run"
    return strip(rows, title, key, bytes_per_second, "logarithmic") if rows else ""


def _table(rates: list[MirroringRate]) -> str:
    columns = [
        Column("mode", [f"{rate.mode}{rate.over}" for rate in rates]),
        Column("images", [str(rate.images) for rate in rates], NUMBER),
        Column("writes of", [size(rate.io_size_bytes) for rate in rates], NUMBER),
        Column("writes a second of each, slowest run", [per_second(rate.slowest) for rate in rates], NUMBER),
        Column("fastest run", [per_second(max(rate.writes)) for rate in rates], NUMBER),
        Column("together, slowest run", [bytes_per_second(rate.together(rate.slowest)) for rate in rates], NUMBER),
        Column("n", [str(len(rate.writes)) for rate in rates], NUMBER),
        Column("ran out of", [rate.limited_by for rate in rates]),
        Column("replayed", [rate.how for rate in rates]),
        Column("experiment", [rate.experiment for rate in rates]),
    ]
    return table(told(columns), "How many images of which write rate were mirrored")


def _loads_table(tried: list[MeasuredMode]) -> str:
    columns = [
        Column("mode", [mode.label for mode in tried]),
        Column("writes a second", [_offered(mode.place.levels) for mode in tried], NUMBER),
        Column("that is", [bytes_per_second(mode.middle("bytes_per_second")) for mode in tried], NUMBER),
        Column("against its replay", [_against_replay(mode) for mode in tried], NUMBER),
        Column("copied meanwhile", [share(mode.middle("replayed_fraction_during_cell")) for mode in tried], NUMBER),
        Column("furthest behind", [seconds(mode.largest("lag_max_seconds")) for mode in tried], NUMBER),
        Column("behind at the end, median", [seconds(mode.middle("lag_end_seconds")) for mode in tried], NUMBER),
        Column("after", [seconds(mode.middle("duration_seconds")) for mode in tried], NUMBER),
        Column("level again after, median", [seconds(mode.middle("seconds_to_level")) for mode in tried], NUMBER),
        Column("n", [str(len(mode)) for mode in tried], NUMBER),
        Column("ran out of", [mode.ran_out for mode in tried]),
        Column("experiment", [mode.place.experiment.name for mode in tried]),
    ]
    return table(told(columns), "Loads that were tried, and how far behind the copy was")


def _offered(levels: Mapping[str, Any]) -> str:
    if "writes_per_second" not in levels:
        return NOTHING
    of = f" of {size(float(levels['io_size_bytes']))}" if "io_size_bytes" in levels else ""
    return f"{per_second(float(levels['writes_per_second']))}{of}"


# The settings ---------------------------------------------------------------------------------------------------------

#: A setting, how it was set, and what it bounded.
Setting = tuple[str, str, str]


def settings(data: DataSet) -> ReportPart:
    """Return which setting bounded what, and what was the same in all runs."""
    varied = [*_poll_age(data), *_schedule(data), *_images(data)]
    if not varied:
        return ReportPart(missing=("Which setting bounds what: no site was lost, and no number of images compared.",))
    headings = ("setting", "in use", "what it bounded")
    columns = [Column(*each) for each in zip(headings, zip(*varied, strict=True), strict=True)]
    settings_table = table(columns, "Settings in use, and what they bounded", stacked=True)
    same = paragraph(_not_varied(data), "muted")
    return ReportPart(body=section("Which setting bounds what", settings_table, same))


def _worst_by(data: DataSet, setting: str) -> list[tuple[float, float]]:
    """Return the worst loss at each level of a setting, the largest level first: where there is any, next door."""
    worst: dict[float, float] = {}
    lost = losses(data)
    for place, column in [each for each in lost if not each[0].distance] or lost:
        if setting in place.table:
            measured = place.table.dropna(subset=[setting, column])
            for level, value in measured.groupby(setting)[column].max().items():
                worst[float(level)] = max(worst.get(float(level), 0.0), float(value))
    return sorted(worst.items(), reverse=True)


def _in_use(worst: list[tuple[float, float]]) -> str:
    return ", ".join(f"{level:g} s" for level, _ in worst)


def _poll_age(data: DataSet) -> Iterator[Setting]:
    name = "journal_poll_age_seconds"
    if worst := _worst_by(data, name):
        sentence = "What a mirrored journal loses while replay keeps up: at worst "
        sentence += f"{', '.join(f'{seconds(value)} with {level:g} s' for level, value in worst)}."
        above = [
            (mode.middle(name), mode.largest("lag_max_seconds"))
            for mode in loads(data)
            if _are_above(mode) and mode.values(name)
        ]
        behind = [f"{seconds(value)} behind with {level:g} s" for level, value in sorted(above, reverse=True)]
        if behind:
            sentence += f" Above the rate of replay: {', '.join(behind)}."
        yield "rbd_mirror_journal_poll_age", _in_use(worst), sentence


def _schedule(data: DataSet) -> Iterator[Setting]:
    if worst := _worst_by(data, "snapshot_interval_seconds"):
        each = [
            f"{seconds(value)} with {level:g} s{' (more than two intervals)' if value > 2 * level else ''}"
            for level, value in worst
        ]
        yield "snapshot schedule", _in_use(worst), f"What snapshots lose: at worst {', '.join(each)}."


def _images(data: DataSet) -> Iterator[Setting]:
    idle = [rate for rate in rates(data) if rate.how == IDLE and not rate.over]
    numbers = sorted({rate.images for rate in idle})
    if len(numbers) > 1:
        by_mode: dict[str, list[str]] = {}
        for rate in sorted(idle, key=lambda rate: rate.images):
            by_mode.setdefault(f"{rate.mode}, {size(rate.io_size_bytes)}", []).append(per_second(rate.slowest))
        sentence = "; ".join(f"{mode}: {', '.join(each)}" for mode, each in by_mode.items())
        used = ", ".join(map(str, numbers))
        yield "number of images", used, f"Writes a second of each image, in the slowest run. {sentence}."


def _not_varied(data: DataSet) -> str:
    """Return settings that were the same in all of these experiments, as they were recorded."""
    setup = data.manifest.get("setup") or {}
    constant = [f"replicas: {setup['replicas']}"] if setup.get("replicas") is not None else []
    sizes = {experiment.entry["parameters"].get("object_size_bytes") for experiment in data.of(*MIRRORING)} - {None}
    if len(sizes) == 1:
        constant.append(f"object size: {size(float(sizes.pop()))}")
    return f"Not varied: {', '.join(constant)}." if constant else ""
