"""The options of `replay init`."""

from __future__ import annotations

from replay.base.command_line import Command, Parser


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("directory", nargs="?", default=".", metavar="DIR", help="the project's folder (default: this)")


COMMAND = Command(
    "init",
    "write a first site and a first experiment into a new project",
    _add_arguments,
    "replay.cli.init:run",
    "Make a project: a site for the sandbox, a site to edit for a cluster of your own, and an experiment.\n"
    "A file that is there already is never overwritten.",
    kept="remove the folder's config/ before the next try",
)
