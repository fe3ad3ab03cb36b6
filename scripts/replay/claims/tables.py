"""The input of claims: the rows of an experiment's tidy.csv that charts use, and what its blocks registered."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.claims.model import Selector
from replay.derive.facts import FACTS, FactType
from replay.derive.part import REGISTERED_FILE

#: A placeholder for a column of tidy.csv in what a condition says.
PLACEHOLDER = re.compile(r"\{([a-z0-9_]+)\}")

Row = Mapping[str, Any]
#: For each block, what each of its receipts registered: digests by the claim's id.
Registered = Mapping[int, Sequence[Mapping[str, str]]]


class Table:
    """The used rows of one experiment's tidy.csv, by block, variant and levels.

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
        rows = [self.rows.get(self._key(block, selector.variant, point)) for point in selector.points()]
        return None if any(row is None for row in rows) else rows


def read_table(experiment: Path, factors: Sequence[str]) -> Table | None:
    """Read an experiment's tidy.csv, and the claims that its blocks registered.

    Returns None if the experiment was not measured. Without registered.csv, the table has no registered claims.
    """
    if not (experiment / "tidy.csv").exists():
        return None
    return Table(_rows(experiment / "tidy.csv"), factors, registered_in(_rows(experiment / REGISTERED_FILE)))


def registered_in(rows: Iterable[Mapping[str, str]]) -> Registered:
    """Return what the rows of registered.csv say: for each block, one mapping per receipt."""
    receipts: dict[tuple[int, str, str], dict[str, str]] = {}
    for row in rows:
        claims = receipts.setdefault((int(row["block"]), row["plan"], row["ended_at"]), {})
        if row["claim"]:
            claims[row["claim"]] = row["digest"]
    registered: dict[int, list[Mapping[str, str]]] = {}
    for (block, *_), claims in receipts.items():
        registered.setdefault(block, []).append(claims)
    return registered


def filled(says: str, rows: Sequence[Row]) -> str:
    """Return `says` with the values of the rows for the columns it names, or "?" if they have none."""

    def stated(match: re.Match[str]) -> str:
        values = dict.fromkeys(str(row[match[1]]) for row in rows if row.get(match[1]) not in (None, ""))
        return " or ".join(values) or "?"

    return PLACEHOLDER.sub(stated, says)


def _facts(row: Row) -> dict[str, float | str]:
    """Return the facts in a row. An unknown one, which is empty or not a word of the vocabulary, is left out."""
    facts: dict[str, float | str] = {}
    for name in FACTS.keys() & row.keys():
        text, fact = row[name], FACTS[name]
        if fact.type is FactType.WORD and text in fact.words:
            facts[name] = text
        elif fact.type is not FactType.WORD and text not in (None, ""):
            facts[name] = float(text)
    return facts


def _text(level: Any) -> str:
    """Return a level as tidy.csv writes it, so that 4096 and "4096" are the same."""
    return f"{level:g}" if isinstance(level, float) else str(level)


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        return []
