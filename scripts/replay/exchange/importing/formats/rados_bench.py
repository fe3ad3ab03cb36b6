"""Output of `rados bench`, as text or as JSON. Neither says whether reads were sequential; a folder's name may.

CBT writes its own summary beside the text, with units named as in old releases; it is left out.
"""

from __future__ import annotations

import json
import re

from replay.exchange.importing.found import Found, Level, NotTaken
from replay.tools.base import number

FAMILY = "rados-bench"
_MAINTAINING = re.compile(
    r"^ *Maintaining (?P<threads>\d{1,9}) concurrent (?P<kind>write|read)s of (?P<size>\d{1,15}) bytes"
    r"(?: to objects of size (?P<object>\d{1,15}))?",
    re.ASCII | re.MULTILINE,
)
_TITLES = re.compile(r"^ *sec +Cur ops +started +finished", re.MULTILINE)
_BEGIN = re.compile(r"^(?:hints = 1| *Maintaining \d| *sec +Cur ops)", re.MULTILINE)
_TOTAL = re.compile(r"^ *Total (?P<kind>write|read)s made: +\d", re.MULTILINE)
_SIZE = re.compile(r"^ *(?P<what>Read|Write|Object) size: +(?P<size>\d{1,15}) *$", re.ASCII | re.MULTILINE)
_END = re.compile(r"^ *Min latency.*\n", re.MULTILINE)
_JSON = re.compile(r'"total_(?P<kind>write|read)s_made"')
_OF_CBT = re.compile(r'^\s*\{\s*"[^"\n]+": "', re.ASCII)


def knows(text: str) -> bool:
    """Return whether a text is output of `rados bench`, or CBT's summary of one."""
    return bool(_TITLES.search(text) or _JSON.search(text) or is_summary_of_cbt(text))


def is_summary_of_cbt(text: str) -> bool:
    """Return whether a text is CBT's summary: an object of texts."""
    return '"Total time run' in text and _OF_CBT.match(text) is not None


def read(text: str) -> list[Found | NotTaken]:
    """Return the run of a text."""
    if is_summary_of_cbt(text):
        return [NotTaken("CBT's own summary of an output of rados bench: the output beside it counts")]
    return [_of_text(text) if _TITLES.search(text) else _of_json(text)]


def _of_text(text: str) -> Found | NotTaken:
    if len(_TOTAL.findall(text)) > 1:
        return NotTaken("the output of several runs in one file")
    begin, total, end = _BEGIN.search(text), _TOTAL.search(text), _END.search(text)
    if begin is None or total is None or end is None:
        return NotTaken("a run without a summary: it was cut off")
    sizes = {match["what"]: int(match["size"]) for match in _SIZE.finditer(text)}
    size = sizes.get("Object", sizes.get(total["kind"].title()))
    if size is None:
        return NotTaken("its summary does not say how large the objects are")
    levels: dict[str, Level] = {"mode": total["kind"], "object_size_bytes": size}
    if started := _MAINTAINING.search(text):
        levels["threads"] = int(started["threads"])
    if (operation := sizes.get(total["kind"].title(), size)) != size:
        levels["io_size_bytes"] = operation
    return Found("rados_bench_output", ((begin.start(), end.end()),), levels)


def _of_json(text: str) -> Found | NotTaken:
    start = text.find("{")
    try:
        report, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        return NotTaken(f"not whole JSON: {error}"[:160])
    kinds = [kind for kind in ("write", "read") if isinstance(report, dict) and f"total_{kind}s_made" in report]
    if len(kinds) != 1:
        return NotTaken("no total of reads or writes made")
    operation = _whole(report.get(f"{kinds[0]}_size"))
    size = _whole(report.get("object_size", report.get(f"{kinds[0]}_size")))
    if size is None:
        return NotTaken("it does not say how large the objects are")
    levels: dict[str, Level] = {"mode": kinds[0], "object_size_bytes": size}
    if (threads := _whole(report.get("concurrent_ios"))) is not None:
        levels["threads"] = threads
    if operation is not None and operation != size:
        levels["io_size_bytes"] = operation
    return Found("rados_bench_output", ((start, end),), levels)


def _whole(value: object) -> int | None:
    """Return a whole number, which `rados bench` writes as text."""
    found = number(value)
    return int(found) if found is not None and found == int(found) and found > 0 else None
