"""What one cluster says of itself, in rows. What stands out has a `!`, not only a colour."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TextIO

from rich.text import Text

from replay.base.disk import size_text
from replay.base.terminal import console_of, print_columns
from replay.cluster import health
from replay.cluster.site import commit_latencies, fullest_osd
from replay.evidence.record import short_version
from replay.ownership.daemon_settings import mirror_daemons
from replay.ownership.pools import room_in
from replay.preflight.checks import LARGEST_SKEW_SECONDS, largest_skew
from replay.preflight.look.asking import REPLICATED, Answers
from replay.sandbox.tools import columns

_MARK_WIDTH, _HEADING_WIDTH = 2, 12
_SHOWN_OSDS = 3
_BAR_WIDTH = 40
#: An OSD stands out if it takes this many times as long as the middle one, and at least so long.
OUTLIER_RATIO, OUTLIER_SECONDS = 5.0, 0.010
_MODES = {"image": "mirrored by image", "pool": "mirrored by pool", "disabled": "not mirrored"}
_SHOWN_NAMES = 3


@dataclass(frozen=True)
class SectionRow:
    """A line below a section's title: its heading, empty where it continues the last one, and its text."""

    heading: str
    text: str
    stands_out: bool = False


@dataclass(frozen=True)
class Section:
    """A title and its rows."""

    title: str
    rows: list[SectionRow]


def show(sections: Iterable[Section], stream: TextIO) -> None:
    """Print sections, in colours and in the terminal's width on a terminal."""
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
        print_columns(stream, rows, widths=(_MARK_WIDTH, _HEADING_WIDTH))


# A cluster ------------------------------------------------------------------------------------------------------------


def section_of(name: str, answers: Answers, more: Sequence[SectionRow] = ()) -> Section:
    """Return a cluster's section; `more` rows come last."""
    rows = [*_health(answers), SectionRow("size", _size(answers)), *_pools(answers), *_slowest(answers), *more]
    return Section(f"{name}   {release_of(answers)}, asked as {answers.client}", rows)


def release_of(answers: Answers) -> str:
    """Return the releases that a cluster's daemons run."""
    kinds = ("mon", "mgr", "osd", "rbd-mirror")
    releases = {short_version(text) or text for kind in kinds for text in answers.versions.get(kind, {})}
    if not releases:
        return f"Ceph, of a version that {answers.client} may not ask for"
    return f"Ceph {', '.join(sorted(releases))}, " + ("all daemons alike" if len(releases) == 1 else "MIXED")


def _health(answers: Answers) -> list[SectionRow]:
    verdict = health.classify(answers.status, answers.detail)
    texts = [f"{code}: {text}. A measurement would be refused" for code, text in verdict.refuse]
    texts += [f"{code}: {text}. Replay does not know this code" for code, text in verdict.unknown]
    rows = [SectionRow("", text, stands_out=True) for text in texts]
    rows += [SectionRow("", f"{code}: {text}. Harmless to a measurement") for code, text in verdict.harmless]
    return [SectionRow("health", str(verdict.summary["status"])), *rows, *_clocks(answers)]


def _clocks(answers: Answers) -> list[SectionRow]:
    """Return how far apart the monitors' clocks are; nothing of one monitor, or if that was not told."""
    if (skew := largest_skew(answers.clocks)) is None:
        return []
    name, seconds = skew
    text = f"the monitors' clocks are within {seconds * 1e3:.1f} ms (mon.{name})"
    return [SectionRow("", text, stands_out=seconds > LARGEST_SKEW_SECONDS)]


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


def _pools(answers: Answers) -> list[SectionRow]:
    if not answers.pools:
        return [SectionRow("pools", f"{answers.client} may not list them")]
    usage = {pool["name"]: pool["stats"] for pool in answers.df.get("pools", ())}
    table = []
    for pool in answers.pools:
        name = pool["pool_name"]
        copies = f"{pool['size']} replica{'' if pool['size'] == 1 else 's'}"
        replicas = copies if pool["type"] == REPLICATED else f"erasure-coded in {pool['size']}"
        table.append([name, replicas, f"{pool['pg_num']} PGs", *_used(pool, usage.get(name)), _mode(answers, name)])
    lines = columns(table, right=(2, 3))
    return [SectionRow("" if number else "pools", line) for number, line in enumerate(lines)]


def _used(pool: Mapping[str, Any], stats: Mapping[str, Any] | None) -> list[str]:
    if stats is None:
        return ["", ""]
    return [f"{size_text(stats['stored'])} stored", room_in(pool, stats).sentence()]


