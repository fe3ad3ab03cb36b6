"""What a recorded command has changed so far, and what a kill or a power cut at that moment would leave of it.

A file's content is safe after `fsync` of the file, a name after `fsync` of its folder; nothing else is promised by
POSIX. A kill leaves everything. Of what is not safe, a power cut may leave anything: `Left` has the extremes.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from crashes.recorded import Call, UnknownCallError


class Left(enum.Enum):
    """What remains."""

    KILLED = "killed before the call"
    TORN = "killed when half of the write was done"
    POWER = "power cut: only what was synced remains"
    NAMES_LOST = "power cut: names that were not synced are lost"
    CONTENTS_LOST = "power cut: contents that were not synced are lost"
    CONTENTS_TORN = "power cut: half of what was not synced is lost"


@dataclass(eq=False)
class File:
    """A file: its content, and the content that is safe."""

    content: bytes = b""
    safe: bytes = b""

    def left(self, how: Left) -> bytes:
        """Return what remains of it."""
        if how in (Left.POWER, Left.CONTENTS_LOST):
            return self.safe
        if how is Left.CONTENTS_TORN and self.content != self.safe:
            kept = len(self.safe) if self.content.startswith(self.safe) else 0
            return self.content[: (kept + len(self.content)) // 2]
        return self.content


@dataclass(eq=False)
class Folder:
    """A folder: its names, and those that are safe."""

    names: dict[str, File | Folder] = field(default_factory=dict)
    safe: dict[str, File | Folder] = field(default_factory=dict)

    def left(self, how: Left) -> Mapping[str, File | Folder]:
        """Return what remains of it."""
        return self.safe if how in (Left.POWER, Left.NAMES_LOST) else self.names


#: What applies a call.
_EFFECTS = {
    **dict.fromkeys(("open", "openat", "creat"), "_open"),
    **dict.fromkeys(("dup", "dup2", "dup3"), "_duplicate"),
    **dict.fromkeys(("fsync", "fdatasync"), "_fsync"),
    **dict.fromkeys(("rename", "renameat", "renameat2"), "_rename"),
    **dict.fromkeys(("unlink", "unlinkat", "rmdir"), "_remove"),
    **dict.fromkeys(("mkdir", "mkdirat"), "_make_folder"),
    "lseek": "_seek",
    "write": "_write",
    "ftruncate": "_truncate",
}

#: Path to content, None for a folder; in the order in which they can be made.
Tree = dict[str, bytes | None]


class Disk:
    """The files below `root`. `elsewhere` is a folder in it that stands for another machine: no power is cut there."""

    def __init__(self, root: Path, elsewhere: str) -> None:
        self.root = str(root)
        self._elsewhere = elsewhere
        self._top = _read(root)
        self._offsets: dict[tuple[int, int], int] = {}

    def left(self, how: Left) -> Tree:
        """Return what remains now."""
        return dict(_flat(self._top, how, ""))

    def is_safe(self, below: str) -> bool:
        """Return whether all files below a path are safe, with their names."""
        folder = self._find(f"{self.root}/{below}")
        return not isinstance(folder, Folder) or dict(_flat(folder, Left.KILLED, "")) == dict(
            _flat(folder, Left.POWER, "")
        )

    def half_written(self, call: Call) -> Tree:
        """Return what remains if the process is killed when half of a write was done."""
        file, key = self._file(call), self._descriptor(call)
        content, offset = file.content, self._offsets.get(key)
        self.apply(replace(call, content=call.content[: len(call.content) // 2]))
        found = self.left(Left.KILLED)
        file.content = content
        if offset is not None:
            self._offsets[key] = offset
        return found

    def apply(self, call: Call) -> None:
        """Let a call take effect. Raises UnknownCallError if the model does not know it."""
        if call.name not in _EFFECTS or "RENAME_EXCHANGE" in call.words:
            raise UnknownCallError(f"{call}: the model of the disk does not know this call")
        getattr(self, _EFFECTS[call.name])(call)
        for path in call.paths:
            if path.startswith(f"{self.root}/{self._elsewhere}/"):
                self._make_safe(self._find(f"{self.root}/{self._elsewhere}"))

    def _write(self, call: Call) -> None:
        key, file = self._descriptor(call), self._file(call)
        if key not in self._offsets:
            raise UnknownCallError(f"{call}: nobody has seen its file being opened")
        appends = self._offsets[key] < 0
        at = len(file.content) if appends else self._offsets[key]
        file.content = file.content[:at] + call.content + file.content[at + len(call.content) :]
        if not appends:
            self._offsets[key] = at + len(call.content)

    def _seek(self, call: Call) -> None:
        self._offsets[self._descriptor(call)] = call.result

    def _duplicate(self, call: Call) -> None:
        self._offsets[call.result, id(self._file(call))] = self._offsets[self._descriptor(call)]

    def _truncate(self, call: Call) -> None:
        file, size = self._file(call), call.numbers[-1]
        file.content = file.content[:size].ljust(size, b"\0")

    def _fsync(self, call: Call) -> None:
        self._sync(self._find(call.paths[0]))

    def _rename(self, call: Call) -> None:
        old, new = call.paths
        self._folder(new).names[_last(new)] = self._folder(old).names.pop(_last(old))

    def _remove(self, call: Call) -> None:
        del self._folder(call.paths[0]).names[_last(call.paths[0])]

    def _make_folder(self, call: Call) -> None:
        self._folder(call.paths[0]).names[_last(call.paths[0])] = Folder()

    def _open(self, call: Call) -> None:
        path = call.paths[0]
        if "O_TMPFILE" in call.words or (path != self.root and _last(path).startswith("#")):
            return  # without a name, nobody finds it afterwards
        there = self._find(path)
        if there is None:
            if "O_CREAT" not in call.words and call.name != "creat":
                raise UnknownCallError(f"{call}: the file was never made")
            there = self._folder(path).names[_last(path)] = File()
        if isinstance(there, File):
            if "O_TRUNC" in call.words:
                there.content = b""
            self._offsets[call.result, id(there)] = -1 if "O_APPEND" in call.words else 0

    def _sync(self, what: File | Folder | None) -> None:
        if isinstance(what, File):
            what.safe = what.content
        elif isinstance(what, Folder):
            what.safe = dict(what.names)

    def _make_safe(self, what: File | Folder | None) -> None:
        self._sync(what)
        for one in what.names.values() if isinstance(what, Folder) else ():
            self._make_safe(one)

    def _descriptor(self, call: Call) -> tuple[int, int]:
        return call.descriptor or 0, id(self._find(call.paths[0]))

    def _file(self, call: Call) -> File:
        found = self._find(call.paths[0])
        if not isinstance(found, File):
            raise UnknownCallError(f"{call}: no such file")
        return found

    def _folder(self, path: str) -> Folder:
        found = self._find(str(PurePosixPath(path).parent))
        if not isinstance(found, Folder):
            raise UnknownCallError(f"{path} is in no known folder")
        return found

    def _find(self, path: str) -> File | Folder | None:
        found: File | Folder | None = self._top
        for part in PurePosixPath(path).relative_to(self.root).parts:
            found = found.names.get(part) if isinstance(found, Folder) else None
        return found


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _read(path: Path) -> Folder:
    """Return a folder of a disk on which everything is safe."""
    names: dict[str, File | Folder] = {}
    for one in sorted(path.iterdir()):
        if not one.is_symlink():  # the shared configuration
            names[one.name] = _read(one) if one.is_dir() else File(*[one.read_bytes()] * 2)
    return Folder(dict(names), dict(names))


def _flat(folder: Folder, how: Left, above: str) -> Iterator[tuple[str, bytes | None]]:
    for name, one in folder.left(how).items():
        if isinstance(one, Folder):
            yield f"{above}{name}", None
            yield from _flat(one, how, f"{above}{name}/")
        else:
            yield f"{above}{name}", one.left(how)


def lay_out(tree: Tree, root: Path) -> None:
    """Write a tree into an empty folder."""
    for path, content in tree.items():
        if content is None:
            (root / path).mkdir()
        else:
            (root / path).write_bytes(content)


def digest_of_tree(tree: Tree) -> str:
    """Return a digest that is the same for the same files with the same contents."""
    digest = hashlib.sha256()
    for path in sorted(tree):
        content = tree[path]
        digest.update(f"{path}\0{'' if content is None else hashlib.sha256(content).hexdigest()}\0".encode())
    return digest.hexdigest()
