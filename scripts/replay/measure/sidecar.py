"""What of a cell goes into evidence: its sidecar, and its output without what names the site.

docs/data-formats.md lists the sidecar's keys. Protocols put placeholders into what they build themselves, but a tool
may repeat its configuration, as fio does in its report, or complain about a file. Raw output is meant to be shared, so
all of it is searched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from replay.cluster.session import MonitorSession
from replay.design.design import Cell, Design
from replay.evidence.record import (
    BOTTLENECK_RULE,
    HOSTS_BOTTLENECK_RULE,
    Measured,
    Wait,
    bottleneck_here,
    bottleneck_of_hosts,
    host,
    measuring_code,
)


def sidecar_of(
    design: Design,
    cell: Cell,
    measured: Measured,
    waits: list[Wait],
    health: dict[str, Any],
    *,
    versions: dict[str, Any],
    daemons_are_here: bool,
    block: int,
    **identity: int,
) -> dict[str, Any]:
    """Return a cell's sidecar. `identity` holds its attempt, set_index, position and seed."""
    return {
        "schema_version": 1,
        "experiment": design.name,
        "block": block,
        **identity,
        "point": cell.point,
        "variant": cell.variant.name,
        "label": cell.variant.label,
        "cell_id": cell.cell_id,
        "levels": dict(cell.levels),
        "protocol": design.configuration["protocol"],
        "tool": design.configuration["tool"],
        "argv": measured.argv,
        "files": {role: f"{cell.variant.name}.{suffix}" for role, (suffix, _) in measured.results.items()},
        "exit_status": measured.exit_status,
        "started_at": measured.started_at,
        "ended_at": measured.ended_at,
        "tool_seconds": round(measured.tool_seconds, 4),
        "valid": measured.invalid is None,
        "invalid": (
            None if measured.invalid is None else dict(zip(("reason", "detail"), measured.invalid, strict=True))
        ),
        "versions": versions,
        **measuring_code(),
        "host": host(),
        "health": health,
        "load": measured.load,
        **_bottleneck(measured, daemons_are_here),
        "waits": [wait.public() for wait in waits],
        "samples": measured.samples,
        "facts": measured.facts,
    }


def _bottleneck(measured: Measured, daemons_are_here: bool) -> dict[str, str]:
    """Return a cell's bottleneck, and the rule that names it: the one for the site's hosts, if they were observed."""
    if (seen := measured.samples.get("prometheus")) is not None:
        return {"limiter": bottleneck_of_hosts(seen), "limiter_rule": HOSTS_BOTTLENECK_RULE}
    resource = bottleneck_here(measured.load, daemons_are_here=daemons_are_here)
    return {"limiter": resource, "limiter_rule": BOTTLENECK_RULE}


def placeholders_of(session: MonitorSession, secondary: MonitorSession | None) -> dict[str, str]:
    """Return the words that name a site's clusters, each with its placeholder. Longer words come first."""
    words: dict[str, str] = {}
    # The second cluster comes first, so that a client of both gets the first one's placeholder.
    for each, prefix in ((secondary, "second_"), (session, "")):
        if each is None:
            continue
        cluster = each.cluster
        words[cluster.client] = f"{{{prefix}client}}"
        words[str(cluster.conf)] = f"{{{prefix}conf}}"
        words[each.fsid()] = f"{{{prefix}fsid}}"
        if cluster.keyring is not None:
            words[str(cluster.keyring)] = f"{{{prefix}keyring}}"
    return dict(sorted(words.items(), key=lambda pair: -len(pair[0])))


def redact(text: str, words: Mapping[str, str]) -> str:
    """Return a text with placeholders for the words, except where a word is part of a longer one."""
    if not words:
        return text
    either = "|".join(map(re.escape, words))
    return re.sub(rf"(?<![\w/.-])(?:{either})(?![\w-])", lambda found: words[found[0]], text)


def redact_cell(measured: Measured, words: Mapping[str, str]) -> None:
    """Redact the words in a cell's result files and in the detail of its invalidity."""
    for role, (suffix, content) in measured.results.items():
        if any(word.encode() in content for word in words):
            # Bytes that are not text pass unchanged.
            text = content.decode(errors="surrogateescape")
            measured.results[role] = (suffix, redact(text, words).encode(errors="surrogateescape"))
    if measured.invalid is not None:
        reason, detail = measured.invalid
        measured.invalid = (reason, redact(detail, words))
