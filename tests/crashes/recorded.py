"""Records which calls of a command change files: runs it under strace, and reads what strace wrote."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Calls that change files, or tell where the next one does. The model refuses those that it does not know.
_TRACED = (
    *("open", "openat", "creat", "lseek", "write", "pwrite64", "writev", "pwritev", "ftruncate", "truncate"),
    *("fsync", "fdatasync", "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir"),
    *("link", "linkat", "symlink", "symlinkat", "sendfile", "copy_file_range", "splice", "fallocate"),
    *("dup", "dup2", "dup3"),
)
_LINE = re.compile(r"(?P<pid>\d+) +(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)(?P<shown><[^>]*>)?")
_RESUMED = re.compile(r"<\.\.\. \w+ resumed>")
_ARGUMENT = re.compile(r'(?P<fd>-?\w+)<(?P<path>[^>]*)>|"(?P<text>[^"]*)"(?P<cut>\.\.\.)?|(?P<word>[^",<>]+)')


class UnknownCallError(Exception):
    """A call that the record, or the model of the disk, does not understand; nothing may be concluded from it."""


@dataclass(frozen=True)
class Call:
    """One successful call. `paths` are those that it names, in order; `descriptor` is the one that it uses."""

    name: str
    paths: tuple[str, ...]
    words: frozenset[str] = frozenset()
    descriptor: int | None = None
    content: bytes = b""
    #: What the call returned: a descriptor, an offset, a number of bytes.
    result: int = 0
    numbers: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {' '.join(self.paths)}"


def record(argv: Sequence[str], root: Path, *, environment: Mapping[str, str], said: Path, scratch: Path) -> list[Call]:
    """Run a command under strace; return its calls on files below `root`, in their order.

    What the command prints goes to `said`. Raises CalledProcessError if it fails, and UnknownCallError.
    """
    trace = scratch / "trace"
    strace = ["strace", "-f", "-y", "-xx", "-s", "100000000", "--seccomp-bpf", "-e", f"trace={','.join(_TRACED)}"]
    with said.open("w") as file:
        subprocess.run(
            [*strace, "-e", "signal=none", "-o", trace, *argv],
            cwd=root,
            env=dict(environment),
            stdout=file,
            stderr=file,
            check=True,
        )
    return list(calls_in(trace.read_text(), str(root)))


def calls_in(trace: str, root: str) -> Iterator[Call]:
    """Yield the successful calls of a trace that concern `root`."""
    unfinished: dict[str, str] = {}
    for line in trace.splitlines():
        pid = line.partition(" ")[0]
        if line.endswith("<unfinished ...>"):
            unfinished[pid] = line.removesuffix("<unfinished ...>")
            continue
        if match := _RESUMED.search(line):
            line = unfinished.pop(pid).rstrip() + line[match.end() :].lstrip()  # noqa: PLW2901
        if (match := _LINE.match(line)) is None:
            if "resumed" in line or re.match(r"\d+ +\w+\(", line) is None or " = ? " in f"{line} " or "= -1" in line:
                continue
            raise UnknownCallError(line[:200])
        if int(match["result"]) >= 0 and (call := _call(match, root)) is not None:
            yield call


def _call(match: re.Match[str], root: str) -> Call | None:
    """Return a call that concerns files below `root`; None for another, and for files without a name."""
    name, found = match["name"], _Arguments(match["name"], match["arguments"])
    if "(deleted)" in match[0]:
        return None
    if name in ("open", "openat", "creat") and match["shown"]:
        found.paths = [_text(match["shown"][1:-1])]  # as the descriptor's calls will name it
    inside = [path for path in found.paths if path == root or path.startswith(f"{root}/")]
    if not inside:
        return None
    if len(inside) != len(found.paths):
        raise UnknownCallError(f"{name} {found.paths}: only one of them is watched")
    return Call(
        name,
        tuple(found.paths),
        frozenset(found.words),
        found.descriptor,
        found.content,
        int(match["result"]),
        tuple(int(word) for word in found.words_in_order if re.fullmatch(r"-?\d+", word)),
    )


class _Arguments:
    """What stands between the brackets of a call."""

    def __init__(self, name: str, text: str) -> None:
        self.paths: list[str] = []
        self.words_in_order: list[str] = []
        self.descriptor: int | None = None
        self.content = b""
        folder = None
        for one in _ARGUMENT.finditer(text):
            if one["cut"]:
                raise UnknownCallError(f"{name}: strace has cut off its content")
            if one["fd"] == "AT_FDCWD" or (one["fd"] is not None and name.endswith(("at", "at2"))):
                folder = _text(one["path"])
            elif one["fd"] is not None:
                self.descriptor = int(one["fd"])
                self.paths.append(_text(one["path"]))
            elif one["text"] is None:
                self.words_in_order += filter(None, re.split(r"[|,\s]+", one["word"]))
            elif name in ("write", "pwrite64"):
                self.content = bytes.fromhex(one["text"].replace("\\x", ""))
            else:
                self.paths.append(_full(name, folder, _text(one["text"])))
        self.words = frozenset(self.words_in_order)


def _full(name: str, folder: str | None, path: str) -> str:
    if folder is None and not path.startswith("/"):
        raise UnknownCallError(f"{name} {path}: nobody knows in which folder that is")
    return str(Path(folder or "/", path))


def _text(shown: str) -> str:
    """Return a path that strace wrote in hexadecimal digits."""
    return bytes.fromhex(shown.replace("\\x", "")).decode() if shown.startswith("\\x") else shown
