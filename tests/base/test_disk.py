"""What the operating system refuses is a sentence that names the disk or the owner; the rest stays a fault."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from replay.base import disk
from replay.base.disk import explained, guarded, mount_point
from replay.base.errors import ReplayError, cleaning_up, during
from replay.base.progress import Progress
from replay.evidence import durable
from support.patience import patient


def refusal(number, path=None):
    return OSError(number, os.strerror(number), str(path)) if path else OSError(number, os.strerror(number))


def test_a_full_disk_is_named_with_its_room_by_the_file_that_was_written(tmp_path):
    found = explained(refusal(errno.ENOSPC, tmp_path / "absent" / "tidy.csv"))
    assert found.where == str(tmp_path / "absent" / "tidy.csv")
    assert f"the disk is full: {mount_point(tmp_path)} (" in found.what
    assert "free space there" in found.next_step


def test_a_write_that_does_not_tell_its_file_names_the_disk_without_room(tmp_path, monkeypatch):
    full, other = tmp_path / "full", tmp_path / "other"
    monkeypatch.setattr(disk, "_places", lambda: [other, full])
    monkeypatch.setattr(disk, "mount_point", lambda path: path)
    monkeypatch.setattr(disk, "existing", lambda path: path)
    usage = {full: (1 << 20, 4096), other: (1 << 40, 1 << 30)}
    monkeypatch.setattr(
        disk.shutil,
        "disk_usage",
        lambda path: type("Usage", (), dict(zip(("total", "free"), usage[path], strict=True))),
    )
    assert explained(refusal(errno.ENOSPC)).what == f"the disk is full: {full} (4 KiB of 1 MiB free)"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EDQUOT, "disk quota"),
        (errno.EACCES, "belongs to"),
        (errno.EROFS, "read-only"),
        (errno.EBUSY, "in use"),
        (errno.EMFILE, "too many files"),
        (errno.EIO, "reported an error"),
    ],
)
def test_each_refusal_is_a_sentence_with_a_next_step(number, said, tmp_path):
    for path in (tmp_path / "file", None):
        found = explained(refusal(number, path))
        assert found.next_step
        assert path is None or said in found.what


def test_a_parent_of_the_place_is_never_to_change_its_owner(tmp_path, monkeypatch):
    monkeypatch.setattr(disk.os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    found = explained(refusal(errno.EACCES, tmp_path / "absent" / "tidy.csv"))
    assert f": {tmp_path} belongs to " in found.what
    assert found.next_step == "name another place, or have somebody give you access"
    assert explained(refusal(errno.EACCES, tmp_path)).next_step.endswith(f" {tmp_path}"), "the place itself"


def test_a_folder_of_ones_own_without_the_write_bit_is_to_get_it(tmp_path):
    tmp_path.chmod(0o500)
    found = explained(refusal(errno.EACCES, tmp_path / "tidy.csv"))
    tmp_path.chmod(0o700)
    assert found.next_step == f"allow it: chmod u+rwX {tmp_path}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
def test_a_place_in_a_folder_that_may_not_be_entered_is_a_sentence_too(tmp_path):
    tmp_path.chmod(0o000)
    found = explained(refusal(errno.EACCES, tmp_path / "closed" / "tidy.csv"))
    tmp_path.chmod(0o700)
    assert found.next_step == f"allow it: chmod u+rwX {tmp_path}"


def test_another_error_stays_a_fault(tmp_path):
    assert explained(refusal(errno.ENOENT, tmp_path)) is None
    with pytest.raises(FileNotFoundError):
        guarded(lambda: len((tmp_path / "absent").read_bytes()), "nothing was changed")


def test_the_cell_and_what_cleaning_up_met_are_kept(tmp_path):
    def leave():
        raise ReplayError("an image is left", next_step="run clean")

    with pytest.raises(OSError, match="space") as raised, cleaning_up(leave), during("block 1, cell 4096"):
        raise refusal(errno.ENOSPC, tmp_path)
    found = explained(raised.value)
    lines = str(found).splitlines()
    assert lines[1] == "  in: block 1, cell 4096"
    assert lines[-2:] == ["  cleaning up then met: an image is left", "    next: run clean"]


def test_evidence_that_does_not_fit_names_its_file(tmp_path, monkeypatch):
    def write(descriptor, content):
        raise refusal(errno.ENOSPC)

    monkeypatch.setattr(durable.os, "write", write)
    with pytest.raises(OSError, match="space") as raised:
        durable.write_synced(tmp_path / "round-1.json", b"{}")
    assert raised.value.filename == str(tmp_path / "round-1.json")


def test_a_command_on_a_full_disk_prints_a_sentence_and_fails(tmp_path, capsys):
    def run():
        raise refusal(errno.ENOSPC, tmp_path / "tidy.csv")

    assert guarded(run, "nothing was changed") == 1
    assert capsys.readouterr().err.startswith(f"{tmp_path / 'tidy.csv'}: the disk is full: ")


def test_a_log_that_cannot_be_written_ends_and_the_work_goes_on(tmp_path):
    with Path("/dev/full").open("w") as log, (tmp_path / "screen").open("w+") as screen:
        progress = Progress(screen, log=log)
        progress.line("first")
        progress.line("second")
        screen.seek(0)
        assert screen.read() == "first\nthe log ends here: No space left on device\nsecond\n"
        os.dup2(os.open(os.devnull, os.O_WRONLY), log.fileno())  # for what the file still holds


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
@pytest.mark.slow
def test_deriving_onto_a_full_disk_names_it(tmp_path):
    """In a mount namespace of its own, where the disk is really full."""
    script = (
        "mount -t tmpfs -o size=64k drill $0 && dd if=/dev/zero of=$0/filler bs=4k status=none 2>/dev/null;"
        " exec $1 -c 'import sys; from pathlib import Path; from replay.base.disk import guarded;"
        ' sys.exit(guarded(lambda: Path(sys.argv[1], "new").write_bytes(bytes(65536)) and 0, "kept"))\' $0'
    )
    argv = ["unshare", "--mount", "sh", "-c", script, str(tmp_path), sys.executable]
    environment = {**os.environ, "REPLAY_BENCHMARKS": str(tmp_path)}
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, timeout=patient(60), check=False)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert f"the disk is full: {tmp_path} (" in done.stderr
