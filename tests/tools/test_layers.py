"""The tool of a layer is that of fio or of rados bench, in its own words."""

from __future__ import annotations

import pytest

from replay.base.errors import ConfigurationError
from replay.tools.by_level import LAYERS, levels_of
from support.made_up_output import rados_json
from support.samples import sample

OBJECTS = {"layer": "objects", "io_type": "write", "io_pattern": "rand", "io_size_bytes": 4096, "io_depth": 16}


def test_objects_are_written_as_large_as_the_requests_of_the_other_layers():
    assert levels_of(OBJECTS) == {**OBJECTS, "object_size_bytes": 4096, "threads": 16}
    output = {"output": rados_json("write", 1000, 2.0, 4096, threads=16, host="h")}
    assert LAYERS.parse(output, 0, OBJECTS).metrics["operations_per_second"] == 500


@pytest.mark.parametrize("layer", ["disk", "block-device"])
def test_the_disk_and_the_block_device_are_fios(layer):
    levels = {**OBJECTS, "layer": layer, "io_type": "read"}
    output = {"output": sample("fio-randread.json")[0]}
    assert LAYERS.parse(output, 0, levels).metrics["operations_per_second"] == pytest.approx(10536.770584, rel=1e-9)


def test_another_layer_has_no_tool():
    with pytest.raises(ConfigurationError, match="layer 'tape' is not one of disk, objects, block-device"):
        LAYERS.parse({}, 0, {**OBJECTS, "layer": "tape"})
