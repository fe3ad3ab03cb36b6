"""The input of claims: the rows of one experiment's tidy.csv that charts use, and what they state. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from replay.claims.model import Claim, Finding, Selector
from replay.derive.facts import FACTS, FactType

#: A placeholder for a column of tidy.csv in what a condition says.
PLACEHOLDER = re.compile(r"\{([a-z0-9_]+)\}")

Row = Mapping[str, Any]


class Table:
    """The used rows of one experiment's tidy.csv, found by block, variant and levels.

    A row also holds its cell's facts under `facts`, as numbers and words. `registered` holds what the blocks' receipts
    say.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        factors: Sequence[str],
        registered: Registered | None = None,
    ) -> None:
        self.factors = tuple(factors)
        self.registered: Registered = registered or {}
        self.rows: dict[tuple, Row] = {
            self._key(row["block"], row["variant"], row): {**row, "facts": _facts(row)}
            for row in rows
            if str(row["used"]) == "1"
        }

    def _key(self, block: Any, variant: str, levels: Mapping[str, Any]) -> tuple:
        return (int(block), variant, *(_text(levels[factor]) for factor in self.factors))

    @property
    def blocks(self) -> list[int]:
        """The blocks that have rows, in order."""
        return sorted({key[0] for key in self.rows})

    def find(self, block: int, selector: Selector) -> list[Row] | None:
        """Return a block's rows for the selector, one for each point, or None if one is missing."""
        found = [self.rows.get(self._key(block, selector.variant, point)) for point in selector.points()]
        return None if any(row is None for row in found) else found


def _facts(row: Row) -> dict[str, float | str]:
    """Return the facts in a row. An unknown one, which is empty or not a word of the vocabulary, is left out."""
    found: dict[str, float | str] = {}
    for name in FACTS.keys() & row.keys():
        text, fact = row[name], FACTS[name]
        if fact.type is FactType.WORD and text in fact.words:
            found[name] = text
        elif fact.type is not FactType.WORD and text not in (None, ""):
            found[name] = float(text)
    return found


def _text(level: Any) -> str:
    """Return a level as tidy.csv writes it, so that 4096 and "4096" are the same."""
    return f"{level:g}" if isinstance(level, float) else str(level)


def filled(says: str, rows: Sequence[Row]) -> str:
    """Return `says` with the values of the rows for the columns it names, or "?" if they have none."""

    def stated(match: re.Match[str]) -> str:
        values = dict.fromkeys(str(row[match[1]]) for row in rows if row.get(match[1]) not in (None, ""))
        return " or ".join(values) or "?"

    return PLACEHOLDER.sub(stated, says)


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
