"""Mapping, formatting and mounting an image: the commands, their order, how they are undone, and what errors mean.

The machine's programs are recorded here instead of run, because few test machines have a kernel with rbd.
"""

from __future__ import annotations

import json
import platform
import subprocess
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.base.errors import RefusedError, ReplayError
from replay.design.design import Image
from replay.ownership import this_machine
from replay.ownership.images import BlockImage
from replay.ownership.ledger import Ledger
from replay.ownership.removal import Remover, remove_leftover_mounts
from replay.ownership.this_machine import (
    map_error,
    map_image,
    mapped_devices,
    mount,
    unmap,
    unmount,
)
from support.bench import bench_of

FSID = "11111111-2222-3333-4444-555555555555"
NAME = "replay-0a1b2c3d-kernel-ext4"


class Machine:
    """Records the commands, and knows what they would have mapped and mounted."""

    def __init__(self, tmp_path):
        self.ran: list[list[str]] = []
        self.mapped: dict[str, str] = {}
        self.mounts = tmp_path / "mounts"
        self.mounts.write_text("")
        self.refuses: dict[str, str] = {}

    def program(self, argv, *, timeout_seconds=60.0):
        self.ran.append(list(argv))
        if argv[0] in self.refuses:
            raise ReplayError(f"{argv[0]} ended with status 32: {self.refuses[argv[0]]}")
        if argv[0] == "mount":
            self.mounts.write_text(f"{argv[-2]} {argv[-1]} ext4 rw 0 0\n")
        if argv[0] == "umount":
            self.mounts.write_text("")
        return subprocess.CompletedProcess(argv, 0, "", "")

    def run(self, tool, *args, check=True, timeout_seconds=30.0):
        self.ran.append([tool, *args])
        if args[0] in self.refuses:
            return subprocess.CompletedProcess(args, 1, "", self.refuses[args[0]])
        if args[0] == "map":
            self.mapped[args[1]] = "/dev/rbd0"
            return subprocess.CompletedProcess(args, 0, "/dev/rbd0\n", "")
        if args[:2] == ("device", "list"):
            pools = [(spec.split("/"), device) for spec, device in self.mapped.items()]
            rows = [{"pool": s[0], "namespace": "", "name": s[1], "snap": "-", "device": d} for s, d in pools]
            return subprocess.CompletedProcess(args, 0, json.dumps(rows), "")
        if args[0] == "unmap":
            self.mapped = {spec: device for spec, device in self.mapped.items() if device != args[1]}
        return subprocess.CompletedProcess(args, 0, "", "")

    @property
    def words(self):
        """The first words of the commands, without those that only look."""
        shown = [one[:2] if one[0] == "rbd" else one[:1] for one in self.ran]
        return [" ".join(one) for one in shown if one != ["rbd", "device"]]


