"""`replay report`: one page of a data set, with what it says first, its sections, its verdicts and its origin."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from replay.base.errors import EvidenceError
from replay.base.invocation import replay_command
from replay.base.paths import benchmarks_directory, version
from replay.base.terminal import waiting
from replay.exchange.compare_text import provenance
from replay.exchange.page import (
    Column,
    bullets,
    document,
    heading,
    origin,
    paragraph,
    style_sheet,
    table,
    words,
    write_page,
)
from replay.exchange.report.bounds import MIRRORING, distance, exhausted, settings, slowest_osds
from replay.exchange.report.figure import over_time
from replay.exchange.report.loss import loss
from replay.exchange.report.price import price
from replay.exchange.report.rate import rate
from replay.exchange.report.read import DataSet, read_data_set
from replay.exchange.report.words import Part, number_of
from replay.exchange.sides import IMPORTED

_NOT_MEASURED = "not measured"
_OVER_TIME = (
    "Means of one second. A line is the median of its runs, the band behind it goes from the lowest to the highest of "
    "them. A line ends with its shortest run."
)
_KINDS = {"held": "better", "refuted": "worse"}


def parts_of(data: DataSet) -> list[Part]:
    """Return what a data set says about each question, in the order of the page."""
    parts = (price, loss, rate, distance, exhausted, slowest_osds, settings, _over_time)
    return [part(data) for part in parts]


def page(data: DataSet, parts: Sequence[Part], style: str, version: str) -> str:
    """Return the HTML of the report. `style` is its CSS, `version` that of Replay."""
    name = data.side.name
    title = f"What mirroring costs: {name}" if data.of(*MIRRORING) else f"What was measured: {name}"
    body = [
        paragraph(_where(data.manifest), "muted"),
        _short(parts),
        paragraph(_limitation(data.manifest)),
        *(part.body for part in parts),
        _verdicts(data),
        heading("What was not measured"),
        bullets([line for part in parts for line in part.missing] + [*_skipped(data)]),
        heading("How it was measured"),
        bullets(_method(data)),
        heading("Where the figures come from"),
        origin(name, provenance(data.side)),
        paragraph(f"The same page from the same files: replay report --data {name} --out page.html", "muted"),
    ]
    return document(title, body, style, version)


def _where(manifest: Mapping[str, Any]) -> str:
    """Return on what and when it was measured, as far as the manifest says."""
    setup = manifest.get("setup") or {}
    told = [
        str(manifest.get("label") or manifest.get("data_set")),
        *([f"Ceph {setup['ceph_version']}"] if setup.get("ceph_version") else []),
        *(number_of(int(setup[key]), noun) for key, noun in _COUNTED.items() if setup.get(key)),
    ]
    days = [day for day in (manifest.get("measured_from"), manifest.get("measured_to")) if day]
    return f"{', '.join(told)}. Measured {' to '.join(dict.fromkeys(days))}." if days else f"{', '.join(told)}."


_COUNTED = {"clusters": "cluster", "osds": "OSD", "replicas": "replica", "cores": "core"}


def _short(parts: Sequence[Part]) -> str:
    """Return the sentences for the top, each with what it rests on."""
    items = [f"<li>{paragraph(part.headline)}{paragraph(part.basis, 'muted')}</li>" for part in parts if part.headline]
    return f'<ul class="short">{"".join(items)}</ul>' if items else ""


def _limitation(manifest: Mapping[str, Any]) -> str:
    limitation = manifest.get("limitation")
    return f"What its owner says of this site: “{limitation}”" if limitation else ""


def _over_time(data: DataSet) -> Part:
    """Return the charts of what fio's logs and the rows of `rados bench` and `rbd bench` tell of imported runs."""
    charts = [
        over_time(one.entry["charts"][name], table)
        for one in data.of(IMPORTED)
        for name, table in one.lines.groupby("chart", sort=False)
    ]
    return Part(body="\n".join([heading("Over time"), paragraph(_OVER_TIME, "muted"), *charts]) if charts else "")


def _verdicts(data: DataSet) -> str:
    """Return the verdicts on the claims about the experiments of mirroring, and where the others are."""
    names = {one.name for one in data.of(*MIRRORING)}
    measured = [one for one in data.claims.values() if one["verdict"] != _NOT_MEASURED]
    here = [one for one in measured if one["experiment"] in names]
    others = len(measured) - len(here)
    line = paragraph(
        f"{number_of(others, 'verdict')} on other experiments: replay claims --data {data.side.name} --measured",
        "muted",
    )
    if not here:
        return f"{heading('What people say')}\n{line}" if others else ""
    columns = [
        Column("somebody says", [one["sentence"] for one in here]),
        Column("these figures say", [one["reason"] or "" for one in here]),
        Column("here", [_verdict(one) for one in here], kinds=[_kind(one) for one in here]),
    ]
    caption = "A verdict says whether the whole 95 % interval lies within what the sentence needs"
    parts = [heading("What people say, and what these figures say"), table(columns, caption, stacked=True)]
    return "\n".join([*parts, line] if others else parts)


def _verdict(claim: Mapping[str, Any]) -> str:
    over = claim.get("over_campaigns")
    said = claim["verdict"] if over not in _KINDS else f"{claim['verdict']}; {over} over all campaigns"
    return f"{said}; exploratory: {claim['exploratory_reason']}" if claim["exploratory"] else said


def _kind(claim: Mapping[str, Any]) -> str:
    """Return the class of a verdict; an exploratory one decides nothing."""
    return "" if claim["exploratory"] else _KINDS.get(claim["verdict"], "")


def _skipped(data: DataSet) -> Iterator[str]:
    for one in data.experiments:
        labels = {variant["name"]: variant["label"] for variant in one.entry["variants"]}
        for skipped in one.entry["skipped"]:
            name = skipped.get("variant")
            what = f"{one.name}: {labels.get(name, name)}" if name else one.name
            yield f"{what} was skipped: it needs {skipped.get('requires')}. {skipped.get('detail') or ''}".strip()


def _method(data: DataSet) -> Iterator[str]:
    """Yield what a reader has to know of the runs, for each experiment of which it is true."""
    yield "A run counts if the cluster was well and its output is whole. Intervals are 95 % intervals over blocks."
    for one in data.experiments:
        if invalid := one.entry["invalid"]:
            why = ", ".join(f"{words(reason)} {count}" for reason, count in invalid.items())
            yield f"{one.name}: {number_of(sum(invalid.values()), 'cell')} did not count: {why}."
        if (control := one.entry.get("control")) and control.get("intervals"):
            beside = f"{control['excluding_one']} of {number_of(control['intervals'], 'interval')} excluded 1"
            ratio = f"the ratio of both was {control['geometric_mean']:.3f}"
            yield f"{one.name}: one variant ran twice as a control; {ratio}, and {beside}."
        hosts = one.entry["provenance"].get("hosts", ())
        if len(hosts) > 1:
            each = "; ".join(f"{host['cpu']}: blocks {', '.join(map(str, host['blocks']))}" for host in hosts)
            yield f"{one.name} was measured on {len(hosts)} hosts, and its ranges span them. {each}."
    if data.manifest.get("git_dirty"):
        yield "Some of it was measured by a program with local changes."


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
    write_page(options.out, page(data, parts, style_sheet(), version()))
    for part in parts:
        if part.headline:
            print(f"- {part.headline}")
    print(f"wrote {options.out}: one page that opens anywhere")
    return 0
