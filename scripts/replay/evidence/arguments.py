"""The options of `replay raw`."""

from __future__ import annotations

from pathlib import Path

from replay.base.command_line import Command, Parser, add_data

_DESCRIPTION = """\
Inspect evidence: list, print, unpack and verify packs.

PACK is a file benchmarks/<data set>/<experiment>/raw/block-<number>-<plan>.tar.gz. Any tar opens it as well:
tar -tzf PACK lists it, and tar -xzOf PACK MEMBER prints one of its files."""


def _add_arguments(parser: Parser) -> None:
    commands = parser.add_subparsers(
        title="commands", required=True, metavar="ls|cat|unpack|verify", dest="what", parser_class=Parser
    )

    def command(name: str, help_text: str) -> Parser:
        return commands.add_parser(name, help=help_text, description=help_text)

    def several(one: Parser) -> None:
        one.add_argument("packs", nargs="*", type=Path, metavar="PACK", help="packs")
        _add_data_set(one)

    several(command("ls", "List attempts, with whether each is valid."))
    one = command("cat", "Print one file of a pack, unchanged.")
    one.add_argument("pack", type=Path, metavar="PACK")
    one.add_argument("member", metavar="MEMBER", help="its path in the pack, as `ls` and `tar -t` show it")
    one = command("unpack", "Unpack verified files into a folder outside the data sets.")
    several(one)
    one.add_argument("--into", required=True, type=Path, metavar="FOLDER", help="a new or empty folder")
    several(command("verify", "Compare every pack and every file in it with what was recorded."))


def _add_data_set(one: Parser) -> None:
    add_data(one, help="all packs and open blocks of a data set")
    one.add_argument("--experiment", metavar="NAME", help="with --data: only this experiment")


COMMAND = Command("raw", "inspect raw output", _add_arguments, "replay.evidence.command:run", _DESCRIPTION)
