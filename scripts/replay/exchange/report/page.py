"""`replay report`: one page of a data set, with what it says first, its sections, its verdicts and its origin."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from replay.base.errors import EvidenceError
from replay.base.paths import benchmarks_directory, replay_command
from replay.base.terminal import print_columns, waiting
from replay.claims.model import HELD, NOT_MEASURED, REFUTED
from replay.design.link import RATE, RTT
from replay.exchange.compare_text import provenance
from replay.exchange.page import NUMBER, Column, bullets, document, origin, paragraph, section, table, words, write_page
from replay.exchange.report.data_set import (
    NOTHING,
    RAN_OUT,
    DataSet,
    ReportPart,
    Runs,
    between,
    bytes_per_second,
    number_of,
    read_data_set,
    seconds,
    share,
    told,
)
from replay.exchange.report.imported import differing, imported
from replay.exchange.report.price_and_loss import loss, price
from replay.exchange.report.rate import MIRRORING, rate, settings
from replay.exchange.sides import IMPORTED

_COMMITTED = "slowest_osd_commit_latency_seconds"
#: Before the name of what was asked of the line, it is what was measured.
_MEASURED = "measured_"
_KINDS = {HELD: "better", REFUTED: "worse"}
_COUNTED = {"clusters": "cluster", "osds": "OSD", "replicas": "replica", "cores": "core"}


def parts_of(data: DataSet) -> list[ReportPart]:
    """Return what a data set says about each question, in the order of the page."""
    measured = () if _is_imported(data) else (price, loss, rate, distance, exhausted, slowest_osds, settings)
    return [part(data) for part in (*measured, imported)]


def _is_imported(data: DataSet) -> bool:
    """Return whether Replay measured none of it: then it says nothing of mirroring, nor of what watched the cluster."""
    return all(experiment.experiment.imported for experiment in data.experiments)


def page(data: DataSet, parts: Sequence[ReportPart]) -> str:
    """Return the HTML of the report."""
    name = data.side.name
    title = f"What mirroring costs: {name}" if data.of(*MIRRORING) else f"What was measured: {name}"
    missing = [line for part in parts for line in part.missing] + [*_skipped(data)]
    again = f"The same page from the same files: replay report --data {name} --out page.html"
    body = [
        paragraph(_where(data.manifest), "muted"),
        section("What differs between the folders", bullets(differing(data))),
        _short(parts),
        paragraph(_limitation(data)),
        *(part.body for part in parts),
        _verdicts(data),
        section("What was not measured", bullets(missing)),
        section("How it was measured", bullets(_method(data))),
        section("Where the figures come from", origin(name, provenance(data.side)), paragraph(again, "muted")),
    ]
    return document(title, body)


def _where(manifest: Mapping[str, Any]) -> str:
    """Return on what and when it was measured, as far as the manifest says."""
    setup = manifest.get("setup") or {}
    known = [
        str(manifest.get("label") or manifest.get("data_set")),
        *([f"Ceph {setup['ceph_version']}"] if setup.get("ceph_version") else []),
        *(number_of(int(setup[key]), noun) for key, noun in _COUNTED.items() if setup.get(key)),
    ]
    days = [day for day in (manifest.get("measured_from"), manifest.get("measured_to")) if day]
    return f"{', '.join(known)}." + (f" Measured {' to '.join(dict.fromkeys(days))}." if days else "")


def _limitation(data: DataSet) -> str:
    limitation = data.manifest.get("limitation") or ""
    is_said = limitation and not _is_imported(data)
    return f"What its owner says of this site: “{limitation}”" if is_said else limitation


def _short(parts: Sequence[ReportPart]) -> str:
    """Return the sentences for the top, each with what it rests on."""
    items = [f"<li>{paragraph(part.headline)}{paragraph(part.basis, 'muted')}</li>" for part in parts if part.headline]
    return f'<ul class="short">{"".join(items)}</ul>' if items else ""


def _verdicts(data: DataSet) -> str:
    """Return the verdicts on the claims about the experiments of mirroring, and where the others are."""
    names = {experiment.name for experiment in data.of(*MIRRORING)}
    measured = [claim for claim in data.side.claims.values() if claim["verdict"] != NOT_MEASURED]
    here = [claim for claim in measured if claim["experiment"] in names]
    others = len(measured) - len(here)
    line = f"{number_of(others, 'verdict')} on other experiments: replay claims --data {data.side.name} --measured"
    elsewhere = [paragraph(line, "muted")] if others else []
    if not here:
        return section("What people say", *elsewhere)
    # An exploratory verdict decides nothing.
    kinds = ["" if claim["exploratory"] else _KINDS.get(claim["verdict"], "") for claim in here]
    columns = [
        Column("somebody says", [claim["sentence"] for claim in here]),
        Column("these figures say", [claim["reason"] or "" for claim in here]),
        Column("here", [_verdict(claim) for claim in here], kinds=kinds),
    ]
    caption = (
        "A verdict says whether the whole 95 % interval (of no difference, the 90 % one) lies within what the sentence "
        "needs; a count has to be exact"
    )
    verdicts = table(columns, caption, stacked=True)
    return section("What people say, and what these figures say", verdicts, *elsewhere)


def _verdict(claim: Mapping[str, Any]) -> str:
    over = claim.get("over_campaigns")
    verdict = claim["verdict"] if over not in _KINDS else f"{claim['verdict']}; {over} over all campaigns"
    return f"{verdict}; exploratory: {claim['exploratory_reason']}" if claim["exploratory"] else verdict


def _skipped(data: DataSet) -> Iterator[str]:
    for experiment in data.experiments:
        labels = {variant["name"]: variant["label"] for variant in experiment.entry["variants"]}
        for skipped in experiment.entry["skipped"]:
            name = skipped.get("variant")
            what = f"{experiment.name}: {labels.get(name, name)}" if name else experiment.name
            yield f"{what} was skipped: it needs {skipped.get('requires')}. {skipped.get('detail') or ''}".strip()


def _method(data: DataSet) -> Iterator[str]:
    """Yield what a reader has to know of the runs, for each experiment of which it is true."""
    if not _is_imported(data):
        yield "A run counts if the cluster was well and its output is whole. Intervals are 95 % intervals over blocks."
    if data.of(IMPORTED):
        yield "An imported run counts if its output is whole and free of contradictions. Its figures are its tool's."
    for experiment in data.experiments:
        if invalid := experiment.entry["invalid"]:
            why = ", ".join(f"{words(reason)} {count}" for reason, count in invalid.items())
            yield f"{experiment.name}: {number_of(sum(invalid.values()), 'cell')} did not count: {why}."
        if (control := experiment.entry.get("control")) and control.get("intervals"):
            beside = f"{control['excluding_one']} of {number_of(control['intervals'], 'interval')} excluded 1"
            ratio = f"the ratio of both was {control['geometric_mean']:.3f}"
            yield f"{experiment.name}: one variant ran twice as a control; {ratio}, and {beside}."
        hosts = experiment.entry["provenance"].get("hosts", ())
        if len(hosts) > 1:
            each = "; ".join(f"{host['cpu']}: blocks {', '.join(map(str, host['blocks']))}" for host in hosts)
            yield f"{experiment.name} was measured on {len(hosts)} hosts, and its ranges span them. {each}."
    if data.manifest.get("git_dirty"):
        yield "Some of it was measured by a program with local changes."


# What bounded the figures: what ran out, the slowest OSD, the distance ------------------------------------------------


def exhausted(data: DataSet) -> ReportPart:
    """Return what each experiment's runs ran out of first."""
    experiments = data.experiments
    counts = [experiment.entry["limiters"] for experiment in experiments]
    resources = {word: RAN_OUT.get(word, word) for word in ("cpu", "disk", "network", "none", "unknown")}
    idle = [min(experiment.values("cpu_idle_fraction"), default=None) for experiment in experiments]
    busiest = [experiment.largest("disk_busy_fraction") for experiment in experiments]
    columns = [
        Column("experiment", [experiment.name for experiment in experiments]),
        Column("runs", [f"{len(experiment):,}" for experiment in experiments], NUMBER),
        *(
            Column(name, [f"{count[word]:,}" if count.get(word) else NOTHING for count in counts], NUMBER)
            for word, name in resources.items()
        ),
        Column("least CPU idle", [*map(share, idle)], NUMBER),
        Column("busiest disk", [*map(share, busiest)], NUMBER),
    ]
    rules = sorted({str(rule) for experiment in experiments if (rule := experiment.entry["limits"].get("rule"))})
    body = section(
        "What ran out",
        table(told(columns), "Runs by what they ran out of first; CPU and disk over the whole run"),
        paragraph(f"The rule: {'; '.join(rules)}." if rules else "", "muted"),
    )
    unseen = [experiment.name for experiment in experiments if {*experiment.entry["limiters"]} == {"unknown"}]
    missing = (
        f"What {', '.join(unseen)} ran out of: nobody watched the machines of the cluster. Name prometheus in the "
        "site's file (docs/your-own-cluster.md).",
    )
    return ReportPart(body=body, missing=missing if unseen else ())


