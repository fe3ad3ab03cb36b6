"""How far the copies of mirrored images are behind, from what the mirror daemons say of them. Pure.

A daemon reports every half minute. It tells of a snapshot when it was taken, and of a journal how many entries are not
replayed yet, but not how many seconds of writes those are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay.preflight.look.asking import Answers, PoolAnswers, mirrored_pools
from replay.preflight.look.layout import Row, columns

REPLAYING = "replaying"
_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SHOWN_NAMES = 3


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


@dataclass(frozen=True)
class Lag:
    """A pool's rows, the age of its oldest copy in seconds, and the most entries behind; None where not known."""

    rows: list[Row]
    seconds: float | None = None
    entries: int | None = None


def mirroring_rows(
    first: Answers, second: Answers | None, *, earlier: Mapping[str, Mapping[str, Copy]], now: float
) -> list[Row]:
    """Return the rows of all mirrored pools. `earlier` has the copies of each pool as they were some time before."""
    rows = []
    for name in mirrored_pools(first):
        pool = first.of_images[name]
        if pool.status is None:
            rows.append(Row(name, f"{first.client} may not read how its images are mirrored"))
            continue
        lag = lag_of(pool, copies_in(first, second, name), first.schedules, earlier.get(name, {}), now)
        rows += lag.rows
        if (loss := _loss(name, lag)) is not None:
            rows.append(loss)
    return rows


def copies_in(first: Answers, second: Answers | None, pool: str) -> list[Copy]:
    """Return the copies of a pool's images."""
    there = second.of_images.get(pool) if second else None
    return copies_of(first.of_images[pool].status or {}, there.status if there else None)


def lag_of(
    pool: PoolAnswers,
    copies: Sequence[Copy],
    schedules: Iterable[Mapping[str, Any]],
    earlier: Mapping[str, Copy],
    now: float,
) -> Lag:
    """Return a pool's rows: its copies by how they are mirrored and by which schedule, and those that stand out."""
    schedules = list(schedules)
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
    ages = [now - copy.taken_at for copy in copies if copy.taken_at is not None]
    entries = [copy.entries_behind for copy in copies if copy.entries_behind is not None]
    return Lag(rows or [Row(pool.name, "no image is mirrored")], max(ages, default=None), max(entries, default=None))


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


def _loss(pool: str, lag: Lag) -> Row | None:
    """Return what would be lost if the first cluster were lost at this moment."""
    said = []
    if lag.seconds is not None:
        said.append(f"up to {clock_text(lag.seconds)} of writes by snapshots")
    if lag.entries == 0:
        said.append("nothing of a journal, as of its last report")
    elif lag.entries is not None:
        said.append(f"up to {lag.entries:,} entries of a journal; how many seconds those are, a measurement would tell")
    return Row("", f"lost if the first cluster were lost now: {' and '.join(said)}") if said else None
