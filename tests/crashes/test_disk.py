"""The model of the disk knows what a kill and what a power cut leaves, and the record of strace is read as it is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from crashes.disk import Disk, Left, lay_out
from crashes.recorded import UnknownCallError, calls_in, record


def hexadecimal(text):
    return "".join(f"\\x{byte:02x}" for byte in text.encode())


class Trace:
    """Lines as `strace -f -y -xx` writes them."""

    def __init__(self, root):
        self.root, self.lines = root, []

    def path(self, name):
        return hexadecimal(f"{self.root}/{name}" if name else str(self.root))

    def opened(self, name, flags, descriptor=3):
        path = self.path(name)
        self.lines.append(f'7 openat(AT_FDCWD<{hexadecimal("/")}>, "{path}", {flags}, 0644) = {descriptor}<{path}>')

    def wrote(self, name, text, descriptor=3):
        line = f'7 write({descriptor}<{self.path(name)}>, "{hexadecimal(text)}", {len(text)}) = {len(text)}'
        self.lines.append(line)

    def synced(self, name):
        self.lines.append(f"7 fsync(3<{self.path(name)}>) = 0")

    def renamed(self, old, new):
        self.lines.append(f'7 rename("{self.path(old)}", "{self.path(new)}") = 0')

    def calls(self):
        return list(calls_in("\n".join(self.lines), str(self.root)))


@pytest.fixture
def trace(tmp_path):
    return Trace(tmp_path)


def left(trace, how):
    disk = Disk(trace.root, "elsewhere")
    for call in trace.calls():
        disk.apply(call)
    return disk.left(how)


def test_of_a_file_that_was_synced_a_power_cut_takes_the_name_unless_its_folder_was_synced_too(trace):
    trace.opened("new", "O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC")
    trace.wrote("new", "all of it")
    trace.synced("new")
    assert left(trace, Left.KILLED) == {"new": b"all of it"}
    assert left(trace, Left.POWER) == {}
    assert left(trace, Left.CONTENTS_LOST) == {"new": b"all of it"}
    trace.synced("")
    assert left(trace, Left.POWER) == {"new": b"all of it"}


def test_a_file_that_is_replaced_without_being_synced_may_lose_both_contents(trace):
    (trace.root / "old").write_bytes(b"before")
    trace.opened("new", "O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC")
    trace.wrote("new", "afterwards")
    trace.renamed("new", "old")
    assert left(trace, Left.KILLED) == {"old": b"afterwards"}
    assert left(trace, Left.NAMES_LOST) == {"old": b"before"}
    assert left(trace, Left.CONTENTS_LOST) == {"old": b""}
    assert left(trace, Left.CONTENTS_TORN) == {"old": b"after"}


def test_what_is_appended_is_torn_behind_what_is_safe_and_half_a_write_changes_nothing_else(trace):
    (trace.root / "log").write_bytes(b"first\n")
    trace.opened("log", "O_WRONLY|O_APPEND")
    trace.wrote("log", "second\n")
    disk = Disk(trace.root, "elsewhere")
    opened, written = trace.calls()
    disk.apply(opened)
    assert disk.half_written(written) == {"log": b"first\nsec"}
    assert disk.left(Left.KILLED) == {"log": b"first\n"}
    disk.apply(written)
    assert disk.left(Left.CONTENTS_TORN) == {"log": b"first\nsec"}
    assert disk.left(Left.CONTENTS_LOST) == {"log": b"first\n"}
    assert not disk.is_safe("")


def test_no_power_is_cut_on_another_machine(trace):
    (trace.root / "elsewhere").mkdir()
    trace.opened("elsewhere/image", "O_WRONLY|O_CREAT|O_TRUNC")
    assert left(trace, Left.POWER) == {"elsewhere": None, "elsewhere/image": b""}


def test_a_call_that_the_model_does_not_know_is_an_error_and_a_failed_one_is_none(trace):
    trace.lines = [f'7 mkdir("{trace.path("there")}", 0777) = -1 EEXIST (File exists)']
    assert trace.calls() == []
    trace.lines = [f'7 symlink("{trace.path("a")}", "{trace.path("b")}") = 0']
    with pytest.raises(UnknownCallError, match="does not know"):
        left(trace, Left.KILLED)


def test_a_call_that_another_process_interrupted_is_read_as_one(trace):
    path = trace.path("there")
    trace.lines = [
        f'7 mkdir("{path}", 0777 <unfinished ...>',
        "8 write(1<\\x2f\\x78>, \"\\x61\", 1) = 1",
        "7 <... mkdir resumed>) = 0",
    ]  # fmt: skip
    assert left(trace, Left.KILLED) == {"there": None}


def test_a_recorded_program_leaves_in_the_model_what_it_left_on_the_disk(tmp_path):
    root, copy, scratch = (tmp_path / name for name in ("root", "copy", "scratch"))
    for folder in (root, copy, scratch):
        folder.mkdir()
    program = """
import os, shutil, sys
from pathlib import Path
root = Path.cwd()
(root / "folder").mkdir(), (root / "gone").mkdir()
(root / "folder/text").write_text("a\\n" * 10000), (root / "gone/file").touch()
(root / "folder/text").replace(root / "moved")
descriptor = os.open(root / "moved", os.O_RDWR)
os.lseek(descriptor, 4, 0), os.write(descriptor, b"XY"), os.ftruncate(descriptor, 20000 - 7)
shutil.rmtree(root / "gone")
"""
    disk = Disk(root, "elsewhere")
    try:
        calls = record(
            [sys.executable, "-c", program], root, environment=os.environ, said=scratch / "said", scratch=scratch
        )
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        pytest.skip(f"strace cannot be used here: {error}")
    for call in calls:
        disk.apply(call)
    lay_out(disk.left(Left.KILLED), copy)
    assert disk.left(Left.KILLED) == Disk(copy, "elsewhere").left(Left.KILLED)
    assert disk.left(Left.KILLED) == Disk(root, "elsewhere").left(Left.KILLED)
    assert disk.left(Left.POWER) == {}
