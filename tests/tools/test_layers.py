"""The tool of a layer is that of fio or of rados bench, in its own words."""

from __future__ import annotations

import pytest

from replay.base.errors import ConfigurationError
from replay.tools import fio, rados_bench
from replay.tools.by_level import LAYERS as TOOL
from replay.tools.by_level import levels_of
from support.made_up_output import rados_json

OBJECTS = {"layer": "objects", "io_type": "write", "io_pattern": "rand", "io_size_bytes": 4096, "io_depth": 16}


def test_objects_are_written_as_large_as_the_requests_of_the_other_layers():
    assert levels_of(OBJECTS) == {**OBJECTS, "object_size_bytes": 4096, "threads": 16}
    assert TOOL.argv_template(OBJECTS, {}) == rados_bench.TOOL.argv_template(levels_of(OBJECTS), {})
    output = {"output": rados_json("write", 1000, 2.0, 4096, threads=16, host="h")}
    assert TOOL.parse(output, 0, OBJECTS).metrics["operations_per_second"] == 500


@pytest.mark.parametrize("layer", ["disk", "block-device"])
def test_the_disk_and_the_block_device_are_fios(layer):
    levels = {**OBJECTS, "layer": layer}
    assert TOOL.argv_template(levels, {}) == fio.TOOL.argv_template(levels, {})
    assert TOOL.result_files(levels, {}) == fio.TOOL.result_files(levels, {})


def test_another_layer_has_no_tool():
    with pytest.raises(ConfigurationError, match="layer 'tape' is not one of disk, objects, block-device"):
        TOOL.argv_template({**OBJECTS, "layer": "tape"}, {})
