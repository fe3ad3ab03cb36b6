"""The input of claims: the rows of one experiment's tidy.csv that charts use, and what they state. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from replay.claims.model import Selector
from replay.claims.registration import Registered
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
