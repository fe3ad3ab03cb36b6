"""What Replay makes on this machine: files, and images as disks through the kernel's client, mapped and mounted.

They belong to this machine, not to the cluster. They are in the cluster's ledger before they are made, because they
keep the image from being removed, and are removed by what identifies them. Mount points are beside the ledger, in
folders that only root may enter.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from replay.base.errors import ReplayError
from replay.base.paths import state_directory
from replay.cluster.cluster import Cluster
from replay.cluster.running import last_line
from replay.cluster.site import require
from replay.ownership.ledger import Entry, unique_name
from replay.ownership.open_site import BlockImage, OpenSite, intend

_OWN_NAME = re.compile(r"replay-[0-9a-f]{8}-[a-z0-9-]+")


def create_file(bench: OpenSite, folder: Path, suffix: str, *, size_bytes: int) -> Path:
    """Create a file of `size_bytes` in `folder`, all of it a hole; return its path.

    It has its size from the start: a tool that finds a file too small may put a new one in its place, as fio does, and
    nobody could tell any more that it is Replay's.
    """
    path = folder / unique_name(suffix)
    entry = intend(bench, "file", str(path), size_bytes=size_bytes)
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(descriptor, size_bytes)
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    bench.ledger.confirm(entry, {"device": status.st_dev, "inode": status.st_ino})
    return path


def remove_file(entry: Entry) -> tuple[str, str]:
    """Remove the file of an entry; return `removed`, `absent` or `left`, and why it is left."""
    path = Path(entry.name)
    try:
        status = path.lstat()
    except FileNotFoundError:
        return "absent", ""
    except OSError as error:
        return "left", str(error.strerror)
    if not stat.S_ISREG(status.st_mode) or not _OWN_NAME.fullmatch(path.name):
        return "left", "it is not a file of Replay"
    if entry.facts and (status.st_dev, status.st_ino) != (entry.facts["device"], entry.facts["inode"]):
        return "left", "it is another file than the one Replay made"
    try:
        path.unlink()
    except OSError as error:
        return "left", str(error.strerror)
    return "removed", ""


#: The kinds of ledger entries of the kernel's client, in the order in which they are undone.
KINDS = ("kernel_mount", "kernel_mapping")
MOUNTS = Path("/proc/self/mounts")
RBD_BUS = Path("/sys/bus/rbd")
MKFS_TIMEOUT_SECONDS, MAP_TIMEOUT_SECONDS = 300.0, 60.0
#: mkfs's options by file system: they leave no work for the first minutes after the mount.
MKFS_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "ext4": ("-q", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"),
    "xfs": ("-q", "-K"),
}
_FOLDER = re.compile(r"replay-[0-9a-f]{8}-mount")
_IMAGE = re.compile(r"replay-[0-9a-f]{8}-[A-Za-z0-9-]+")
#: What a failed `rbd map` means and what to do, by its output: the first pattern that matches counts.
_MAP_ERRORS: Mapping[str, tuple[str, str]] = {
    "failed to load rbd kernel module|modinfo: .*rbd|Module rbd not found":
        ("this machine's kernel has no rbd module", "measure on a machine whose kernel has one"),
    "feature set mismatch|unsupported features|image uses unsupported":
        ("the image has features that this kernel's client does not support",
         "list more features in options.disable_features"),
    "ms_mode|[Uu]nknown .*option|invalid .*option":
        ("this kernel's client does not support one of the mapping options",
         "change options.map_options: kernels before 5.11 know no ms_mode"),
    r"\(110\)|[Tt]imed out":
        ("the kernel's client got no answer from the monitors", "see what it said: dmesg | tail"),
    r"\(1\)|\(13\)|not permitted|[Pp]ermission denied":
        ("mapping is not permitted", "run as root, with a user of the cluster that may use the pool"),
}  # fmt: skip


def run_program(argv: Sequence[str], *, timeout_seconds: float = 60.0) -> None:
    """Run a program of this machine. Raises ReplayError if it is missing, fails, or takes too long."""
    try:
        done = subprocess.run(list(argv), capture_output=True, text=True, timeout=timeout_seconds, check=False)
    except FileNotFoundError as error:
        raise ReplayError(
            f"the program {argv[0]} is not installed", next_step="install it, or skip the experiments that need it"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise ReplayError(f"{argv[0]} did not end within {timeout_seconds:g} s", where=" ".join(argv)) from error
    if done.returncode != 0:
        raise ReplayError(
            f"{argv[0]} ended with status {done.returncode}: {last_line(done.stderr or done.stdout) or 'silent'}",
            where=" ".join(argv),
        )


def map_error(printed: str) -> tuple[str, str]:
    """Return what a failed `rbd map` means and what to do next, from what it printed."""
    for pattern, meaning in _MAP_ERRORS.items():
        if re.search(pattern, printed):
            return meaning
    return f"rbd map failed: {last_line(printed).removeprefix('rbd: ') or 'silent'}", "see what it said: dmesg | tail"


def mapped_devices(text: str) -> dict[str, str]:
    """Return the devices by `pool[/namespace]/name`, from the JSON of `rbd device list`; snapshots are left out.

    Raises ReplayError if it is not such a list.
    """
    try:
        return {
            "/".join(part for part in (row["pool"], row.get("namespace", ""), row["name"]) if part): str(row["device"])
            for row in json.loads(text)
            if row.get("snap", "-") in ("-", "")
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReplayError(f"not a list of mapped devices: {error!r}", where="rbd device list") from error


def map_image(bench: OpenSite, made: BlockImage, options: str = "") -> Path:
    """Map an image and return its device; `options` are the kernel client's, separated by commas.

    Raises RefusedError, or ReplayError saying why the kernel declined.
    """
    require(bench.site, "kernel_rbd", bench.session.fsid())
    entry = intend(bench, "kernel_mapping", made.name, pool=made.pool, namespace=made.namespace)
    done = bench.primary_cluster.run(
        *("rbd", "map", made.spec, *(["--options", options] if options else [])),
        check=False,
        timeout_seconds=MAP_TIMEOUT_SECONDS,
    )
    device = done.stdout.strip()
    if done.returncode != 0 or not re.fullmatch(r"/dev/rbd\d+", device):
        what, next_step = map_error(done.stdout + done.stderr)
        raise ReplayError(what, where=made.spec, next_step=next_step)
    bench.ledger.confirm(entry, {"device": device})
    return Path(device)


def unmap(cluster: Cluster, spec: str) -> bool:
    """Unmap one of Replay's images; return whether it was mapped. Raises CephCommandError while it is in use."""
    if not _IMAGE.fullmatch(spec.rpartition("/")[2]):
        raise ReplayError(f"{spec} is not an image of Replay")
    if not RBD_BUS.exists():
        return False
    device = mapped_devices(cluster.run("rbd", "device", "list", "--format", "json").stdout or "[]").get(spec)
    if device is None:
        return False
    cluster.run("rbd", "unmap", device, timeout_seconds=MAP_TIMEOUT_SECONDS)
    return True


