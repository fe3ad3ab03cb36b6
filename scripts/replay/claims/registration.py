"""Finds out whether a claim was registered, as it stands, before the blocks that test it were measured. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from replay.claims.model import Claim, Finding

#: For each block, what each of its receipts registered: digests by the claim's id.
Registered = Mapping[int, Sequence[Mapping[str, str]]]


def registered_in(rows: Iterable[Mapping[str, str]]) -> Registered:
    """Return what the rows of registered.csv say: for each block, one mapping per receipt."""
    receipts: dict[tuple[int, str, str], dict[str, str]] = {}
    for row in rows:
        claims = receipts.setdefault((int(row["block"]), row["plan"], row["ended_at"]), {})
        if row["claim"]:
            claims[row["claim"]] = row["digest"]
    found: dict[int, list[Mapping[str, str]]] = {}
    for (block, *_), claims in receipts.items():
        found.setdefault(block, []).append(claims)
    return found


def exploratory(claim: Claim, findings: Iterable[Finding], registered: Registered) -> str:
    """Return why a claim is exploratory, so not registered as it stands by all of its blocks; "" if it is registered.

    A claim without data is not exploratory.
    """
    blocks = sorted({block for found in findings for block in found.blocks})
    digests = {block: [one.get(claim.id) for one in registered.get(block, ())] for block in blocks}
    lacking = [block for block, found in digests.items() if not found or None in found]
    changed = [block for block, found in digests.items() if any(one not in (None, claim.digest) for one in found)]
    said = []
    if changed:
        said.append(f"it was changed after {_blocks(changed, blocks)} had been measured")
    if lacking:
        said.append(f"{_blocks(lacking, blocks)} had been measured before it was registered")
    return "; ".join(said)


def _blocks(some: Sequence[int], every: Sequence[int]) -> str:
    if len(some) == len(every):
        return "every block" if len(every) > 1 else "its only block"
    return f"block {some[0]}" if len(some) == 1 else f"{len(some)} of {len(every)} blocks"
