"""The programs of the benchmark tools, as each tool's module declares them. The only list of them is that of modules.

    python3 -m replay.tools.programs    one line each: PROGRAM PACKAGE ARGUMENTS-THAT-PRINT-THE-VERSION

Needs only Python's standard library: it works before anything is installed.
"""

from __future__ import annotations

from typing import NamedTuple

from replay.tools import tools


class Program(NamedTuple):
    """A program, Debian's package of it, and the arguments with which it prints its version."""

    name: str
    package: str
    version_arguments: tuple[str, ...]


def programs() -> list[Program]:
    """Return the programs of the benchmark tools that Debian has a package of, each once, by name."""
    return sorted({Program(tool.program, tool.package, tool.version_arguments) for tool in tools() if tool.package})


if __name__ == "__main__":
    for program in programs():
        print(program.name, program.package, *program.version_arguments)
