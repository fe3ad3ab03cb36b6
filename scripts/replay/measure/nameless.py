"""Removes from a cell's record what names a site: its clients, the paths of its files, its clusters' fsids.

Protocols put placeholders into what they build themselves, but a tool may repeat its configuration, as fio does in its
report, or complain about a file. Raw output is meant to be shared, so this module looks through all of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from replay.cluster.session import MonitorSession
from replay.evidence.record import Measured


def words_of(session: MonitorSession, secondary: MonitorSession | None) -> dict[str, str]:
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


def hide(text: str, words: Mapping[str, str]) -> str:
    """Return a text with placeholders for the words, except where a word is part of a longer one."""
    if not words:
        return text
    either = "|".join(map(re.escape, words))
    return re.sub(rf"(?<![\w/.-])(?:{either})(?![\w-])", lambda found: words[found[0]], text)


def make_nameless(measured: Measured, words: Mapping[str, str]) -> None:
    """Hide the words in a cell's result files and in the detail of its invalidity."""
    for role, (suffix, content) in measured.results.items():
        if any(word.encode() in content for word in words):
            # Bytes that are not text pass unchanged.
            text = content.decode(errors="surrogateescape")
            measured.results[role] = (suffix, hide(text, words).encode(errors="surrogateescape"))
    if measured.invalid is not None:
        reason, detail = measured.invalid
        measured.invalid = (reason, hide(detail, words))