def slowest_osds(data: DataSet) -> ReportPart:
    """Return which OSD was slowest to commit, by experiment and variant, and in which cell it was slowest of all."""
    every = [mode.stating(_COMMITTED) for experiment in data.experiments for mode in experiment.at({}).modes]
    modes = [mode for mode in every if len(mode)]
    if not modes:
        return ReportPart(missing=("The slowest OSD of each run: no run recorded what `ceph osd perf` says.",))
    worst = [mode.table.loc[mode.table[_COMMITTED].idxmax()] for mode in modes]
    columns = [
        Column("experiment", [f"{mode.place.experiment.name}: {mode.label}" for mode in modes]),
        Column("slowest most often", [_most_often(mode) for mode in modes]),
        Column("its latency, median", [seconds(mode.middle(_COMMITTED)) for mode in modes], NUMBER),
        Column("at worst", [seconds(float(row[_COMMITTED])) for row in worst], NUMBER),
        Column("in the cell", [f"{row['point']}, block {row['block']}" for row in worst]),
        Column("n", [str(len(mode)) for mode in modes], NUMBER),
    ]
    caption = (
        "Commit latency of each run's slowest OSD in the run's last seconds, in whole milliseconds (ceph osd perf)"
    )
    return ReportPart(body=section("The slowest OSD", table(told(columns), caption)))


