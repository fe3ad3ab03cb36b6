"""What one cluster says of itself, in rows, and what Replay could measure on it, in hours and bytes.

What stands out has a `!`, not only a colour.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TextIO

from rich.text import Text

from replay.base.disk import size_text
from replay.base.errors import ConfigurationError
from replay.base.invocation import replay_command
from replay.base.paths import config_directory
from replay.base.terminal import console_of, is_terminal, print_columns
from replay.cluster import health
from replay.cluster.site import Site, fullest_osd
from replay.design.configuration import experiment_names
from replay.design.design import Design
from replay.design.sizing import Estimate, PoolCopies, Terms, reckon
from replay.evidence.record import short_version
from replay.ownership.pools import room_in
from replay.preflight.look.asking import REPLICATED, Answers, mirror_daemons
from replay.preflight.plan import design_for

_MARK_WIDTH, _HEADING_WIDTH = 2, 12
_SHOWN_OSDS = 3
_BAR_WIDTH = 40
#: An OSD stands out if it takes this many times as long as the middle one, and at least so long.
OUTLIER_RATIO, OUTLIER_SECONDS = 5.0, 0.010
_MODES = {"image": "mirrored by image", "pool": "mirrored by pool", "disabled": "not mirrored"}
SCALES = ("quick", "talk")
#: The designs of every experiment on a site, by experiment and scale.
Designs = Mapping[str, Mapping[str, Design]]
_GIBIBYTE = 1 << 30
_TITLE = "What Replay could measure here"


@dataclass(frozen=True)
class Row:
    """A line below a section's title: its heading, empty where it continues the last one, and its text."""

    heading: str
    text: str
    stands_out: bool = False


@dataclass(frozen=True)
class Section:
    """A title and its rows."""

    title: str
    rows: list[Row]


def render(sections: Iterable[Section]) -> str:
    """Return sections as plain text."""
    lines = []
    for section in sections:
        lines += ["", section.title]
        for row in section.rows:
            mark = "!" if row.stands_out else ""
            lines.append(f"{mark:<{_MARK_WIDTH}}{row.heading:<{_HEADING_WIDTH}}{row.text}".rstrip())
    return "\n".join(lines)


def show(sections: Sequence[Section], stream: TextIO) -> None:
    """Print sections: in colours and in the terminal's width on a terminal, else like `render`."""
    if not is_terminal(stream):
        print(render(sections), file=stream)
        return
    console = console_of(stream)
    for section in sections:
        console.print(Text(f"\n{section.title}", style="bold"), soft_wrap=True)
        rows = [
            (
                Text("!" if row.stands_out else "", style="bold yellow"),
                row.heading,
                Text(row.text, style="yellow" if row.stands_out else ""),
            )
            for row in section.rows
        ]
        print_columns(console, rows, widths=(_MARK_WIDTH, _HEADING_WIDTH))


