"""registered.csv: which claims each block's receipts registered, with their digests (`design.registration`). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from replay.base.tables import csv_text

COLUMNS = ("block", "plan", "ended_at", "claim", "digest")


def registered_csv(receipts: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of registered.csv: one row per receipt and claim; a receipt without claims has one as well.

    Empty if no receipt registered a claim. The experiment has no such file then.
    """
    receipts = list(receipts)
    if not any(one.get("claims") for one in receipts):
        return ""
    rows = sorted(
        (
            (one["block"], one["plan"], str(one.get("ended_at") or ""), claim, digest)
            for one in receipts
            for claim, digest in (one.get("claims") or {"": ""}).items()
        ),
    )
    return csv_text([COLUMNS, *((str(block), *rest) for block, *rest in rows)])
