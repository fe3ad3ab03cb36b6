"""The findings of a preflight: one fact a line, its severity, and the commands that fix it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from replay.cluster.admin_commands import AdminCommand
from replay.cluster.pools import Room
from replay.design.sizing import PoolCopies

#: `ok` and `note` need no action, a `warning` deserves a thought. `skip` removes a capability, `refused` stops a run.
LEVELS = ("ok", "note", "warning", "skip", "refused")


@dataclass(frozen=True)
class SiteFinding:
    """A fact about a site. `word` is the word of `requires` that a `skip` removes."""

    topic: str
    level: str
    text: str
    commands: tuple[AdminCommand, ...] = ()
    word: str | None = None

    def public(self) -> dict[str, Any]:
        """Return it for `--json`."""
        commands = [command.text for command in self.commands]
        return {"topic": self.topic, "level": self.level, "text": self.text, "commands": commands} | (
            {"word": self.word} if self.word else {}
        )


@dataclass
class Findings:
    """The facts so far, in the order they were found."""

    items: list[SiteFinding] = field(default_factory=list)
    #: The copies that the site's pools keep, three until they are known.
    copies: PoolCopies = field(default_factory=PoolCopies)
    #: The room in the pool that takes what clients write, if known.
    room: Room | None = None
    #: The fsid of the cluster that is measured, if known.
    fsid: str | None = None
    #: The number of OSDs of the cluster that is measured, if known.
    osds: int | None = None

    def add(
        self,
        topic: str,
        level: str,
        text: str,
        *,
        commands: Iterable[AdminCommand] = (),
        word: str | None = None,
    ) -> None:
        """Add one fact."""
        self.items.append(SiteFinding(topic, level, text, tuple(commands), word))

    @property
    def refused(self) -> bool:
        """Whether measuring would be refused."""
        return any(item.level == "refused" for item in self.items)

    def lacking(self) -> dict[str, str]:
        """Return word to reason for each capability that the live cluster lacks."""
        return {item.word: item.text for item in reversed(self.items) if item.level == "skip" and item.word}

    def unsolved(self) -> list[SiteFinding]:
        """Return what keeps a run from starting and has no command that changes it."""
        return [item for item in self.items if item.level == "refused" and not item.commands]

    def commands(self) -> list[AdminCommand]:
        """Return every command once, in the order in which they are run."""
        return list(dict.fromkeys(command for item in self.items for command in item.commands))
