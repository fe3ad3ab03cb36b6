"""The commands that write files to start from: init, new."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from typing import Any

from replay.cli.grammar import NOTHING, Command, Parser, add_data

_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def _init(parser: Parser) -> None:
    parser.add_argument(
        "directory", nargs="?", default=".", metavar="DIR", help="the project's folder (default: the current folder)"
    )


INIT = Command(
    "init",
    "create a project with a first site and a first experiment",
    _init,
    "replay.cli.init:run",
    "Create a project: a site for the sandbox, a site to edit for your own cluster, and an experiment.\n"
    "Existing files are never overwritten.",
    kept="remove the folder's config/ before you try again",
    level=lambda options: NOTHING,
)


def _slug(text: str) -> str:
    """Return a name. Raises argparse.ArgumentTypeError if it is none: it becomes part of files, ids and modules."""
    if not _SLUG.fullmatch(text):
        raise ArgumentTypeError(f"{text!r} is not a name: use lower-case words and digits, with dashes between them")
    return text


def _new(parser: Parser) -> None:
    kinds = parser.add_subparsers(
        title="what", required=True, metavar="experiment|claim|slide|tool", dest="what", parser_class=Parser
    )

    def kind(what: str, help_text: str) -> Any:
        made = kinds.add_parser(what, help=help_text, description=help_text)
        made.add_argument("name", type=_slug, metavar="NAME", help=f"its name, such as {_NAMES[what]}")
        return made

    about = "the experiment that it is about (default: NAME)"
    kind("experiment", "Write config/experiments/NAME.yaml: what a journal costs, by operations in flight.")
    claim = kind("claim", "Add a claim to config/claims.yaml: which of an experiment's first two variants has more.")
    claim.add_argument("--experiment", type=_slug, metavar="NAME", help=about)
    slide = kind("slide", "Write slides/TALK/NAME.md: a slide about an experiment's claim, with its chart and notes.")
    slide.add_argument("--experiment", type=_slug, metavar="NAME", help=about)
    slide.add_argument("--talk", type=_slug, metavar="NAME", help="the talk (default: the lead, or else a new one)")
    add_data(slide, help="the data set that it shows (default: the talk's; in a new talk, trial)")
    kind("tool", "Write a tool that runs dd on a file, a test of it, and an experiment that measures with it.")


_NAMES = {
    "experiment": "journal-threads", "claim": "journal-threads", "slide": "journal-threads", "tool": "sync-writes",
}  # fmt: skip

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
