"""The page of `replay look`: what was seen, section by section, and what could be measured. Pure.

How far the copies of mirrored images are behind is what the mirror daemons say of them. A daemon reports every half
minute. It tells of a snapshot when it was taken, and of a journal how many entries are not replayed yet, but not how
many seconds of writes those are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay.cluster.site import Site
from replay.design.sizing import PoolCopies
from replay.ownership.daemon_settings import POLL_AGE
from replay.preflight.look import clusters
from replay.preflight.look.asking import (
    FIRST,
    REPLICATED,
    SECOND,
    Answers,
    PoolAnswers,
    Seen,
    mirror_daemons,
    mirrored_pools,
)
from replay.preflight.look.clusters import Designs, Row, Section, columns

#: The pool that a site's file names.
POOL = "replay"
REPLAYING = "replaying"
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SHOWN_NAMES = 3


def page(site: Site, seen: Seen, possible: Designs, *, now: float) -> list[Section]:
    """Return what is printed of a look."""
    names = seen.names
    sections = [clusters.section_of(names[FIRST], seen.first)]
    if seen.second is not None:
        more = [] if seen.line_seconds is None else [_line(seen.line_seconds)]
        more += clusters.daemon_rows(seen.second) if mirrored_pools(seen.first) else []
        sections.append(clusters.section_of(names[SECOND], seen.second, more))
    sections += _mirroring(site, seen, now)
    copies, pool = copies_of_site(site, seen.first)
    slow = clusters.outliers(clusters.commit_seconds(seen.first.perf))
    sections.append(clusters.offer_section(possible, copies, pool, f"osd.{slow[0]}" if slow else ""))
    return [*sections, _needs(), _asked(seen)]


def _line(seconds: float) -> Row:
    return Row("line", f"{seconds * 1e3:.2g} ms from here to its nearest monitor and back: a TCP connection")


def _mirroring(site: Site, seen: Seen, now: float) -> list[Section]:
    names = seen.names
    if not mirrored_pools(seen.first):
        if any(pool.mode is None for pool in seen.first.of_images.values()):
            text = f"{seen.first.client} may not read how some pools are mirrored"
        else:
            text = "no pool is mirrored"
        return [Section("Mirroring", [Row("", text)])]
    rows = mirroring_rows(seen, now)
    where = f"to {names[SECOND]}"
    if seen.second is None:
        where = "to a second cluster that did not answer" if seen.silent else "to a second cluster that was not named"
        rows.append(Row("", "as far as the mirror daemon has told the first cluster"))
    if any("snapshot" in kind for kind in seen.askers[FIRST].unanswered):
        rows.append(Row("", f"schedules are not visible to {seen.first.client}"))
    return [Section(f"Mirroring from {names[FIRST]} {where}", rows), Section("Settings in use", _settings(seen))]


def _settings(seen: Seen) -> list[Row]:
    if seen.second is None:
        return [Row("poll age", f"{POLL_AGE} is unknown: it is set on the second cluster")]
    if not seen.second.poll_ages:
        why = "no daemon is registered" if not mirror_daemons(seen.second.status) else "it was not told"
        return [Row("poll age", f"{POLL_AGE} is unknown: {why}")]
    source = {
        True: "set in the cluster's configuration",
        False: "Ceph's default, set nowhere in the cluster's configuration",
        None: f"{seen.second.client} may not see who set it",
    }[seen.second.poll_age_is_set]
    rows = [
        Row("poll age" if not number else "", f"{seconds:g} s ({POLL_AGE} of {daemon}; {source})")
        for number, (daemon, seconds) in enumerate(sorted(seen.second.poll_ages.items()))
    ]
    text = "while replay keeps up, about this much of a journal can be lost. A daemon's own file may say otherwise"
    return [*rows, Row("", text)]


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
            Row("pool", f"one of its own, {POOL}, mirrored by image where a second cluster mirrors it"),
            Row("user", f"on each cluster, with no more than: {profile}"),
        ],
    )


def _asked(seen: Seen) -> Section:
    kinds = list(dict.fromkeys(kind for asker in seen.askers.values() for kind in asker.asked))
    rows = [Row("asked", f"{', '.join(kinds)}: {seen.seconds:.0f} s")]
    rows.append(Row("", "namespaces, the trash and disks were not looked into"))
    for number, (what, why) in enumerate(seen.unanswered.items()):
        rows.append(Row("" if number else "unanswered", f"{what}: {why}", stands_out=True))
    if seen.unanswered:
        rows.append(Row("", "what stands above is complete; the rest is unknown, not fine"))
    return Section("Nothing was changed", rows)


# Copies ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Copy:
    """An image's copy. `state` is the daemon's word for it, `unknown` if no daemon has said anything.

    Of a journal, `entries_behind` is known. Of snapshots, `taken_at` is the moment, in seconds since 1970, of the
    newest one that is whole in the copy.
    """

    image: str
    state: str
    entries_behind: int | None = None
    taken_at: float | None = None
    by_snapshot: bool = False

    @property
    def how(self) -> str:
        """How the image is mirrored: `journal` or `snapshot`, or its state if that is all that is known."""
        if self.by_snapshot:
            return "snapshot"
        return "journal" if self.entries_behind is not None else self.state


def copies_of(first: Mapping[str, Any], second: Mapping[str, Any] | None) -> list[Copy]:
    """Return the copies of a pool's images, from what the mirror daemons say on both clusters.

    If the second one does not answer, what its daemon has reported to the first one counts.
    """
    originals = [image for image in first.get("images", ()) if not _is_copy(image)]
    if second is None:
        told = {image["name"]: site for image in originals for site in image.get("peer_sites", ())}
    else:
        told = {image["name"]: image for image in second.get("images", ())}
    return [_copy(image["name"], told.get(image["name"], {})) for image in originals]


def _is_copy(image: Mapping[str, Any]) -> bool:
    """Return whether this cluster has the copy: its own daemon then replays the image."""
    return image.get("state", "").startswith("up+") and "primary" not in image.get("description", "").partition("{")[0]


def _copy(name: str, told: Mapping[str, Any]) -> Copy:
    facts = _facts(told.get("description", ""))
    state = told.get("state", "").rpartition("+")[2] or "unknown"
    return Copy(
        name,
        state,
        facts.get("entries_behind_primary"),
        facts.get("local_snapshot_timestamp"),
        by_snapshot="remote_snapshot_timestamp" in facts,
    )


def _facts(description: str) -> dict[str, Any]:
    """Return the figures in a daemon's description of an image, which has a word before them."""
    brace = description.find("{")
    try:
        return json.JSONDecoder().raw_decode(description[brace:])[0] if brace >= 0 else {}
    except json.JSONDecodeError:
        return {}


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
    found = re.fullmatch(r"(\d+)([a-z]?)", text)
    return float(found[1]) * _UNIT_SECONDS.get(found[2] or "m", 60) if found else 0.0


