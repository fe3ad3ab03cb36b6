"""The kernel's client compared with librbd: what is made and undone, in which order, and what is refused."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError
from replay.design.configuration import load_experiment
from replay.evidence.record import Measured
from replay.ownership.images import BlockImage
from replay.protocols import kernel_client as mounts
from replay.protocols.drivers import fio
from replay.protocols.kernel_client import KernelClient, write_file
from replay.protocols.targets import images
from support.bench import bench_of, design_of, site_of


@pytest.fixture
def make(monkeypatch, tmp_path):
    """Make a protocol whose images, mappings, mounts and runs are recorded in `did`."""

    def of(scale="quick", **changes):
        (tmp_path / "ceph.conf").write_text("[global]\n")
        cluster = SimpleNamespace(
            conf=tmp_path / "ceph.conf",
            client="client.a",
            keyring=None,
            run=lambda *argv: did.append(" ".join(argv[:3])),
        )
        session = SimpleNamespace(cluster=cluster)
        bench = bench_of(site_of(), session, data_set="t", daemons_are_here=True)
        did: list[str] = []
        made = KernelClient(bench, design_of("kernel-client", scale, **changes))
        made.did, made.argvs = did, []

        def create(bench, name, image):
            did.append(f"create {name}")
            return BlockImage("replay", "", f"replay-0a1b2c3d-{name}", image, "e")

        def mount(bench, device, file_system):
            did.append(f"mount {file_system}")
            (tmp_path / "mnt").mkdir()
            return tmp_path / "mnt"

        def run(bench, template, values, **how):
            made.argvs.append(template)
            seen = f"{values.get('file')} {values.get('image')}".encode()
            return Measured(template, {"output": ("result.json", seen)}, 1, "a", "b", 1.0, {}, invalid=("failed", "x"))

        monkeypatch.setattr(images, "create_image", create)
        monkeypatch.setattr(mounts, "map_image", lambda bench, made, options: did.append(f"map {options}"))
        monkeypatch.setattr(mounts, "mount", mount)
        monkeypatch.setattr(mounts, "write_file", lambda path, size: did.append(f"write {path.name}"))
        monkeypatch.setattr(mounts, "remove_leftover_mounts", lambda bench: did.append("undo mounts"))
        monkeypatch.setattr(images, "remove_images", lambda bench, those: did.append(f"remove {len(those)}"))
        monkeypatch.setattr(fio, "run_observed", run)
        return made

    return of


def test_the_order_is_create_disable_map_mkfs_mount_write_and_back(make):
    made = make()
    made.open_block(Path("raw"), made.design.sets)
    made.close_block()
    assert made.did == [
        "create librbd",
        "create kernel-ext4",
        "rbd feature disable",
        "rbd feature disable",
        "map ms_mode=prefer-crc",
        "mount ext4",
        "write written",
        "undo mounts",
        "remove 2",
    ]


def test_both_clients_do_the_same_and_bypass_the_page_cache(make):
    made = make()
    made.open_block(Path("raw"), made.design.sets)
    by_variant = {cell.variant.name: cell for cell in made.design.sets[0].cells}
    kernel = made.run(by_variant["kernel-ext4"], 1)
    librbd = made.run(by_variant["librbd"], 1)
    of_kernel, of_librbd = made.argvs
    size = f"--size={made.design.options['file_size_bytes']}"
    assert {"--ioengine=libaio", "--direct=1", "--filename={file}", size} <= set(of_kernel)
    assert {"--ioengine=rbd", "--rbdname={image}", size} <= set(of_librbd)
    same = ("--rw=", "--bs=", "--iodepth=", "--runtime=", "--ramp_time=", "--randseed=")
    assert [a for a in of_kernel if a.startswith(same)] == [a for a in of_librbd if a.startswith(same)]
    assert kernel.results["output"][1] == b"{file} None", "no path and no image's name is kept"
    assert librbd.results["output"][1] == b"None {image}"


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        ({"levels": {"client": "kernel"}}, "cannot make the file system None"),
        ({"levels": {"client": "librbd"}, "features": ["journaling"]}, "kernels do not support journaling"),
    ],
)
def test_a_design_that_it_cannot_run_is_refused_before_anything_is_made(make, variant, said):
    scales = {"quick": {"blocks": 1, "target_seconds": 1}}
    with pytest.raises(ConfigurationError, match=said):
        make(variants=[{"name": "some", "label": "Some", **variant}], scales=scales)


def test_a_file_that_leaves_no_space_is_refused(make):
    options = {**load_experiment("kernel-client")["options"], "file_size_bytes": 2**40}
    with pytest.raises(ConfigurationError, match="more than half of an image"):
        make(options=options)


def test_the_file_has_the_requested_size(tmp_path):
    write_file(tmp_path / "f", 2500000)
    assert (tmp_path / "f").stat().st_size == 2500000
