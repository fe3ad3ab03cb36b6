"""`replay init`: creates a project that is ready to measure, from the files that come with the program."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from replay.base.invocation import from_elsewhere
from replay.base.paths import program_file
from replay.cli.templates import write_new


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
    print(f"For a question of your own: {from_elsewhere('new', 'experiment', 'NAME')}")
    return 0


def write_project(folder: Path) -> list[Path]:
    """Write first sites and a first experiment into `folder`; return their paths relative to it.

    Raises ConfigurationError, and writes nothing, if some of the files exist already. Also raises ConfigurationError if
    a folder or file cannot be created.
    """
    templates = program_file("templates")
    files = sorted((templates / "config").rglob("*.yaml"))
    wanted = {path.relative_to(templates): path.read_text(encoding="utf-8") for path in files}
    write_new(folder, wanted)
    return [*wanted]
