"""What a run on the kernel's client leaves on this machine when it ends early: mounts and mappings, undone in order."""

from __future__ import annotations

from replay.base.errors import ReplayError
from replay.base.invocation import replay_command
from replay.owned.kernel_client import KINDS
from replay.owned.open_site import OpenSite
from replay.owned.removal import Remover


def remove_leftover_mounts(bench: OpenSite) -> int:
    """Unmount and unmap what the ledger holds of this site: every mount before any mapping.

    Returns how many there were. Raises ReplayError naming one that is left; it stays in the ledger, and a mapping whose
    mount is left with it.
    """
    remover = Remover(bench.site, bench.session.cluster, bench.session, bench.ledger, None, bench.say)
    mine = [one for one in bench.ledger.owned() if one.kind in KINDS and one.site == bench.site.name]
    outcomes = [remover.remove(one) for one in sorted(mine, key=lambda one: KINDS.index(one.kind))]
    left = [one for one in outcomes if one is not None and one.status == "left"]
    if left:
        raise ReplayError(
            f"{len(left)} mount(s) or mapping(s) could not be undone: {left[0].why}",
            where=f"{left[0].entry.kind} {left[0].entry.spec}",
            next_step=f"end the program that uses it, then run: {replay_command('clean', '--site', bench.site.name)}",
        )
    return len(outcomes)
