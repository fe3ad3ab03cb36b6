"""The page of `replay look`: what was seen, section by section, and what could be measured. Pure."""

from __future__ import annotations

from replay.cluster.site import Site
from replay.design.sizing import PoolCopies
from replay.ownership.daemon_settings import POLL_AGE
from replay.preflight.look import clusters, offer
from replay.preflight.look.asking import REPLICATED, Answers, mirror_daemons, mirrored_pools
from replay.preflight.look.copies import mirroring_rows
from replay.preflight.look.layout import Row, Section
from replay.preflight.look.looking import FIRST, SECOND, Seen

#: The pool that a site's file names.
POOL = "replay"


def page(site: Site, seen: Seen, possible: offer.Offer, *, now: float) -> list[Section]:
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
    sections.append(offer.section(possible, copies, pool, f"osd.{slow[0]}" if slow else ""))
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
    rows = mirroring_rows(seen.first, seen.second, earlier=seen.earlier, now=now)
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