def _most_often(runs: Runs) -> str:
    """Return `osd.3 in 20 of 36`. Where several are as slow, none of them is the slowest."""
    numbers = Counter(int(number) for number in runs.values("slowest_osd"))
    if not numbers:
        return "no single one"
    number, count = min(numbers.items(), key=lambda pair: (-pair[1], pair[0]))
    alike = len(runs) - numbers.total()
    return f"osd.{number} in {count} of {len(runs)}" + (f", no single one in {alike}" if alike else "")


def distance(data: DataSet) -> ReportPart:
    """Return how far apart the sites are, where cells recorded it."""
    every = [experiment.stating(_MEASURED + RTT) for experiment in data.experiments]
    experiments = [experiment for experiment in every if len(experiment)]
    if not experiments:
        return _noted_distance(data)
    columns = [
        Column("experiment", [experiment.name for experiment in experiments]),
        *(
            Column(name, [between(experiment.values(column), written) for experiment in experiments], NUMBER)
            for name, column, written in (
                ("round trip", _MEASURED + RTT, seconds),
                ("asked for", RTT, seconds),
                ("rate", _MEASURED + RATE, bytes_per_second),
                ("rate asked for", RATE, bytes_per_second),
            )
        ),
        Column("n", [str(len(experiment)) for experiment in experiments], NUMBER),
    ]
    measured = [value for experiment in experiments for value in experiment.values(_MEASURED + RTT)]
    headline = f"The sites were {between(measured, seconds)} apart (round trip)."
    body = section("The distance between the sites", table(told(columns), "The line between the sites"))
    return ReportPart(headline, f"Recorded with {number_of(len(measured), 'run')}.", body)


def _noted_distance(data: DataSet) -> ReportPart:
    """Return how far the second cluster was when the data set was started, if that was noted."""
    noted = (data.manifest.get("setup") or {}).get("round_trip_seconds")
    if noted is None:
        return ReportPart(missing=("The distance between the sites: no round trip to the second one was recorded.",))
    text = "A TCP connection to the nearest of its monitors, once, before the first run."
    return ReportPart(f"The second cluster was {seconds(noted)} away (round trip).", text)


def say_first(parts: Sequence[ReportPart]) -> None:
    """Print the sentences for the top, one below the other."""
    headlines = [part.headline for part in parts if part.headline]
    print_columns(sys.stdout, [("-", sentence) for sentence in headlines], widths=(2,))


def run(options: argparse.Namespace) -> int:
    """Write the page, and print what it says first; return 0. Raises ReplayError if that is not possible."""
    with waiting(f"reading {options.data}"):
        data = read_data_set(benchmarks_directory(), options.data)
    if not data.experiments:
        raise EvidenceError(
            "no run of this data set counts, so there is nothing to report",
            where=benchmarks_directory() / options.data,
            next_step=f"see which attempts are invalid, and why: {replay_command('raw', 'ls', '--data', options.data)}",
        )
    parts = parts_of(data)
    write_page(options.out, page(data, parts))
    say_first(parts)
    print(f"wrote {options.out}: one page that opens anywhere")
    return 0
