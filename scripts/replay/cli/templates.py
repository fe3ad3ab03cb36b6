"""What `replay init` and `replay new` share: the templates that come with the program, and writing only new files."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.base.invocation import replay_command
from replay.base.paths import program_file

#: The data set that examples are measured into.
TRIAL = "trial"


@dataclass(frozen=True)
class Made:
    """What `new` writes: new files by their paths, and existing ones that grow; and what to do next, in order."""

    texts: Mapping[Path, str]
    steps: list[str]
    grown: Mapping[Path, str] = field(default_factory=dict)


def template(name: str, words: Mapping[str, str]) -> str:
    """Return a template of `new` with its words replaced."""
    text = program_file("templates", "new", name).read_text(encoding="utf-8")
    return re.sub("|".join(map(re.escape, words)), lambda found: words[found[0]], text)


def measuring(experiment: str, data_set: str = TRIAL) -> list[str]:
    """Return the commands that measure an experiment for the first time."""
    to_measure = ("--site", "sandbox", "--experiment", experiment, "--scale", "smoke", "--data", data_set)
    return [replay_command("sandbox", "up"), replay_command("measure", *to_measure)]


def write_new(folder: Path, texts: Mapping[Path, str]) -> None:
    """Write files that do not exist yet, by their paths in `folder`, or by absolute ones.

    Raises ConfigurationError, and writes nothing, if one exists; also if a folder or file cannot be created.
    """
    if there := [path for path in texts if os.path.lexists(folder / path)]:
        raise ConfigurationError(
            f"nothing was written, because that would overwrite {', '.join(map(str, there))}",
            where=folder,
            next_step="choose another folder or name, or move these files away first",
        )
    for path, text in texts.items():
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("x", encoding="utf-8", newline="") as file:
                file.write(text)
        except OSError as error:
            raise ConfigurationError(
                f"cannot be written: {error.strerror}", where=target, next_step="choose a folder that you can write to"
            ) from error