def columns(rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> list[str]:
    """Return rows of cells as lines of aligned columns, those named in `right` to the right."""
    widths = [max(len(row[number]) for row in rows) for number in range(len(rows[0]))] if rows else []
    aligned = set(right)
    return [
        "  ".join(
            f"{cell:>{width}}" if number in aligned else f"{cell:<{width}}"
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


# A cluster ------------------------------------------------------------------------------------------------------------


def section_of(name: str, answers: Answers, more: Sequence[Row] = ()) -> Section:
    """Return a cluster's section; `more` rows come last."""
    rows = [*_health(answers), Row("size", _size(answers)), *_pools(answers), *_slowest(answers), *more]
    return Section(f"{name}   {release_of(answers)}, asked as {answers.client}", rows)


def release_of(answers: Answers) -> str:
    """Return the releases that a cluster's daemons run."""
    kinds = ("mon", "mgr", "osd", "rbd-mirror")
    found = {short_version(text) or text for kind in kinds for text in answers.versions.get(kind, {})}
    if not found:
        return f"Ceph, of a version that {answers.client} may not ask for"
    return f"Ceph {', '.join(sorted(found))}, " + ("all daemons alike" if len(found) == 1 else "MIXED")


def _health(answers: Answers) -> list[Row]:
    verdict = health.classify(answers.status, answers.detail)
    said = [f"{code}: {text}. A measurement would be refused" for code, text in verdict.refuse]
    said += [f"{code}: {text}. Replay does not know this code" for code, text in verdict.unknown]
    rows = [Row("", text, stands_out=True) for text in said]
    rows += [Row("", f"{code}: {text}. Harmless to a measurement") for code, text in verdict.harmless]
    return [Row("health", str(verdict.summary["status"])), *rows]


def _size(answers: Answers) -> str:
    osds = answers.status["osdmap"]
    nodes = answers.osd_df.get("nodes", ())
    classes = sorted({node["device_class"] for node in nodes if node.get("device_class")})
    kinds = f" ({', '.join(classes)})" if classes else ""
    parts = [f"{osds['num_up_osds']} of {osds['num_osds']} OSDs up{kinds}"]
    if hosts := sum(node["type"] == "host" for node in answers.tree.get("nodes", ())):
        parts.insert(0, f"{hosts} host{'' if hosts == 1 else 's'}")
    monitors = len(answers.status["quorum"])
    parts.append(f"{monitors} monitor{'' if monitors == 1 else 's'} in quorum")
    pgmap = answers.status.get("pgmap", {})
    if total := pgmap.get("bytes_total"):
        parts.append(f"{pgmap['bytes_used'] / total:.0%} full")
    if nodes:
        name, fraction = fullest_osd(answers.osd_df)
        parts.append(f"fullest: {name}, {fraction:.0%}")
    return ", ".join(parts)


def _pools(answers: Answers) -> list[Row]:
    if not answers.pools:
        return [Row("pools", f"{answers.client} may not list them")]
    usage = {pool["name"]: pool["stats"] for pool in answers.df.get("pools", ())}
    table = []
    for pool in answers.pools:
        name = pool["pool_name"]
        copies = f"{pool['size']} replica{'' if pool['size'] == 1 else 's'}"
        replicas = copies if pool["type"] == REPLICATED else f"erasure-coded in {pool['size']}"
        table.append([name, replicas, f"{pool['pg_num']} PGs", *_used(pool, usage.get(name)), _mode(answers, name)])
    lines = columns(table, right=(2, 3))
    return [Row("" if number else "pools", line) for number, line in enumerate(lines)]


def _used(pool: Mapping[str, Any], stats: Mapping[str, Any] | None) -> list[str]:
    if stats is None:
        return ["", ""]
    room = room_in(pool, stats)
    limited = f", by its quota of {room.quota}" if room.quota else ""
    return [f"{size_text(stats['stored'])} stored", f"can take {size_text(room.bytes)} more{limited}"]


def _mode(answers: Answers, name: str) -> str:
    pool = answers.of_images.get(name)
    if pool is None:
        return ""
    if pool.mode is None:
        return f"{answers.client} may not read how it is mirrored"
    return _MODES.get(pool.mode, f"mirroring: {pool.mode}")


# OSDs -----------------------------------------------------------------------------------------------------------------


def commit_seconds(perf: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    """Return each OSD's commit latency: the median over readings of `osd perf`."""
    readings = defaultdict(list)
    for reading in perf:
        for info in reading.get("osdstats", reading).get("osd_perf_infos", ()):
            readings[info["id"]].append(info["perf_stats"]["commit_latency_ms"] / 1e3)
    return {osd: median(seconds) for osd, seconds in readings.items()}


def outliers(seconds: Mapping[int, float]) -> list[int]:
    """Return the OSDs that are much slower than the middle one, the slowest first."""
    if not seconds:
        return []
    limit = max(OUTLIER_SECONDS, OUTLIER_RATIO * median(seconds.values()))
    return sorted((osd for osd, each in seconds.items() if each > limit), key=lambda osd: -seconds[osd])


def _slowest(answers: Answers) -> list[Row]:
    seconds = commit_seconds(answers.perf)
    if not seconds:
        return [Row("OSDs", f"{answers.client} may not read their latency")]
    slow, hosts = set(outliers(seconds)), _hosts_of_osds(answers.tree)
    shown = sorted(seconds, key=lambda osd: (-seconds[osd], osd))[:_SHOWN_OSDS]
    longest = seconds[shown[0]]
    lines = columns(
        [
            [
                f"osd.{osd}",
                hosts.get(osd, ""),
                f"{seconds[osd] * 1e3:.3g} ms",
                "█" * (round(_BAR_WIDTH * seconds[osd] / longest) if longest else 0),
            ]
            for osd in shown
        ],
        right=(2,),
    )
    rows = [Row("OSDs", f"the slowest by commit latency, each the median of {len(answers.perf)} readings")]
    rows += [Row("", line, stands_out=osd in slow) for osd, line in zip(shown, lines, strict=True)]
    rows.append(Row("", f"the middle one of {len(seconds)}: {median(seconds.values()) * 1e3:.3g} ms"))
    if slow:
        worst = shown[0]
        groups = {node["id"]: node.get("pgs") for node in answers.osd_df.get("nodes", ())}.get(worst)
        of_all = f" of {answers.status['pgmap']['num_pgs']}" if "num_pgs" in answers.status.get("pgmap", {}) else ""
        part = f"osd.{worst} has a part in {groups}{of_all} placement groups. " if groups else ""
        look = f"Look next: ceph device ls-by-daemon osd.{worst}. Replay saw no disks"
        rows.append(Row("", f"{part}A write there waits for it. {look}", stands_out=True))
    return rows


def _hosts_of_osds(tree: Mapping[str, Any]) -> dict[int, str]:
    hosts = [node for node in tree.get("nodes", ()) if node["type"] == "host"]
    return {child: host["name"] for host in hosts for child in host.get("children", ())}


# Mirror daemons -------------------------------------------------------------------------------------------------------


def daemon_rows(answers: Answers) -> list[Row]:
    """Return what the mirror daemons of the cluster that mirrors say of themselves."""
    registered = mirror_daemons(answers.status)
    if not registered:
        return [Row("daemons", "no rbd-mirror daemon is registered: nothing is replayed", stands_out=True)]
    rows = [Row("daemons", f"{len(registered)} rbd-mirror registered: {', '.join(registered)}")]
    for name, pool in answers.of_images.items():
        summary = (pool.status or {}).get("summary", {})
        # A restricted user is told that this is unknown.
        if (told := summary.get("daemon_health", "UNKNOWN")) == "UNKNOWN":
            rows.append(Row("", f"{name}: {answers.client} may not see how they are"))
        else:
            states = ", ".join(f"{count} images {state}" for state, count in sorted(summary["states"].items()))
            rows.append(Row("", f"{name}: their health is {told}; {states or 'no image'}", stands_out=told != "OK"))
    return rows


# What could be measured -----------------------------------------------------------------------------------------------


def designs_on(site: Site) -> Designs:
    """Return the designs of config/experiments on a site; none outside a project.

    Raises ConfigurationError if a file there is wrong.
    """
    try:
        config_directory()
    except ConfigurationError:
        return {}
    at_scale = {scale: experiment_names(scale) for scale in SCALES}
    names = sorted({name for scale_names in at_scale.values() for name in scale_names})
    return {
        name: {scale: design_for(site, name, scale) for scale in SCALES if name in at_scale[scale]} for name in names
    }


def estimates_of(experiments: Designs, copies: PoolCopies) -> dict[str, dict[str, Estimate]]:
    """Return the estimates of the experiments that are possible, by experiment and scale: nothing measured yet."""
    terms = Terms(copies)
    return {
        name: {scale: reckon(design, [design.sets] * design.blocks, (), terms) for scale, design in designs.items()}
        for name, designs in experiments.items()
        if any(design.sets for design in designs.values())
    }


def _impossible(experiments: Designs) -> dict[str, list[str]]:
    """Return the experiments that are not possible at all, by what is missing first."""
    found = defaultdict(list)
    for name, designs in experiments.items():
        skipped = [skip for design in designs.values() for skip in design.skipped]
        if skipped and not any(design.sets for design in designs.values()):
            found[f"{skipped[0].requires}: {skipped[0].detail}"].append(name)
    return found


def total_at(estimates: Mapping[str, Mapping[str, Estimate]], scale: str) -> Estimate:
    """Return the sum of all experiments at a scale."""
    return sum((each[scale] for each in estimates.values() if scale in each), Estimate())


def offer_section(experiments: Designs, copies: PoolCopies, pool: str | None, osds_stand_out: str) -> Section:
    """Return the section. `pool` is the one whose copies are taken; `osds_stand_out` names an OSD that is slow now."""
    if not experiments:
        text = f"not known here, because this folder is no project: {replay_command('init')} makes one"
        return Section(_TITLE, [Row("", text)])
    estimates = estimates_of(experiments, copies)
    table = [["experiment", *(head for scale in SCALES for head in (scale, "client", "media"))]]
    table += [[name, *_cells(each)] for name, each in estimates.items()]
    if len(estimates) > 1:
        table.append(["all of it", *_cells({scale: total_at(estimates, scale) for scale in SCALES})])
    rows = [Row("", line) for line in columns(table, right=range(1, len(table[0])))]
    by_pool = f"with the {copies.data:g} copies of pool {pool}" if pool else f"with {copies.data:g} copies"
    rows.append(Row("", f"client: GiB that clients write; media: GiB that the first cluster stores of it, {by_pool}"))
    rows.append(Row("", "first estimates: a faster cluster writes more in the same time"))
    for why, names in _impossible(experiments).items():
        rows.append(Row("", f"not here: {', '.join(names)} ({why})"))
    if osds_stand_out:
        rows.append(Row("", f"a run now would price the disk of {osds_stand_out}", stands_out=True))
    return Section(_TITLE, rows)


def _cells(estimates: Mapping[str, Estimate]) -> list[str]:
    cells = []
    for scale in SCALES:
        if (figures := estimates.get(scale)) is None:
            cells += [""] * 3
        else:
            sizes = [size / _GIBIBYTE for size in (figures.client_bytes, figures.media_bytes)]
            shown = [f"{size:,.1f}" if size < 10 else f"{size:,.0f}" for size in sizes]
            cells += [_time_text(figures.seconds), *shown]
    return cells


def _time_text(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d} h"
