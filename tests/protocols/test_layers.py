"""The layers of a cluster: each cell goes to its layer's tool and place, and everything is removed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from replay.base.errors import ConfigurationError
from replay.evidence.record import Measured
from replay.protocols import object_bench
from replay.protocols.drivers.fio import FioProcess
from replay.protocols.drivers.rados_bench import RadosRounds
from replay.protocols.layers import LayerByLayer
from replay.protocols.targets import images
from replay.tools import fio
from support.bench import bench_of, cell, design_of, site_of

LARGE_WRITES, SMALL_READS = "write-rand-1048576-16", "read-rand-4096-1"


@pytest.fixture
def make(monkeypatch, tmp_path):
    """Make the protocol on a cluster without any programs. `did` has what was made, run and removed."""

    def of(**changes):
        did = []
        cluster = SimpleNamespace(conf=tmp_path / "ceph.conf", keyring=None)
        session = SimpleNamespace(cluster=cluster, command=lambda command: {"size": 3})
        made = LayerByLayer(bench_of(site_of(), session), design_of("layers", **changes))

        def create_pool(bench, suffix, spec, *, application):
            did.append(f"pool of {spec.replicas}")
            return suffix

        def create_image(bench, suffix, image):
            did.append(f"image {suffix}")
            return SimpleNamespace(pool="data", name=suffix)

        def create_file(bench, folder, suffix, *, size_bytes):
            did.append(f"file of {size_bytes >> 20} MiB")
            return folder / "file"

        def run(kind):
            def record(self, cell, seed, *, while_running=None):
                did.append((kind, cell.levels.get("object_size_bytes"), cell.levels.get("threads")))
                facts = self.facts(cell, None) if kind == "rados" else {}
                return Measured([], {}, 0, "", "", 1.0, {}, facts=facts)

            return record

        monkeypatch.setattr(object_bench, "create_pool", create_pool)
        monkeypatch.setattr(object_bench, "await_pools", lambda bench, pools: None)
        monkeypatch.setattr(object_bench, "remove_leftover_pools", lambda bench: did.append("no pools"))
        monkeypatch.setattr(images, "create_image", create_image)
        monkeypatch.setattr(images, "remove_images", lambda bench, those: did.append(f"no {len(those)} image"))
        monkeypatch.setattr(images, "create_file", create_file)
        monkeypatch.setattr(images, "remove_leftover_files", lambda bench: did.append("no file"))
        monkeypatch.setattr(images.OsdFile, "fill", lambda self, path, size: None)
        monkeypatch.setattr(FioProcess, "run", run("fio"))
        monkeypatch.setattr(RadosRounds, "run", run("rados"))
        made.did = did
        return made

    return of


def test_each_layer_is_made_once_and_all_of_them_are_removed(make):
    protocol = make()
    protocol.open_block(Path("raw"), protocol.design.sets)
    assert sorted(protocol.did) == ["file of 256 MiB", "image block-device", "pool of 1", "pool of 3"]
    protocol.did.clear()
    protocol.close_block()
    assert sorted(protocol.did) == ["no 1 image", "no file", "no pools"]


def test_a_cell_is_run_by_its_layers_tool_in_that_tools_words(make):
    protocol = make()
    protocol.open_block(Path("raw"), protocol.design.sets)
    protocol.did.clear()
    measured = {
        name: protocol.driver.run(cell(protocol, LARGE_WRITES, name), 1)
        for name in ("disk", "objects-one-copy", "objects", "block-device")
    }
    assert protocol.did == [
        ("fio", None, None), ("rados", 1048576, 16), ("rados", 1048576, 16), ("fio", None, None),
    ]  # fmt: skip
    assert [one.facts.get("replicas") for one in measured.values()] == [None, 1, 3, None]


def test_writes_to_the_disk_are_flushed_and_the_block_device_is_no_file(make):
    protocol = make()

    def argv(point, variant):
        chosen = cell(protocol, point, variant)
        return fio.TOOL.argv_template(chosen.levels, protocol.job_options(chosen))

    disk = argv(LARGE_WRITES, "disk")
    assert {"--ioengine=libaio", "--filename={file}", "--direct=1", "--fdatasync=1", "--iodepth=16"} <= set(disk)
    assert not any("fdatasync" in word for word in argv(SMALL_READS, "disk"))
    image = argv(LARGE_WRITES, "block-device")
    assert {"--ioengine=rbd", "--rw=randwrite", "--bs=1048576", "--rbdname={image}"} <= set(image)
    assert not any("fdatasync" in word or "filename" in word for word in image)


def test_what_a_cell_writes_is_charged_with_the_copies_of_its_layer(make):
    protocol = make()
    protocol.open_block(Path("raw"), protocol.design.sets)
    copies = {
        name: protocol.target.write_of(cell(protocol, LARGE_WRITES, name), 1.0).copies
        for name in ("disk", "objects-one-copy", "objects", "block-device")
    }
    assert copies == {"disk": 1, "objects-one-copy": 1, "objects": 3, "block-device": None}


@pytest.mark.parametrize("levels", [{"layer": "objects"}, {"layer": "disk", "copies": "one"}])
def test_copies_belong_to_objects_alone(make, levels):
    variants = [{"name": "some", "label": "Some", "levels": levels}]
    with pytest.raises(ConfigurationError, match="some: objects, and only they, have the level copies"):
        make(variants=variants)