@pytest.fixture
def machine(tmp_path, monkeypatch):
    made = Machine(tmp_path)
    monkeypatch.setenv("REPLAY_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(this_machine, "require", lambda site, word, fsid: None)
    monkeypatch.setattr(this_machine, "RBD_BUS", tmp_path)
    monkeypatch.setattr(this_machine, "run_program", made.program)
    monkeypatch.setattr(this_machine, "MOUNTS", made.mounts)
    return made


@pytest.fixture
def bench(tmp_path, machine):
    session = SimpleNamespace(cluster=SimpleNamespace(run=machine.run), fsid=lambda: FSID)
    return bench_of(SimpleNamespace(name="s"), session, ledger=Ledger(FSID, directory=tmp_path))


@pytest.fixture
def image():
    return BlockImage("replay", "", NAME, Image(2**26, 2**22, ("layering",)), "e")


def test_an_image_is_mapped_formatted_and_mounted_and_undone_the_other_way_round(bench, machine, image):
    device = map_image(bench, image, "ms_mode=prefer-crc")
    folder = mount(bench, device, "ext4")
    assert folder.is_dir() and folder.stat().st_mode & 0o077 == 0
    assert [(one.kind, one.confirmed) for one in bench.ledger.owned()] == [
        ("kernel_mapping", True),
        ("kernel_mount", True),
    ]
    assert remove_leftover_mounts(bench) == 2
    assert machine.words == ["rbd map", "mkfs.ext4", "mount", "umount", "rbd unmap"]
    assert machine.ran[0] == ["rbd", "map", f"replay/{NAME}", "--options", "ms_mode=prefer-crc"]
    assert (bench.ledger.owned(), machine.mapped, folder.exists()) == ([], {}, False)
    assert remove_leftover_mounts(bench) == 0


def test_a_mount_of_another_machine_stays_in_the_ledger_for_clean_there(bench, machine, image, monkeypatch):
    folder = mount(bench, map_image(bench, image), "ext4")
    machine.mapped, ran = {}, len(machine.ran)
    machine.mounts.write_text("")
    monkeypatch.setattr(platform, "node", lambda: "another-machine")
    assert remove_leftover_mounts(bench) == 0
    remover = Remover(bench.site, bench.session, bench.ledger)
    outcomes = [remover.remove(entry) for entry in bench.ledger.owned()]
    assert [outcome.status for outcome in outcomes] == ["left", "left"]
    assert {outcome.why for outcome in outcomes} == {f"it was made on {outcomes[0].entry.details['host']}"}
    assert folder.exists(), "the other machine may see this folder, too"
    assert all(one[:3] == ["rbd", "device", "list"] for one in machine.ran[ran:])


def test_a_run_that_was_killed_before_the_mount_leaves_only_a_mapping(bench, machine, image):
    device = map_image(bench, image)
    machine.refuses["mount"] = "wrong fs type"
    with pytest.raises(ReplayError, match="wrong fs type"):
        mount(bench, device, "ext4")
    assert [one.kind for one in bench.ledger.owned()] == ["kernel_mapping", "kernel_mount"], "before it was mounted"
    assert remove_leftover_mounts(bench) == 2
    assert machine.words[-1] == "rbd unmap" and "umount" not in machine.words
    assert not any((this_machine.state_directory() / "mounts").iterdir())


def test_a_mapping_that_was_never_made_is_absent(bench, machine, image):
    machine.refuses["map"] = "rbd: sysfs write failed\nrbd: map failed: (110) Connection timed out\n"
    with pytest.raises(ReplayError, match="got no answer from the monitors"):
        map_image(bench, image)
    assert remove_leftover_mounts(bench) == 1
    assert (bench.ledger.owned(), "rbd unmap" in machine.words) == ([], False)


def test_a_busy_mount_stays_in_the_ledger_with_its_name(bench, machine, image):
    mount(bench, map_image(bench, image), "ext4")
    machine.refuses["umount"] = "target is busy"
    with pytest.raises(ReplayError, match="could not be undone: umount ended with status 32: target is busy") as raised:
        remove_leftover_mounts(bench)
    assert raised.value.where.startswith("kernel_mount")
    assert "kernel_mount" in [one.kind for one in bench.ledger.owned()]


def test_another_sites_mounts_are_not_touched(bench, machine, image):
    map_image(bench, image)
    bench.site = SimpleNamespace(name="other")
    assert remove_leftover_mounts(bench) == 0
    assert machine.mapped


def test_a_mount_point_with_something_in_it_is_never_emptied(tmp_path, machine):
    folder = tmp_path / "replay-0a1b2c3d-mount"
    folder.mkdir()
    (folder / "letter").write_text("mine")
    with pytest.raises(ReplayError, match="not empty"):
        unmount(str(folder))
    assert (folder / "letter").exists()


@pytest.mark.parametrize("folder", ["/", "/mnt", "/home/replay-0a1b2c3d-mount/.."])
def test_only_own_mount_points_are_unmounted(machine, folder):
    with pytest.raises(ReplayError, match="not a mount point of Replay"):
        unmount(folder)
    assert machine.ran == []


def test_only_own_images_are_unmapped(machine):
    with pytest.raises(ReplayError, match="not an image of Replay"):
        unmap(SimpleNamespace(run=machine.run), "replay/customers")
    assert machine.ran == []


def test_without_permission_nothing_is_mapped(bench, machine, image, monkeypatch):
    def refuse(site, word, fsid):
        raise RefusedError(f"{word} is refused")

    monkeypatch.setattr(this_machine, "require", refuse)
    with pytest.raises(RefusedError, match="kernel_rbd is refused"):
        map_image(bench, image)
    assert (bench.ledger.owned(), machine.ran) == ([], [])


@pytest.mark.parametrize(
    ("printed", "what"),
    [
        ("modinfo: ERROR: Module rbd not found.\nmodprobe: FATAL: Module rbd not found in directory", "no rbd module"),
        ("rbd: failed to load rbd kernel module (1)\nrbd: sysfs write failed", "no rbd module"),
        (
            "rbd: sysfs write failed\nRBD image feature set mismatch. You can disable features unsupported by the "
            'kernel with "rbd feature disable replay/x object-map fast-diff".\nrbd: map failed: (6) No such device',
            "features that this kernel's client does not support",
        ),
        ("rbd: unknown map option 'ms_mode=prefer-crc'", "one of the mapping options"),
        ("rbd: map failed: (110) Connection timed out", "no answer from the monitors"),
        ("rbd: map failed: (1) Operation not permitted", "mapping is not permitted"),
        ("rbd: map failed: (16) Device or resource busy", "rbd map failed: map failed: (16) Device"),
        ("", "rbd map failed: silent"),
    ],
)
def test_the_output_of_rbd_map_becomes_a_sentence(printed, what):
    said, next_step = map_error(printed)
    assert what in said
    assert next_step


def test_the_list_of_devices_is_read_without_snapshots():
    listed = [
        {"id": "0", "pool": "p", "namespace": "n", "name": "a", "snap": "-", "device": "/dev/rbd0"},
        {"id": "1", "pool": "p", "namespace": "", "name": "a", "snap": "s", "device": "/dev/rbd1"},
    ]
    assert mapped_devices(json.dumps(listed)) == {"p/n/a": "/dev/rbd0"}


@given(st.one_of(st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps)))
def test_a_foreign_list_of_devices_is_a_typed_error_or_names_nothing(text):
    try:
        assert mapped_devices(text) == {}
    except ReplayError as error:
        assert error.where == "rbd device list"
