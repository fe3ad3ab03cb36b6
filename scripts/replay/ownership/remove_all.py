"""Removes several entries of a ledger, and refuses to go on while one of them is left."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from replay.base.errors import ReplayError
from replay.base.invocation import replay_command
from replay.cluster.site import Site
from replay.ownership.ledger import Entry
from replay.ownership.open_site import OpenSite
from replay.ownership.removal import Outcome, Remover


def remove_all(
    bench: OpenSite, entries: Iterable[Entry], what: str, where: Callable[[Entry], str], advice: str = ""
) -> int:
    """Remove entries of the first cluster's ledger; return how many there were.

    Raises ReplayError about the first one that is left, after trying all of them: see `refuse_left`.
    """
    session = bench.session
    remover = Remover(bench.site, session.cluster, session, bench.ledger, None, bench.say, waiting=bench.waiting)
    outcomes = [remover.remove(one) for one in entries]
    refuse_left(bench.site, [one for one in outcomes if one is not None], what, where, advice)
    return len(outcomes)


def refuse_left(
    site: Site, outcomes: Iterable[Outcome], what: str, where: Callable[[Entry], str], advice: str = ""
) -> None:
    """Raise ReplayError if any entry is left: `what` says what could not be done, `where` names the first entry.

    `advice` says what to do before `replay clean`; without it, the message says that they are still in the ledger.
    """
    left = [one for one in outcomes if one.status == "left"]
    if left:
        raise ReplayError(
            f"{len(left)} {what}: {left[0].why}",
            where=where(left[0].entry),
            next_step=f"{advice or 'they are still in the ledger; run'}: "
            f"{replay_command('clean', '--site', site.name)}",
        )
