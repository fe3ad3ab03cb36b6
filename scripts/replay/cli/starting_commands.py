"""The commands that write files to start from, init and new; they overwrite nothing.

Standard library only: `replay init` works before anything is installed.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from replay.base.errors import ConfigurationError
from replay.base.paths import from_elsewhere, program_file
from replay.cli.grammar import NOTHING, Command, Parser, add_commands, add_data, slug


def _init(parser: Parser) -> None:
    parser.add_argument(
        "directory", nargs="?", default=".", metavar="DIR", help="the project's folder (default: the current folder)"
    )


INIT = Command(
    "init",
    "create a project with a first site and a first experiment",
    _init,
    "replay.cli.starting_commands:init",
    "Create a project: a site for the sandbox, a site to edit for your own cluster, and an experiment.\n"
    "Existing files are never overwritten.",
    kept="remove the folder's config/ before you try again",
    level=lambda options: NOTHING,
)


def init(options: argparse.Namespace) -> int:
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
    """Write first sites and a first experiment into `folder`, like `write_new`; return their paths relative to it."""
    templates = program_file("templates")
    files = sorted((templates / "config").rglob("*.yaml"))
    wanted = {path.relative_to(templates): path.read_text(encoding="utf-8") for path in files}
    write_new(folder, wanted)
    return [*wanted]


def _new(parser: Parser) -> None:
    kinds = add_commands(parser, "experiment|claim|slide|tool", title="what")

    def kind(what: str, help_text: str, example: str = "journal-threads") -> Any:
        made = kinds.add_parser(what, help=help_text, description=help_text)
        made.add_argument("name", type=slug, metavar="NAME", help=f"its name, such as {example}")
        return made

    about = "the experiment that it is about (default: NAME)"
    kind("experiment", "Write config/experiments/NAME.yaml: what a journal costs, by operations in flight.")
    claim = kind("claim", "Add a claim to config/claims.yaml: which of an experiment's first two variants has more.")
    claim.add_argument("--experiment", type=slug, metavar="NAME", help=about)
    slide = kind("slide", "Write slides/TALK/NAME.md: a slide about an experiment's claim, with its chart and notes.")
    slide.add_argument("--experiment", type=slug, metavar="NAME", help=about)
    slide.add_argument("--talk", type=slug, metavar="NAME", help="the talk (default: the lead, or else a new one)")
    add_data(slide, help="the data set that it shows (default: the talk's; in a new talk, trial)")
    tool = "Write a tool that runs dd on a file, a test of it, and an experiment that measures with it."
    kind("tool", tool, example="sync-writes")


NEW = Command(
    "new",
    "write an example that works, to be edited: an experiment, a claim, a slide, a tool",
    _new,
    "replay.cli.new:run",
    """\
Write an example that works, to be edited, and say what to run next. `new experiment`, `new claim` and `new slide` with
one NAME belong together: a question, what you expect, and the slide that says what the data found.
Existing files are never overwritten; a claim is added to those that are there.""",
    kept="remove what it says that it wrote before you try again",
)


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