def mount(bench: OpenSite, device: Path, file_system: str) -> Path:
    """Make a file system, one of MKFS_OPTIONS, on a device that was mapped for this, mount it, return the mount point.

    Raises RefusedError without root, and ReplayError if a program fails; the mount point is then in the ledger.
    """
    require(bench.site, "host_root", bench.session.fsid())
    run_program([f"mkfs.{file_system}", *MKFS_OPTIONS[file_system], str(device)], timeout_seconds=MKFS_TIMEOUT_SECONDS)
    folder = state_directory() / "mounts" / unique_name("mount")
    entry = intend(bench, "kernel_mount", folder.name, folder=str(folder))
    folder.mkdir(parents=True, mode=0o700)
    run_program(["mount", "-t", file_system, str(device), str(folder)])
    bench.ledger.confirm(entry)
    return folder


def unmount(mount_point: str) -> bool:
    """Unmount and remove one of Replay's mount points; return whether it was there.

    Raises ReplayError while it is in use.
    """
    folder = Path(mount_point)
    if not _FOLDER.fullmatch(folder.name):
        raise ReplayError(f"{folder} is not a mount point of Replay")
    mounted = any(line.split()[1] == _escaped(folder) for line in MOUNTS.read_text(encoding="utf-8").splitlines())
    if mounted:
        run_program(["umount", str(folder)])
    if not folder.is_dir():
        return mounted
    try:
        folder.rmdir()  # never with what is in it: that would be somebody's files
    except OSError as error:
        raise ReplayError(f"the mount point cannot be removed: {error.strerror}", where=folder) from error
    return True


def _escaped(folder: Path) -> str:
    """Return a path as the kernel writes it in its table of mounts."""
    return str(folder).replace("\\", r"\134").replace(" ", r"\040").replace("\t", r"\011").replace("\n", r"\012")
