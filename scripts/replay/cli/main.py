"""The entry of `replay`, of `./replay` and of `python -m replay`: every command, in the order of the help."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from replay.base.paths import called_as, remember_call, replay_command, version
from replay.cli.cluster_commands import CLEAN, INTERLEAVE, LOOK, MEASURE, PREFLIGHT, SANDBOX
from replay.cli.data_commands import BUNDLE, CLAIMS, COMPARE, DERIVE, IMPORT, RAW, REPORT, TALK
from replay.cli.grammar import NOTHING, Parser, add_flag
from replay.cli.starting_commands import INIT, NEW

COMMANDS = {
    command.name: command
    for command in (
        INIT,
        LOOK,
        PREFLIGHT,
        MEASURE,
        INTERLEAVE,
        DERIVE,
        CLAIMS,
        REPORT,
        IMPORT,
        COMPARE,
        TALK,
        NEW,
        BUNDLE,
        CLEAN,
        SANDBOX,
        RAW,
    )
}
SHELLS = ("bash", "zsh", "fish")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status.

    It is 0 for success, 2 for wrong usage, 130 after an interruption, and otherwise that of the printed error.
    """
    remember_call(sys.argv[0])
    for stream in (sys.stdout, sys.stderr):
        # In a locale that lacks a sign of ours, or of a label, it is spelled out.
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser = whole_grammar()
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete  # noqa: PLC0415 - only a shell's completion needs it

        argcomplete.autocomplete(parser)
    options = parser.parse_args(words)
    if options.version:  # looked up only here: a copy of scripts/ alone, which has none, runs commands too
        print(f"replay {version()}")
        return 0
    if options.completion:
        import argcomplete  # noqa: PLC0415 - see above

        print(argcomplete.shellcode(["replay"], shell=options.completion))
        return 0
    if options.setup_level:
        print(COMMANDS[options.command].level(options) if options.command else NOTHING)
        return 0
    if options.command is None:
        parser.print_help()
        return 0
    return COMMANDS[options.command].call(options)


def whole_grammar() -> Parser:
    """Return the parser of every command."""
    parser = Parser(
        prog=called_as(),
        description="Measure a Ceph cluster, derive tables from the results, and check claims against them.",
        epilog=f"{replay_command('COMMAND', '--help')} lists the options of a command.",
    )
    add_flag(parser, "--version", "show the version and exit")
    parser.add_argument("--completion", choices=SHELLS, help="print a completion script for your shell to source")
    # For ./replay in a checkout, which sets up what a command needs before it runs the command.
    add_flag(parser, "--setup-level", argparse.SUPPRESS)
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", parser_class=Parser)
    for name, command in COMMANDS.items():
        command.add_arguments(commands.add_parser(name, help=command.summary, **command.texts()))
    return parser
