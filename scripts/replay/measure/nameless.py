"""Takes out of a cell's record what names a site: its clients, the paths of its files, its clusters' fsids.

Procedures put placeholders into what they build themselves. But a tool may repeat its configuration, as fio's report
does, or complain about a file. Raw output is to be shared, so this looks through all of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from replay.cluster.session import MonitorSession
from replay.raw.record import Measured


def words_of(session: MonitorSession, secondary: MonitorSession | None) -> dict[str, str]:
    """Return what names a site's clusters, with the placeholder that takes its place. Longer words come first."""
    words: dict[str, str] = {}
    # The second one first: where both have the same client, it is the first one's.
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
    """Return a text without the words; those that are a part of a longer word stay."""
    if not words:
        return text
    either = "|".join(map(re.escape, words))
    return re.sub(rf"(?<![\w/.-])(?:{either})(?![\w-])", lambda found: words[found[0]], text)


def make_nameless(measured: Measured, words: Mapping[str, str]) -> None:
    """Hide the words in a cell's files and in its reason of invalidity."""
    for role, (suffix, content) in measured.results.items():
        if any(word.encode() in content for word in words):
            # Bytes that are no text pass unchanged.
            text = content.decode(errors="surrogateescape")
            measured.results[role] = (suffix, hide(text, words).encode(errors="surrogateescape"))
    if measured.invalid is not None:
        reason, detail = measured.invalid
        measured.invalid = (reason, hide(detail, words))