# Rows -----------------------------------------------------------------------------------------------------------------


def clock_text(seconds: float) -> str:
    """Return an age: `0:12`, `11:05`, `2:03:11`."""
    whole = max(0, round(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def mirroring_rows(seen: Seen, now: float) -> list[Row]:
    """Return the rows of all mirrored pools."""
    first, second, rows = seen.first, seen.second, []
    for name in mirrored_pools(first):
        pool = first.of_images[name]
        if pool.status is None:
            rows.append(Row(name, f"{first.client} may not read how its images are mirrored"))
            continue
        copies = copies_in(first.of_images, second.of_images if second else {}, name)
        earlier = {copy.image: copy for copy in copies_in(*seen.earlier, name)}
        rows += [*_of_pool(pool, copies, first.schedules, earlier, now), *_loss(copies, now)]
    return rows


def copies_in(first: Mapping[str, PoolAnswers], second: Mapping[str, PoolAnswers], pool: str) -> list[Copy]:
    """Return the copies of a pool's images."""
    there = second.get(pool)
    return copies_of(first[pool].status or {}, there.status if there else None)


def _of_pool(
    pool: PoolAnswers,
    copies: Sequence[Copy],
    schedules: Sequence[Mapping[str, Any]],
    earlier: Mapping[str, Copy],
    now: float,
) -> list[Row]:
    """Return a pool's rows: its copies by how they are mirrored and by which schedule, and those that stand out."""
    groups: dict[tuple[str, str], list[Copy]] = {}
    for copy in copies:
        found = schedule_of(schedules, pool.name, copy.image) if copy.how == "snapshot" else None
        schedule = f"every {found[0]} ({found[1]})" if found else "no schedule" if copy.how == "snapshot" else ""
        groups.setdefault((copy.how, schedule), []).append(copy)
    table, out = [], []
    for (how, schedule), members in sorted(groups.items()):
        table.append([str(len(members)), how, schedule, _held(members, now)])
        out.append(how not in ("snapshot", "journal") or all(member.state != REPLAYING for member in members))
    if pool.images is not None and (others := len(pool.images) - len(copies)) > 0:
        table.append([str(others), "not mirrored", "", ""])
        out.append(False)
    lines = columns(table, right=(0,))
    rows = [Row("" if number else pool.name, line, stands_out=out[number]) for number, line in enumerate(lines)]
    rows += [Row("", text, stands_out=True) for text in _remarks(pool.name, copies, schedules, earlier, now)]
    return rows or [Row(pool.name, "no image is mirrored")]


def _held(members: Sequence[Copy], now: float) -> str:
    ages = sorted(now - copy.taken_at for copy in members if copy.taken_at is not None)
    if ages:
        span = clock_text(ages[-1]) if len(ages) == 1 else f"{clock_text(ages[0])} to {clock_text(ages[-1])}"
        return f"the copy is {span} old"
    if entries := [copy.entries_behind for copy in members if copy.entries_behind is not None]:
        return f"at most {max(entries):,} entries behind"
    names = ", ".join(copy.image for copy in members[:_SHOWN_NAMES])
    return f"no figure: {names}{', …' if len(members) > _SHOWN_NAMES else ''}"


def _remarks(
    pool: str,
    copies: Sequence[Copy],
    schedules: Sequence[Mapping[str, Any]],
    earlier: Mapping[str, Copy],
    now: float,
) -> list[str]:
    """Return what somebody should look at: copies older than two intervals, and journals that fall behind."""
    said = []
    for copy in copies:
        if copy.taken_at is not None and (found := schedule_of(schedules, pool, copy.image)):
            age = now - copy.taken_at
            if age > 2 * interval_seconds(found[0]) > 0:
                said.append(
                    f"{pool}/{copy.image}: its copy is {clock_text(age)} old, more than two intervals of {found[0]}: "
                    "copying takes longer than that, or has stopped"
                )
        before = earlier.get(copy.image)
        if copy.entries_behind and before is not None and before.entries_behind:
            more = copy.entries_behind - before.entries_behind
            if more >= 0:
                grown = f"{more:,} more than" if more else "as many as"
                said.append(f"{pool}/{copy.image}: {copy.entries_behind:,} entries behind, {grown} at the first look")
    return said


def _loss(copies: Sequence[Copy], now: float) -> list[Row]:
    """Return what would be lost if the first cluster were lost at this moment; nothing where that is not known."""
    said = []
    if ages := [now - copy.taken_at for copy in copies if copy.taken_at is not None]:
        said.append(f"up to {clock_text(max(ages))} of writes by snapshots")
    if entries := [copy.entries_behind for copy in copies if copy.entries_behind is not None]:
        text = f"up to {max(entries):,} entries of a journal; how many seconds those are, a measurement would tell"
        said.append(text if max(entries) else "nothing of a journal, as of its last report")
    return [Row("", f"lost if the first cluster were lost now: {' and '.join(said)}")] if said else []
