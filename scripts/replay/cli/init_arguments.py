"""The options of `replay init`."""

from __future__ import annotations

from replay.base.command_line import Command, Parser


def _add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "directory", nargs="?", default=".", metavar="DIR", help="the project's folder (default: the current folder)"
    )


COMMAND = Command(
    "init",
    "create a project with a first site and a first experiment",
    _add_arguments,
    "replay.cli.init:run",
    "Create a project: a site for the sandbox, a site to edit for your own cluster, and an experiment.\n"
    "Existing files are never overwritten.",
    kept="remove the folder's config/ before you try again",
)
