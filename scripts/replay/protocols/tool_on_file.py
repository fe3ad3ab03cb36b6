"""One benchmark tool on a file beside the OSDs of a sandbox: for tools that know no block device."""

from __future__ import annotations

from dataclasses import replace

from replay.design.needs import Needs
from replay.measure.protocol import Protocol
from replay.protocols.drivers.sized_tool import OneTool
from replay.protocols.drivers.tool import FIO_FILE_OPTION, RBD_BENCH_FACTORS, RBD_BENCH_OPTIONS
from replay.protocols.targets.images import OsdFile


class ToolOnFile(Protocol):
    """Runs a tool that takes `{file}`, and `{io_total_bytes}` or `{operations}`, on a file of the OSDs' file system."""

    needs = Needs(
        factors=RBD_BENCH_FACTORS,
        options=(
            *(replace(one, default=1) for one in RBD_BENCH_OPTIONS if one.name == "io_threads"),
            replace(FIO_FILE_OPTION, meaning="the size of the file; a sequential cell goes through it at most once"),
        ),
        programs=("fio",),  # fills the file
    )
    target = OsdFile()
    driver = OneTool()
    pilot_share = 0.6
    writes_are_known = True


PROTOCOL = ToolOnFile
