"""The command line that stands before an output in a log or a note: what it asked for. Pure.

An output that states less takes its levels from there, and one that states something else is refused.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from replay.exchange.importing.runs import Level, NotTaken

_SIZE = re.compile(r"(\d{1,15})([kmgt]?)i?b?", re.ASCII | re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def last_command(text: str, program: str, *needed: str) -> list[str]:
    """Return the words after `program` in the last line of a text that runs it with one of the `needed` words.

    Empty if there is no such line.
    """
    for line in reversed(text.splitlines()):
        if program not in line:
            continue
        try:
            words = shlex.split(line.strip().strip("`"), comments=False)
        except ValueError:
            continue
        names = [word.rpartition("/")[2] for word in words]
        if program in names and (not needed or set(needed) & set(words)):
            return words[names.index(program) + 1 :]
    return []


def option(words: Sequence[str], *names: str) -> str | None:
    """Return an option's value: of `--name value`, `--name=value`, `-n value` or `-nvalue`."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, sign, value = word.partition("=")
        if name in names:
            return value if sign else following
        short = next(
            (one for one in names if len(one) == 2 and word.startswith(one) and not word.startswith("--")), None
        )
        if short:
            return word[2:]
    return None


def bytes_of(text: str | None) -> int | None:
    """Return a size in bytes, of which `4K` are 4096; None if it is none."""
    match = _SIZE.fullmatch(text or "")
    return int(match[1]) * 1024 ** _POWERS[match[2].lower()] if match else None


def whole(text: str | None) -> int | None:
    """Return a whole number, None if the text is none."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= 15 else None


def with_command(levels: Mapping[str, Level], asked: Mapping[str, Level | None]) -> dict[str, Level] | NotTaken:
    """Return levels with those that only the command line states; NotTaken if it states others than the output."""
    found = dict(levels)
    for name, value in asked.items():
        if value is None:
            continue
        if found.setdefault(name, value) != value:
            return NotTaken(f"the command line above it asks for {name} {value}, its output says {found[name]}")
    return found
