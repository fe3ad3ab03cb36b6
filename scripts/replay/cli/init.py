"""`replay init`: creates a project that is ready to measure, from the files that come with the program."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from replay.base.errors import ConfigurationError
from replay.base.invocation import from_elsewhere
from replay.base.paths import program_file


def run(options: argparse.Namespace) -> int:
    """Write the project's files and print the next steps; return 0. Raises ConfigurationError if one already exists."""
    folder = Path(options.directory)
    for path in write_project(folder):
        print(f"wrote {folder / path}")
    site = folder / "config" / "sites" / "example.yaml"
    move = [] if folder.resolve() == Path.cwd() else [shlex.join(["cd", options.directory])]
    steps = [
        *move,
        f"{from_elsewhere('sandbox', 'up')}    (two small clusters of your own)",
        from_elsewhere("measure", "--site", "sandbox"),
    ]
    print("\nnext: " + "\n      ".join(steps))
    print(f"\nFor a cluster of your own, copy {site}, edit it, then: {from_elsewhere('preflight', '--site', 'NAME')}")
    return 0


def write_project(folder: Path) -> list[Path]:
    """Write first sites and a first experiment into `folder`; return their paths relative to it.

    Raises ConfigurationError, and writes nothing, if some of the files exist already. Also raises ConfigurationError if
    a folder or file cannot be created.
    """
    templates = program_file("templates")
    wanted = sorted(path.relative_to(templates) for path in templates.rglob("*.yaml"))
    if there := [path for path in wanted if os.path.lexists(folder / path)]:
        raise ConfigurationError(
            f"nothing was written, because that would overwrite {', '.join(map(str, there))}",
            where=folder,
            next_step="choose another folder, or move these files away first",
        )
    for path in wanted:
        target = folder / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                file.write((templates / path).read_bytes())
        except OSError as error:
            raise ConfigurationError(
                f"cannot be written: {error.strerror}", where=target, next_step="choose a folder that you can write to"
            ) from error
    return wanted
