"""What all commands share: how they are declared, what wrong use is answered with, options with completions.

Standard library only: `replay --help` and `replay sandbox` work before anything is installed.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from replay.base.disk import guarded
from replay.base.errors import ReplayError
from replay.base.paths import DATA_SET_NAME, benchmarks_directory, called_as, config_directory, did_you_mean, suggestion

WRONG_USE = 2
#: The status that a shell reports for a program whose reader went away (128 + SIGPIPE): `replay claims … | head`.
READER_GONE = 141

#: What argparse says about wrong usage, and what all programs of Replay say instead, including the deck's.
_SENTENCES = (
    (r"the following arguments are required: (.+)", r"\1 is missing"),
    (r"one of the arguments (.+) is required", r"one of \1 is missing"),
    (r"unrecognized arguments: (\S+).*", r"'\1' is not understood: options begin with --"),
    (r"argument (\S+): not allowed with argument (\S+)", r"\1 does not go with \2"),
    (r"argument (\S+): expected (?:one|at least one) argument", r"\1 wants a value"),
    (r"argument (\S+): ignored explicit argument .*", r"\1 takes no value"),
    (r"argument (\S+): invalid int value: ('.*')", r"\1 wants a whole number, not \2"),
    (r"argument (\S+): (.*)", r"\1: \2"),
)

#: The names of sites, experiments, claims and tools, as the schemas say it.
_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class Parser(argparse.ArgumentParser):
    """argparse with one style for wrong usage: a sentence, the next step, and no abbreviated options."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_abbrev": False} | options)

    def error(self, message: str) -> NoReturn:
        """End with status 2; say what is wrong and where the options are listed."""
        for pattern, sentence in _SENTENCES:
            if match := re.fullmatch(pattern, message, re.DOTALL):
                message = match.expand(sentence)
                break
        self.refuse(message)

    def refuse(self, message: str, hint: str = "") -> NoReturn:
        """Like `error`, with a hint before the pointer to the help."""
        self.exit(WRONG_USE, f"{self.prog}: {message}\n  next: {f'{hint} ' if hint else ''}see {self.prog} --help\n")

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:
        """Parse like argparse, but report an unknown option before a missing one that it may have been meant for."""
        words = sys.argv[1:] if args is None else list(args)
        for word in itertools.takewhile(self._is_mine, words):
            option = word.partition("=")[0]
            if re.match(r"--?[a-zA-Z]", option) and option not in self._option_string_actions:
                known = [name for name in self._option_string_actions if name.startswith("--")]
                self.refuse(f"there is no option {option}", did_you_mean(option, known))
        return super().parse_known_args(args, namespace)

    def _is_mine(self, word: str) -> bool:
        """Return whether this parser handles a word. Words after a command belong to that command."""
        return word != "--" and (self._subparsers is None or word.startswith("-"))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse an unknown choice or command, and suggest the one that was probably meant."""
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            is_command = self._subparsers is not None and not action.option_strings
            name = "/".join(action.option_strings) or action.dest
            expected = f"{name} {value}: expected one of {', '.join(known)}"
            what = f"there is no command {value!r}" if is_command else expected
            self.refuse(what, did_you_mean(str(value), known) or (suggestion("", known) if is_command else ""))


#: What `scripts/setup --for LEVEL` provides in a checkout. NOTHING means that Python alone is enough.
NOTHING, DERIVED, CLIENT, OWN_CLUSTER = "nothing", "derive", "client", "sandbox"


@dataclass(frozen=True)
class Command:
    """A Replay command. `run` is `module:function`, imported only when the command runs; it takes the options.

    `kept` tells the person after an interruption what happened to the work. `level` is the level of set-up that the
    command needs with the given options.
    """

    name: str
    summary: str
    add_arguments: Callable[[Parser], None]
    run: str
    description: str = ""
    kept: str = "nothing was changed"
    level: Callable[[argparse.Namespace], str] = lambda options: DERIVED

    def parser(self) -> Parser:
        parser = Parser(prog=f"{called_as()} {self.name}", **self.texts())
        self.add_arguments(parser)
        return parser

    def texts(self) -> dict[str, Any]:
        """Return the text that argparse prints above the options."""
        text = self.description or f"{self.summary[0].upper()}{self.summary[1:]}."
        return {"description": text, "formatter_class": argparse.RawDescriptionHelpFormatter}

    def call(self, options: argparse.Namespace) -> int:
        """Run it; return its exit status. Prints ReplayErrors without a traceback."""
        try:
            status = guarded(lambda: _function(self.run)(options), self.kept)
            sys.stdout.flush()
        except BrokenPipeError:
            from replay.base.terminal import drop_output  # noqa: PLC0415 (it loads rich, which the grammar does without)

            drop_output(sys.stdout)
            return READER_GONE
        return status

    def main(self, arguments: Sequence[str] | None = None) -> int:
        return self.call(self.parser().parse_args(arguments))


def _function(name: str) -> Callable[[argparse.Namespace], int]:
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def add_commands(parser: Parser, names: str, title: str = "commands") -> Any:
    """Add the commands of a command, one of which has to be given; return what each of them is added to."""
    return parser.add_subparsers(title=title, required=True, metavar=names, dest="what", parser_class=Parser)


def add_flag(to: Any, name: str, help: str) -> None:
    """Add an option without a value."""
    to.add_argument(name, action="store_true", help=help)


def add_data(
    to: Any, *, required: bool = False, option: str = "--data", help: str = "the data set, a folder in benchmarks/"
) -> None:
    made = to.add_argument(option, metavar="NAME", required=required, type=data_set_name, help=help)
    made.completer = lambda **_: _names(benchmarks_directory, "*/")


def add_site(to: Any, *, required: bool = True) -> None:
    """Add `--site`, which selects the cluster."""
    made = to.add_argument(
        "--site", metavar="NAME", required=required, help="the cluster, described in config/sites/NAME.yaml"
    )
    made.completer = lambda **_: _names(config_directory, "sites/*.yaml")


def add_experiment(to: Any, help: str = "only this experiment (may be repeated)") -> None:
    """Add `--experiment`, which may be repeated; the default is every experiment."""
    made = to.add_argument("--experiment", metavar="NAME", action="append", default=[], help=help)
    made.completer = lambda **_: _names(config_directory, "experiments/*.yaml")


def data_set_name(text: str) -> str:
    """Return a data set's name. Raises argparse.ArgumentTypeError if it is invalid: it becomes part of addresses."""
    if not DATA_SET_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid data set name: use lower-case letters, digits and dashes, and no dash first"
        )
    return text


def slug(text: str) -> str:
    """Return a name. Raises argparse.ArgumentTypeError if it is none: it becomes part of files, ids and modules."""
    if not _SLUG.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a name: use lower-case words and digits, with dashes between them"
        )
    return text


def _names(folder: Callable[[], Path], pattern: str) -> Iterable[str]:
    """Return completions for a shell; none outside a project."""
    try:
        return sorted(path.stem for path in folder().glob(pattern))
    except ReplayError:
        return []