def _mode(answers: Answers, name: str) -> str:
    pool = answers.of_images.get(name)
    if pool is None:
        return ""
    if pool.mode is None:
        return f"{answers.client} may not read how it is mirrored"
    return _MODES.get(pool.mode, f"mirroring: {pool.mode}")


def first_of(names: Sequence[str]) -> str:
    """Return the first names, and whether there are more."""
    return ", ".join([*names[:_SHOWN_NAMES], *(["…"] if len(names) > _SHOWN_NAMES else [])])


def journal_rows(answers: Answers) -> list[SectionRow]:
    """Return the images whose writes pay for a journal that nobody replays, by pool."""
    rows = []
    for name, pool in answers.of_images.items():
        if (told := pool.journaled) is None or (pool.status is None and pool.mode != "disabled"):
            continue  # nobody said which of them are mirrored
        mirrored = {image["name"] for image in (pool.status or {}).get("images", ())}
        if paying := [image for image in told["names"] if image not in mirrored]:
            text = f"{len(paying)} with the feature journaling, which each write pays for, but not mirrored"
            rows.append(SectionRow(name, f"{text}: {first_of(paying)}", stands_out=True))
        if told["looked_at"] < len(pool.images or ()):
            read = f"{told['looked_at']} of {len(pool.images or ())}"
            rows.append(SectionRow(name, f"for journals, only {read} images were read"))
    return rows


# OSDs -----------------------------------------------------------------------------------------------------------------


def commit_seconds(perf: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    """Return each OSD's commit latency: the median over readings of `osd perf`."""
    readings = defaultdict(list)
    for reading in perf:
        for osd, seconds in commit_latencies(reading).items():
            readings[osd].append(seconds)
    return {osd: median(seconds) for osd, seconds in readings.items()}


def outliers(seconds: Mapping[int, float]) -> list[int]:
    """Return the OSDs that are much slower than the middle one, the slowest first."""
    if not seconds:
        return []
    limit = max(OUTLIER_SECONDS, OUTLIER_RATIO * median(seconds.values()))
    return sorted((osd for osd, each in seconds.items() if each > limit), key=lambda osd: -seconds[osd])


def _slowest(answers: Answers) -> list[SectionRow]:
    seconds = commit_seconds(answers.perf)
    if not seconds:
        return [SectionRow("OSDs", f"{answers.client} may not read their latency")]
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
    rows = [SectionRow("OSDs", f"the slowest by commit latency, each the median of {len(answers.perf)} readings")]
    rows += [SectionRow("", line, stands_out=osd in slow) for osd, line in zip(shown, lines, strict=True)]
    rows.append(SectionRow("", f"the middle one of {len(seconds)}: {median(seconds.values()) * 1e3:.3g} ms"))
    if slow:
        worst = shown[0]
        groups = {node["id"]: node.get("pgs") for node in answers.osd_df.get("nodes", ())}.get(worst)
        of_all = f" of {answers.status['pgmap']['num_pgs']}" if "num_pgs" in answers.status.get("pgmap", {}) else ""
        part = f"osd.{worst} has a part in {groups}{of_all} placement groups. " if groups else ""
        look = f"Look next: ceph device ls-by-daemon osd.{worst}. Replay saw no disks"
        rows.append(SectionRow("", f"{part}A write there waits for it. {look}", stands_out=True))
    return rows


def _hosts_of_osds(tree: Mapping[str, Any]) -> dict[int, str]:
    hosts = [node for node in tree.get("nodes", ()) if node["type"] == "host"]
    return {child: host["name"] for host in hosts for child in host.get("children", ())}


# Mirror daemons -------------------------------------------------------------------------------------------------------


def daemon_rows(answers: Answers) -> list[SectionRow]:
    """Return what the mirror daemons of the cluster that mirrors say of themselves."""
    registered = mirror_daemons(answers.status)
    if not registered:
        return [SectionRow("daemons", "no rbd-mirror daemon is registered: nothing is replayed", stands_out=True)]
    rows = [SectionRow("daemons", f"{len(registered)} rbd-mirror registered: {', '.join(registered)}")]
    for name, pool in answers.of_images.items():
        summary = (pool.status or {}).get("summary", {})
        # A restricted user is told that this is unknown.
        if (told := summary.get("daemon_health", "UNKNOWN")) == "UNKNOWN":
            rows.append(SectionRow("", f"{name}: {answers.client} may not see how they are"))
        else:
            states = ", ".join(f"{count} images {state}" for state, count in sorted(summary["states"].items()))
            rows.append(
                SectionRow("", f"{name}: their health is {told}; {states or 'no image'}", stands_out=told != "OK")
            )
    return rows
