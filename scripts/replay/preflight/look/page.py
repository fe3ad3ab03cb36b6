"""The page of `replay look`: what was seen, section by section. Pure.

How far the copies of mirrored images are behind is what the mirror daemons say of them. A daemon reports every half
minute. It tells of a snapshot when it was taken, and of a journal how many entries are not replayed yet, but not how
many seconds of writes those are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from replay.base.disk import size_text
from replay.cluster.mirroring import POLL_AGE
from replay.cluster.site import Site
from replay.design.sizing import PoolCopies
from replay.ownership.daemon_settings import mirror_daemons
from replay.preflight.look import clusters
from replay.preflight.look.asking import (
    FIRST,
    REPLICATED,
    SECOND,
    SYNCS,
    Answers,
    ImageCopy,
    PoolAnswers,
    Seen,
    copies_in,
    mirrored_pools,
)
from replay.preflight.look.clusters import Section, SectionRow
from replay.sandbox.tools import columns

#: The pool that a site's file names.
POOL = "replay"
REPLAYING = "replaying"
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
#: What an option of a mirror daemon is called here, its unit, and what it bounds.
_SETTINGS = {
    POLL_AGE: (
        "poll age",
        "s",
        "while replay keeps up, about this much of a journal can be lost. A daemon's own file may say otherwise",
    ),
    SYNCS: ("syncs", "at a time", "first copies and copies of snapshots beyond this number wait"),
}


def page(seen: Seen, offer: Section, *, now: float) -> list[Section]:
    """Return what is printed of a look; `offer` is what could be measured."""
    names = seen.names
    sections = [clusters.section_of(names[FIRST], seen.first)]
    if seen.second is not None:
        more = [] if seen.line_seconds is None else [_line(seen.line_seconds)]
        more += clusters.daemon_rows(seen.second) if mirrored_pools(seen.first) else []
        sections.append(clusters.section_of(names[SECOND], seen.second, more))
    sections += _mirroring(seen, now)
    return [*sections, offer, _needs(), _asked(seen)]


def _line(seconds: float) -> SectionRow:
    return SectionRow("line", f"{seconds * 1e3:.3g} ms from here to its nearest monitor and back: a TCP connection")


def _mirroring(seen: Seen, now: float) -> list[Section]:
    names = seen.names
    if not mirrored_pools(seen.first):
        if any(pool.mode is None for pool in seen.first.of_images.values()):
            text = f"{seen.first.client} may not read how some pools are mirrored"
        else:
            text = "no pool is mirrored"
        return [Section("Mirroring", [SectionRow("", text), *clusters.journal_rows(seen.first)])]
    rows = mirroring_rows(seen, now) + clusters.journal_rows(seen.first)
    where = f"to {names[SECOND]}"
    if seen.second is None:
        where = "to a second cluster that did not answer" if seen.silent else "to a second cluster that was not named"
        rows.append(SectionRow("", "as far as the mirror daemon has told the first cluster"))
    if any("snapshot" in kind for kind in seen.askers[FIRST].unanswered):
        rows.append(SectionRow("", f"schedules are not visible to {seen.first.client}"))
    return [Section(f"Mirroring from {names[FIRST]} {where}", rows), Section("Settings in use", _settings(seen))]


def _settings(seen: Seen) -> list[SectionRow]:
    rows = []
    for option, (name, unit, meaning) in _SETTINGS.items():
        if (second := seen.second) is None:
            rows.append(SectionRow(name, f"{option} is unknown: it is set on the second cluster"))
        elif not (told := second.settings[option]):
            why = "it was not told" if mirror_daemons(second.status) else "no daemon is registered"
            rows.append(SectionRow(name, f"{option} is unknown: {why}"))
        else:
            source = _source(second, option)
            for number, (daemon, value) in enumerate(sorted(told.items())):
                rows.append(SectionRow("" if number else name, f"{value:g} {unit} ({option} of {daemon}; {source})"))
            rows.append(SectionRow("", meaning))
    return rows


def _source(answers: Answers, option: str) -> str:
    """Return who set an option."""
    if answers.set_options is None:
        return f"{answers.client} may not see who set it"
    if option in answers.set_options:
        return "set in the cluster's configuration"
    return "Ceph's default, set nowhere in the cluster's configuration"


def copies_of_site(site: Site, answers: Answers) -> tuple[PoolCopies, str | None]:
    """Return the copies that the site's pool keeps, or as long as there is none, the largest pool of images.

    Also returns the name of the pool that was taken, None if the pools are not known.
    """
    used = {pool["name"]: pool["stats"]["stored"] for pool in answers.df.get("pools", ())}
    replicated = [
        pool for pool in answers.pools if pool["type"] == REPLICATED and "rbd" in pool.get("application_metadata", {})
    ]
    if not replicated:
        return PoolCopies(), None
    wanted = site.pools.data.name
    best = max(replicated, key=lambda pool: (pool["pool_name"] == wanted, used.get(pool["pool_name"], 0)))
    return PoolCopies(float(best["size"]), float(best["size"])), best["pool_name"]


def _needs() -> Section:
    profile = f"mon 'profile rbd' osd 'profile rbd pool={POOL}' mgr 'profile rbd pool={POOL}'"
    return Section(
        "To measure it needs",
        [
            SectionRow("pool", f"one of its own, {POOL}, mirrored by image where a second cluster mirrors it"),
            SectionRow("user", f"on each cluster, with no more than: {profile}"),
            SectionRow("", f"on the second one also allowed to ask for {POLL_AGE}"),
        ],
    )


def _asked(seen: Seen) -> Section:
    kinds = list(dict.fromkeys(kind for asker in seen.askers.values() for kind in asker.asked))
    rows = [SectionRow("asked", f"{', '.join(kinds)}: {seen.seconds:.0f} s")]
    rows.append(SectionRow("", "namespaces, the trash and disks were not looked into"))
    for number, (what, why) in enumerate(seen.unanswered.items()):
        rows.append(SectionRow("" if number else "unanswered", f"{what}: {why}", stands_out=True))
    if seen.unanswered:
        rows.append(SectionRow("", "what stands above is complete; the rest is unknown, not fine"))
    return Section("Nothing was changed", rows)


# Schedules ------------------------------------------------------------------------------------------------------------


def schedule_of(schedules: Iterable[Mapping[str, Any]], pool: str, image: str) -> tuple[str, str] | None:
    """Return the interval by which snapshots of an image are taken, and on which level it is set; None without one."""
    levels = {}
    for each in schedules:
        place = tuple("" if each.get(key) in (None, "-") else each[key] for key in ("pool", "namespace", "image"))
        if intervals := [item["interval"] for item in each.get("items", ())]:
            levels[place] = min(intervals, key=interval_seconds)
    for place, level in (((pool, "", image), "the image"), ((pool, "", ""), "the pool"), (("", "", ""), "all pools")):
        if place in levels:
            return levels[place], level
    return None


def interval_seconds(text: str) -> float:
    """Return an interval of a schedule, such as `5m`, in seconds."""
    match = re.fullmatch(r"(\d+)([a-z]?)", text)
    return float(match[1]) * _UNIT_SECONDS.get(match[2] or "m", 60) if match else 0.0


# Rows -----------------------------------------------------------------------------------------------------------------


def clock_text(seconds: float) -> str:
    """Return an age: `0:12`, `11:05`, `2:03:11`."""
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def mirroring_rows(seen: Seen, now: float) -> list[SectionRow]:
    """Return the rows of all mirrored pools."""
    first, second, rows = seen.first, seen.second, []
    for name in mirrored_pools(first):
        pool = first.of_images[name]
        if pool.status is None:
            rows.append(SectionRow(name, f"{first.client} may not read how its images are mirrored"))
            continue
        copies = copies_in(first, second, name)
        earlier = {copy.image: copy for copy in seen.earlier[name]}
        rows += [*_of_pool(pool, copies, first, earlier, now), *_loss(copies, now)]
    return rows


def _of_pool(
    pool: PoolAnswers, copies: Sequence[ImageCopy], first: Answers, earlier: Mapping[str, ImageCopy], now: float
) -> list[SectionRow]:
    """Return a pool's rows: its copies by how they are mirrored and by which schedule, and those that stand out."""
    groups: dict[tuple[str, str], list[ImageCopy]] = {}
    for copy in copies:
        planned = schedule_of(first.schedules, pool.name, copy.image) if copy.how == "snapshot" else None
        schedule = f"every {planned[0]} ({planned[1]})" if planned else "no schedule" if copy.how == "snapshot" else ""
        groups.setdefault((copy.how, schedule), []).append(copy)
    table, out = [], []
    for (how, schedule), members in sorted(groups.items()):
        table.append([str(len(members)), how, schedule, _held(members, now)])
        out.append(how not in ("snapshot", "journal") or all(member.state != REPLAYING for member in members))
    if pool.images is not None and (others := len(pool.images) - len(copies)) > 0:
        table.append([str(others), "not mirrored", "", ""])
        out.append(False)
    lines = columns(table, right=(0,))
    rows = [SectionRow("" if number else pool.name, line, stands_out=out[number]) for number, line in enumerate(lines)]
    rows += [SectionRow("", text, stands_out=True) for text in _remarks(pool.name, copies, first, earlier, now)]
    return rows or [SectionRow(pool.name, "no image is mirrored")]


