"""What a run on the kernel's client leaves on this machine when it ends early: mounts and mappings, undone in order."""

from __future__ import annotations

from replay.ownership.open_site import OpenSite
from replay.ownership.remove_all import remove_all
from replay.ownership.this_machine import KINDS


def remove_leftover_mounts(bench: OpenSite) -> int:
    """Unmount and unmap what the ledger holds of this site: every mount before any mapping.

    Returns how many there were. Raises ReplayError naming one that is left. It stays in the ledger, and so does a
    mapping whose mount is left.
    """
    mine = [one for one in bench.ledger.owned() if one.kind in KINDS and one.site == bench.site.name]
    return remove_all(
        bench,
        sorted(mine, key=lambda one: KINDS.index(one.kind)),
        "mount(s) or mapping(s) could not be undone",
        lambda entry: f"{entry.kind} {entry.spec}",
        "end the program that uses it, then run",
    )
