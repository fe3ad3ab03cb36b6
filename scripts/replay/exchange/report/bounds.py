"""What bounded the figures: what ran out, the slowest OSD, the distance, and the settings in use. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pandas as pd

from replay.design.link import RATE, RTT
from replay.exchange.page import NUMBER, Column, heading, paragraph, table
from replay.exchange.report.loss import LOST, losses
from replay.exchange.report.rate import IDLE, loads, rates
from replay.exchange.report.read import DataSet, Measured
from replay.exchange.report.words import (
    NOTHING,
    Part,
    between,
    bytes_per_second,
    largest,
    middle,
    number_of,
    per_second,
    seconds,
    share,
    size,
    told,
    values,
)

#: The protocols that this page is about.
MIRRORING = ("write_latency", *LOST, "mirror_replay", "mirror_lag")
_COMMITTED = "slowest_osd_commit_latency_seconds"
#: Before the name of what was asked of the line, it is what was measured.
_MEASURED = "measured_"


# What ran out ---------------------------------------------------------------------------------------------------------


def exhausted(data: DataSet) -> Part:
    """Return what each experiment's runs ran out of first."""
    found = data.experiments
    counts = [one.entry["limiters"] for one in found]

    def ran_out_of(resource: str) -> list[str]:
        return [f"{count[resource]:,}" if count.get(resource) else NOTHING for count in counts]

    columns = [
        Column("experiment", [one.name for one in found]),
        Column("runs", [f"{len(one.runs):,}" for one in found], NUMBER),
        *(Column(resource, ran_out_of(resource), NUMBER) for resource in ("cpu", "disk", "network")),
        Column("nothing", ran_out_of("none"), NUMBER),
        Column("not known", ran_out_of("unknown"), NUMBER),
        Column(
            "least CPU idle", [share(min(values(one.runs, "cpu_idle_fraction"), default=None)) for one in found], NUMBER
        ),
        Column("busiest disk", [share(largest(one.runs, "disk_busy_fraction")) for one in found], NUMBER),
    ]
    rules = sorted({str(rule) for one in found if (rule := one.entry["limits"].get("rule"))})
    body = [
        heading("What ran out"),
        table(told(columns), "Runs by what they ran out of first; CPU and disk over the whole run"),
    ]
    body += [paragraph(f"The rule: {'; '.join(rules)}." if rules else "", "muted")]
    unseen = [one.name for one, count in zip(found, counts, strict=True) if set(count) == {"unknown"}]
    missing = (
        f"What {', '.join(unseen)} ran out of: nobody watched the machines of the cluster. Name prometheus in the "
        "site's file (docs/your-own-cluster.md).",
    )
    return Part(body="\n".join(body), missing=missing if unseen else ())


# The slowest OSD ------------------------------------------------------------------------------------------------------


def slowest_osds(data: DataSet) -> Part:
    """Return which OSD was slowest to commit, by experiment and variant, and in which cell it was slowest of all."""
    found = [
        (f"{one.name}: {variant['label']}", runs[runs[_COMMITTED].notna()])
        for one in data.experiments
        for variant, runs in one.by_variant(one.runs)
        if values(runs, _COMMITTED)
    ]
    if not found:
        return Part(missing=("The slowest OSD of each run: no run recorded what `ceph osd perf` says.",))
    worst = [runs.loc[runs[_COMMITTED].idxmax()] for _, runs in found]
    columns = [
        Column("experiment", [name for name, _ in found]),
        Column("slowest most often", [_most_often(runs) for _, runs in found]),
        Column("its latency, median", [seconds(middle(runs, _COMMITTED)) for _, runs in found], NUMBER),
        Column("at worst", [seconds(float(row[_COMMITTED])) for row in worst], NUMBER),
        Column("in the cell", [f"{row['point']}, block {row['block']}" for row in worst]),
        Column("n", [str(len(runs)) for _, runs in found], NUMBER),
    ]
    caption = (
        "Commit latency of each run's slowest OSD in the run's last seconds, in whole milliseconds (ceph osd perf)"
    )
    return Part(body=f"{heading('The slowest OSD')}\n{table(told(columns), caption)}")


def _most_often(runs: pd.DataFrame) -> str:
    """Return `osd.3 in 20 of 36`. Where several are as slow, none of them is the slowest."""
    numbers = Counter(int(number) for number in values(runs, "slowest_osd"))
    if not numbers:
        return "no single one"
    number, count = min(numbers.items(), key=lambda pair: (-pair[1], pair[0]))
    alike = len(runs) - numbers.total()
    return f"osd.{number} in {count} of {len(runs)}" + (f", no single one in {alike}" if alike else "")


# The distance ---------------------------------------------------------------------------------------------------------


def distance(data: DataSet) -> Part:
    """Return how far apart the sites are, where cells recorded it."""
    found = [
        (one, one.runs[one.runs[_MEASURED + RTT].notna()])
        for one in data.experiments
        if values(one.runs, _MEASURED + RTT)
    ]
    if not found:
        return Part(missing=("The distance between the sites: no cell recorded the round trip to the second one.",))
    columns = [
        Column("experiment", [one.name for one, _ in found]),
        *(
            Column(name, [_ends(runs, column, said) for _, runs in found], NUMBER)
            for name, column, said in (
                ("round trip", _MEASURED + RTT, seconds),
                ("asked for", RTT, seconds),
                ("rate", _MEASURED + RATE, bytes_per_second),
                ("rate asked for", RATE, bytes_per_second),
            )
        ),
        Column("n", [str(len(runs)) for _, runs in found], NUMBER),
    ]
    every = [value for _, runs in found for value in values(runs, _MEASURED + RTT)]
    headline = f"The sites were {between(every, seconds)} apart (round trip)."
    body = f"{heading('The distance between the sites')}\n{table(told(columns), 'The line between the sites')}"
    return Part(headline, f"Recorded with {number_of(len(every), 'run')}.", body)


def _ends(runs: pd.DataFrame, column: str, said: Callable[[float | None], str]) -> str:
    found = values(runs, column)
    return between(found, said) if found else NOTHING


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