def _held(members: Sequence[ImageCopy], now: float) -> str:
    ages = sorted(now - copy.taken_at for copy in members if copy.taken_at is not None)
    if ages:
        span = clock_text(ages[-1]) if len(ages) == 1 else f"{clock_text(ages[0])} to {clock_text(ages[-1])}"
        return f"the copy is {span} old"
    if entries := [copy.entries_behind for copy in members if copy.entries_behind is not None]:
        return f"at most {max(entries):,} entries behind"
    return f"no figure: {clusters.first_of([copy.image for copy in members])}"


def _remarks(
    pool: str, copies: Sequence[ImageCopy], first: Answers, earlier: Mapping[str, ImageCopy], now: float
) -> list[str]:
    """Return what somebody should look at: copies older than two intervals, and journals that fall behind."""
    remarks = []
    for copy in copies:
        if copy.taken_at is not None and (schedule := schedule_of(first.schedules, pool, copy.image)):
            age = now - copy.taken_at
            if age > 2 * interval_seconds(schedule[0]) > 0:
                remarks.append(
                    f"{pool}/{copy.image}: its copy is {clock_text(age)} old, more than two intervals of "
                    f"{schedule[0]}: copying takes longer than that, or has stopped"
                )
        before = earlier.get(copy.image)
        if copy.entries_behind and before is not None and before.entries_behind:
            more = copy.entries_behind - before.entries_behind
            if more >= 0:
                grown = f"{more:,} more than" if more else "as many as"
                size = first.journal_bytes.get(f"{pool}/{copy.image}")
                takes = f"; its journal takes up to {size_text(size)}" if size else ""
                behind = f"{copy.entries_behind:,} entries behind, {grown} at the first look"
                remarks.append(f"{pool}/{copy.image}: {behind}{takes}")
    return remarks


def _loss(copies: Sequence[ImageCopy], now: float) -> list[SectionRow]:
    """Return what would be lost if the first cluster were lost at this moment; nothing where that is not known."""
    texts = []
    if ages := [now - copy.taken_at for copy in copies if copy.taken_at is not None]:
        texts.append(f"up to {clock_text(max(ages))} of writes by snapshots")
    if entries := [copy.entries_behind for copy in copies if copy.entries_behind is not None]:
        text = f"up to {max(entries):,} entries of a journal; how many seconds those are, a measurement would tell"
        texts.append(text if max(entries) else "nothing of a journal, as of its last report")
    return [SectionRow("", f"lost if the first cluster were lost now: {' and '.join(texts)}")] if texts else []
