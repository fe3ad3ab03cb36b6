"""Objects written by `rados bench` on a fast and on a capped device class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from replay.design.needs import Needs
from replay.measure.protocol import Protocol, throughput
from replay.protocols.drivers.rados_bench import RadosRounds
from replay.protocols.drivers.tool import CAP_OPTIONS, DEVICE_CLASS, RADOS_FACTORS, RADOS_OPTIONS
from replay.protocols.targets.device_classes import CappedDisks, CappedPools, check_labels

_MODE, *_OTHERS = RADOS_FACTORS


class DeviceClassObjects(Protocol):
    """Writes objects of `levels["object_size_bytes"]` in the pool of the variant's level `device_class`."""

    needs = Needs(
        tools=("rados-bench",),
        factors=(replace(_MODE, words=("write",)), *_OTHERS, DEVICE_CLASS),
        options=(*RADOS_OPTIONS, *CAP_OPTIONS),
        programs=("rados",),
    )
    target = CappedPools()
    driver = RadosRounds()
    observers = (CappedDisks(),)
    overhead_seconds = 8.0

    def headline(self, metrics: Mapping[str, float]) -> str:
        """Return the rate in bytes."""
        return throughput(metrics)

    def check(self) -> None:
        """Refuse labels that hide the cap."""
        check_labels(self)


PROTOCOL = DeviceClassObjects
